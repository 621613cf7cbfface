"""Where a session's statements compute: on threads, in their turn, so that the event loop serves
the other connections meanwhile.

Enters: functions with their arguments. Leaves: what they return. Must not know statements.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from engine.scheduler.collecting import collecting_later
from engine.scheduler.workers import Workers
from sql.interrupts import interrupted_by

Result = TypeVar("Result")

# Parsing and binding take some 5 us per character: longer texts are worked on by a thread.
TEXT_AT_ONCE_MAX = 1024


class Waits(Protocol):
    """The waits of a session, as others see them."""

    waits_for_turn: bool
    waits_for_definitions: bool


class Cancelling(Protocol):
    """The end of a statement that somebody asks for."""

    def check(self) -> None:
        """Raise 57014 once it is asked for; from any thread."""

    async def wait(self, waiting: Awaitable[Result]) -> Result:
        """Wait for something that may never come. Raises 57014."""


class Threads:
    """The threads of the statements of one session. check_cancelled: raises 57014; cancellable:
    awaits what may never come.
    """

    def __init__(self, workers: Workers, shown: Waits, cancelling: Cancelling) -> None:
        self._workers = workers
        self._shown = shown
        self._loop = asyncio.get_running_loop()
        self.check_cancelled, self.cancellable = cancelling.check, cancelling.wait

    async def in_worker(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Run what computes on a thread, in its turn. Raises 57014."""
        with self._workers.turn() as turn:
            if turn.waits:
                self._shown.waits_for_turn = True
                try:
                    await self.cancellable(turn.begins)
                finally:
                    self._shown.waits_for_turn = False
            return await self.in_thread(work, *arguments)

    async def in_thread(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Run at once, on a thread, what may wait as long as it likes, and what nobody may be kept
        from.
        """
        return await self._loop.run_in_executor(self._workers.threads, work, *arguments)

    def beside(self, work: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Begin work on a thread as soon as one is free; from any thread."""
        return self._workers.threads.submit(work, *arguments)

    def on_loop(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Run something short on the event loop, and wait for it; from a thread."""

        async def run() -> Result:
            return work(*arguments)

        # A bug, too, ends the wait.
        return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

    async def in_pieces(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Run what works through a long text on a thread.

        Cancel and timeouts end it between two steps. Raises 57014.
        """

        def run() -> Result:
            with interrupted_by(self.check_cancelled), collecting_later():
                return work(*arguments)

        return await self.in_worker(run)

    async def with_text(self, text: str, work: Callable[..., Result], *arguments: Any) -> Result:
        """Run what parses or binds `text`: on a thread if that takes so long that other clients
        would notice.
        """
        return await self.in_pieces(work, *arguments) if len(text) > TEXT_AT_ONCE_MAX else work(*arguments)

    async def for_definitions(self, waiting: Awaitable[None]) -> None:
        """Wait until the session may define, as others are shown meanwhile. Raises 57014."""
        self._shown.waits_for_definitions = True
        try:
            await self.cancellable(waiting)
        finally:
            self._shown.waits_for_definitions = False
