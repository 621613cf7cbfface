"""The end of a statement that its client, its timeout, or the server asks for.

Enters: the request, on the event loop. Leaves: 57014 in the statement, wherever it is. A thread may
be just about to begin a call that can be interrupted, and would not hear of the request: so a
statement is interrupted again until it has ended. Nothing here waits for a thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from engine.sessions.timeouts import CANCELED
from sql.errors import SqlError

if TYPE_CHECKING:
    from engine.sessions.session import Session

Result = TypeVar("Result")
AGAIN_S = 0.1


class Cancelling:
    """The cancelling of one session's statements.

    Attributes:
        is_asked: set by a request until the next message.
    """

    def __init__(self, session: Session, loop: asyncio.AbstractEventLoop) -> None:
        self._session = session
        self._loop = loop
        self.is_asked = threading.Event()
        self._is_running = False
        self._again: asyncio.TimerHandle | None = None
        self._waits: set[asyncio.Future[Any]] = set()

    def ask(self) -> None:
        """Let the running statement end with 57014."""
        self.is_asked.set()
        if self._again is None:
            self._interrupt()

    def forget(self) -> None:
        """Forget the request: another message begins."""
        if self.is_asked.is_set():
            self.is_asked.clear()

    def check(self) -> None:
        """Raise 57014 after a request; from any thread."""
        if self.is_asked.is_set():
            raise self._session.timeout.error_or(SqlError(CANCELED, "canceling statement due to user request"))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Mark that a statement runs inside that may be interrupted at any time; not its COMMIT."""
        self._is_running = True
        try:
            yield
        finally:
            self._is_running = False

    async def wait(self, waiting: Awaitable[Result]) -> Result:
        """Wait for an event that may never come. Raises 57014."""
        future = asyncio.ensure_future(waiting)
        self._waits.add(future)
        try:
            return await future
        except asyncio.CancelledError:
            self.check()
            raise
        finally:
            self._waits.discard(future)

    def _interrupt(self) -> None:
        self._again = None
        if not self.is_asked.is_set():
            return
        session = self._session
        server, transaction = session.server, session.block.open
        server.engines.tables.interrupt(session)
        if transaction is not None and transaction.tables is not None:
            transaction.tables.interrupt()
        server.engines.upper.cancel(session)
        for future in list(self._waits):
            future.cancel()
        if self._is_running:
            self._again = self._loop.call_later(AGAIN_S, self._interrupt)
