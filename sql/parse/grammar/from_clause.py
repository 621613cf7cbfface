"""The FROM clause: relations, derived tables, functions and joins, to `syntax.FromItem`."""

from __future__ import annotations

from dataclasses import replace

from sql.errors import SqlError, not_supported
from sql.parse.grammar import calls, queries, spelled_calls
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar.cursor import Cursor, read_parts
from sql.parse.syntax import (
    Derived,
    Expression,
    FromItem,
    FunctionCall,
    FunctionTable,
    JoinClause,
    Name,
    Query,
    Table,
    ValuesBody,
    WindowedTable,
)

WINDOWS = ("tumble", "hop", "session")
JOINS = ("join", "inner", "left", "right", "full", "cross", "natural")


def from_items(cursor: Cursor) -> tuple[FromItem, ...]:
    """Read the items of a FROM clause."""
    return cursor.several(from_item)


def from_item(cursor: Cursor) -> FromItem:
    """Read one item with the joins that follow it."""
    return joins(cursor, from_primary(cursor))


def joins(cursor: Cursor, left: FromItem) -> FromItem:
    """Read the joins after `left`, which associate to the left."""
    height = 0
    while cursor.at(*JOINS):
        left = join(cursor, left)
        height = cursor.grow(height)
    cursor.height = max(cursor.height, height)
    return left


def from_primary(cursor: Cursor) -> FromItem:
    position = cursor.position
    lateral = cursor.accept("lateral")
    if cursor.at_operator("("):
        if lateral:
            place = cursor.position
            return derived(cursor, queries.parenthesised(cursor), place, lateral)
        found = parenthesised(cursor)
        if isinstance(found, Query):
            return derived(cursor, found, position, lateral)
        refuse_join_alias(cursor)
        return found
    if not lateral and at_windows(cursor):
        return windowed_table(cursor)
    if at_function(cursor) and (lateral or not at_output(cursor)):
        return function_table(cursor)
    if lateral:
        # Only a query or a function may follow LATERAL, so the error is at the token after the
        # name.
        cursor.qualified_name()
        cursor.fail()
    item = relation(cursor)
    refuse_sample(cursor)
    return item


def refuse_sample(cursor: Cursor) -> None:
    """Read TABLESAMPLE method (arguments) [REPEATABLE (seed)], to refuse it."""
    position = cursor.position
    if not cursor.accept("tablesample"):
        return
    cursor.function_parts()
    cursor.enclosed(calls.expressions)
    if cursor.accept("repeatable"):
        cursor.enclosed(grammar.expression)
    cursor.refuse("TABLESAMPLE", position)


def parenthesised(cursor: Cursor) -> Query | JoinClause:
    """Read (query) or (joined tables), which may both begin with more parentheses."""
    cursor.enter()
    cursor.expect_operator("(")
    position = cursor.position
    found: Query | FromItem
    if cursor.at(*queries.STARTS):
        found = queries.query(cursor)
    elif cursor.at_operator("("):
        found = parenthesised(cursor)
        if not isinstance(found, Query):
            refuse_join_alias(cursor)
            found = joins(cursor, found)
        elif cursor.at(*queries.CONTINUATIONS):
            found = queries.continued(cursor, found, position)
        elif not cursor.at_operator(")"):
            if cursor.token.kind == "operator" and not cursor.at_operator(","):
                cursor.fail()
            found = joins(cursor, derived(cursor, found, position, False))
    else:
        found = from_item(cursor)
    if not isinstance(found, Query | JoinClause):
        cursor.fail()
    cursor.expect_operator(")")
    cursor.leave()
    return found


def refuse_join_alias(cursor: Cursor) -> None:
    position = cursor.position
    if cursor.at("as") or cursor.at_name():
        alias_clause(cursor)
        cursor.refuse("an alias of a join", position)


def derived(cursor: Cursor, query: Query, position: int, lateral: bool) -> Derived:
    """Read the alias of a query in FROM, which is required."""
    alias, columns = alias_clause(cursor)
    if alias is None:
        what, example = ("VALUES", "VALUES") if isinstance(query.body, ValuesBody) else ("subquery", "SELECT")
        hint = f"For example, FROM ({example} ...) [AS] foo."
        raise SqlError("42601", f"{what} in FROM must have an alias", position, hint=hint)
    return Derived(query, alias, columns, position, lateral)


