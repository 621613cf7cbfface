"""The log's answer to a commit, awaited on the event loop, from whichever thread it comes.

Enters: None or an SqlError, once. Leaves: the result of `future`. Must not know transactions.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

from sql.errors import SqlError


class LogAnswer:
    """Call it with the answer. future: its result is None when the commit is done, or why it failed; made on the event loop."""

    __slots__ = ("_loop", "_thread", "future")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.future: asyncio.Future[SqlError | None] = loop.create_future()
        self._loop = loop
        self._thread = threading.get_ident()

    def __call__(self, error: SqlError | None) -> None:
        if threading.get_ident() == self._thread:
            self._take(error)
            return
        # A server that stops waits for its sessions; whoever is not waited for any more has no loop.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._take, error)

    def _take(self, error: SqlError | None) -> None:
        if not self.future.done():
            self.future.set_result(error)
