"""Arrays in expressions: ARRAY[...], subscripts and slices, operand operator ANY | ALL (array).

Canonical names: 'array' of its elements (none: an empty array of the call's type), 'subscript' of
(array, int4), 'slice' of (array, int4, int4) where a NULL of type unknown is a bound that was left
out, and 'any_eq', 'all_lt', 'any_like' and their like of (operand, array), those of the order of
values with operand and elements of one family. Arrays of arrays (PostgreSQL's further dimensions)
are refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sql.bind.expressions.coerce import coerce, explicit_cast, unify
from sql.bind.expressions.object_names import as_array, element_place
from sql.bind.expressions.operators import binary
from sql.bind.expressions.source_positions import start_of
from sql.errors import SqlError, not_supported
from sql.functions.arrays import items_of
from sql.functions.comparisons import COMPARISONS
from sql.functions.table import ROWS
from sql.functions.volatility import is_volatile
from sql.parse.syntax import ArrayComparison, ArrayItems, Subscript
from sql.parse.syntax import Expression as Syntax
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal
from sql.types.casts import can_cast, plain_name
from sql.types.datatypes import BOOL, CHAR, INT4, TEXT, UNKNOWN, SqlType, array_of

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder

# Items of an array that is written out: a test is bound for each.
ITEMS_MAX = 1000
EMPTY_HINT = "Explicitly cast to the desired type, for example ARRAY[]::integer[]."


def array_items(binder: Binder, node: ArrayItems, wanted: SqlType | None = None) -> Expression:
    """Bind ARRAY[...].

    wanted: the array type of a cast around it.
    """
    if wanted is not None:
        return items_as(binder, node, wanted)
    if not node.items:
        raise SqlError("42P18", "cannot determine type of empty array", node.position, hint=EMPTY_HINT)
    operands = [binder.bind(item) for item in node.items]
    kind, values = unify(operands, "ARRAY", binder.context, [start_of(item) for item in node.items])
    if kind.is_array:
        raise not_supported("an array of arrays", node.position)
    element = kind if all(value.type == kind for value in values) else kind.without_modifier()
    return Call("array", tuple(values), array_of(element), node.position, node.text)


def items_as(binder: Binder, node: ArrayItems, wanted: SqlType) -> Expression:
    """Bind ARRAY[...]::type[], whose items are converted one by one."""
    if any(isinstance(item, ArrayItems) for item in node.items):
        raise not_supported("an array of arrays", node.position)
    values = tuple(
        explicit_cast(binder.bind(item), wanted.element, binder.context, start_of(item)) for item in node.items
    )
    return Call("array", values, wanted, node.position, node.text)


def subscript(binder: Binder, node: Subscript) -> Expression:
    """Bind array[index] or array[lower:upper]."""
    operand = binder.bind(node.operand)
    array = as_array(operand)
    kind = array.type
    if kind.family == "name" and not node.is_slice and node.lower is not None:
        # A name is an array of 64 bytes that counts from 0.
        place = element_place(index_of(binder, node.lower))
        part = Call("substring", (Cast(array, TEXT), place, Literal(1, INT4)), TEXT, node.position, node.text)
        is_in = tuple(Call(name, (place, Literal(end, INT4)), BOOL) for name, end in (("ge", 1), ("le", 64)))
        return Case(((Call("and", is_in, BOOL), Cast(part, CHAR)),), Literal(None, CHAR), CHAR)
    if not kind.is_array:
        if kind.family == "name":
            raise SqlError("0A000", "slices of fixed-length arrays not implemented")
        if kind.family == "jsonb":
            raise not_supported("a subscript of jsonb", node.position)
        message = f"cannot subscript type {plain_name(kind)} because it does not support subscripting"
        raise SqlError("42804", message, start_of(node.operand))
    bounds = tuple(
        Literal(None, UNKNOWN) if bound is None else index_of(binder, bound)
        for bound in ((node.lower, node.upper) if node.is_slice else (node.lower,))
    )
    if operand is not array:
        bounds = tuple(bound if bound.type.family == "unknown" else element_place(bound) for bound in bounds)
    if node.is_slice:
        return Call("slice", (array, *bounds), kind, node.position, node.text)
    return Call("subscript", (array, *bounds), kind.element, node.position, node.text)


def index_of(binder: Binder, node: Syntax) -> Expression:
    value = binder.bind(node)
    if not can_cast(value.type.family, "int4", "assignment") or value.type.family == "bool":
        raise SqlError("42804", "array subscript must have type integer", start_of(node))
    return coerce(value, INT4, binder.context)


def array_comparison(binder: Binder, node: ArrayComparison) -> Expression:
    """Bind operand operator ANY | ALL (array): compared as the operator compares one element."""
    operand, array = binder.bind(node.operand), as_array(binder.bind(node.array))
    element: Expression
    if array.type.is_array:
        element = Column(0, "", array.type.element.without_modifier())
    elif array.type.family == "unknown":
        element = Literal(None, UNKNOWN)
    else:
        raise SqlError("42809", "op ANY/ALL (array) requires array on right side", node.position)
    found = binary(binder, node.operator, operand, element, node.position, node.text)
    if found.type.family != "bool":
        message = "op ANY/ALL (array) requires operator to yield boolean"
        raise SqlError("42809", message, node.position)
    if not isinstance(found, Call) or found.function not in COMPARISONS:
        array = array if array.type.is_array else coerce(array, array_of(TEXT), binder.context)
        written = _item_by_item(binder, node, operand, array)
        if written is not None:
            return written
    return quantified(binder, node, found, array)


def quantified(binder: Binder, node: ArrayComparison, test: Expression, array: Expression) -> Expression:
    """Return whether a test of an operand and an element holds for any or all elements."""
    match test:
        case Call(function="not", arguments=(inner,)):
            other = replace(node, quantifier="all" if node.quantifier == "any" else "any")
            return Call("not", (quantified(binder, other, inner, array),), BOOL, node.position, node.text)
        case Call(arguments=(left, right, *rest)) if f"{node.quantifier}_{test.function}" in ROWS:
            converted = coerce(array, array_of(right.type.without_modifier()), binder.context)
            name = f"{node.quantifier}_{test.function}"
            return Call(name, (left, converted, *rest), BOOL, node.position, node.text)
    raise not_supported(f"{node.operator} {node.quantifier.upper()} (array)", node.position)


def _item_by_item(binder: Binder, node: ArrayComparison, operand: Expression, array: Expression) -> Expression | None:
    """Return the comparison with an array that is written out as comparisons with its items: LIKE
    and patterns.
    """
    items = items_of(array)
    if items is None or len(items) > ITEMS_MAX or (len(items) > 1 and is_volatile(operand)):
        return None
    tests = tuple(binary(binder, node.operator, operand, item, node.position, node.text) for item in items)
    if len(tests) < 2:
        return tests[0] if tests else Literal(node.quantifier == "all", BOOL)
    return Call("or" if node.quantifier == "any" else "and", tests, BOOL, node.position, node.text)
