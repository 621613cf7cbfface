"""The messages for a session's client that answer none of the client's: they wait until it is idle
outside of a transaction block.

A client that does not take them is not waited for, and can't fill the memory: its connection ends.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sql.errors import SqlError
from sql.wire import writer

if TYPE_CHECKING:
    from engine.sessions.session import Session

log = logging.getLogger(__name__)

# Bytes that may wait for one client, here and in its socket's buffer.
UNREAD_BYTES_MAX = 1 << 24


class SessionInbox:
    """The inbox of one session: see `engine.execution.after_commit.Inbox`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.process_id = session.connection.process_id
        self.at_end: set[Callable[[Any], object]] = set()
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        # Bytes that were handed out since the client last took everything.
        self._sent_bytes = 0

    @property
    def has_messages(self) -> bool:
        """True when a message waits."""
        return bool(self._waiting)

    def put(self, message: bytes) -> None:
        """See Inbox."""
        session = self._session
        self._waiting.append(message)
        self._waiting_bytes += len(message)
        if session.connection.may_write.is_set():
            self._sent_bytes = 0
        if self._waiting_bytes + self._sent_bytes > UNREAD_BYTES_MAX:
            self._give_up()
        elif session.connection.is_idle and session.block.open is None:
            try:
                session.connection.write(self.take())
            except SqlError as error:
                # Characters that the client's encoding does not have are no error of the sender.
                session.connection.write(writer.error_response(error))
            session.connection.flush()

    def take(self) -> bytes:
        """Return the messages that wait."""
        if not self._waiting:
            return b""
        taken, self._waiting = self._waiting, []
        self._sent_bytes += self._waiting_bytes
        self._waiting_bytes = 0
        return b"".join(taken)

    def end(self) -> None:
        """Take nothing any more."""
        for forget in self.at_end:
            forget(self)
        self.at_end.clear()

    def _give_up(self) -> None:
        """End the connection of a client that takes nothing."""
        log.warning("a client that takes no messages is ended, process %d", self.process_id)
        self._waiting.clear()
        self._waiting_bytes = 0
        self.end()
        self._session.connection.end_soon()
