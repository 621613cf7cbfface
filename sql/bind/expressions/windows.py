"""Window calls: functions and aggregates with OVER, named windows, frames, and where they may stand
(42P20).
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from sql.bind.expressions import aggregates
from sql.bind.expressions.coerce import coerce, fold, unify
from sql.bind.expressions.operators import no_function, written_call
from sql.errors import SqlError, not_supported
from sql.functions.overloads import choose
from sql.functions.signatures import INTEGERS
from sql.functions.sketches import SKETCH_FORMS
from sql.functions.table import AGGREGATES, FUNCTIONS, WINDOW_FUNCTIONS, WITHIN_GROUP
from sql.parse.syntax import Expression as Syntax
from sql.parse.syntax import FrameBound, FunctionCall, WindowDefinition
from sql.times.interval_values import span_us
from sql.tree.expressions import AggregateCall, Cast, Expression, Literal, Parameter, SortKey, WindowCall, WindowFrame
from sql.tree.walks import columns_of
from sql.types.casts import can_cast, plain_name, require_equality
from sql.types.datatypes import INT4, INT8, TEXT, LiteralValue, SqlType
from sql.values.special_numbers import not_an_integer

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder


def window(binder: Binder, node: FunctionCall) -> Expression:
    """Return the column that stands for a window call."""
    name = node.name
    if node.over is None:
        raise SqlError("42809", f"window function {name} requires an OVER clause", node.position)
    if name not in WINDOW_FUNCTIONS and name not in AGGREGATES:
        if name in FUNCTIONS:
            message = f"OVER specified, but {name} is not a window function nor an aggregate function"
            raise SqlError("42809", message, node.position)
        raise no_function(f"{name}()", node.position)
    refuse_place(binder, node)
    if node.distinct:
        raise SqlError("0A000", "DISTINCT is not implemented for window functions", node.position)
    if node.order_by:
        raise SqlError("0A000", "aggregate ORDER BY is not implemented for window functions", node.position)
    inner = replace(binder, inside_window=True)
    if node.within_group or name in WITHIN_GROUP or (name in aggregates.HYPOTHETICAL and node.arguments):
        aggregates.require_set(inner, node)
        raise SqlError("0A000", f"OVER is not supported for ordered-set aggregate {name}", node.position)
    if name in aggregates.MADE and aggregates.MADE[name] in SKETCH_FORMS and node.arguments:
        return aggregates.sketched(binder, inner, node, lambda call: _placed(binder, node, call))
    if name in aggregates.MADE:
        function, arguments, kind = aggregates.chosen_over(inner, node)
        condition = aggregates.bind_filter(inner, node) if node.filter is not None else None
    elif name in AGGREGATES:
        function, arguments, kind = aggregates.resolve(inner, node)
        condition = aggregates.bind_filter(inner, node) if node.filter is not None else None
    else:
        if node.filter is not None:
            raise SqlError("0A000", "FILTER is not implemented for non-aggregate window functions", node.position)
        function, condition = name, None
        arguments, kind = resolve(inner, node)
    call = AggregateCall(function, arguments, kind, condition, False, node.position, node.text)
    return _placed(binder, node, call)


def _placed(binder: Binder, node: FunctionCall, call: AggregateCall) -> Expression:
    """Return the column that stands for a call over the window that a node asks for."""
    assert binder.virtual is not None
    assert node.over is not None
    window_of = over(binder, node.over)
    made = WindowCall(call.function, call.arguments, call.type, *window_of, call.filter, node.position, node.text)
    return binder.virtual.window(node.label, made)


def over(
    binder: Binder, definition: WindowDefinition
) -> tuple[tuple[Expression, ...], tuple[SortKey, ...], WindowFrame | None]:
    """Return the partition, the order and the frame of a window."""
    definition = named_window(binder, definition)
    place = replace(binder, clause="window definitions", windows_allowed=False, sets_allowed=False)
    partition = tuple(place.bind_value(item) for item in definition.partition_by)
    require_equality([key.type for key in partition])
    order = tuple(aggregates.sort_key(place, item) for item in definition.order_by)
    frame = None if definition.frame is None else bind_frame(place, definition.frame, order)
    return partition, order, frame


def refuse_place(binder: Binder, node: FunctionCall) -> None:
    """Raise PostgreSQL's error where a window call may not stand."""
    if binder.inside_aggregate:
        raise SqlError("42803", "aggregate function calls cannot contain window function calls", node.position)
    if binder.inside_window:
        raise SqlError("42P20", "window function calls cannot be nested", node.position)
    if not binder.windows_allowed or binder.virtual is None:
        raise SqlError("42P20", f"window functions are not allowed in {binder.clause}", node.position)


