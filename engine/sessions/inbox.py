"""The notifications that a session has got and its client has not: they wait for the end of a message, or of the transaction block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sql.wire import writer

if TYPE_CHECKING:
    from engine.sessions.session import Session


class Inbox:
    """What other sessions have sent to one."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting: list[bytes] = []

    @property
    def has_messages(self) -> bool:
        """True when something waits."""
        return bool(self._waiting)

    def notified(self, process_id: int, channel: str, payload: str) -> None:
        """Tell the client of a notification, at once if it waits for nothing and is in no transaction block."""
        session = self._session
        self._waiting.append(writer.notification_response(process_id, channel, payload))
        if session.connection.is_idle and session.block.open is None:
            session.connection.write(self.take())
            session.connection.flush()

    def take(self) -> bytes:
        """Return what waits, as messages."""
        if not self._waiting:
            return b""
        taken, self._waiting = self._waiting, []
        return b"".join(taken)
