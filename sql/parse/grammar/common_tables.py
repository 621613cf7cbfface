"""WITH: common table expressions, also recursive ones."""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.parse.grammar import queries
from sql.parse.grammar.cursor import Cursor
from sql.parse.syntax import CommonTable


def common_tables(cursor: Cursor) -> tuple[CommonTable, ...]:
    """Read WITH [RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (query), ..., if it is
    next.
    """
    if not cursor.accept("with"):
        return ()
    # Before AS or a list of columns, RECURSIVE is itself a name.
    recursive = not (cursor.ahead(1).value in ("as", "(") and cursor.at("recursive")) and cursor.accept("recursive")
    found: list[CommonTable] = []
    while True:
        item = common_table(cursor, recursive)
        if any(other.name == item.name for other in found):
            message = f'WITH query name "{item.name}" specified more than once'
            cursor.defer(SqlError("42712", message, item.position))
        found.append(item)
        if not cursor.accept_operator(","):
            return tuple(found)


def common_table(cursor: Cursor, recursive: bool) -> CommonTable:
    """Read one common table expression of WITH."""
    position = cursor.position
    name = cursor.name()
    columns = tuple(column for column, _ in cursor.names_in_parentheses()) if cursor.at_operator("(") else ()
    cursor.expect("as")
    materialized = "MATERIALIZED" if cursor.accept("materialized") else ""
    if not materialized and cursor.accept("not"):
        cursor.expect("materialized")
        materialized = "NOT MATERIALIZED"
    cursor.expect_operator("(")
    inner_position = cursor.position
    inner_common = common_tables(cursor)
    if cursor.at("insert", "update", "delete"):
        raise not_supported(f"{cursor.token.value.upper()} in WITH", cursor.position)
    inner = queries.query_after_with(cursor, inner_common, inner_position)
    cursor.expect_operator(")")
    if cursor.at("search", "cycle"):
        raise not_supported(f"the {cursor.token.value.upper()} clause", cursor.position)
    return CommonTable(name, columns, inner, position, recursive, materialized)