def resolve(binder: Binder, node: FunctionCall) -> tuple[tuple[Expression, ...], SqlType]:
    """Return the converted arguments and the type of a window function that is no aggregate."""
    operands = [binder.bind(argument) for argument in node.arguments]
    signature = choose(WINDOW_FUNCTIONS[node.name], [operand.type.family for operand in operands])
    if signature is None:
        raise no_function(written_call(node.name, operands), node.position)
    if "element" not in signature.arguments:
        values = [
            coerce(operand, SqlType(family), binder.context)
            for operand, family in zip(operands, signature.cast_to, strict=True)
        ]
        return tuple(values), SqlType(signature.result)
    if len(operands) == 3:
        kind, (operands[0], operands[2]) = unify([operands[0], operands[2]], node.name.upper(), binder.context)
    else:
        if operands[0].type.family == "unknown":
            operands[0] = coerce(operands[0], TEXT, binder.context)
        kind = operands[0].type
    if len(operands) > 1:
        operands[1] = coerce(operands[1], INT4, binder.context)
    return tuple(operands), kind.without_modifier()


def named_window(binder: Binder, over: WindowDefinition) -> WindowDefinition:
    """Return the definition with the named window that it refers to merged in."""
    if over.base is None:
        return over
    found = binder.windows.get(over.base)
    if found is None:
        raise SqlError("42704", f'window "{over.base}" does not exist', over.position)
    base = named_window(binder, found)
    if over.exact:
        return base
    if over.partition_by:
        raise SqlError("42P20", f'cannot override PARTITION BY clause of window "{over.base}"', over.position)
    if over.order_by and base.order_by:
        raise SqlError("42P20", f'cannot override ORDER BY clause of window "{over.base}"', over.position)
    if base.frame is not None:
        raise SqlError("42P20", f'cannot copy window "{over.base}" because it has a frame clause', over.position)
    return WindowDefinition(None, base.partition_by, over.order_by or base.order_by, over.frame, over.position)


def bind_frame(
    binder: Binder, frame: tuple[str, FrameBound, FrameBound, str], order: tuple[SortKey, ...]
) -> WindowFrame:
    """Return the frame; the grammar has seen that its bounds are in order."""
    unit, start, end, exclusion = frame
    if unit == "groups" and not order:
        raise SqlError("42P20", "GROUPS mode requires an ORDER BY clause", start.position)
    found = WindowFrame(unit, bound(binder, unit, start, order), bound(binder, unit, end, order), exclusion)
    return known_frame(found, (start.position, end.position))


def bound(
    binder: Binder, unit: str, item: FrameBound, order: tuple[SortKey, ...]
) -> tuple[str, int | Expression | None]:
    kind = "unbounded" if item.kind.startswith("unbounded") else item.kind
    if item.offset is None:
        return kind, None
    if unit == "range":
        family = range_family(item, order)
        return kind, coerce(without_columns(binder, item.offset, "RANGE"), SqlType(family), binder.context)
    return kind, count_argument(binder, item.offset, unit.upper())


def known_frame(frame: WindowFrame, positions: tuple[int | None, int | None] = (None, None)) -> WindowFrame:
    """Return a frame with the offsets that are constants checked; those of ROWS and GROUPS are
    numbers.

    Raises 22004 and 22013, and 0A000 for an offset that is neither a constant nor a parameter.
    """
    bounds = zip((frame.start, frame.end), ("starting", "ending"), positions, strict=True)
    start, end = ((one[0], known_offset(one[1], side, frame.unit, position)) for one, side, position in bounds)
    return replace(frame, start=start, end=end)


