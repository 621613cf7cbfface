"""Statements that PostgreSQL knows and Antumbra does not yet: 0A000 by name. Text that is no SQL stays a syntax error."""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.grammar.cursor import Cursor

# First words of statements that are refused as a whole.
WHOLE = frozenset(
    """
    alter analyze analyse call checkpoint close cluster comment declare delete do execute fetch grant import listen load lock
    merge move notify prepare reassign refresh reindex release revoke savepoint security truncate unlisten update vacuum
    """.split()
)

# Of those, the ones that may be the whole statement.
BARE = frozenset({"analyze", "analyse", "checkpoint", "cluster", "unlisten", "vacuum"})

# What CREATE, DROP and ALTER can be about, in PostgreSQL's words.
OBJECTS = (
    "access method", "aggregate", "cast", "collation", "conversion", "database", "default conversion", "domain", "event trigger",
    "extension", "foreign data wrapper", "foreign table", "function", "global temp", "global temporary", "group", "index",
    "language", "large object", "local temp", "local temporary", "materialized view", "operator class", "operator family",
    "operator", "owned", "policy", "procedural language", "procedure", "publication", "role", "routine", "rule", "schema",
    "sequence", "server", "statistics", "subscription", "system", "table", "tablespace", "temp", "temporary", "text search",
    "transform", "trigger", "trusted language", "type", "unique index", "unlogged table", "user mapping", "user", "view",
    "constraint trigger", "recursive view", "or replace",
)  # fmt: skip


def refusal(cursor: Cursor) -> SqlError:
    """Return 0A000 that names the statement, or the syntax error that it is."""
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
    elif cursor.at_end_of_statement() and word not in BARE:
        return cursor.syntax_error()
    return not_supported(what, position)


def object_refusal(cursor: Cursor, verb: str, position: int) -> SqlError:
    cursor.advance()
    hint = None
    if cursor.accept("or", "replace") and verb != "create":
        return cursor.syntax_error()
    for words in OBJECTS:
        if cursor.at_words(*words.split()):
            if words in ("table", "unlogged table", "temp", "temporary", "materialized view"):
                hint = (
                    "Streams are made with CREATE FOREIGN TABLE ... SERVER stream, continuous views with CREATE VIEW."
                )
            return SqlError("0A000", f"{verb.upper()} {words.upper()} is not supported yet", position, hint=hint)
    return cursor.syntax_error()
