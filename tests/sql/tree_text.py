"""Bound trees as short text, for snapshots: one operator per line, inputs indented below."""

from __future__ import annotations

from sql.tree.expressions import (
    AggregateCall,
    Call,
    Case,
    Cast,
    Column,
    Expression,
    Literal,
    OuterColumn,
    Parameter,
    SortKey,
    Subquery,
    WindowCall,
    WindowFrame,
)
from sql.tree.relations import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Limit,
    Project,
    Recursive,
    Relation,
    Scan,
    SetOperation,
    Shared,
    Sort,
    TableFunction,
    Values,
    Window,
)
from sql.tree.walks import inputs


def tree_text(relation: Relation, depth: int = 0, shown: set[str] | None = None) -> list[str]:
    """Return the lines of a relation. shown: names of what is shared and was shown before, which is
    not shown again.
    """
    lines = ["  " * depth + operator_text(relation)]
    shown = set() if shown is None else shown
    if isinstance(relation, Shared):
        if relation.name in shown:
            return lines
        shown.add(relation.name)
    for item in inputs(relation):
        lines += tree_text(item, depth + 1, shown)
    return lines


def operator_text(relation: Relation) -> str:
    match relation:
        case Shared():
            return f"Shared {relation.name.rpartition(' ')[0]}"
        case Scan():
            return f"Scan {relation.kind} {relation.name}"
        case Values():
            return "Values " + "; ".join(", ".join(map(text, row)) for row in relation.rows)
        case Filter():
            return f"Filter {text(relation.predicate)}"
        case Project():
            return "Project " + ", ".join(f"{name}={text(item)}" for name, item in relation.items)
        case Aggregate():
            keys = ", ".join(f"{name}={text(item)}" for name, item in relation.keys)
            sets = "" if relation.sets is None else f"sets {' '.join(map(str, relation.sets))} "
            return f"Aggregate [{keys}] {sets}" + ", ".join(
                f"{name}={aggregate_text(call)}" for name, call in relation.aggregates
            )
        case Window():
            return "Window " + ", ".join(f"{name}={window_text(call)}" for name, call in relation.calls)
        case Distinct():
            return "Distinct"
        case Sort():
            return "Sort " + ", ".join(map(key_text, relation.keys))
        case Limit():
            parts = (("limit", relation.limit), ("offset", relation.offset))
            return "Limit " + ", ".join(f"{name} {text(value)}" for name, value in parts if value is not None)
        case Join():
            lateral = "" if relation.lateral is None else f" lateral [{', '.join(map(text, relation.lateral))}]"
            return f"Join {relation.kind}{lateral}" + (
                "" if relation.condition is None else f" {text(relation.condition)}"
            )
        case SetOperation():
            return f"{relation.kind}{' all' if relation.all else ''}"
        case TableFunction():
            calls = (f"{name}({', '.join(map(text, arguments))})" for name, arguments in relation.calls)
            return f"TableFunction {', '.join(calls)}{' with ordinality' if relation.ordinality else ''}"
        case Recursive():
            return f"Recursive {relation.name}{' all' if relation.all else ''}"


def text(expression: Expression) -> str:
    match expression:
        case Column():
            return f"#{expression.index}"
        case OuterColumn():
            return f"^{expression.index}"
        case Subquery():
            return subquery_text(expression)
        case Literal():
            return f"{expression.value!s}:{expression.type.family}"
        case Parameter():
            return f"${expression.number}:{expression.type.family}"
        case Call():
            scale = f"[{expression.type.display_scale}]" if expression.type.family == "numeric" else ""
            return f"{expression.function}({', '.join(map(text, expression.arguments))}){scale}"
        case Cast():
            zone = f" {expression.zone}" if expression.zone else ""
            sign = "!" if expression.explicit else ""
            return f"cast{sign}({text(expression.operand)} as {expression.type.sql_name}{zone})"
        case Case():
            branches = " ".join(f"{text(when)}->{text(then)}" for when, then in expression.branches)
            return f"case({branches} else {text(expression.default)}):{expression.type.sql_name}"


def subquery_text(expression: Subquery) -> str:
    """Return a subquery on one line, its operators from the top, with the level of each."""
    lines = (f"{(len(line) - len(line.lstrip())) // 2}:{line.lstrip()}" for line in tree_text(expression.relation))
    compared = f" {', '.join(map(text, expression.operands))} {expression.comparison}" if expression.operands else ""
    arguments = ", ".join(map(text, expression.arguments))
    return f"{expression.kind}{compared} [{arguments}] {{{' | '.join(lines)}}}"


def aggregate_text(call: AggregateCall) -> str:
    scale = f"[{call.type.display_scale}]" if call.type.family == "numeric" else ""
    distinct = "distinct " if call.distinct else ""
    order = f" order {', '.join(map(key_text, call.order_by))}" if call.order_by else ""
    return f"{call.function}({distinct}{', '.join(map(text, call.arguments))}{order}){scale}{filter_text(call)}"


def window_text(call: WindowCall) -> str:
    partition = ", ".join(map(text, call.partition_by))
    order = ", ".join(map(key_text, call.order_by))
    frame = "" if call.frame is None else f" {frame_text(call.frame)}"
    return f"{call.function}({', '.join(map(text, call.arguments))}){filter_text(call)} over ({partition} | {order}{frame})"


def filter_text(call: AggregateCall | WindowCall) -> str:
    return "" if call.filter is None else f" where {text(call.filter)}"


def frame_text(frame: WindowFrame) -> str:
    bounds = [
        f"{text(offset) if isinstance(offset, Literal) else offset or ''} {word}".strip()
        for word, offset in (frame.start, frame.end)
    ]
    excluded = f" without {frame.exclusion}" if frame.exclusion else ""
    return f"{frame.unit} {' to '.join(bounds)}{excluded}"


def key_text(key: SortKey) -> str:
    return text(key.expression) + (" desc" if key.descending else "") + (" nulls first" if key.nulls_first else "")
