"""The FROM clause: tables, derived tables and joins, to `syntax.FromItem`."""

from __future__ import annotations

from sql.errors import not_supported
from sql.grammar import expressions as grammar
from sql.grammar import queries
from sql.grammar.cursor import Cursor
from sql.syntax import Derived, FromItem, JoinClause, Table


def from_items(cursor: Cursor) -> tuple[FromItem, ...]:
    """Read the items of a FROM clause."""
    items = [from_item(cursor)]
    while cursor.accept_operator(","):
        items.append(from_item(cursor))
    return tuple(items)


def from_item(cursor: Cursor) -> FromItem:
    """Read one item with the joins that follow it, which associate to the left."""
    left = from_primary(cursor)
    while cursor.at("join", "inner", "left", "right", "full", "cross", "natural"):
        left = join(cursor, left)
    return left


def from_primary(cursor: Cursor) -> FromItem:
    position = cursor.position
    if cursor.at("lateral"):
        raise not_supported("LATERAL", position)
    if cursor.at_operator("("):
        # A query may itself begin with parentheses; ((a JOIN b)) may not be taken for one.
        if queries.at_query(cursor):
            cursor.expect_operator("(")
            inner = queries.query(cursor)
            cursor.expect_operator(")")
            alias, columns = alias_clause(cursor)
            return Derived(inner, alias, columns, position)
        cursor.expect_operator("(")
        item = from_item(cursor)
        if not isinstance(item, JoinClause):
            cursor.fail()
        cursor.expect_operator(")")
        if cursor.at("as") or cursor.at_name():
            raise not_supported("an alias of a join", cursor.position)
        return item
    return table(cursor)


def table(cursor: Cursor) -> Table:
    """Read a relation's name with its alias."""
    cursor.accept("only")
    position = cursor.position
    if cursor.token.kind == "word" and cursor.function_name() and cursor.ahead(1).value == "(" and not cursor.at_name():
        raise not_supported("a function in FROM", position)
    name = cursor.qualified_name()
    if cursor.at_operator("("):
        raise not_supported("a function in FROM", position)
    cursor.accept_operator("*")
    alias, columns = alias_clause(cursor)
    if cursor.at("tablesample"):
        raise not_supported("TABLESAMPLE", cursor.position)
    return Table(name, alias, columns, position)


def alias_clause(cursor: Cursor) -> tuple[str | None, tuple[str, ...]]:
    """Read [AS] alias [(columns)]."""
    alias = None
    if cursor.accept("as") or cursor.at_name():
        alias = cursor.name()
    if alias is None or not cursor.at_operator("("):
        return alias, ()
    return alias, tuple(name for name, _ in cursor.names_in_parentheses())


def join(cursor: Cursor, left: FromItem) -> FromItem:
    """Read the join that is next, with `left` on its left side."""
    position = cursor.position
    natural = cursor.accept("natural")
    kind = cursor.accept_any("inner", "left", "right", "full", "cross") or "inner"
    if kind in ("left", "right", "full"):
        cursor.accept("outer")
    cursor.expect("join")
    if kind == "cross" or natural:
        right = from_primary(cursor)
        return JoinClause(left, right, kind, natural, (), None, position)
    right = from_primary(cursor)
    # a JOIN b JOIN c ON ... ON ...: the inner join closes first.
    while not cursor.at("on", "using") and cursor.at("join", "inner", "left", "right", "full", "cross", "natural"):
        right = join(cursor, right)
    if cursor.accept("using"):
        names = cursor.names_in_parentheses()
        if cursor.at("as"):
            raise not_supported("an alias of JOIN USING", cursor.position)
        return JoinClause(left, right, kind, False, names, None, position)
    cursor.expect("on")
    return JoinClause(left, right, kind, False, (), grammar.expression(cursor), position)
