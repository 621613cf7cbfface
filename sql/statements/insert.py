"""INSERT INTO relation [(columns)] VALUES ... | DEFAULT VALUES | query."""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.grammar import queries
from sql.grammar.cursor import Cursor
from sql.statements.statement import Insert
from sql.syntax import Expression, Query, ValuesBody


def insert(cursor: Cursor) -> Insert:
    """Read the statement from its first word."""
    first = cursor.index
    cursor.expect("insert", "into")
    position = cursor.position
    name = cursor.relation_name()
    if cursor.accept("as"):
        cursor.name()
    columns = None
    if cursor.at_operator("(") and not queries.at_query(cursor):
        columns = cursor.names_in_parentheses()
    if cursor.at("overriding"):
        raise not_supported("OVERRIDING", cursor.position)
    rows: tuple[tuple[Expression | None, ...], ...] = ()
    query: Query | None = None
    if cursor.accept("default", "values"):
        if columns is not None:
            cursor.index -= 2
            cursor.fail()
        rows = ((),)
    else:
        if not queries.at_query(cursor):
            cursor.fail()
        rows, query = source(cursor)
    if cursor.at_words("on", "conflict"):
        raise not_supported("ON CONFLICT", cursor.position)
    returning = cursor.at("returning")
    if returning:
        cursor.advance()
        queries.targets(cursor)
    return Insert(cursor.text_since(first), name, position, columns, rows, query, returning)


def source(cursor: Cursor) -> tuple[tuple[tuple[Expression | None, ...], ...], Query | None]:
    """Read plain VALUES as rows; anything else is a query."""
    found = queries.query(cursor)
    plain = not (found.common_tables or found.order_by or found.limit or found.offset)
    if isinstance(found.body, ValuesBody) and plain:
        return found.body.rows, None
    if isinstance(found.body, ValuesBody) and any(item is None for row in found.body.rows for item in row):
        raise SqlError("42601", "DEFAULT is not allowed in this context", found.body.position)
    return (), found
