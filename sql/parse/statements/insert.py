"""[WITH ...] INSERT INTO relation [(columns)] source [ON CONFLICT ...] [RETURNING ...]."""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import SqlError
from sql.parse import syntax
from sql.parse.grammar import common_tables, queries
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.from_clause import table_function
from sql.parse.grammar.sorting import nulls_order
from sql.parse.statements.assignments import assignments, is_default, target_columns
from sql.parse.statements.declaration import Statement
from sql.parse.statements.parts import OnConflict
from sql.parse.statements.rules import begins
from sql.parse.syntax import CommonTable, Expression, Query, Target, ValuesBody


@dataclass(frozen=True)
class Insert(Statement, tag="INSERT", writes=True):
    """The statement [WITH ...] INSERT INTO relation [AS alias] [(columns)] VALUES ... | DEFAULT
    VALUES | query.

    Attributes:
        rows: the items of VALUES, None for DEFAULT; empty for INSERT ... SELECT.
        query: of INSERT ... SELECT.
        overriding: '', 'system' or 'user'.
        returning: the target list, empty without one.
    """

    name: str
    name_position: int
    columns: tuple[tuple[str, int], ...] | None
    rows: tuple[tuple[syntax.Expression | None, ...], ...]
    query: syntax.Query | None = None
    returning: tuple[syntax.Target, ...] = ()
    alias: str | None = None
    on_conflict: OnConflict | None = None
    overriding: str = ""
    common_tables: tuple[syntax.CommonTable, ...] = ()


Rows = tuple[tuple[Expression | None, ...], ...]


@begins("insert")
def insert(cursor: Cursor) -> Insert:
    """Read the statement from its first word, which may be WITH."""
    return insert_after_with(cursor, common_tables.common_tables(cursor))


def insert_after_with(cursor: Cursor, common: tuple[CommonTable, ...]) -> Insert:
    """Read the statement from INSERT."""
    cursor.expect("insert", "into")
    position = cursor.position
    name = cursor.relation_name()
    alias = cursor.name() if cursor.accept("as") else None
    columns = None
    # VALUES may be the name of a column.
    is_column = cursor.ahead(1).value == "values" and cursor.ahead(2).value in (",", ")", ".", "[")
    if cursor.at_operator("(") and (is_column or not (queries.at_query(cursor) or cursor.ahead(1).value == "(")):
        columns = target_columns(cursor)
    overriding = override(cursor)
    rows: Rows = ()
    query: Query | None = None
    if columns is None and not overriding and cursor.at("default"):
        cursor.expect("default", "values")
        rows = ((),)
    else:
        rows, query = source(cursor)
    conflict = on_conflict(cursor)
    targets = returning(cursor)
    text = cursor.statement_text
    return Insert(text, name, position, columns, rows, query, targets, alias, conflict, overriding, common)


def override(cursor: Cursor) -> str:
    """Read OVERRIDING SYSTEM | USER VALUE, if it is next."""
    if not cursor.accept("overriding"):
        return ""
    kind = cursor.one_of("system", "user")
    cursor.expect("value")
    return kind


def source(cursor: Cursor) -> tuple[Rows, Query | None]:
    """Read plain VALUES as rows, where DEFAULT is a value; every other source is a query."""
    found = queries.query(cursor)
    has_clauses = found.common_tables or found.order_by or found.limit is not None or found.offset is not None
    if not isinstance(found.body, ValuesBody) or has_clauses:
        return (), found
    return tuple(tuple(None if is_default(cursor, item) else item for item in row) for row in found.body.rows), None


def on_conflict(cursor: Cursor) -> OnConflict | None:
    """Read ON CONFLICT [target] DO NOTHING | DO UPDATE SET ... [WHERE ...]."""
    position = cursor.position
    if not cursor.accept("on"):
        return None
    cursor.expect("conflict")
    columns: tuple[tuple[str, int], ...] | None = None
    computed: tuple[syntax.Expression, ...] = ()
    condition: syntax.Expression | None = None
    constraint: str | None = None
    if cursor.accept("on"):
        cursor.expect("constraint")
        constraint = cursor.name()
    elif cursor.at_operator("("):
        columns, computed = inferred_columns(cursor)
        condition = grammar.expression(cursor) if cursor.accept("where") else None
    cursor.expect("do")
    if cursor.accept("nothing"):
        return OnConflict(columns, computed, condition, constraint, None, None, position)
    cursor.expect("update", "set")
    if columns is None and constraint is None:
        message = "ON CONFLICT DO UPDATE requires inference specification or constraint name"
        hint = "For example, ON CONFLICT (column_name)."
        cursor.defer(SqlError("42601", message, position, hint=hint))
    changes = assignments(cursor)
    where = grammar.expression(cursor) if cursor.accept("where") else None
    return OnConflict(columns, computed, condition, constraint, changes, where, position)


def inferred_columns(cursor: Cursor) -> tuple[tuple[tuple[str, int], ...], tuple[syntax.Expression, ...]]:
    """Read the columns and the expressions of a conflict target; operator classes and collations
    change nothing.
    """
    start = cursor.position
    found: list[tuple[str, int]] = []
    computed: list[syntax.Expression] = []

    def column(cursor: Cursor) -> None:
        position = cursor.position
        if cursor.at_name() and not (cursor.ahead(1).value in ("(", ".") and cursor.ahead(1).kind == "operator"):
            found.append((cursor.name(), position))
        elif cursor.at_operator("("):
            computed.append(cursor.enclosed(grammar.expression))
        else:
            computed.append(table_function(cursor))
        if cursor.at("collate"):
            grammar.collation(cursor)
        if cursor.at_name() and not cursor.at("nulls"):
            cursor.qualified_name()
        if cursor.accept_any("asc", "desc"):
            cursor.defer(SqlError("42P10", "ASC/DESC is not allowed in ON CONFLICT clause", start))
        if nulls_order(cursor) is not None:
            cursor.defer(SqlError("42P10", "NULLS FIRST/LAST is not allowed in ON CONFLICT clause", start))

    cursor.listed(column)
    return tuple(found), tuple(computed)


def returning(cursor: Cursor) -> tuple[Target, ...]:
    """Read RETURNING and its target list, if it is next."""
    return queries.targets(cursor) if cursor.accept("returning") else ()
