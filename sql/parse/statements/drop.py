"""DROP FOREIGN TABLE | VIEW | TABLE | SEQUENCE [IF EXISTS] name, ... [CASCADE | RESTRICT]."""

from __future__ import annotations

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.statement import DropRelation


def drop(cursor: Cursor) -> DropRelation:
    """Read the statement from its first word."""
    first = cursor.index
    cursor.expect("drop")
    kind = cursor.accept_any("view", "table", "sequence")
    if kind is None:
        cursor.expect("foreign", "table")
        kind = "stream"
    if_exists = cursor.accept("if", "exists")
    names = []
    while True:
        position = cursor.position
        names.append((cursor.relation_name(), position))
        if not cursor.accept_operator(","):
            break
    cascade = cursor.accept_any("cascade", "restrict") == "cascade"
    return DropRelation(cursor.text_since(first), kind, tuple(names), if_exists, cascade)
