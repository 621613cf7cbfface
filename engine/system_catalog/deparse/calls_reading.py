"""Calls of a definition's text to nodes: functions, aggregates, windows, and SQL's own forms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.system_catalog.deparse import signatures
from engine.system_catalog.deparse.nodes import CallNode, Constant, NamedNode, Node, SortNode, WindowNode
from engine.system_catalog.static_rows import Row
from sql.names.relation_keys import as_written, name_of, quoted, schema_of
from sql.parse import syntax
from sql.parse.grammar.spelled_calls import WITHOUT_PARENTHESES
from sql.types.datatypes import (
    DATE,
    INT4,
    INT8,
    INTERVAL,
    NAME,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TIMETZ,
    SqlType,
    by_oid,
)

if TYPE_CHECKING:
    from engine.system_catalog.deparse.expression_reading import ExpressionReader

BARE_TYPES = {
    "current_date": DATE,
    "current_time": TIMETZ,
    "current_timestamp": TIMESTAMPTZ,
    "localtime": TIME,
    "localtimestamp": TIMESTAMP,
}
WORDS = frozenset({"coalesce", "greatest", "least", "nullif", "grouping"})
OWN_SYNTAX = frozenset(
    """
    extract substring position overlay btrim ltrim rtrim timezone overlaps normalize is_normalized
    """.split()
)
OFFSET_TYPES = {"date": INTERVAL, "timestamp": INTERVAL, "timestamptz": INTERVAL, "time": INTERVAL, "timetz": INTERVAL}


def call(reader: ExpressionReader, node: syntax.FunctionCall) -> Node:
    """Return a call."""
    name = node.name
    if name in WITHOUT_PARENTHESES and not node.spelled and not node.text.rstrip().endswith("()"):
        digits = "".join(f"({one.value})" for one in node.arguments if isinstance(one, syntax.Constant))
        return CallNode(name.upper() + digits, (), BARE_TYPES.get(name, NAME), "bare")
    if name in WORDS and node.spelled:
        return _words(reader, node)
    if node.star:
        return _decorated(reader, node, CallNode(quoted(name), (), by_oid_or_text(name), "aggregate", star=True))
    arguments = [reader.read(argument) for argument in node.arguments]
    keys = [reader.read(item.expression) for item in node.within_group]
    given = [argument.type for argument in (*arguments, *keys)]
    own = _own_function(reader, node, arguments)
    if own is not None:
        return _decorated(reader, node, own)
    row = signatures.function(name, given)
    if row is None:
        found = CallNode(quoted(name), tuple(map(reader.settled, arguments)), TEXT)
        return _decorated(reader, node, found)
    declared = signatures.argument_types(row, len(given))
    coerced = _coerced(reader, [*arguments, *keys], declared, row)
    kind = "aggregate" if row["prokind"] == "a" else "function"
    if node.spelled and name in OWN_SYNTAX:
        kind = "syntax"
    result = _result(row, declared, [*arguments, *keys], coerced)
    shown = name if kind == "syntax" else quoted(name)
    found = CallNode(shown, tuple(coerced[: len(arguments)]), result, kind)
    return _decorated(reader, node, found, coerced[len(arguments) :])


def _own_function(reader: ExpressionReader, node: syntax.FunctionCall, arguments: list[Node]) -> CallNode | None:
    """Return the call of a user's function, None where no such function is meant."""
    written = as_written((node.name,) if node.schema is None else (node.schema, node.name))
    for function in reader.settings.functions(written):
        named = [one.name for one in arguments if isinstance(one, NamedNode)]
        by_name = {one.name: one.type for one in function.inputs}
        places = [one.type for one in function.inputs][: len(arguments) - len(named)]
        kinds = [*places, *(by_name[name] for name in named if name in by_name)]
        if len(kinds) == len(arguments) and all(
            signatures.is_implicit(one.type, kind.oid) for one, kind in zip(arguments, kinds, strict=True)
        ):
            items = tuple(reader.coerced(one, kind) for one, kind in zip(arguments, kinds, strict=True))
            name, schema = name_of(function.name), schema_of(function.name)
            columns = tuple((one.name, one.type) for one in function.outputs)
            return CallNode(name, items, function.result or TEXT, schema=schema, columns=columns)
    return None


def by_oid_or_text(name: str) -> SqlType:
    """Return the type of a call without arguments."""
    row = signatures.function(name, [])
    found = None if row is None else by_oid(row["prorettype"])
    return TEXT if found is None else found


