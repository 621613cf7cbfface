"""The assignments of UPDATE and ON CONFLICT DO UPDATE: SET column = value, (columns) = (values or
query).
"""

from __future__ import annotations

from sql.errors import SqlError
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.parts import Assignment
from sql.parse.syntax import Constant, Expression, Row, Subquery


def assignments(cursor: Cursor) -> tuple[Assignment, ...]:
    """Read the assignments after SET."""
    return cursor.several(assignment)


def assignment(cursor: Cursor) -> Assignment:
    """Read one assignment, of one column or of several in parentheses."""
    position = cursor.position
    if not cursor.at_operator("("):
        column = target_column(cursor)
        cursor.expect_operator("=")
        value = grammar.expression(cursor)
        return Assignment((column,), None if is_default(cursor, value) else value, None, position)
    columns = target_columns(cursor)
    cursor.expect_operator("=")
    value_position = cursor.position
    first = cursor.index
    value = grammar.expression(cursor)
    if isinstance(value, Subquery) and value.kind == "scalar":
        return Assignment(columns, value, None, position)
    if not isinstance(value, Row):
        message = "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression"
        while cursor.tokens[first].value == "(":
            first += 1
        cursor.defer(SqlError("0A000", message, cursor.tokens[first].start + 1))
        return Assignment(columns, value, None, position)
    if len(value.items) != len(columns):
        message = "number of columns does not match number of values"
        cursor.defer(SqlError("42601", message, value_position))
    row = tuple(None if is_default(cursor, item) else item for item in value.items)
    return Assignment(columns, None, row, position)


def is_default(cursor: Cursor, item: Expression | None) -> bool:
    """Tell whether an item is the word DEFAULT, and take it from the stray ones."""
    if not (isinstance(item, Constant) and item.kind == "default"):
        return False
    cursor.stray_defaults.remove(item.position)
    return True


def target_columns(cursor: Cursor) -> tuple[tuple[str, int], ...]:
    """Read (name, ...) with the position of each; elements and fields of columns are refused."""
    return cursor.listed(target_column)


def target_column(cursor: Cursor) -> tuple[str, int]:
    """Read a column that is assigned to, with its position."""
    found = cursor.placed_name()
    refuse_indirection(cursor)
    return found


def refuse_indirection(cursor: Cursor) -> None:
    """Read .field and [subscript] after a column that is assigned to, to refuse them."""
    position = cursor.position
    while cursor.at_operator(".", "["):
        if cursor.advance().value == ".":
            cursor.label()
        else:
            if not cursor.at_operator(":"):
                grammar.expression(cursor)
            if cursor.accept_operator(":") and not cursor.at_operator("]"):
                grammar.expression(cursor)
            cursor.expect_operator("]")
        cursor.refuse("writing to a part of a column", position)
