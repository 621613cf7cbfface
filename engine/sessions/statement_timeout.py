"""statement_timeout: cancels the session's statement when its time is over, and tells such an end from a client's cancel or the server's.

For the one event loop. Must not know statements.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from sql.errors import SqlError
from sql.settings.settings import Settings

CANCELED = "57014"


class StatementTimeout:
    """The timeout of one session. cancel: stops the statement that runs. ends: a cancel is the end of the session."""

    def __init__(self, loop: asyncio.AbstractEventLoop, settings: Settings, cancel: Callable[[], None]) -> None:
        self._loop = loop
        self._settings = settings
        self._cancel = cancel
        self.ends = False
        self._is_over = False
        self._timer: asyncio.TimerHandle | None = None

    def begin_message(self) -> None:
        """What was left of the statement before is over."""
        self._is_over = False

    def start(self) -> None:
        """A statement begins: let its time run, if it has a limit."""
        timeout_ms = self._settings.statement_timeout_ms
        if timeout_ms:
            self._timer = self._loop.call_later(timeout_ms / 1000, self._time_out)

    def stop(self) -> None:
        """The statement has ended."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def error_or(self, error: SqlError) -> SqlError:
        """Return `error`, or what it really is when the statement was cancelled by its own timeout or with its session."""
        if self.ends and error.sqlstate == CANCELED:
            return terminated()
        if self._is_over and error.sqlstate == CANCELED:
            return SqlError(CANCELED, "canceling statement due to statement timeout", detail=error.detail)
        return error

    def _time_out(self) -> None:
        self._is_over = True
        self._cancel()


def terminated() -> SqlError:
    """Return the error of a session that the server ends."""
    return SqlError("57P01", "terminating connection due to administrator command", severity="FATAL")
