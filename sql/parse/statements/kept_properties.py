"""Actions of ALTER TABLE and ALTER INDEX that say how PostgreSQL keeps a table, gathers statistics
of it or copies it elsewhere.

None of them changes an answer. Those that a dump writes are kept and shown; the others are taken
where PostgreSQL takes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sql.errors import SqlError, not_supported
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.options import signed_number
from sql.parse.statements.parts import TableChange
from sql.parse.statements.storage_parameters import (
    OF_COLUMN,
    OF_TABLE,
    Bounds,
    storage_parameters,
    tablespace,
)

# What is taken, and is not kept.
NOTHING = TableChange("keep")
STORAGES = {"plain": "p", "external": "e", "extended": "x", "main": "m"}
COMPRESSIONS = {"default": "", "pglz": "p", "lz4": "l"}
IDENTITIES = {"default": "", "full": "f", "nothing": "n"}
STATISTICS_MAX = 10_000
TAKEN = (("without", "oids"), ("logged",), ("unlogged",))


def kept_action(cursor: Cursor) -> TableChange | None:
    """Read an action on a table or on an index, None where another one is next."""
    position = cursor.position
    if cursor.accept("cluster", "on"):
        return TableChange("keep", cursor.name(), kept="clustered", position=position)
    if cursor.accept("replica", "identity"):
        if cursor.accept("using", "index"):
            return TableChange("keep", cursor.name(), kept="replica identity", position=position)
        word = cursor.one_of(*IDENTITIES)
        return TableChange("keep", kept="replica identity", new_name=IDENTITIES[word], position=position)
    if cursor.accept("validate", "constraint"):
        return TableChange("validate constraint", cursor.name(), position=position)
    if cursor.accept("no", "force") or cursor.at_words("force", "row"):
        return _row_security(cursor, position)
    if cursor.at("enable", "disable"):
        return _switched(cursor)
    return _set_property(cursor, position) if cursor.at("set", "reset") else None


def _set_property(cursor: Cursor, position: int) -> TableChange | None:
    """Read SET (parameters), RESET (names), SET TABLESPACE and the like."""
    if cursor.ahead(1).value == "(":
        return parameters(cursor, OF_TABLE, position)
    if cursor.accept("set", "without", "cluster"):
        return TableChange("keep", kept="clustered", position=position)
    if cursor.accept("set", "access", "method"):
        if (method := cursor.name()) != "heap":
            cursor.defer(SqlError("42704", f'access method "{method}" does not exist'))
        return NOTHING
    if cursor.accept("set", "tablespace"):
        tablespace(cursor)
        return NOTHING
    return NOTHING if any(cursor.accept("set", *words) for words in TAKEN) else None


def parameters(cursor: Cursor, valid: Mapping[str, Bounds], position: int, column: str = "") -> TableChange:
    """Read SET (name = value, ...) or RESET (name, ...)."""
    reset = cursor.one_of("set", "reset") == "reset"
    found = storage_parameters(cursor, valid, reset=reset)
    word = "reset" if reset else "set"
    return TableChange("keep", column, kept="parameters", new_name=word, parameters=found, position=position)


def _row_security(cursor: Cursor, position: int) -> TableChange:
    """Read [FORCE] ROW LEVEL SECURITY, which can be left alone or switched off."""
    is_on = cursor.accept("force")
    cursor.expect("row", "level", "security")
    if is_on:
        raise not_supported("row level security", position, hint="Let a role read a view of its rows.")
    return NOTHING


def _switched(cursor: Cursor) -> TableChange:
    """Read ENABLE | DISABLE of triggers, rules and row level security.

    There are no triggers and no rules, so that none can be named.
    """
    position = cursor.position
    is_on = cursor.one_of("enable", "disable") == "enable"
    if cursor.at("row"):
        cursor.expect("row", "level", "security")
        if is_on:
            raise not_supported("row level security", position, hint="Let a role read a view of its rows.")
        return NOTHING
    if is_on:
        cursor.accept_any("always", "replica")
    kind = cursor.one_of("trigger", "rule")
    if kind == "trigger" and (word := cursor.accept_any("all", "user")):
        return TableChange("keep", kept="triggers", new_name=word if not is_on else "", position=position)
    return TableChange("keep", cursor.name(), kept=kind, position=position)


def kept_column_action(cursor: Cursor, change: TableChange) -> TableChange | None:
    """Read SET STATISTICS | STORAGE | COMPRESSION | (parameters), or RESET (parameters), of a
    column; None where another action is next.
    """
    change = replace(change, action="keep")
    if cursor.at("set", "reset") and cursor.ahead(1).value == "(":
        return parameters(cursor, OF_COLUMN, change.position or 0, change.name)
    if cursor.accept("set", "statistics"):
        target = int(signed_number(cursor))
        if target < -1:
            cursor.defer(SqlError("22023", f"statistics target {target} is too low"))
        return replace(change, kept="statistics", new_name=str(min(target, STATISTICS_MAX)))
    if cursor.accept("set", "storage"):
        word = cursor.name()
        if word.lower() not in STORAGES:
            cursor.defer(SqlError("22023", f'invalid storage type "{word}"'))
        return replace(change, kept="storage", new_name=STORAGES.get(word.lower(), ""))
    if cursor.accept("set", "compression"):
        word = "default" if cursor.accept("default") else cursor.name()
        if word not in COMPRESSIONS:
            cursor.defer(SqlError("22023", f'invalid compression method "{word}"'))
        return replace(change, kept="compression", new_name=COMPRESSIONS.get(word, ""))
    return None


def statistics_of_index(cursor: Cursor) -> None:
    """Read ALTER [COLUMN] number SET STATISTICS target of an index, which is not kept."""
    cursor.expect("alter")
    cursor.accept("column")
    int(signed_number(cursor))
    cursor.expect("set", "statistics")
    if (target := int(signed_number(cursor))) < -1:
        cursor.defer(SqlError("22023", f"statistics target {target} is too low"))
