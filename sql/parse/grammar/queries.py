"""Queries: SELECT, VALUES, TABLE, set operations and WITH.

Enters: a cursor. Leaves: `syntax.Query`.

WITH, GROUP BY, windows, ORDER BY and LIMIT have their own files. The order of reading, and the
places of syntax errors, are those of PostgreSQL's grammar (select_no_parens, select_clause,
simple_select).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sql.errors import SqlError
from sql.parse.grammar import calls, from_clause, grouping, limits, sorting, windows
from sql.parse.grammar import common_tables as with_clause
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar.cursor import AFTER_TARGETS, Cursor
from sql.parse.syntax import (
    Body,
    CommonTable,
    Expression,
    Query,
    SelectBody,
    SetOperation,
    SortItem,
    Star,
    Target,
    ValuesBody,
)

STARTS = ("select", "values", "with", "table")
SET_OPERATORS = ("union", "intersect", "except")

# Words that may follow a query in parentheses and belong to the query around it.
CONTINUATIONS = (*SET_OPERATORS, "order", "limit", "offset", "fetch", "for")


def at_query(cursor: Cursor) -> bool:
    """Tell whether a query begins here, maybe in parentheses."""
    token = cursor.after_parentheses()
    return token.kind == "word" and token.value in STARTS


def query(cursor: Cursor) -> Query:
    """Read a query with all its clauses."""
    position = cursor.position
    return query_after_with(cursor, with_clause.common_tables(cursor), position)


def query_after_with(cursor: Cursor, common: tuple[CommonTable, ...], position: int) -> Query:
    """Read a query after its WITH; the query began at `position`, with the WITH."""
    cursor.enter()
    found = rest(cursor, common, operand(cursor), position)
    cursor.leave()
    return found


def continued(cursor: Cursor, first: Query, position: int) -> Query:
    """Read the rest of a query that began with the query `first` in parentheses."""
    return rest(cursor, (), first, position)


def parenthesised(cursor: Cursor) -> Query:
    """Read a query in one or more parentheses (select_with_parens)."""
    return cursor.enclosed(query)


def rest(cursor: Cursor, common: tuple[CommonTable, ...], first: Body, position: int) -> Query:
    body = set_operations(cursor, first)
    order = sorting.order_by(cursor)
    locking = limits.locking(cursor)
    limit = limits.limits(cursor)
    if limit.position and locking is None:
        locking = limits.locking(cursor)
    found = combined(common, body, order, limit, position)
    return replace(found, locking=(*found.locking, *locking)) if locking else found


def combined(
    common: tuple[CommonTable, ...],
    body: Body,
    order: tuple[SortItem, ...],
    limit: limits.Limits,
    position: int,
) -> Query:
    """Return the query.

    Clauses after a query in parentheses are its own, and each may be there once.
    """
    if not isinstance(body, Query):
        if limit.with_ties and not order:
            raise SqlError("42601", "WITH TIES cannot be specified without ORDER BY clause")
        return Query(common, body, order, limit.limit, limit.offset, position, limit.with_ties)
    if order and body.order_by:
        raise SqlError("42601", "multiple ORDER BY clauses not allowed", order[0].position)
    if limit.offset is not None and body.offset is not None:
        raise SqlError("42601", "multiple OFFSET clauses not allowed", limit.offset_position)
    if limit.limit is not None and body.limit is not None:
        raise SqlError("42601", "multiple LIMIT clauses not allowed", limit.limit_position)
    if limit.with_ties and not (order or body.order_by):
        raise SqlError("42601", "WITH TIES cannot be specified without ORDER BY clause")
    if common and body.common_tables:
        raise SqlError("42601", "multiple WITH clauses not allowed", position)
    return replace(
        body,
        common_tables=common or body.common_tables,
        order_by=order or body.order_by,
        limit=body.limit if limit.limit is None else limit.limit,
        offset=body.offset if limit.offset is None else limit.offset,
        with_ties=limit.with_ties or body.with_ties,
    )


def set_operations(cursor: Cursor, first: Body) -> Body:
    """Read UNION and EXCEPT after the operand `first`.

    They associate to the left, and INTERSECT binds tighter.
    """
    outer, cursor.height = cursor.height, 0
    height = 0
    left = intersections(cursor, first)
    while cursor.at("union", "except"):
        position = cursor.position
        operator = cursor.advance().value
        is_all = quantifier(cursor)
        right = intersections(cursor, operand(cursor))
        left = SetOperation(operator, is_all, bare(left), bare(right), position)
        height = cursor.grow(height)
    cursor.height = max(outer, cursor.height, height)
    return left


def intersections(cursor: Cursor, left: Body) -> Body:
    height = 0
    while cursor.at("intersect"):
        position = cursor.position
        cursor.advance()
        is_all = quantifier(cursor)
        left = SetOperation("intersect", is_all, bare(left), bare(operand(cursor)), position)
        height = cursor.grow(height)
    cursor.height = max(cursor.height, height)
    return left


def quantifier(cursor: Cursor) -> bool:
    return cursor.accept_any("all", "distinct") == "all"


def bare(body: Body) -> Body:
    """Return the body of a query in parentheses that has no clauses of its own."""
    if isinstance(body, Query) and not (
        body.common_tables or body.order_by or body.limit is not None or body.offset is not None or body.locking
    ):
        return body.body
    return body


def operand(cursor: Cursor) -> Body:
    """Read one operand of a set operation, or the whole body of a query."""
    if cursor.at_operator("("):
        return parenthesised(cursor)
    if cursor.at("select"):
        return select(cursor)
    if cursor.at("values"):
        return values(cursor)
    if cursor.at("table"):
        return table(cursor)
    raise cursor.syntax_error()


@dataclass(frozen=True)
class Distinct:
    """The word DISTINCT after SELECT, with the expressions of its ON (...)."""

    all: bool
    on: tuple[Expression, ...]


def select(cursor: Cursor) -> SelectBody:
    """Read SELECT up to its WINDOW clause."""
    position = cursor.position
    cursor.expect("select")
    distinct = distinct_clause(cursor)
    items = () if distinct is None and at_empty_targets(cursor) else targets(cursor)
    into_clause(cursor)
    from_items = from_clause.from_items(cursor) if cursor.accept("from") else ()
    where = grammar.expression(cursor) if cursor.accept("where") else None
    group, group_distinct = grouping.group_by(cursor)
    having = grammar.expression(cursor) if cursor.accept("having") else None
    definitions = windows.window_clause(cursor)
    return SelectBody(
        items,
        distinct is not None and distinct.all,
        from_items,
        where,
        group,
        having,
        definitions,
        position,
        () if distinct is None else distinct.on,
        group_distinct,
    )


def distinct_clause(cursor: Cursor) -> Distinct | None:
    """Read ALL (None), DISTINCT or DISTINCT ON (...)."""
    if not cursor.accept("distinct"):
        cursor.accept("all")
        return None
    if not cursor.accept("on"):
        return Distinct(True, ())
    return Distinct(False, cursor.enclosed(calls.expressions))


def at_empty_targets(cursor: Cursor) -> bool:
    """Tell whether the target list is empty, which PostgreSQL allows without DISTINCT."""
    return cursor.at_end_of_statement() or cursor.at(*AFTER_TARGETS) or cursor.at_operator(")")


def into_clause(cursor: Cursor) -> None:
    """Read INTO [TEMPORARY | UNLOGGED] [TABLE] name, to refuse it."""
    position = cursor.position
    if not cursor.accept("into"):
        return
    if not (cursor.at("local", "global") and cursor.ahead(1).value in ("temp", "temporary")):
        cursor.accept_any("temp", "temporary", "unlogged")
    else:
        cursor.advance()
        cursor.advance()
    cursor.accept("table")
    cursor.qualified_name()
    cursor.refuse("SELECT INTO", position, "Use CREATE TABLE ... AS SELECT ... instead.")


def targets(cursor: Cursor) -> tuple[Target, ...]:
    """Read a target list of at least one item."""
    return cursor.several(target)


def target(cursor: Cursor) -> Target:
    """Read expression [[AS] label], or *."""
    position = cursor.position
    if cursor.accept_operator("*"):
        return Target(Star((), position), None, position)
    outer, cursor.target_start = cursor.target_start, cursor.index
    item = grammar.expression(cursor)
    cursor.target_start = outer
    if cursor.accept("as"):
        return Target(item, cursor.label(), position)
    return Target(item, cursor.bare_label(), position)


def values(cursor: Cursor) -> ValuesBody:
    """Read VALUES (...), (...)."""
    position = cursor.position
    cursor.expect("values")
    rows: list[tuple[Expression | None, ...]] = []
    while True:
        cursor.expect_operator("(")
        row_position = cursor.position
        row = calls.expressions(cursor)
        cursor.expect_operator(")")
        if rows and len(row) != len(rows[0]):
            cursor.defer(SqlError("42601", "VALUES lists must all be the same length", row_position))
        rows.append(row)
        if not cursor.accept_operator(","):
            return ValuesBody(tuple(rows), position)


def table(cursor: Cursor) -> SelectBody:
    """Read TABLE name, which is SELECT * FROM name."""
    position = cursor.position
    cursor.expect("table")
    return rows_of_relation(cursor, position)


def whole_relation(cursor: Cursor) -> Query:
    """Read the name of a relation as the query of all its rows."""
    position = cursor.position
    return Query((), rows_of_relation(cursor, position), (), None, None, position)


def rows_of_relation(cursor: Cursor, position: int) -> SelectBody:
    item = from_clause.bare_relation(cursor)
    star = Target(Star((), position), None, position)
    return SelectBody((star,), False, (item,), None, (), None, (), position)
