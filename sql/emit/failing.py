"""Expressions that may raise: these must stay after the conditions that guard them, and all others
may go anywhere.

A constant expression counts as safe: PostgreSQL computes it when it plans, whatever guards it.
"""

from __future__ import annotations

from sql.emit.single_rows import is_single_row
from sql.functions import table
from sql.functions.volatility import is_constant
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
    Subquery,
)
from sql.tree.relations import (
    Aggregate,
    Limit,
    Relation,
    Shared,
    TableFunction,
    Window,
)
from sql.tree.walks import children, inputs

# A series of more rows may not fit into memory.
SERIES_ROWS_MAX = 100_000
WIDER = ("int2", "int4", "int8", "numeric", "float8")
SAFE_CASTS = frozenset(
    {(source, target) for index, source in enumerate(WIDER[:3]) for target in WIDER[index + 1 :]}
    | {("float4", "float8")}
    | {
        (source, "text")
        for source in (
            *("bool", "int2", "int4", "int8", "float4", "float8", "numeric", "timestamp", "enum"),
            *("varchar", "bpchar"),
        )
    }
)


def can_fail(node: Expression) -> bool:
    """True when the evaluation of `node` may raise for some rows.

    Then `node` must stay after the condition that guards it.
    """
    return not is_constant(node) and _can_fail(node)


def fails_by_itself(node: Expression) -> bool:
    """True when a call or a cast may raise on operands that have values."""
    match node:
        case Call():
            return table.can_fail(node)
        case Cast():
            pair = ("enum" if node.operand.type.is_enum else node.operand.type.family, node.type.family)
            return pair not in SAFE_CASTS or node.type != node.type.without_modifier()
    return False


def _can_fail(node: Expression) -> bool:
    match node:
        case Column() | OuterColumn() | Literal() | Parameter():
            return False
        case Call():
            return fails_by_itself(node) or any(can_fail(argument) for argument in node.arguments)
        case Cast():
            return fails_by_itself(node) or can_fail(node.operand)
        case Case():
            parts = [part for branch in node.branches for part in branch]
            return any(can_fail(part) for part in (*parts, node.default))
        case Subquery():
            if node.kind == "scalar" and not is_single_row(node.relation):
                return True
            return any(can_fail(part) for part in (*node.arguments, *node.operands)) or relation_can_fail(node.relation)


def relation_can_fail(node: Relation) -> bool:
    """True when the computation of the rows of `node` may raise.

    Shared relations are not looked into.
    """
    if isinstance(node, Shared):
        return True
    if any(relation_can_fail(below) for below in inputs(node)):
        return True
    match node:
        case Aggregate() if any(_aggregate_can_fail(call) for _, call in node.aggregates):
            return True
        case Window() | Limit():
            return True
        case TableFunction():
            return not _is_short_series(node)
    return any(can_fail(item) for item in children(node))


def _is_short_series(node: TableFunction) -> bool:
    """True for a series of some integers between constants."""
    ((name, bounds), *others) = node.calls
    if others or not table.SET_ROWS[name].spreads:
        return False
    first, last, *step = [
        bound.value if isinstance(bound, Literal) and isinstance(bound.value, int) else None for bound in bounds
    ]
    return first is not None and last is not None and all(step) and abs(last - first) < SERIES_ROWS_MAX


def _aggregate_can_fail(call: AggregateCall) -> bool:
    row = table.AGGREGATE_ROWS.get(call.function)
    return row is None or row.can_fail
