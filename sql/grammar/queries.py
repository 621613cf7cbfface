"""SELECT, VALUES, WITH and their clauses. Enters: a cursor. Leaves: `syntax.Query`. What is not supported yet is 0A000 by name."""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.grammar import calls, from_clause
from sql.grammar import expressions as grammar
from sql.grammar.cursor import Cursor
from sql.syntax import (
    CommonTable,
    Constant,
    Expression,
    FrameBound,
    Query,
    SelectBody,
    SortItem,
    Star,
    Target,
    ValuesBody,
    WindowDefinition,
)

STARTS = ("select", "values", "with", "table")


def at_query(cursor: Cursor) -> bool:
    """Tell whether a query begins here, maybe in parentheses."""
    offset = 0
    while cursor.ahead(offset).kind == "operator" and cursor.ahead(offset).value == "(":
        offset += 1
    token = cursor.ahead(offset)
    return token.kind == "word" and token.value in STARTS


def query(cursor: Cursor) -> Query:
    """Read a query with its WITH, ORDER BY, LIMIT and OFFSET."""
    cursor.enter()
    position = cursor.position
    common = common_tables(cursor)
    body = query_body(cursor)
    if cursor.at("union", "intersect", "except"):
        raise not_supported(cursor.token.value.upper(), cursor.position)
    order = order_by(cursor)
    limit, offset = limits(cursor)
    if cursor.at("for"):
        raise not_supported(f"SELECT FOR {cursor.ahead(1).value.upper()}", cursor.position)
    cursor.leave()
    return Query(common, body, order, limit, offset, position)


def query_body(cursor: Cursor) -> SelectBody | ValuesBody | Query:
    if cursor.accept_operator("("):
        inner = query(cursor)
        cursor.expect_operator(")")
        return inner
    if cursor.at("select"):
        return select(cursor)
    if cursor.at("values"):
        return values(cursor)
    if cursor.at("table"):
        return table(cursor)
    raise cursor.syntax_error()


def common_tables(cursor: Cursor) -> tuple[CommonTable, ...]:
    """Read WITH name [(columns)] AS (query), ..."""
    if not cursor.accept("with"):
        return ()
    if cursor.at("recursive"):
        raise not_supported("WITH RECURSIVE", cursor.position)
    found: list[CommonTable] = []
    while True:
        position = cursor.position
        name = cursor.name()
        columns = tuple(column for column, _ in cursor.names_in_parentheses()) if cursor.at_operator("(") else ()
        cursor.expect("as")
        cursor.accept("not")
        cursor.accept("materialized")
        cursor.expect_operator("(")
        if cursor.at("insert", "update", "delete"):
            raise not_supported(f"{cursor.token.value.upper()} in WITH", cursor.position)
        inner = query(cursor)
        cursor.expect_operator(")")
        if cursor.at("search", "cycle"):
            raise not_supported(f"the {cursor.token.value.upper()} clause", cursor.position)
        if any(other.name == name for other in found):
            raise SqlError("42712", f'WITH query name "{name}" specified more than once', position)
        found.append(CommonTable(name, columns, inner, position))
        if not cursor.accept_operator(","):
            return tuple(found)


def select(cursor: Cursor) -> SelectBody:
    """Read SELECT up to its WINDOW clause."""
    position = cursor.position
    cursor.expect("select")
    distinct = cursor.accept("distinct")
    if distinct and cursor.at("on"):
        raise not_supported("DISTINCT ON", cursor.position)
    if not distinct:
        cursor.accept("all")
    items = target_list(cursor)
    if cursor.at("into"):
        raise not_supported("SELECT INTO", cursor.position)
    from_items = from_clause.from_items(cursor) if cursor.accept("from") else ()
    where = grammar.expression(cursor) if cursor.accept("where") else None
    group = group_by(cursor)
    having = grammar.expression(cursor) if cursor.accept("having") else None
    return SelectBody(items, distinct, from_items, where, group, having, windows(cursor), position)


def target_list(cursor: Cursor) -> tuple[Target, ...]:
    """Read the target list; PostgreSQL allows an empty one."""
    if cursor.at_end_of_statement() or cursor.at("from", "where") or cursor.at_operator(")"):
        raise not_supported("a SELECT without columns", cursor.position)
    return targets(cursor)


def targets(cursor: Cursor) -> tuple[Target, ...]:
    found = [target(cursor)]
    while cursor.accept_operator(","):
        found.append(target(cursor))
    return tuple(found)


def target(cursor: Cursor) -> Target:
    """Read expression [[AS] label], or *."""
    position = cursor.position
    if cursor.accept_operator("*"):
        return Target(Star((), position), None, position)
    item = grammar.expression(cursor)
    if cursor.accept("as"):
        return Target(item, cursor.label(), position)
    return Target(item, cursor.bare_label(), position)


def group_by(cursor: Cursor) -> tuple[Expression, ...]:
    if not cursor.accept("group"):
        return ()
    cursor.expect("by")
    if cursor.accept_any("distinct", "all") == "distinct":
        raise not_supported("GROUP BY DISTINCT", cursor.position)
    items: list[Expression] = []
    while True:
        if cursor.at("cube", "rollup") and cursor.ahead(1).value == "(":
            raise not_supported(cursor.token.value.upper(), cursor.position)
        if cursor.at_words("grouping", "sets"):
            raise not_supported("GROUPING SETS", cursor.position)
        if cursor.at_operator("(") and cursor.ahead(1).value == ")":
            raise not_supported("the empty grouping set", cursor.position)
        items.append(grammar.expression(cursor))
        if not cursor.accept_operator(","):
            return tuple(items)


