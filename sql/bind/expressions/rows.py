"""Rows of values beside each other, compared item by item: (a, b) = (c, d), (a, b) < (c, d), IN, IS
NULL, IS DISTINCT FROM.

A row that is written beside another one is divided into comparisons of its items, in PostgreSQL's
order of NULLs; rows as values are in `sql.bind.expressions.scope`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sql.bind.expressions.operators import binary, prefix
from sql.bind.expressions.scope import fields_of
from sql.bind.expressions.subqueries import row_of_subquery
from sql.errors import SqlError
from sql.parse.syntax import Expression as Syntax
from sql.parse.syntax import Operation, Row, Subquery
from sql.tree.expressions import Call, Case, Expression
from sql.types.casts import plain_name
from sql.types.datatypes import BOOL

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder

COMPARED = ("=", "<>", "<", "<=", ">", ">=")
# Longer rows are not compared by conditions in each other.
NESTED_MAX = 16


def operation(binder: Binder, node: Operation) -> Expression:
    """Bind a unary or binary operator."""
    if is_row_comparison(*node.operands):
        left, right = node.operands
        return row_operation(binder, node.operator, left, right, node.position, node.text)
    operands = [binder.bind(operand) for operand in node.operands]
    if len(operands) == 2:
        return binary(binder, node.operator, operands[0], operands[1], node.position, node.text)
    return prefix(binder, node.operator, operands[0], node.position, node.text)


def is_row_comparison(left: Syntax, right: Syntax | None = None) -> bool:
    """Tell whether items are compared one by one: a row beside a row, or beside a subquery."""
    return isinstance(left, Row) and (
        isinstance(right, Row) or (isinstance(right, Subquery) and right.kind == "scalar")
    )


def row_operation(binder: Binder, operator: str, left: Syntax, right: Syntax, position: int, text: str) -> Expression:
    """Bind a comparison with a row on its left side."""
    assert isinstance(left, Row), left
    if isinstance(right, Subquery):
        ones = [binder.bind(item) for item in left.items]
        return compare(binder, operator, ones, row_of_subquery(binder, right, len(ones), position), position, text)
    assert isinstance(right, Row), right
    ones = [binder.bind(item) for item in left.items]
    return compare(binder, operator, ones, [binder.bind(item) for item in right.items], position, text)


def compare(
    binder: Binder, operator: str, left: list[Expression], right: list[Expression], position: int, text: str
) -> Expression:
    """Compare two rows: = and <> in all items, < and its like by the first items that differ."""
    if len(left) != len(right):
        raise SqlError("42601", "unequal number of entries in row expressions", position)
    if not left:
        raise SqlError("0A000", "cannot compare rows of zero length", position)

    def pair(written: str, index: int) -> Expression:
        found = binary(binder, written, left[index], right[index], position, text)
        if found.type.family != "bool":
            message = f"row comparison operator must yield type boolean, not type {plain_name(found.type)}"
            raise SqlError("42804", message, position)
        return found

    count = len(left)
    if operator not in COMPARED:
        pair(operator, 0)
        hint = "Row comparison operators must be associated with btree operator families."
        raise SqlError(
            "0A000", f"could not determine interpretation of row comparison operator {operator}", position, hint=hint
        )
    if operator in ("=", "<>"):
        pairs = tuple(pair(operator, index) for index in range(count))
        return joined("and" if operator == "=" else "or", pairs, position, text)
    strict = operator.rstrip("=")
    found = pair(operator, count - 1)
    if count > NESTED_MAX:
        # The same in one CASE: engines plan conditions that nest as deep as a long row in a time
        # that grows faster than the row.
        branches = (
            (Call("is_not_true", (pair("=", index),), BOOL, position, text), pair(strict, index))
            for index in range(count - 1)
        )
        return Case(tuple(branches), found, BOOL)
    for index in reversed(range(count - 1)):
        tail = Call("and", (pair("=", index), found), BOOL, position, text)
        found = Call("or", (pair(strict, index), tail), BOOL, position, text)
    return found


def joined(word: str, operands: tuple[Expression, ...], position: int, text: str) -> Expression:
    """Return operands under AND or OR."""
    return operands[0] if len(operands) == 1 else Call(word, operands, BOOL, position, text)


def row_in_list(binder: Binder, operand: Row, items: tuple[Syntax, ...], position: int, text: str) -> Expression:
    """Bind row IN (row, ...)."""
    ones = [binder.bind(item) for item in operand.items]
    found = []
    for item in items:
        if not isinstance(item, Row):
            found.append(binary(binder, "=", binder.bind(operand), binder.bind(item), position, text))
            continue
        found.append(compare(binder, "=", ones, [binder.bind(part) for part in item.items], position, text))
    return joined("or", tuple(found), position, text)


def row_distinct(binder: Binder, left: Syntax, right: Syntax, negated: bool, position: int, text: str) -> Expression:
    """Bind row IS [NOT] DISTINCT FROM row."""
    assert isinstance(left, Row) and isinstance(right, Row), (left, right)
    if len(left.items) != len(right.items):
        raise SqlError("42601", "unequal number of entries in row expressions", position)
    name = "is_not_distinct" if negated else "is_distinct"
    pairs = []
    for one, two in zip(left.items, right.items, strict=True):
        equal = binary(binder, "=", binder.bind(one), binder.bind(two), position, text)
        assert isinstance(equal, Call), "an equality is a call"
        pairs.append(Call(name, equal.arguments, BOOL, position, text))
    return joined("and" if negated else "or", tuple(pairs), position, text)


def record_is_null(operand: Expression, negated: bool, position: int, text: str) -> Expression:
    """Bind record IS [NOT] NULL, which asks all of its fields, too."""
    name = "is_not_null" if negated else "is_null"
    fields = fields_of(operand) or [operand]
    return joined("and", tuple(Call(name, (field,), BOOL, position, text) for field in fields), position, text)


def row_is_null(binder: Binder, operand: Row, negated: bool, position: int, text: str) -> Expression:
    """Bind row IS [NOT] NULL, which asks all of its items."""
    name = "is_not_null" if negated else "is_null"
    return joined(
        "and",
        tuple(Call(name, (binder.bind_value(item),), BOOL, position, text) for item in operand.items),
        position,
        text,
    )
