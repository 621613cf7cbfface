"""WITH: common table expressions, also recursive ones."""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.parse.grammar import from_clause, queries
from sql.parse.grammar.cursor import Cursor
from sql.parse.syntax import CommonTable, Query


def common_tables(cursor: Cursor) -> tuple[CommonTable, ...]:
    """Read WITH [RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (query), ..., if it is
    next.
    """
    if not cursor.accept("with"):
        return ()
    # Before AS or a list of columns, RECURSIVE is itself a name.
    recursive = not (cursor.ahead(1).value in ("as", "(") and cursor.at("recursive")) and cursor.accept("recursive")
    found = cursor.several(lambda cursor: common_table(cursor, recursive))
    names = [item.name for item in found]
    for number, item in enumerate(found):
        if item.name in names[:number]:
            message = f'WITH query name "{item.name}" specified more than once'
            cursor.defer(SqlError("42712", message, item.position))
    return found


def common_table(cursor: Cursor, recursive: bool) -> CommonTable:
    """Read one common table expression of WITH."""
    position = cursor.position
    name = cursor.name()
    columns = from_clause.column_names(cursor)
    cursor.expect("as")
    materialized = "MATERIALIZED" if cursor.accept("materialized") else ""
    if not materialized and cursor.accept("not"):
        cursor.expect("materialized")
        materialized = "NOT MATERIALIZED"
    inner = cursor.enclosed(inner_query)
    if cursor.at("search", "cycle"):
        raise not_supported(f"the {cursor.token.value.upper()} clause", cursor.position)
    return CommonTable(name, columns, inner, position, recursive, materialized)


def inner_query(cursor: Cursor) -> Query:
    """Read the query of an item of WITH; INSERT, UPDATE and DELETE are refused."""
    position = cursor.position
    common = common_tables(cursor)
    if cursor.at("insert", "update", "delete"):
        raise not_supported(f"{cursor.token.value.upper()} in WITH", cursor.position)
    return queries.query_after_with(cursor, common, position)
