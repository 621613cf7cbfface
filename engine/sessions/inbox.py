"""The notifications of a session that its client has not got: they wait for the end of a message,
or of the transaction block.

A client that does not take them is not waited for, and can't fill the memory: its connection ends.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from sql.wire import writer

if TYPE_CHECKING:
    from engine.sessions.session import Session

log = logging.getLogger(__name__)

# Bytes that may wait for one client, here and in its socket's buffer.
UNREAD_BYTES_MAX = 1 << 24


class Inbox:
    """The messages of other sessions for one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        # Bytes that were handed out since the client last took everything.
        self._sent_bytes = 0

    @property
    def has_messages(self) -> bool:
        """True when a message waits."""
        return bool(self._waiting)

    def notified(self, process_id: int, channel: str, payload: str) -> None:
        """Tell the client of a notification, at once if no message waits and no transaction block
        is open.
        """
        session = self._session
        message = writer.notification_response(process_id, channel, payload)
        self._waiting.append(message)
        self._waiting_bytes += len(message)
        if session.connection.may_write.is_set():
            self._sent_bytes = 0
        if self._waiting_bytes + self._sent_bytes > UNREAD_BYTES_MAX:
            self._give_up()
        elif session.connection.is_idle and session.block.open is None:
            session.connection.write(self.take())
            session.connection.flush()

    def take(self) -> bytes:
        """Return the notifications that wait, as messages."""
        if not self._waiting:
            return b""
        taken, self._waiting = self._waiting, []
        self._sent_bytes += self._waiting_bytes
        self._waiting_bytes = 0
        return b"".join(taken)

    def _give_up(self) -> None:
        """End the connection of a client that takes nothing."""
        connection = self._session.connection
        log.warning("a client that does not read its notifications is ended, process %d", connection.process_id)
        self._waiting.clear()
        self._waiting_bytes = 0
        self._session.shared.notifications.change(self, [(None, False)])
        connection.end_soon()
