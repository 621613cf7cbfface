"""REFERENCES table [(columns)] [MATCH SIMPLE] [ON DELETE action] [ON UPDATE action] of a foreign
key.
"""

from __future__ import annotations

from sql.errors import not_supported
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.parts import Reference
from sql.parse.statements.update import written_name


def reference(cursor: Cursor) -> Reference:
    """Read the rest of REFERENCES."""
    table, position = written_name(cursor)
    columns = cursor.names_in_parentheses() if cursor.at_operator("(") else ()
    match_position = cursor.position
    if cursor.accept("match"):
        word = cursor.one_of("full", "partial", "simple")
        if word != "simple":
            cursor.refuse(f"MATCH {word.upper()}", match_position)
    actions: dict[str, str] = {}
    while cursor.at("on"):
        cursor.advance()
        event = cursor.one_of(*({"delete", "update"} - actions.keys()))
        actions[event] = key_action(cursor)
    return Reference(table, position, columns, actions.get("delete", "no action"), actions.get("update", "no action"))


def key_action(cursor: Cursor) -> str:
    """Read NO ACTION | RESTRICT | CASCADE | SET NULL.

    SET DEFAULT is refused, and so are actions on some of the columns.
    """
    position = cursor.position
    if cursor.accept("no"):
        cursor.expect("action")
        return "no action"
    if cursor.accept("set"):
        word = cursor.one_of("null", "default")
        if word == "default" or cursor.at_operator("("):
            raise not_supported(f"SET {word.upper()} of a foreign key" + " for columns" * (word == "null"), position)
        return "set null"
    return cursor.one_of("restrict", "cascade")
