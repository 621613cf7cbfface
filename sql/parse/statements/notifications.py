"""LISTEN, UNLISTEN and NOTIFY."""

from __future__ import annotations

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.session_statement import Listen, Notify


def listen(cursor: Cursor) -> Listen:
    """Read LISTEN channel."""
    first = cursor.index
    cursor.expect("listen")
    name = cursor.name()
    return Listen(cursor.text_since(first), name, True)


def unlisten(cursor: Cursor) -> Listen:
    """Read UNLISTEN * | channel."""
    first = cursor.index
    cursor.expect("unlisten")
    name = None if cursor.accept_operator("*") else cursor.name()
    return Listen(cursor.text_since(first), name, False)


def notify(cursor: Cursor) -> Notify:
    """Read NOTIFY channel [, 'payload']."""
    first = cursor.index
    cursor.expect("notify")
    channel = cursor.name()
    payload = cursor.string() if cursor.accept_operator(",") else ""
    return Notify(cursor.text_since(first), channel, payload)
