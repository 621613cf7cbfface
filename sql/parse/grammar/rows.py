"""Expressions in parentheses or brackets: subqueries, rows, arrays, and the subscripts after a
value.

A parenthesis may begin a query, a query's operand in more parentheses, a row, or an expression.
Only later tokens tell which of them it is: ((SELECT 1) UNION SELECT 2), ((SELECT 1) + 1), ((SELECT
1), 2).
"""

from __future__ import annotations

from sql.parse.grammar import calls, predicates, queries
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar.cursor import Cursor
from sql.parse.syntax import ArrayItems, Expression, FieldSelection, Query, Row, Subquery, Subscript


def parenthesised(cursor: Cursor) -> Expression:
    """Read a scalar subquery, a row, or an expression in parentheses."""
    first = cursor.index
    position = cursor.position
    found = in_parentheses(cursor)
    text = cursor.shown_since(first)
    if isinstance(found, Query):
        return indirection(cursor, Subquery("scalar", found, None, "", position, text), first)
    if len(found) > 1:
        return row_or_overlaps(cursor, Row(found, position, text), first)
    return indirection(cursor, found[0], first)


def in_parentheses(cursor: Cursor, one_only: bool = False) -> Query | tuple[Expression, ...]:
    """Read (query) or (expression, ...); with `one_only` a single expression."""
    cursor.expect_operator("(")
    first = cursor.index
    position = cursor.position
    found: Query | Expression
    if cursor.at(*queries.STARTS):
        found = queries.query(cursor)
    elif cursor.at_operator("(") and queries.at_query(cursor):
        cursor.enter()
        inside = in_parentheses(cursor)
        cursor.leave()
        if isinstance(inside, Query) and cursor.at(*queries.CONTINUATIONS):
            found = queries.continued(cursor, inside, position)
        elif isinstance(inside, Query) and cursor.at_operator(")"):
            found = inside
        else:
            found = grammar.continued(cursor, value_of(cursor, inside, position, first), first)
    else:
        found = grammar.expression(cursor)
    if isinstance(found, Query):
        cursor.expect_operator(")")
        return found
    items = [found]
    while not one_only and cursor.accept_operator(","):
        items.append(grammar.expression(cursor))
    cursor.expect_operator(")")
    return tuple(items)


def value_of(cursor: Cursor, inside: Query | tuple[Expression, ...], position: int, first: int) -> Expression:
    """Return the value of what was read between parentheses, with its subscripts."""
    text = cursor.shown_since(first)
    if isinstance(inside, Query):
        return indirection(cursor, Subquery("scalar", inside, None, "", position, text), first)
    if len(inside) > 1:
        return row_or_overlaps(cursor, Row(inside, position, text), first)
    return indirection(cursor, inside[0], first)


def row_or_overlaps(cursor: Cursor, row: Row, first: int) -> Expression:
    return predicates.overlaps(cursor, row, first) if cursor.at("overlaps") else row


def explicit_row(cursor: Cursor) -> Expression:
    """Read ROW(...)."""
    first = cursor.index
    return row_or_overlaps(cursor, strict_row(cursor), first)


def strict_row(cursor: Cursor) -> Row:
    """Read ROW(...) or (item, item, ...), and no other form."""
    first = cursor.index
    position = cursor.position
    is_explicit = cursor.accept("row")
    cursor.expect_operator("(")
    if is_explicit and cursor.accept_operator(")"):
        return Row((), position, cursor.shown_since(first))
    items = calls.expressions(cursor)
    if len(items) == 1 and not is_explicit:
        cursor.fail()
    cursor.expect_operator(")")
    return Row(items, position, cursor.shown_since(first))


def exists(cursor: Cursor) -> Expression:
    """Read EXISTS (query)."""
    first = cursor.index
    position = cursor.position
    cursor.expect("exists")
    query = queries.parenthesised(cursor)
    return Subquery("exists", query, None, "", position, cursor.shown_since(first))


def array(cursor: Cursor) -> Expression:
    """Read ARRAY(query) or ARRAY[...]."""
    first = cursor.index
    position = cursor.position
    cursor.expect("array")
    if cursor.at_operator("("):
        query = queries.parenthesised(cursor)
        return Subquery("array", query, None, "", position, cursor.shown_since(first))
    items = array_items(cursor)
    return ArrayItems(items, position, cursor.shown_since(first))


def array_items(cursor: Cursor) -> tuple[Expression, ...]:
    """Read [expressions] or [[...], [...]]."""
    cursor.enter()
    cursor.expect_operator("[")
    items: list[Expression] = []
    nested = cursor.at_operator("[")
    while not cursor.at_operator("]") or items:
        first = cursor.index
        position = cursor.position
        if nested:
            items.append(ArrayItems(array_items(cursor), position, cursor.shown_since(first)))
        else:
            items.append(grammar.expression(cursor))
        if not cursor.accept_operator(","):
            break
    cursor.expect_operator("]")
    cursor.leave()
    return tuple(items)


def indirection(cursor: Cursor, operand: Expression, first: int) -> Expression:
    """Read the subscripts and fields after `operand`, which began at token `first`."""
    position = cursor.tokens[first].start + 1
    height = 0
    while cursor.at_operator("[", "."):
        if cursor.accept_operator("."):
            if cursor.accept_operator("*"):
                cursor.refuse("selection of a field of a composite value", position)
            else:
                operand = FieldSelection(operand, cursor.label(), position, cursor.shown_since(first))
        else:
            operand = subscript(cursor, operand, position, first)
        height = cursor.grow(height)
    cursor.height = max(cursor.height, height)
    return operand


def subscript(cursor: Cursor, operand: Expression, position: int, first: int) -> Subscript:
    """Read [index] or [lower:upper]."""
    cursor.expect_operator("[")
    lower = None if cursor.at_operator(":") else grammar.expression(cursor)
    is_slice = cursor.accept_operator(":")
    upper = None
    if is_slice and not cursor.at_operator("]"):
        upper = grammar.expression(cursor)
    cursor.expect_operator("]")
    return Subscript(operand, lower, upper, is_slice, position, cursor.shown_since(first))
