"""idle_in_transaction_session_timeout and idle_session_timeout: end the connection of a client that says nothing for too long.

For the one event loop. The time runs from ReadyForQuery to the next message.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sql.errors import SqlError

if TYPE_CHECKING:
    from engine.sessions.session import Session

IN_BLOCK = ("25P03", "terminating connection due to idle-in-transaction timeout")
BETWEEN = ("57P05", "terminating connection due to idle-session timeout")


class IdleTimeout:
    """The idle timeouts of one session. is_running: while one of them runs."""

    def __init__(self, session: Session, loop: asyncio.AbstractEventLoop) -> None:
        self._session = session
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        """True while the client's time runs."""
        return self._timer is not None

    def start(self) -> None:
        """The client has been told that it may go on."""
        self._session.doing.end()
        in_block, between = self._session.settings.idle_timeouts_ms
        if not in_block and not between:
            return
        is_open = self._session.block.open is not None
        timeout_ms = in_block if is_open else between
        if timeout_ms:
            self._timer = self._loop.call_later(timeout_ms / 1000, self._time_out, IN_BLOCK if is_open else BETWEEN)

    def stop(self) -> None:
        """The client has said something, or is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self, reason: tuple[str, str]) -> None:
        self._timer = None
        connection = self._session.connection
        if connection.is_idle:
            connection.terminate(SqlError(*reason))
