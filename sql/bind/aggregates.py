"""Aggregate calls: overload, DISTINCT, FILTER, and where they may stand (42803)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sql.aggregates import AGGREGATES
from sql.bind.coerce import coerce
from sql.bind.operators import result_type, type_name
from sql.datatypes import INT8, TEXT, SqlType
from sql.errors import SqlError, not_supported
from sql.expressions import AggregateCall, Expression
from sql.overloads import AmbiguousError, choose
from sql.signatures import Signature
from sql.syntax import FunctionCall

if TYPE_CHECKING:
    from sql.bind.expressions import Binder

# DISTINCT changes nothing for these, and without it their states merge.
DISTINCT_FREE = frozenset({"min", "max", "bool_and", "bool_or"})
NONE_HINT = "No function matches the given name and argument types. You might need to add explicit type casts."


def aggregate(binder: Binder, node: FunctionCall) -> Expression:
    """Return the column that stands for an aggregate, or for a window call of one."""
    if node.over is not None:
        from sql.bind import windows

        return windows.window(binder, node)
    if binder.inside_aggregate:
        raise SqlError("42803", "aggregate function calls cannot be nested", node.position)
    if not binder.aggregates_allowed or binder.virtual is None:
        raise SqlError("42803", f"aggregate functions are not allowed in {binder.clause}", node.position)
    if node.order_by:
        raise not_supported("ORDER BY in an aggregate", node.position)
    inner = replace(binder, inside_aggregate=True)
    function, arguments, kind = resolve(inner, node)
    condition = None
    if node.filter is not None:
        condition = bind_filter(binder, node)
    distinct = node.distinct and function not in DISTINCT_FREE
    call = AggregateCall(function, arguments, kind, condition, distinct, node.position, node.text)
    return binder.virtual.aggregate(node.label, call)


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
    if signature.arguments == ("any",):
        wanted = [TEXT if operand.type.family == "unknown" else operand.type for operand in operands]
    else:
        wanted = [SqlType(family) for family in signature.cast_to]
    arguments = tuple(coerce(operand, kind, binder.context) for operand, kind in zip(operands, wanted, strict=True))
    return signature.canonical, arguments, result_type(signature, arguments, node.position)


def pick(name: str, operands: list[Expression], position: int) -> Signature:
    families = [operand.type.family for operand in operands]
    written = f"{name}({', '.join(type_name(operand) for operand in operands)})"
    try:
        found = choose(AGGREGATES[name], families)
    except AmbiguousError:
        hint = "Could not choose a best candidate function. You might need to add explicit type casts."
        raise SqlError("42725", f"function {written} is not unique", position, hint=hint) from None
    if found is None:
        raise no_function(written, position)
    return found


def no_function(written: str, position: int) -> SqlError:
    return SqlError("42883", f"function {written} does not exist", position, hint=NONE_HINT)