def values(cursor: Cursor) -> ValuesBody:
    """Read VALUES (...), (...)."""
    position = cursor.position
    cursor.expect("values")
    rows: list[tuple[Expression | None, ...]] = []
    while True:
        row_position = cursor.position
        cursor.expect_operator("(")
        row = [value_or_default(cursor)]
        while cursor.accept_operator(","):
            row.append(value_or_default(cursor))
        cursor.expect_operator(")")
        if rows and len(row) != len(rows[0]):
            raise SqlError("42601", "VALUES lists must all be the same length", row_position + 1)
        rows.append(tuple(row))
        if not cursor.accept_operator(","):
            return ValuesBody(tuple(rows), position)


def value_or_default(cursor: Cursor) -> Expression | None:
    if cursor.accept("default"):
        return None
    return grammar.expression(cursor)


def table(cursor: Cursor) -> SelectBody:
    """Read TABLE name, which is SELECT * FROM name."""
    position = cursor.position
    cursor.expect("table")
    item = from_clause.table(cursor)
    star = Target(Star((), position), None, position)
    return SelectBody((star,), False, (item,), None, (), None, (), position)


def order_by(cursor: Cursor) -> tuple[SortItem, ...]:
    """Read ORDER BY items, if they are there."""
    if not cursor.accept("order"):
        return ()
    cursor.expect("by")
    items = []
    while True:
        position = cursor.position
        item = grammar.expression(cursor)
        if cursor.at("using"):
            raise not_supported("ORDER BY ... USING", cursor.position)
        descending = cursor.accept_any("asc", "desc") == "desc"
        nulls_first = None
        if cursor.accept("nulls"):
            order = cursor.accept_any("first", "last")
            if order is None:
                cursor.fail()
            nulls_first = order == "first"
        items.append(SortItem(item, descending, nulls_first, position))
        if not cursor.accept_operator(","):
            return tuple(items)


def limits(cursor: Cursor) -> tuple[Expression | None, Expression | None]:
    """Read LIMIT, OFFSET and FETCH FIRST in any order."""
    limit: Expression | None = None
    offset: Expression | None = None
    seen: set[str] = set()
    while cursor.at("limit", "offset", "fetch"):
        position = cursor.position
        word = "offset" if cursor.at("offset") else "limit"
        if word in seen:
            raise SqlError("42601", f"multiple {word.upper()} clauses not allowed", position)
        seen.add(word)
        if cursor.accept("limit"):
            limit = Constant("null", "", cursor.position) if cursor.accept("all") else grammar.expression(cursor)
            if cursor.at_operator(","):
                raise SqlError(
                    "42601",
                    "LIMIT #,# syntax is not supported",
                    position,
                    hint="Use separate LIMIT and OFFSET clauses.",
                )
        elif cursor.accept("offset"):
            offset = grammar.expression(cursor)
            cursor.accept_any("row", "rows")
        else:
            limit = fetch_first(cursor)
    return limit, offset


def fetch_first(cursor: Cursor) -> Expression:
    cursor.expect("fetch")
    if cursor.accept_any("first", "next") is None:
        cursor.fail()
    count: Expression = Constant("integer", "1", cursor.position)
    if not cursor.at("row", "rows"):
        count = grammar.expression(cursor, grammar.SUM)
    if cursor.accept_any("row", "rows") is None:
        cursor.fail()
    if cursor.at_words("with", "ties"):
        raise not_supported("FETCH FIRST ... WITH TIES", cursor.position)
    cursor.expect("only")
    return count


def windows(cursor: Cursor) -> tuple[tuple[str, WindowDefinition], ...]:
    """Read WINDOW name AS (...), ..."""
    if not cursor.accept("window"):
        return ()
    found: list[tuple[str, WindowDefinition]] = []
    while True:
        name = cursor.name()
        cursor.expect("as")
        if any(name == other for other, _ in found):
            raise SqlError("42P20", f'window "{name}" is already defined', cursor.position)
        found.append((name, window_definition(cursor)))
        if not cursor.accept_operator(","):
            return tuple(found)


def window_definition(cursor: Cursor) -> WindowDefinition:
    """Read ([base] [PARTITION BY ...] [ORDER BY ...] [frame])."""
    position = cursor.position
    cursor.expect_operator("(")
    base = None
    if cursor.at_name() and not cursor.at("partition", "range", "rows", "groups"):
        base = cursor.name()
    partition: tuple[Expression, ...] = ()
    if cursor.accept("partition"):
        cursor.expect("by")
        partition = calls.expressions(cursor)
    order = order_by(cursor)
    frame = None
    unit = cursor.accept_any("range", "rows", "groups")
    if unit is not None:
        frame = window_frame(cursor, unit)
    cursor.expect_operator(")")
    return WindowDefinition(base, partition, order, frame, position)


def window_frame(cursor: Cursor, unit: str) -> tuple[str, FrameBound, FrameBound]:
    position = cursor.position
    if cursor.accept("between"):
        start = frame_bound(cursor)
        cursor.expect("and")
        end = frame_bound(cursor)
    else:
        start = frame_bound(cursor)
        end = FrameBound("current", None, position)
    if cursor.accept("exclude"):
        if not cursor.accept("no", "others"):
            raise not_supported("a frame's EXCLUDE clause", cursor.position)
    return unit, start, end


def frame_bound(cursor: Cursor) -> FrameBound:
    position = cursor.position
    if cursor.accept("unbounded"):
        side = cursor.accept_any("preceding", "following")
        if side is None:
            cursor.fail()
        return FrameBound(f"unbounded_{side}", None, position)
    if cursor.accept("current"):
        cursor.expect("row")
        return FrameBound("current", None, position)
    offset = grammar.expression(cursor)
    side = cursor.accept_any("preceding", "following")
    if side is None:
        cursor.fail()
    return FrameBound(side, offset, position)
