"""LISTEN, UNLISTEN and NOTIFY."""

from __future__ import annotations

from dataclasses import dataclass

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Statement
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class Listen(Statement):
    """The statement LISTEN channel, or UNLISTEN channel | *.

    Attributes:
        channel: None for UNLISTEN *.
        on: False for UNLISTEN.
    """

    channel: str | None
    on: bool

    @property
    def tag(self) -> str:
        """See Statement."""
        return "LISTEN" if self.on else "UNLISTEN"


@dataclass(frozen=True)
class Notify(Statement, tag="NOTIFY"):
    """NOTIFY channel [, 'payload']."""

    channel: str
    payload: str


@begins("listen")
def listen(cursor: Cursor) -> Listen:
    """Read LISTEN channel."""
    cursor.expect("listen")
    name = cursor.name()
    return Listen(cursor.statement_text, name, True)


@begins("unlisten")
def unlisten(cursor: Cursor) -> Listen:
    """Read UNLISTEN * | channel."""
    cursor.expect("unlisten")
    name = None if cursor.accept_operator("*") else cursor.name()
    return Listen(cursor.statement_text, name, False)


@begins("notify")
def notify(cursor: Cursor) -> Notify:
    """Read NOTIFY channel [, 'payload']."""
    cursor.expect("notify")
    channel = cursor.name()
    payload = cursor.string() if cursor.accept_operator(",") else ""
    return Notify(cursor.statement_text, channel, payload)
