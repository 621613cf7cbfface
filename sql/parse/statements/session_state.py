"""DEALLOCATE and DISCARD."""

from __future__ import annotations

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.statement import Deallocate, Discard


def deallocate(cursor: Cursor) -> Deallocate:
    """Read DEALLOCATE [PREPARE] name | ALL."""
    first = cursor.index
    cursor.expect("deallocate")
    if cursor.at("prepare") and cursor.ahead(1).kind != "end" and cursor.ahead(1).value != ";":
        cursor.advance()
    name = None if cursor.accept("all") else cursor.name()
    return Deallocate(cursor.text_since(first), name)


def discard(cursor: Cursor) -> Discard:
    """Read DISCARD ALL | PLANS | SEQUENCES | TEMP."""
    first = cursor.index
    cursor.expect("discard")
    what = cursor.accept_any("all", "plans", "sequences", "temp", "temporary")
    if what is None:
        cursor.fail()
    return Discard(cursor.text_since(first), "temp" if what == "temporary" else what)
