"""Aggregate calls: overload, DISTINCT, FILTER, and where they may stand (42803)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sql.bind.closures import Mark
from sql.bind.homes import at_home
from sql.bind.operators import type_name
from sql.bind.polymorphic import converted, result_type
from sql.errors import SqlError, not_supported
from sql.functions.aggregates import AGGREGATES, ORDERED_SET_AGGREGATES
from sql.functions.overloads import AmbiguousError, choose
from sql.functions.signatures import Signature
from sql.parse.syntax import FunctionCall, SortItem
from sql.tree.expressions import AggregateCall, Expression, Literal, SortKey
from sql.types.casts import require_equality
from sql.types.datatypes import INT8, SqlType

if TYPE_CHECKING:
    from sql.bind.expressions import Binder

# DISTINCT changes nothing for these, and without it their states merge.
DISTINCT_FREE = frozenset({"min", "max", "bool_and", "bool_or"})
# The order of the rows decides the value of these.
ORDERED = frozenset({"string_agg", "array_agg"})
NONE_HINT = "No function matches the given name and argument types. You might need to add explicit type casts."


def aggregate(binder: Binder, node: FunctionCall) -> Expression:
    """Return the column that stands for an aggregate, or for a window call of one."""
    if node.over is not None:
        from sql.bind import windows

        return windows.window(binder, node)
    mark = Mark.of(binder.scope.outer)
    inner = replace(binder, inside_aggregate=True)
    order: tuple[SortKey, ...]
    if node.name in ORDERED_SET_AGGREGATES:
        function, arguments, kind, order = ordered_set(inner, node)
    else:
        if node.within_group:
            message = f"{node.name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"
            raise SqlError("42809", message, node.position)
        function, arguments, kind = resolve(inner, node)
        order = sort_keys(inner, node, arguments)
    condition = None
    if node.filter is not None:
        condition = bind_filter(binder, node)
    distinct = node.distinct and function not in DISTINCT_FREE
    if node.distinct:
        require_equality([argument.type for argument in arguments], node.position)
    call = AggregateCall(function, arguments, kind, condition, distinct, node.position, node.text, order)
    return at_home(binder, node.label, call, mark)


def sort_keys(binder: Binder, node: FunctionCall, arguments: tuple[Expression, ...]) -> tuple[SortKey, ...]:
    """Return the order in which an aggregate takes its rows."""
    keys = tuple(sort_key(binder, item) for item in node.order_by)
    if node.distinct:
        # A varchar has become a text for the function's sake.
        given = [binder.bind(argument) for argument in node.arguments]
        keys = tuple(as_argument(key, given, arguments) for key in keys)
        for key, item in zip(keys, node.order_by, strict=True):
            if key.expression not in arguments:
                message = "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list"
                raise SqlError("42P10", message, item.position)
        if not keys and node.name in ORDERED:
            # PostgreSQL finds the different values by sorting them.
            keys = tuple(SortKey(argument) for argument in arguments if not isinstance(argument, Literal))
    return keys if node.name in ORDERED else ()


def as_argument(key: SortKey, given: Sequence[Expression], arguments: Sequence[Expression]) -> SortKey:
    """Return a sort key as the argument that it is, converted like that."""
    for before, after in zip(given, arguments, strict=True):
        if key.expression == before:
            return replace(key, expression=after)
    return key


def sort_key(binder: Binder, item: SortItem) -> SortKey:
    """Return an ORDER BY item; NULLs come last when ascending."""
    first = item.descending if item.nulls_first is None else item.nulls_first
    return SortKey(binder.bind_value(item.expression), item.descending, first)


def ordered_set(binder: Binder, node: FunctionCall) -> tuple[str, tuple[Expression, ...], SqlType, tuple[SortKey, ...]]:
    """Return the function, the arguments without the sort key, the type and the one sort key of WITHIN GROUP."""
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
    if node.star:
        if name != "count":
            raise no_function(f"{name}()", node.position)
        return "count_star", (), INT8
    if not node.arguments:
        if name == "count":
            message = "count(*) must be used to call a parameterless aggregate function"
            raise SqlError("42809", message, node.position)
        raise no_function(f"{name}()", node.position)
    operands = [binder.bind(argument) for argument in node.arguments]
    signature = pick(name, operands, node.position)
    if not signature.canonical:
        raise not_supported(f"the aggregate {name}({', '.join(signature.arguments)})", node.position)
    arguments = tuple(converted(signature, operands, binder.context))
    return signature.canonical, arguments, result_type(signature, arguments, node.position)


def pick(name: str, operands: list[Expression], position: int) -> Signature:
    families = [operand.type.family for operand in operands]
    written = f"{name}({', '.join(type_name(operand) for operand in operands)})"
    try:
        found = choose((AGGREGATES | ORDERED_SET_AGGREGATES)[name], families)
    except AmbiguousError:
        hint = "Could not choose a best candidate function. You might need to add explicit type casts."
        raise SqlError("42725", f"function {written} is not unique", position, hint=hint) from None
    if found is None:
        raise no_function(written, position)
    return found


def no_function(written: str, position: int) -> SqlError:
    return SqlError("42883", f"function {written} does not exist", position, hint=NONE_HINT)
