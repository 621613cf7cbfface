"""The log's answer to a commit, taken on the event loop, from whichever thread it comes.

Enters: None or an SqlError. Leaves: a call of `take` on the event loop, or the result of a future.
Must not know transactions.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

from sql.errors import SqlError


class LogAnswer:
    """The function that is called with the answer: None when the commit is done, or the reason why
    it failed.

    It is made on the event loop; `take` gets the answer there.
    """

    __slots__ = ("_loop", "_take", "_thread")

    def __init__(self, loop: asyncio.AbstractEventLoop, take: Callable[[SqlError | None], None]) -> None:
        self._loop = loop
        self._take = take
        self._thread = threading.get_ident()

    def __call__(self, error: SqlError | None) -> None:
        if threading.get_ident() == self._thread:
            self._take(error)
            return
        # A server that stops waits for its sessions; a session that is no longer waited for has no
        # loop.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._take, error)


def awaited_answer(loop: asyncio.AbstractEventLoop) -> tuple[LogAnswer, asyncio.Future[SqlError | None]]:
    """Return the function for the answer, and the future whose result the answer becomes."""
    future: asyncio.Future[SqlError | None] = loop.create_future()

    def take(error: SqlError | None) -> None:
        if not future.done():
            future.set_result(error)

    return LogAnswer(loop, take), future
