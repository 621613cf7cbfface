"""The timeouts that end a session's statement, or its connection.

statement_timeout cancels the statement, and tells such an end from a client's cancel or the
server's. idle_in_transaction_session_timeout and idle_session_timeout end the connection of a
client that says nothing between ReadyForQuery and its next message. All are for the one event loop.
Must not know statements.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sql.errors import SqlError
from sql.settings.settings import Settings

if TYPE_CHECKING:
    from engine.sessions.session import Session

CANCELED = "57014"


class StatementTimeout:
    """The timeout of one session's statements.

    Attributes:
        cancel: stops the running statement.
        ends: a cancel is the end of the session.
        is_over: the time of the statement is over; false again from the next one on.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, settings: Settings, cancel: Callable[[], None]) -> None:
        self._loop = loop
        self._settings = settings
        self._cancel = cancel
        self.ends = False
        self.is_over = False
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin a statement: let its time run, if there is a limit."""
        timeout_ms = self._settings.statement_timeout_ms
        if timeout_ms:
            self._timer = self._loop.call_later(timeout_ms / 1000, self._time_out)

    def stop(self) -> None:
        """End the statement's time."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the time run for a piece of work. Raises 57014 when it is over."""
        self.start()
        try:
            yield
        except SqlError as error:
            raise self.error_or(error) from None
        finally:
            self.stop()

    def error_or(self, error: SqlError) -> SqlError:
        """Return `error`, or the error of the timeout or of the session's end that has cancelled
        the statement.
        """
        if self.ends and error.sqlstate == CANCELED:
            return terminated()
        if self.is_over and error.sqlstate == CANCELED:
            return SqlError(CANCELED, "canceling statement due to statement timeout", detail=error.detail)
        return error

    def _time_out(self) -> None:
        self.is_over = True
        self._cancel()


def terminated() -> SqlError:
    """Return the error of a session that the server ends."""
    return SqlError("57P01", "terminating connection due to administrator command", severity="FATAL")


IN_BLOCK = ("25P03", "terminating connection due to idle-in-transaction timeout")
BETWEEN = ("57P05", "terminating connection due to idle-session timeout")


class IdleTimeout:
    """The idle timeouts of one session.

    Attributes:
        is_running: true while one of them runs.
    """

    def __init__(self, session: Session, loop: asyncio.AbstractEventLoop) -> None:
        self._session = session
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        """True while the client's time runs."""
        return self._timer is not None

    def start(self) -> None:
        """Begin the client's time: it has been told that it may go on."""
        self._session.doing.end()
        in_block, between = self._session.settings.idle_timeouts_ms
        if not in_block and not between:
            return
        is_open = self._session.block.open is not None
        timeout_ms = in_block if is_open else between
        if timeout_ms:
            self._timer = self._loop.call_later(timeout_ms / 1000, self._time_out, IN_BLOCK if is_open else BETWEEN)

    def stop(self) -> None:
        """End the client's time: it has sent a message, or is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self, reason: tuple[str, str]) -> None:
        self._timer = None
        connection = self._session.connection
        if connection.is_idle:
            connection.terminate(SqlError(*reason))