def relation(cursor: Cursor) -> Table:
    """Read a relation's name and its alias."""
    found = bare_relation(cursor)
    alias, columns = alias_clause(cursor)
    return replace(found, alias=alias, column_aliases=columns)


def bare_relation(cursor: Cursor) -> Table:
    """Read a relation's name, with ONLY or * around it, or output_of('name')."""
    if at_output(cursor):
        position = cursor.position
        cursor.advance()
        cursor.expect_operator("(")
        name = read_parts(cursor.advance().value)
        cursor.expect_operator(")")
        return Table(name, None, (), position, is_output=True)
    only = cursor.at("only")
    name, position = cursor.with_only(Cursor.qualified_name)
    return Table(name, None, (), position, only)


def at_output(cursor: Cursor) -> bool:
    """Tell whether output_of('name') is next."""
    if not cursor.at("output_of"):
        return False
    opening, name, closing = (cursor.ahead(place) for place in (1, 2, 3))
    return opening.value == "(" and name.kind == "string" and closing.kind == "operator" and closing.value == ")"


def alias_clause(cursor: Cursor) -> tuple[str | None, tuple[str, ...]]:
    """Read [AS] alias [(columns)]."""
    if not (cursor.accept("as") or cursor.at_name()):
        return None, ()
    return cursor.name(), column_names(cursor)


def column_names(cursor: Cursor) -> tuple[str, ...]:
    """Read (name, ...), if it is next."""
    return tuple(name for name, _ in cursor.names_in_parentheses()) if cursor.at_operator("(") else ()


def at_function(cursor: Cursor) -> bool:
    """Tell whether a function call is next, and no name of a relation."""
    if cursor.at_words("rows", "from") or spelled_calls.at_spelled_call(cursor):
        return True
    offset = 0
    if not (cursor.at_name() or cursor.function_name()):
        return False
    if not cursor.at_name():
        # Words like LEFT can't name a relation, so that the word begins a call.
        return True
    while cursor.ahead(offset + 1).value == "." and cursor.ahead(offset + 2).kind in ("word", "quoted"):
        offset += 2
    after = cursor.ahead(offset + 1)
    return after.kind == "operator" and after.value == "(" and (offset > 0 or cursor.function_name())


def at_windows(cursor: Cursor) -> bool:
    """Tell whether tumble(...), hop(...) or session(...) of a relation is next, or TABLE(...)
    around it.
    """
    start = 2 if cursor.at("table") and cursor.ahead(1).value == "(" else 0
    kind, opening, first = (cursor.ahead(start + place) for place in range(3))
    is_call = kind.kind == "word" and kind.value in WINDOWS and opening.kind == "operator" and opening.value == "("
    return (
        is_call and first.kind in ("word", "quoted") and (first.value == "table" or start > 0 or relation_ends(cursor))
    )


def relation_ends(cursor: Cursor) -> bool:
    """Tell whether the first argument of the next call is a name."""
    place = 3
    while cursor.ahead(place).value == ".":
        place += 2
    return cursor.ahead(place).value in (",", "partition")


def windowed_table(cursor: Cursor) -> WindowedTable:
    """Read tumble, hop or session, and the alias."""
    position = cursor.position
    read = cursor.enclosed(windows) if cursor.accept("table") else windows(cursor)
    kind, source, keys, time, spans = read
    alias, columns = alias_clause(cursor)
    return WindowedTable(kind, source, time, spans, alias, columns, position, keys)


def windows(cursor: Cursor) -> tuple[str, Table, tuple[Name, ...], Name, tuple[Expression, ...]]:
    """Read kind([TABLE] name, [DESCRIPTOR] time, span, ...)."""
    kind = cursor.advance().value
    cursor.expect_operator("(")
    cursor.accept("table")
    source = bare_relation(cursor)
    keys = partition(cursor) if kind == "session" and cursor.accept("partition", "by") else ()
    cursor.expect_operator(",")
    described = cursor.at("descriptor") and cursor.ahead(1).value == "("
    time = cursor.enclosed(column) if described and cursor.advance() else column(cursor)
    cursor.expect_operator(",")
    spans = calls.expressions(cursor)
    cursor.expect_operator(")")
    return kind, source, keys, time, spans


