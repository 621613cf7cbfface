"""The effects of a session's statements on sessions, on the thread that runs them: wait, cancel and
end others, set, act after COMMIT.

Enters: pg_sleep, pg_cancel_backend, set_config and the like by way of
`engine.tables.session_functions`. Leaves: the end of a wait, a signal. Must not know SQL.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import TYPE_CHECKING

from engine.sessions.timeouts import CANCELED
from engine.tables.locks import SessionLocks
from sql.errors import SqlError

if TYPE_CHECKING:
    import asyncio

    from engine.sessions.session import Session


class SessionBackend:
    """The backend of one session: see `engine.tables.session_functions.Backend`.

    Attributes:
        cancelled: set while the session's statement is to end.
        locks: the locks of the session.
    """

    def __init__(self, session: Session, loop: asyncio.AbstractEventLoop, cancelled: threading.Event) -> None:
        self._session = session
        self._loop = loop
        self._cancelled = cancelled
        settings, process_id = session.settings, session.connection.process_id
        self.locks = SessionLocks(
            session.shared.locks, process_id, lambda: settings.lock_timeout_ms, session.check_cancelled
        )

    def sleep(self, seconds: float) -> None:
        """See Backend."""
        if self._cancelled.wait(max(min(seconds, threading.TIMEOUT_MAX), 0.0)):
            # DuckDB passes on code and text; the session tells what has cancelled the statement.
            raise SqlError(CANCELED, "canceling statement due to user request")

    def signal(self, process_id: int, terminates: bool) -> bool:
        """See Backend."""
        neighbours = self._session.connection.neighbours
        if role := neighbours.role_of(process_id):
            self._check_right(role, terminates)
            self._loop.call_soon_threadsafe(neighbours.signal, process_id, terminates)
            return True
        self.warn(f"PID {process_id} is not an Antumbra server process")
        return False

    def set_config(self, name: str | None, value: str | None, local: bool) -> str:
        """See Backend. Raises 22004 without a name, and the errors of SET."""
        return self._session.settings.set_config(name, value, local)

    def after_commit(self, effect: Hashable) -> None:
        """See Backend."""
        self._session.block.current().after_commit[effect] = None

    def warn(self, text: str) -> None:
        """See Backend."""
        self._loop.call_soon_threadsafe(self._session.notice, "01000", text, "WARNING")

    def _check_right(self, target: int, terminates: bool) -> None:
        """Raise 42501 unless the session may end the statement of another role."""
        roles = self._session.server.catalog.image.roles
        own = self._session.identity.current(roles)
        if roles.is_superuser(own):
            return
        if roles.is_superuser(target):
            what = "terminate superuser process" if terminates else "cancel superuser query"
            raise SqlError("42501", f"must be a superuser to {what}")
        if not roles.has_privileges_of(own, target):
            what = "process is being terminated" if terminates else "query is being canceled"
            raise SqlError("42501", f"must be a member of the role whose {what} or member of pg_signal_backend")
