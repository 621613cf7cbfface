"""The loop looks for what is expected at once, and only for that, and only so long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from engine import busy_polling
from engine.busy_polling import REST_NS, BusyPolling

WAIT_US = 200


class FakeLoop:
    """Runs a callback at a time, when told."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.waiting.append(callback)

    def turn(self) -> bool:
        """Run what waits; tell whether there was anything."""
        callbacks, self.waiting = self.waiting, []
        for callback in callbacks:
            callback()
        return bool(callbacks)


class World:
    """A loop, its looking, and a clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, wait_us: int = WAIT_US) -> None:
        self.now_us = 1
        self.loop = FakeLoop()
        self.polling = BusyPolling(cast(asyncio.AbstractEventLoop, self.loop), wait_us)
        clock: Any = type("Clock", (), {"perf_counter_ns": lambda _: self.now_us * 1000})
        monkeypatch.setattr(busy_polling, "time", clock())

        self.yield_us = 0
        monkeypatch.setattr(busy_polling, "os", type("Os", (), {"sched_yield": lambda _: self.pass_by()})())

    def pass_by(self) -> None:
        """Others have the processor for so long."""
        self.now_us += self.yield_us

    def statement(self, client: int, after_us: int) -> None:
        """A client sends a statement so long after the last answer, and gets one."""
        self.now_us += after_us
        self.polling.received()
        self.polling.answered(client)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_looks_from_the_second_quick_statement_on(world: World) -> None:
    world.statement(1, 0)
    assert not world.loop.waiting
    world.statement(1, WAIT_US - 1)
    for _ in range(3):
        assert world.loop.turn() and len(world.loop.waiting) == 1
    # The packet comes while the loop looks, and again: there is one who looks.
    for _ in range(3):
        world.statement(1, 50)
        assert len(world.loop.waiting) == 1


def test_stops_when_the_packet_is_there(world: World) -> None:
    world.statement(1, 0)
    world.statement(1, 10)
    world.polling.received()
    assert world.loop.turn() and not world.loop.turn()


def test_stops_after_the_time(world: World) -> None:
    world.statement(1, 0)
    world.statement(1, 10)
    world.now_us += WAIT_US
    assert world.loop.turn() and not world.loop.turn()
    # The client took too long, so it is not waited for the next time either, until it is quick again.
    world.statement(1, 1000)
    assert not world.loop.waiting
    world.statement(1, 10)
    assert world.loop.waiting


def test_sleeps_for_a_second_where_others_have_work_for_the_processor(world: World) -> None:
    world.statement(1, 0)
    world.statement(1, 10)
    world.yield_us = WAIT_US
    assert world.loop.turn() and not world.loop.waiting
    world.yield_us = 0
    quick_us = WAIT_US // 2
    # One of them ends a second after it began to look for the client.
    for _ in range(REST_NS // 1000 // quick_us - 3):
        world.statement(1, quick_us)
        assert not world.loop.waiting
    for _ in range(3):
        world.statement(1, quick_us)
    assert world.loop.waiting


def test_several_clients_are_not_waited_for(world: World) -> None:
    for number in range(10):
        world.statement(number % 2, 10)
        assert not world.loop.waiting


def test_never(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, wait_us=0)
    for _ in range(5):
        world.statement(1, 0)
    assert not world.loop.waiting
