"""Statements that PostgreSQL knows and Antumbra does not yet: 0A000 by name.

Other text stays a syntax error.
"""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.parse.grammar.cursor import Cursor

# First words of statements that are refused as a whole.
WHOLE = frozenset(
    """
    alter call do import load
    merge refresh security
    """.split()
)

# Kinds of objects of CREATE, DROP and ALTER, in PostgreSQL's words.
OBJECTS = (
    "access method", "aggregate", "cast", "collation", "conversion", "database", "default conversion", "domain", "event trigger",
    "extension", "foreign data wrapper", "function", "group",
    "language", "large object", "materialized view", "operator class", "operator family",
    "operator", "owned", "policy", "procedural language", "procedure", "publication", "role", "routine", "rule", "schema",
    "sequence", "server", "statistics", "subscription", "system", "table", "tablespace", "text search",
    "transform", "trigger", "trusted language", "type", "user mapping", "user", "view",
    "constraint trigger", "recursive view", "or replace",
)  # fmt: skip


# Further kinds of objects that comments can be on.
COMMENTED = ("domain",)

# First words that OR REPLACE may stand before.
REPLACEABLE = (
    "aggregate", "constraint", "function", "language", "local", "global", "procedural", "procedure", "recursive", "rule", "temp",
    "temporary", "transform", "trigger", "trusted", "view",
)  # fmt: skip


def refusal(cursor: Cursor) -> SqlError:
    """Return 0A000 that names the statement, or a syntax error for other text."""
    position = cursor.position
    word = cursor.token.value if cursor.token.kind == "word" else ""
    if word in ("create", "drop", "alter"):
        return object_refusal(cursor, word, position)
    if word not in WHOLE:
        return cursor.syntax_error()
    cursor.advance()
    what = word.upper()
    if word == "refresh" and cursor.accept("materialized", "view"):
        what = "REFRESH MATERIALIZED VIEW"
    elif word == "security":
        what = "SECURITY LABEL"
    elif cursor.at_end_of_statement():
        return cursor.syntax_error()
    return not_supported(what, position)


def object_refusal(cursor: Cursor, verb: str, position: int) -> SqlError:
    cursor.advance()
    if verb == "create":
        if cursor.accept("unique"):
            cursor.expect("index")
        if cursor.accept("or"):
            cursor.expect("replace")
            if not cursor.at(*REPLACEABLE):
                cursor.fail()
        if cursor.at("local", "global", "temp", "temporary", "unlogged"):
            return transient_view(cursor, position)
    if cursor.at("or"):
        cursor.fail()
    found = max(OBJECTS, key=lambda words: likeness(cursor, words))
    for word in found.split():
        cursor.expect(word)
    if cursor.at_end_of_statement():
        cursor.fail()
    hint = "CREATE VIEW over a stream is kept up to date." if found == "materialized view" else None
    return not_supported(f"{verb.upper()} {found.upper()}", position, hint)


def commented_object(cursor: Cursor, position: int) -> SqlError:
    """Return the error for COMMENT ON an object whose word is next."""
    if cursor.token.kind != "word":
        return cursor.syntax_error()
    found = max((*OBJECTS, *COMMENTED), key=lambda words: likeness(cursor, words))
    if not likeness(cursor, found)[0]:
        return cursor.syntax_error()
    for word in found.split():
        cursor.expect(word)
    if cursor.at_end_of_statement():
        cursor.fail()
    return not_supported(f"COMMENT ON {found.upper()}", position)


def likeness(cursor: Cursor, words: str) -> tuple[int, bool]:
    """Return how many of the words are next, one after the other, and whether these are all
    words.
    """
    count = 0
    for offset, word in enumerate(words.split()):
        token = cursor.ahead(offset)
        if token.kind != "word" or token.value != word:
            return count, False
        count += 1
    return count, True


def transient_view(cursor: Cursor, position: int) -> SqlError:
    """Return the refusal of a temporary view; tables and sequences have rules of their own."""
    scope = cursor.accept_any("local", "global")
    temporary = cursor.accept_any("temp", "temporary")
    if scope is not None and temporary is None:
        cursor.fail()
    if temporary is None:
        cursor.expect("unlogged")
    recursive = cursor.accept("recursive")
    if not cursor.accept("view"):
        cursor.fail()
    kind = "UNLOGGED" if temporary is None else "TEMPORARY"
    return not_supported(f"CREATE {kind} {'RECURSIVE ' if recursive else ''}VIEW", position)
