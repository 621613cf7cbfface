"""Statements that PostgreSQL knows and Antumbra does not yet: 0A000 by name. Text that is no SQL stays a syntax error."""

from __future__ import annotations

from typing import NoReturn

from sql.errors import SqlError, not_supported
from sql.grammar.cursor import Cursor

# First words of statements that are refused as a whole.
WHOLE = frozenset(
    """
    alter analyze analyse call checkpoint close cluster comment declare delete do execute fetch grant import listen load lock
    merge move notify prepare reassign refresh reindex release revoke savepoint security truncate unlisten update vacuum
    """.split()
)

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


def refuse(cursor: Cursor) -> NoReturn:
    """Raise 0A000 that names the statement, or the syntax error that it is."""
    position = cursor.position
    word = cursor.token.value if cursor.token.kind == "word" else ""
    if word in ("create", "drop", "alter"):
        refuse_object(cursor, word, position)
    if word not in WHOLE:
        cursor.fail()
    cursor.advance()
    what = word.upper()
    if word == "refresh" and cursor.accept("materialized", "view"):
        what = "REFRESH MATERIALIZED VIEW"
    elif word == "security":
        what = "SECURITY LABEL"
    elif cursor.at_end_of_statement() and word in (
        "alter",
        "comment",
        "grant",
        "import",
        "prepare",
        "revoke",
        "update",
        "delete",
    ):
        cursor.fail()
    raise not_supported(what, position)


def refuse_object(cursor: Cursor, verb: str, position: int) -> NoReturn:
    cursor.advance()
    hint = None
    if cursor.accept("or", "replace") and verb != "create":
        cursor.fail()
    for words in OBJECTS:
        if cursor.at_words(*words.split()):
            if words in ("table", "unlogged table", "temp", "temporary", "materialized view"):
                hint = (
                    "Streams are made with CREATE FOREIGN TABLE ... SERVER stream, continuous views with CREATE VIEW."
                )
            raise SqlError("0A000", f"{verb.upper()} {words.upper()} is not supported yet", position, hint=hint)
    cursor.fail()
