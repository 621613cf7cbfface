"""Calls of aggregates written as other calls: the rank of a hypothetical row as numbers of rows
that come before it, so that states count and no rows are kept; a list of arrays as one of rows.

Syntax in, syntax out.
"""

from __future__ import annotations

from dataclasses import replace

from sql.parse.syntax import (
    CaseWhen,
    Constant,
    Distinctness,
    Expression,
    FunctionCall,
    Logic,
    Operation,
    Row,
    SortItem,
    Test,
    TypeCast,
    TypeName,
)


def rank_of(node: FunctionCall) -> Expression:
    """Return what a call of rank and the like with WITHIN GROUP is."""
    before, equal = _before(node), _equal(node)
    rows = _count(node, None)
    one = number("1", node)
    match node.name:
        case "rank":
            found = operation("+", _count(node, before), one, node)
        case "dense_rank":
            found = operation("+", _different(node, before), one, node)
        case "percent_rank":
            share = operation("/", as_double(_count(node, before), node.position), rows, node)
            zero = as_double(number("0", node), node.position)
            none = operation("=", rows, number("0", node), node)
            found = CaseWhen(None, ((none, zero),), share, node.position, node.text)
        case _:
            up_to = Logic("or", (before, equal), node.position, node.text)
            reached = operation("+", _count(node, up_to), one, node)
            found = operation("/", as_double(reached, node.position), operation("+", rows, one, node), node)
    return found


def _count(node: FunctionCall, condition: Expression | None) -> FunctionCall:
    """Return count(*) of the rows of the call's filter that meet a condition too."""
    kept = [part for part in (node.filter, condition) if part is not None]
    filtered = Logic("and", tuple(kept), node.position, node.text) if len(kept) > 1 else next(iter(kept), None)
    return replace(node, name="count", star=True, arguments=(), within_group=(), filter=filtered)


def _different(node: FunctionCall, condition: Expression) -> Expression:
    """Return the number of different keys of the rows that meet a condition, NULL among them."""
    keys = tuple(key.expression for key in node.within_group)
    counted = replace(_count(node, condition), star=False, distinct=True)
    if len(keys) > 1:
        # A row is not NULL where its fields are.
        return replace(counted, arguments=(Row(keys, node.position, node.text),))
    is_null = Test("null", keys[0], False, node.position, node.text)
    nulls = _count(node, Logic("and", (condition, is_null), node.position, node.text))
    one = number("1", node)
    some = FunctionCall("least", (nulls, one), node.position, node.text, "least")
    return operation("+", replace(counted, arguments=keys), some, node)


def _before(node: FunctionCall) -> Expression:
    """Return the condition that a row comes before the hypothetical one."""
    reached: list[Expression] = []
    found: list[Expression] = []
    for key, value in zip(node.within_group, node.arguments, strict=True):
        parts = [*reached, _key_before(key, value, node)]
        found.append(parts[0] if len(parts) == 1 else Logic("and", tuple(parts), node.position, node.text))
        reached.append(Distinctness(key.expression, value, True, key.position, node.text))
    return found[0] if len(found) == 1 else Logic("or", tuple(found), node.position, node.text)


def _key_before(key: SortItem, value: Expression, node: FunctionCall) -> Expression:
    """Return the condition that a key comes before a value, NULLs at their end."""
    first = key.descending if key.nulls_first is None else key.nulls_first
    compared = operation(">" if key.descending else "<", key.expression, value, node)
    nulls = (
        Test("null", key.expression, not first, key.position, node.text),
        Test("null", value, first, key.position, node.text),
    )
    alone = Logic("and", nulls, key.position, node.text)
    return Logic("or", (compared, alone), key.position, node.text)


def _equal(node: FunctionCall) -> Expression:
    """Return the condition that a row is a peer of the hypothetical one."""
    pairs = zip(node.within_group, node.arguments, strict=True)
    same = tuple(Distinctness(key.expression, value, True, key.position, node.text) for key, value in pairs)
    return same[0] if len(same) == 1 else Logic("and", same, node.position, node.text)


def operation(operator: str, left: Expression, right: Expression, node: FunctionCall) -> Expression:
    return Operation(operator, (left, right), node.position, node.text)


def number(digits: str, node: FunctionCall) -> Expression:
    return Constant("integer", digits, node.position)


def as_double(operand: Expression, position: int) -> Expression:
    return TypeCast(operand, TypeName("float8", (), position, "float8"), position, "")


def in_rows(node: FunctionCall) -> FunctionCall:
    """Return array_agg of rows of the one argument, since there is no array of arrays."""
    (argument,) = node.arguments

    def row(written: Expression) -> Expression:
        return Row((written,), node.position, node.text)

    order = node.order_by
    if node.distinct:
        order = tuple(replace(key, expression=row(key.expression)) for key in order)
    return replace(node, name="array_agg", arguments=(row(argument),), order_by=order)
