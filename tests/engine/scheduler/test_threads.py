"""Work of a thread on the event loop: its value, or whatever it raises, comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from engine.scheduler.threads import Threads
from engine.scheduler.workers import Workers
from sql.errors import SqlError

Result = TypeVar("Result")
WAIT_S_MAX = 30.0


class Nobody:
    """A session that neither waits nor is cancelled."""

    waits_for_turn = waits_for_definitions = False

    def check(self) -> None:
        """Raise nothing."""

    async def wait(self, waiting: Awaitable[Result]) -> Result:
        """Wait."""
        return await waiting


def on_loop(work: Callable[[], object]) -> object:
    """Return what a thread gets that has something run on the loop."""

    async def run() -> object:
        threads = Threads(Workers(1, 1.0, 1), Nobody(), Nobody())
        return await asyncio.wait_for(threads.in_thread(threads.on_loop, work), WAIT_S_MAX)

    return asyncio.run(run())


def test_its_value_comes_back() -> None:
    assert on_loop(lambda: 7) == 7


@pytest.mark.parametrize("error", [SqlError("57014", "cancelled"), KeyError("a bug")])
def test_what_it_raises_comes_back(error: Exception) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        on_loop(fail)