def _coerced(reader: ExpressionReader, nodes: list[Node], declared: tuple[int, ...], row: Row) -> list[Node]:
    from_declared = list(zip(declared, (node.type for node in nodes), strict=True))
    compatible = {signatures.ANY_COMPATIBLE, signatures.ANY_COMPATIBLE_NONARRAY}
    element = signatures.element_of([pair for pair in from_declared if pair[0] not in compatible])
    common = [kind for oid, kind in from_declared if oid in compatible]
    common += [kind.element for oid, kind in from_declared if oid == signatures.ANY_COMPATIBLE_ARRAY and kind.is_array]
    shared = signatures.common_type(common) if common else element
    return [
        reader.coerced(node, signatures_type(oid, element, shared)) for node, oid in zip(nodes, declared, strict=True)
    ]


def signatures_type(oid: int, element: SqlType | None, shared: SqlType | None) -> SqlType | None:
    """Return the type of an argument.

    shared: of all compatible ones.
    """
    return signatures.declared_type(oid, shared if oid >= signatures.ANY_COMPATIBLE else element)


def _result(row: Row, declared: tuple[int, ...], nodes: list[Node], coerced: list[Node]) -> SqlType:
    element = signatures.element_of(list(zip(declared, (node.type for node in coerced), strict=True)))
    return signatures.declared_type(row["prorettype"], element) or TEXT


def _words(reader: ExpressionReader, node: syntax.FunctionCall) -> Node:
    """Return COALESCE, GREATEST, LEAST, NULLIF or GROUPING."""
    arguments = [reader.read(argument) for argument in node.arguments]
    if node.name == "grouping":
        return CallNode("GROUPING", tuple(arguments), INT4, "words")
    if node.name == "nullif":
        equal = reader.operator("=", *arguments)
        operands = equal.operands if hasattr(equal, "operands") else tuple(arguments)
        return CallNode("NULLIF", operands, operands[0].type, "words")
    kind = signatures.common_type([argument.type for argument in arguments])
    return CallNode(node.name.upper(), tuple(reader.coerced(one, kind) for one in arguments), kind, "words")


def _decorated(
    reader: ExpressionReader, node: syntax.FunctionCall, found: CallNode, keys: list[Node] | None = None
) -> CallNode:
    """Return a call with DISTINCT, ORDER BY, WITHIN GROUP, FILTER and OVER."""
    items = node.within_group or node.order_by
    expressions = keys if node.within_group and keys else [reader.value(item.expression) for item in items]
    order = tuple(reader.sort(one, item) for one, item in zip(expressions, items, strict=True))
    condition = None if node.filter is None else reader.condition(node.filter)
    over = None if node.over is None else window(reader, node.over)
    return replace(
        found,
        kind="window" if over is not None else found.kind,
        distinct=node.distinct,
        order_by=order,
        within_group=bool(node.within_group),
        condition=condition,
        over=over,
    )


def window(reader: ExpressionReader, node: syntax.WindowDefinition, name: str | None = None) -> WindowNode:
    """Return a window: of OVER, or of the WINDOW clause with its name."""
    if node.exact:
        return WindowNode(node.base, None, (), (), ())
    partition = tuple(reader.value(item) for item in node.partition_by)
    order: tuple[SortNode, ...] = tuple(reader.sort(reader.value(item.expression), item) for item in node.order_by)
    return WindowNode(name, node.base, partition, order, _frame(reader, node, order))


def _frame(
    reader: ExpressionReader, node: syntax.WindowDefinition, order: tuple[SortNode, ...]
) -> tuple[str | Node, ...]:
    """Return the words of a frame, and its offsets between them."""
    if node.frame is None:
        return ()
    unit, start, end, exclusion = node.frame
    parts: list[str | Node] = [f"{unit.upper()} "]
    # A frame without BETWEEN ends where its text begins.
    is_short = end.kind == "current" and end.position <= start.position
    if not is_short:
        parts.append("BETWEEN ")
    kind: SqlType | None = INT8
    if unit == "range" and order:
        sorted_by = order[0].expression.type
        kind = OFFSET_TYPES.get(sorted_by.family, sorted_by)
    for number, bound in enumerate((start,) if is_short else (start, end)):
        parts.append("AND " * number)
        if bound.offset is not None:
            offset = reader.read(bound.offset)
            is_open = isinstance(offset, Constant) and offset.type.family == "unknown"
            parts.append(reader.coerced(offset, kind) if is_open or unit != "range" else offset)
        words = {"current": "CURRENT ROW", "preceding": " PRECEDING", "following": " FOLLOWING"}
        parts.append(words.get(bound.kind, bound.kind.replace("_", " ").upper()) + " ")
    if exclusion:
        parts.append(f"EXCLUDE {exclusion.upper()} ")
    return tuple(parts)
