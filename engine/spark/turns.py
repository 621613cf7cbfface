"""The turns in which Spark's pipelines begin: those that take long go on beside the ones that
begin.

Enters: a pipeline that begins, on its thread. Leaves: its turn, once fewer than so many others are
in theirs. Spark itself gives a pipeline that began the place that it keeps until its end, however
long it takes: without turns a few long ones would keep all others out. Must not know pipelines.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Of a turn: nearly all pipelines are done by then.
TURN_S = 1.0
# Between two looks whether a pipeline that waits for its turn was cancelled.
CANCEL_POLL_S = 0.05


class PipelineTurns:
    """The turns of the pipelines of one server. begin_at_once: how many may be in their turns."""

    def __init__(self, begin_at_once: int) -> None:
        self._begin_at_once = begin_at_once
        self._changed = threading.Condition()
        self._started_s: dict[object, float] = {}

    @contextmanager
    def turn(self, check_cancelled: Callable[[], None]) -> Iterator[None]:
        """Wait for a turn, and have it for `TURN_S` or until the end.

        Raises what `check_cancelled` does.
        """
        one = object()
        with self._changed:
            while self._count_in_turn() >= self._begin_at_once:
                check_cancelled()
                self._changed.wait(CANCEL_POLL_S)
            self._started_s[one] = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                del self._started_s[one]
                self._changed.notify()

    def _count_in_turn(self) -> int:
        begin_s = time.monotonic() - TURN_S
        return sum(started_s > begin_s for started_s in self._started_s.values())