def partition(cursor: Cursor) -> tuple[Name, ...]:
    """Read column, ... or (column, ...), up to the time, which is the last name."""
    if cursor.at_operator("("):
        return cursor.listed(column)
    found = [column(cursor)]
    while cursor.at_operator(",") and is_before_time(cursor):
        cursor.advance()
        found.append(column(cursor))
    return tuple(found)


def is_before_time(cursor: Cursor) -> bool:
    """Tell whether the name after the next comma is followed by another column, the time."""
    place = 2
    while cursor.ahead(place).value == ".":
        place += 2
    after, opening = cursor.ahead(place + 1), cursor.ahead(place + 2)
    is_name = after.kind in ("word", "quoted") and opening.kind == "operator" and opening.value in (",", ".", "(")
    return cursor.ahead(place).value == "," and cursor.ahead(1).kind in ("word", "quoted") and is_name


def column(cursor: Cursor) -> Name:
    """Read the name of a column."""
    place = cursor.position
    return Name(cursor.qualified_name(), place)


def function_table(cursor: Cursor) -> FunctionTable:
    """Read function(...) or ROWS FROM (function(...), ...), WITH ORDINALITY, and the alias."""
    position = cursor.position
    found = cursor.listed(row_function) if cursor.accept("rows", "from") else (table_function(cursor),)
    ordinality = cursor.accept("with", "ordinality")
    alias, columns = function_alias(cursor)
    return FunctionTable(found, ordinality, alias, columns, position)


def row_function(cursor: Cursor) -> FunctionCall:
    """Read a call in ROWS FROM; a list of columns with types is refused."""
    found = table_function(cursor)
    if cursor.accept("as"):
        column_definitions(cursor)
    return found


def table_function(cursor: Cursor) -> FunctionCall:
    """Read a call without FILTER and OVER."""
    position = cursor.position
    first = cursor.index
    found = spelled_calls.spelled_call(cursor)
    if found is None:
        found = calls.call(cursor, cursor.function_parts(), position, first, windowless=True)
    if not isinstance(found, FunctionCall):
        raise not_supported("CAST in FROM", position)
    return found


def function_alias(cursor: Cursor) -> tuple[str | None, tuple[str, ...]]:
    """Read [AS] alias [(columns)]; a list of columns with types is refused."""
    if cursor.at("as") and cursor.ahead(1).kind == "operator" and cursor.ahead(1).value == "(":
        cursor.advance()
        column_definitions(cursor)
    if not (cursor.accept("as") or cursor.at_name()):
        return None, ()
    alias = cursor.name()
    if cursor.at_operator("(") and cursor.ahead(2).kind not in ("operator", "end"):
        column_definitions(cursor)
    return alias, column_names(cursor)


def column_definitions(cursor: Cursor) -> None:
    position = cursor.position
    cursor.expect_operator("(")
    cursor.name()
    hint = "Name the columns without types: AS alias (column, ...)."
    raise not_supported("a column definition list in FROM", position, hint=hint)


def join(cursor: Cursor, left: FromItem) -> FromItem:
    """Read the next join, with `left` on its left side."""
    position = cursor.position
    natural = cursor.accept("natural")
    kind = cursor.accept_any("inner", "left", "right", "full")
    if kind is None:
        kind = "cross" if not natural and cursor.accept("cross") else "inner"
    elif kind != "inner":
        cursor.accept("outer")
    cursor.expect("join")
    right = from_primary(cursor)
    if kind == "cross" or natural:
        return JoinClause(left, right, kind, natural, (), None, position)
    # In a JOIN b JOIN c ON ... ON ..., the inner join ends first.
    right = joins(cursor, right)
    if cursor.accept("using"):
        names = cursor.names_in_parentheses()
        alias_position = cursor.position
        if cursor.accept("as"):
            cursor.name()
            cursor.refuse("an alias of JOIN USING", alias_position)
        return JoinClause(left, right, kind, False, names, None, position)
    cursor.expect("on")
    return JoinClause(left, right, kind, False, (), grammar.expression(cursor), position)
