"""The start of a coroutine without a task: most of a session's coroutines never suspend, and a task
costs more than they do.

Enters: the result of `Session.handle`. Leaves: nothing when the coroutine has finished, else an
awaitable that goes on from where it suspended. The first step runs outside any task, so the
coroutine must not ask for the current task (`asyncio.timeout` does).
"""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from types import CoroutineType, TracebackType


def first_step(work: Awaitable[None]) -> Awaitable[None] | None:
    """Run `work` up to its first suspension; return the rest of it, or None when there is none."""
    if not isinstance(work, CoroutineType):
        return work
    try:
        suspended_on = work.send(None)
    except StopIteration:
        return None
    return _Rest(work, suspended_on)


class _Rest(Generator[object, None, None], Awaitable[None]):
    """A coroutine after its first step: yields the value with which it was suspended, then is the
    coroutine itself.
    """

    __slots__ = ("_is_entered", "_suspended_on", "_work")

    def __init__(self, work: CoroutineType[object, None, None], suspended_on: object) -> None:
        self._work = work
        self._suspended_on = suspended_on
        self._is_entered = False

    def __await__(self) -> Generator[object, None, None]:
        return self

    def send(self, value: None) -> object:
        """Resume."""
        if self._is_entered:
            return self._work.send(value)
        self._is_entered = True
        return self._suspended_on

    def throw(
        self,
        kind: type[BaseException] | BaseException,
        value: BaseException | object = None,
        traceback: TracebackType | None = None,
    ) -> object:
        """Resume with an exception, such as a cancellation."""
        assert value is None and traceback is None, "only the one-argument form is used"
        return self._work.throw(kind)

    def close(self) -> None:
        """Give the coroutine up."""
        self._work.close()
