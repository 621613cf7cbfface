"""DEALLOCATE, DISCARD, and what pools send to clean a connection: CLOSE ALL and UNLISTEN."""

from __future__ import annotations

from sql.errors import SqlError
from sql.grammar.cursor import Cursor
from sql.statements.statement import Cleanup, Deallocate, Discard


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


def close(cursor: Cursor) -> Cleanup:
    """Read CLOSE ALL. There are no cursors, so CLOSE name is 34000."""
    first = cursor.index
    cursor.expect("close")
    if not cursor.accept("all"):
        cursor.defer(SqlError("34000", f'cursor "{cursor.name()}" does not exist'))
    return Cleanup(cursor.text_since(first), "CLOSE CURSOR ALL")


def unlisten(cursor: Cursor) -> Cleanup:
    """Read UNLISTEN * | channel."""
    first = cursor.index
    cursor.expect("unlisten")
    if not cursor.accept_operator("*"):
        cursor.name()
    return Cleanup(cursor.text_since(first), "UNLISTEN")
