"""The threads on which statements work, and the turns in which they begin.

Enters: statements that compute, on the event loop. Leaves: turns. Each statement has a thread at
once, and asks for a turn before it computes. A turn ends with the work, or after `turn_s`: a
statement that computes for longer goes on, beside those that begin. So a short statement waits for
short ones, and for a long one never more than a turn. Must not know sessions or statements.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

log = logging.getLogger(__name__)

# Sessions whose clients have gone may still be at work beside those that took their places.
THREADS_PER_CONNECTION = 2


class Workers:
    """The threads and turns of one server, for the one event loop.

    begin_at_once: how many computing statements may be in their turns.
    """

    def __init__(self, begin_at_once: int, turn_s: float, connections_max: int) -> None:
        self.threads = ThreadPoolExecutor(THREADS_PER_CONNECTION * connections_max, thread_name_prefix="antumbra")
        self._turn_s = turn_s
        self._free = begin_at_once
        self._waiting: deque[Turn] = deque()

    def turn(self) -> Turn:
        """Return a turn, which is asked for at the beginning of its context and given back at the
        end or before.
        """
        return Turn(self)

    def submit(self, work: Callable[[], object]) -> None:
        """Run a function for which no statement waits, from any thread.

        What it raises is a bug, and logged.
        """
        self.threads.submit(work).add_done_callback(log_bug)

    def shutdown(self, wait: bool = True) -> None:
        """End the threads, and drop work that has not begun."""
        self.threads.shutdown(wait=wait, cancel_futures=True)

    def ask(self, turn: Turn) -> None:
        """Let a turn begin, at once or after one of those before it is over."""
        self._waiting.append(turn)
        self._begin_next()

    def give_back(self, turn: Turn) -> None:
        """Take back a turn, or its place in the queue."""
        if turn.has_begun:
            self._free += 1
            self._begin_next()
        else:
            self._waiting.remove(turn)

    def _begin_next(self) -> None:
        while self._free and self._waiting:
            self._free -= 1
            self._waiting.popleft().begin(self._turn_s)


class Turn:
    """A statement's turn to compute. begins: the future of its beginning while it `waits`."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = self.has_begun = False
        self.begins: asyncio.Future[None] = self._loop.create_future()

    @property
    def waits(self) -> bool:
        """True while other turns come first."""
        return not self.has_begun

    def begin(self, turn_s: float) -> None:
        """Begin the turn, which is over after `turn_s` seconds."""
        self.has_begun = True
        self._timer = self._loop.call_later(turn_s, self._end)
        if not self.begins.done():
            self.begins.set_result(None)

    def __enter__(self) -> Turn:
        self._workers.ask(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._end()

    def _end(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._workers.give_back(self)


def log_bug(done: Future[object]) -> None:
    """Log what a function has raised for which nobody waits."""
    error = None if done.cancelled() else done.exception()
    if error is not None:
        log.error("a bug in work of the background", exc_info=error)