def known_offset(
    offset: int | Expression | None, side: str, unit: str, position: int | None
) -> int | Expression | None:
    if offset is None or isinstance(offset, int):
        return offset
    offset = folded(offset)
    inner: Expression = offset
    while isinstance(inner, Cast):
        inner = inner.operand
    if isinstance(inner, Parameter):
        return offset
    if not isinstance(offset, Literal):
        raise not_supported("a frame offset that is neither a constant nor a parameter", position)
    if offset.value is None:
        raise SqlError("22004", f"frame {side} offset must not be null")
    if is_negative(offset.value):
        what = "invalid preceding or following size in window function"
        raise SqlError("22013", what if unit == "range" else f"frame {side} offset must not be negative")
    return offset.value if unit != "range" and isinstance(offset.value, int) else offset


def count_argument(binder: Binder, node: Syntax, clause: str) -> Expression:
    """Bind the argument of a clause that counts rows: a bigint without columns."""
    value = binder.bind(node)
    if not can_cast(value.type.family, "int8", "assignment") or value.type.family == "bool":
        message = f"argument of {clause} must be type bigint, not type {plain_name(value.type)}"
        raise SqlError("42804", message, node.position)
    refuse_columns(value, clause)
    return coerce(value, INT8, binder.context, position=node.position)


def without_columns(binder: Binder, node: Syntax, clause: str) -> Expression:
    value = binder.bind(node)
    refuse_columns(value, clause)
    return value


def refuse_columns(value: Expression, clause: str) -> None:
    """Raise 42P10 for a column in the argument of a clause."""
    column = next(columns_of(value), None)
    if column is not None:
        raise SqlError("42P10", f"argument of {clause} must not contain variables", column.position)


def folded(value: Expression) -> Expression:
    """Return casts of a number, one around the other, as the number that they make."""
    if not isinstance(value, Cast):
        return value
    inner = folded(value.operand)
    if not isinstance(inner, Literal):
        return value
    if inner.value is None:
        return Literal(None, value.type, value.position)
    is_count = value.type.family in INTEGERS
    return (fold_count if is_count else fold)(inner, value.type) or replace(value, operand=inner)


def fold_count(literal: Literal, kind: SqlType) -> Literal | None:
    """Return a decimal constant as a whole number, rounded half away from zero."""
    folded = fold(literal, kind)
    if folded is not None or not isinstance(literal.value, Decimal):
        return folded
    if not literal.value.is_finite():
        raise not_an_integer(literal.value, kind.sql_name)
    return Literal(int(literal.value.to_integral_value(rounding="ROUND_HALF_UP")), kind, literal.position)


# What is added to a sort key of each type: numbers to numbers of the same kind, an interval to
# times.
RANGE_OFFSETS = {
    **{family: family for family in ("int2", "int4", "int8", "numeric", "float8")},
    "float4": "float8",
    **dict.fromkeys(("date", "timestamp", "timestamptz", "time", "interval"), "interval"),
}


def range_family(item: FrameBound, order: tuple[SortKey, ...]) -> str:
    """Return the type of what RANGE adds to the one sort key."""
    if len(order) != 1:
        message = "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column"
        raise SqlError("42P20", message, item.position)
    kind = order[0].expression.type
    family = RANGE_OFFSETS.get(kind.family)
    if family is None:
        name = plain_name(kind)
        message = f"RANGE with offset PRECEDING/FOLLOWING is not supported for column type {name}"
        raise SqlError("0A000", message, item.position)
    return family


def is_negative(value: LiteralValue) -> bool:
    """Tell whether a number or an interval is below zero."""
    match value:
        case (int(months), int(days), int(micros)):
            return span_us((months, days, micros)) < 0
        case int() | float() | Decimal():
            return value < 0
    return False
