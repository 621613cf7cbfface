"""COPY relation [(columns)] FROM STDIN and COPY relation | (query) TO STDOUT, with PostgreSQL's new and old option syntax."""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.grammar import queries
from sql.grammar.cursor import Cursor
from sql.statements.copy_options import copy_options, old_copy_options, resolve
from sql.statements.statement import CopyFrom, CopyTo
from sql.syntax import Name, Query, SelectBody, Star, Table, Target


def copy(cursor: Cursor) -> CopyFrom | CopyTo:
    """Read the statement from its first word."""
    first = cursor.index
    cursor.expect("copy")
    if cursor.at("binary"):
        raise not_supported("COPY in binary format", cursor.position)
    query: Query | None = None
    name = ""
    name_position = cursor.position
    columns: tuple[tuple[str, int], ...] | None = None
    if cursor.accept_operator("("):
        if cursor.at("insert", "update", "delete"):
            raise not_supported(f"COPY ({cursor.token.value.upper()} ...)", cursor.position)
        query = queries.query(cursor)
        cursor.expect_operator(")")
    else:
        name = cursor.relation_name()
        columns = cursor.names_in_parentheses() if cursor.at_operator("(") else None
    if query is not None and not cursor.at("to"):
        cursor.fail()
    direction = cursor.accept_any("from", "to")
    if direction is None:
        cursor.fail()
    endpoint(cursor, direction)
    old = None
    if cursor.at("using", "delimiters"):
        cursor.accept("using")
        cursor.expect("delimiters")
        old = cursor.string()
    cursor.accept("with")
    raw = copy_options(cursor) if cursor.at_operator("(") else old_copy_options(cursor)
    if old is not None:
        raw.append(("delimiter", old, name_position))
    if cursor.at("where"):
        raise not_supported("COPY ... WHERE", cursor.position)
    options = resolve(raw, direction == "from")
    text = cursor.text_since(first)
    if direction == "from":
        return CopyFrom(text, name, name_position, columns, options)
    if query is None and columns is not None:
        query = column_query(name, name_position, columns)
    return CopyTo(text, query, name, name_position, options)


def endpoint(cursor: Cursor, direction: str) -> None:
    """Read STDIN or STDOUT; files and programs of the server are not for clients."""
    position = cursor.position
    if cursor.at("program") or cursor.token.kind == "string":
        hint = "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone."
        raise SqlError("42501", "COPY to or from a file or a program of the server is not allowed", position, hint=hint)
    # PostgreSQL takes both words in both directions.
    if cursor.accept_any("stdin", "stdout") is None:
        cursor.fail()


def column_query(name: str, position: int, columns: tuple[tuple[str, int], ...]) -> Query:
    """Return the SELECT that COPY name (columns) TO means."""
    targets = tuple(Target(Name((column,), place), None, place) for column, place in columns)
    body = SelectBody(targets, False, (Table((name,), None, (), position),), None, (), None, (), position)
    return Query((), body, (), None, None, position)


def whole_relation(name: str, position: int) -> Query:
    """Return the SELECT that COPY name TO means."""
    target = Target(Star((), position), None, position)
    body = SelectBody((target,), False, (Table((name,), None, (), position),), None, (), None, (), position)
    return Query((), body, (), None, None, position)
