"""Aggregate calls: overload, DISTINCT, FILTER, where they may stand (42803), and which query they
belong to.

An aggregate belongs to the nearest query whose columns its arguments read, which may be one further
out. The column that stands for the aggregate where it is written is then passed in through the
closures in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sql.bind.expressions.coerce import converted, result_type
from sql.bind.expressions.correlation import Closure, Mark, nearest_closure, pass_in, reads_outside, reads_row
from sql.bind.expressions.object_names import as_array
from sql.bind.expressions.operators import no_function, pick_function, written_call
from sql.bind.expressions.placeholder_columns import FIRST_AGGREGATE, FIRST_WINDOW
from sql.errors import SqlError, not_supported
from sql.functions.signatures import Signature
from sql.functions.table import AGGREGATE_ROWS, AGGREGATES, WITHIN_GROUP
from sql.parse.syntax import FunctionCall, SortItem
from sql.tree.expressions import AggregateCall, Expression, Literal, SortKey
from sql.tree.walks import children, columns_of, map_parts
from sql.types.casts import require_equality
from sql.types.datatypes import INT4, SqlType

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder


def aggregate(binder: Binder, node: FunctionCall) -> Expression:
    """Return the column that stands for an aggregate."""
    mark = Mark.of(binder.scope.outer)
    inner = replace(binder, inside_aggregate=True)
    order: tuple[SortKey, ...]
    if node.name in WITHIN_GROUP:
        function, arguments, kind, order = ordered_set(inner, node)
    else:
        if node.within_group:
            message = f"{node.name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"
            raise SqlError("42809", message, node.position)
        function, arguments, kind = resolve(inner, node)
        order = sort_keys(inner, node, function, arguments)
    condition = None
    if node.filter is not None:
        condition = bind_filter(binder, node)
    distinct = node.distinct and not AGGREGATE_ROWS[function].distinct_free
    if node.distinct:
        require_equality([argument.type for argument in arguments], node.position)
    call = AggregateCall(function, arguments, kind, condition, distinct, node.position, node.text, order)
    return at_home(binder, node.label, call, mark)


def sort_keys(
    binder: Binder, node: FunctionCall, function: str, arguments: tuple[Expression, ...]
) -> tuple[SortKey, ...]:
    """Return the order in which an aggregate takes its rows, if its value depends on that."""
    row = AGGREGATE_ROWS[function]
    keys = tuple(sort_key(binder, item) for item in node.order_by)
    if node.distinct:
        # A varchar has become a text for the function's sake.
        given = [binder.bind(argument) for argument in node.arguments]
        keys = tuple(as_argument(key, given, arguments) for key in keys)
        for key, item in zip(keys, node.order_by, strict=True):
            if key.expression not in arguments:
                message = "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list"
                raise SqlError("42P10", message, item.position)
        if not keys and row.ordered:
            # PostgreSQL finds the different values by sorting them.
            keys = tuple(SortKey(argument) for argument in arguments if not isinstance(argument, Literal))
    is_added = bool(arguments) and row.adds_in_order(arguments[0].type.family)
    return keys if row.ordered or is_added else ()


def as_argument(key: SortKey, given: Sequence[Expression], arguments: Sequence[Expression]) -> SortKey:
    """Return a sort key that is an argument in the form of that argument, converted like it."""
    for before, after in zip(given, arguments, strict=True):
        if key.expression == before:
            return replace(key, expression=after)
    return key


def sort_key(binder: Binder, item: SortItem) -> SortKey:
    """Return an ORDER BY item; NULLs come last when ascending."""
    first = item.descending if item.nulls_first is None else item.nulls_first
    return SortKey(binder.bind_value(item.expression), item.descending, first)


def ordered_set(binder: Binder, node: FunctionCall) -> tuple[str, tuple[Expression, ...], SqlType, tuple[SortKey, ...]]:
    """Return the function, the arguments without the sort key, the type and the one sort key of
    WITHIN GROUP.
    """
    if not node.within_group:
        raise SqlError("42809", f"WITHIN GROUP is required for ordered-set aggregate {node.name}", node.position)
    if node.distinct or node.order_by:
        raise not_supported(f"DISTINCT or ORDER BY in the arguments of {node.name}", node.position)
    key = sort_key(binder, node.within_group[0])
    operands = [*(binder.bind(argument) for argument in node.arguments), key.expression]
    if any(operand.type.is_array for operand in operands[:-1]):
        raise not_supported(f"the aggregate {node.name} of several fractions", node.position)
    signature = pick(node.name, operands, node.position)
    if len(node.within_group) > 1 or not signature.canonical:
        raise not_supported(f"the aggregate {node.name} over these sort keys", node.position)
    values = converted(signature, operands, binder.context)
    kind = values[-1].type.without_modifier() if signature.result == "element" else SqlType(signature.result)
    return signature.canonical, tuple(values[:-1]), kind, (replace(key, expression=values[-1]),)


def bind_filter(binder: Binder, node: FunctionCall) -> Expression:
    assert node.filter is not None
    inner = replace(binder, clause="FILTER", aggregates_allowed=False, windows_allowed=False)
    return inner.bind_boolean(node.filter)


def resolve(binder: Binder, node: FunctionCall) -> tuple[str, tuple[Expression, ...], SqlType]:
    """Return the canonical function of an aggregate call, its converted arguments, and its type."""
    name = node.name
    starred = next((one for one in AGGREGATES[name] if not one.arguments), None)
    if node.star:
        if starred is None:
            raise no_function(f"{name}()", node.position)
        return starred.canonical, (), SqlType(starred.result)
    if not node.arguments:
        if starred is not None:
            message = "count(*) must be used to call a parameterless aggregate function"
            raise SqlError("42809", message, node.position)
        raise no_function(f"{name}()", node.position)
    operands = [as_array(binder.bind(argument)) for argument in node.arguments]
    signature = pick(name, operands, node.position)
    if not signature.canonical:
        raise not_supported(f"the aggregate {name}({', '.join(signature.arguments)})", node.position)
    arguments = tuple(converted(signature, operands, binder.context))
    return signature.canonical, arguments, result_type(signature, arguments, node.position)


def pick(name: str, operands: list[Expression], position: int) -> Signature:
    return pick_function(AGGREGATES[name], operands, written_call(name, operands), position)


GROUPING_ARGUMENTS_MAX = 31


def at_home(binder: Binder, label: str, call: AggregateCall, mark: Mark) -> Expression:
    """Return the column that stands for an aggregate in its query: the nearest one whose columns it
    reads.

    mark: the counts of the closures around, before the arguments were bound.
    """
    closures: list[Closure] = []
    home = binder
    while True:
        parts = children(call)
        closure = nearest_closure(home.scope.outer)
        if closure is None or reads_row(parts) or not reads_outside(parts):
            break
        call = map_parts(call, closure.outside)
        closures.append(closure)
        home = closure.binder
    check_place(home, call)
    mark.release(len(closures))
    assert home.virtual is not None, "checked with the place"
    column = home.virtual.aggregate(label, call)
    return pass_in(column, tuple(closures), label, call.position)


def check_place(home: Binder, call: AggregateCall) -> None:
    """Raise 42803 where an aggregate of this query may not stand."""
    for part in children(call):
        for column in columns_of(part):
            if FIRST_AGGREGATE <= column.index < FIRST_WINDOW:
                raise SqlError("42803", "aggregate function calls cannot be nested", column.position)
    if home.inside_aggregate:
        raise SqlError("42803", "aggregate function calls cannot be nested", call.position)
    if not home.aggregates_allowed or home.virtual is None:
        what = "aggregate functions" if call.function != "grouping" else "grouping operations"
        raise SqlError("42803", f"{what} are not allowed in {home.clause}", call.position)


def grouping_call(binder: Binder, node: FunctionCall) -> Expression:
    """Return the column that stands for GROUPING(...)."""
    if len(node.arguments) > GROUPING_ARGUMENTS_MAX:
        raise SqlError("54023", "GROUPING must have fewer than 32 arguments", node.position)
    mark = Mark.of(binder.scope.outer)
    arguments = tuple(binder.bind(item) for item in node.arguments)
    call = AggregateCall("grouping", arguments, INT4, position=node.position, text=node.text)
    return at_home(binder, "grouping", call, mark)
