"""The loop looks for what is expected at once, and only for that, and only so long."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from engine.server import busy_polling
from engine.server.busy_polling import LOOK_NS_MAX, PACKET_BYTES_MAX, BusyPolling
from engine.server.socket_writer import NO_DESCRIPTOR
from engine.storage import spin_wait as looking
from engine.storage.spin_wait import REST_NS_MAX, REST_NS_MIN, Looking
from ringbuffer.memory.row_block import PADDING_BYTES
from ringbuffer.scalar.numbers.fields import Bytes

WAIT_US = 200
FOREVER_US = 60_000_000


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


class FakeClient:
    """Keeps what it has received."""

    def __init__(self, descriptor: int = NO_DESCRIPTOR) -> None:
        self.descriptor = descriptor
        self.received: list[bytes] = []

    def expect(self) -> int:
        return self.descriptor

    def take(self, data: Bytes, size: int) -> None:
        assert len(data) - size >= PADDING_BYTES
        self.received.append(data[:size].tobytes())


class World:
    """A loop, its looking, and a clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, wait_us: int = WAIT_US) -> None:
        self.now_us = 1
        self.loop = FakeLoop()
        self.polling = BusyPolling(cast(asyncio.AbstractEventLoop, self.loop), Looking(wait_us))
        self.client = FakeClient()
        clock: Any = type("Clock", (), {"perf_counter_ns": lambda _: self.now_us * 1000})
        for module in (busy_polling, looking):
            monkeypatch.setattr(module, "time", clock())
        self.yield_us = 0
        monkeypatch.setattr(busy_polling, "os", type("Os", (), {"sched_yield": lambda _: self.pass_by()})())

    def pass_by(self) -> None:
        """Others have the processor for so long."""
        self.now_us += self.yield_us

    def statement(self, after_us: int, client: FakeClient | None = None) -> None:
        """A client sends a statement so long after the last answer, and gets one."""
        self.now_us += after_us
        self.polling.received()
        self.polling.answered(client or self.client)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


@contextmanager
def looked_for(wait_us: int = FOREVER_US) -> Iterator[tuple[FakeLoop, BusyPolling, FakeClient, socket.socket]]:
    """Give a client, by the real clock, who has just been answered and is looked for on its socket; and its other end."""
    near, far = socket.socketpair()
    with near, far:
        near.setblocking(False)
        loop, client = FakeLoop(), FakeClient(near.fileno())
        polling = BusyPolling(cast(asyncio.AbstractEventLoop, loop), Looking(wait_us))
        for _ in range(3):
            polling.received()
            polling.answered(client)
        yield loop, polling, client, far


def test_looks_from_the_third_quick_statement_on(world: World) -> None:
    for _ in range(2):
        world.statement(0)
        assert not world.loop.waiting
    world.statement(WAIT_US - 1)
    for _ in range(3):
        assert world.loop.turn() and len(world.loop.waiting) == 1
    # The packet comes while the loop looks, and again: there is one who looks.
    for _ in range(3):
        world.statement(50)
        assert len(world.loop.waiting) == 1


def test_stops_when_the_packet_is_there(world: World) -> None:
    world.statement(0)
    world.statement(0)
    world.statement(10)
    world.polling.received()
    assert world.loop.turn() and not world.loop.turn()


def test_stops_after_the_time(world: World) -> None:
    world.statement(0)
    world.statement(0)
    world.statement(10)
    world.now_us += WAIT_US
    assert world.loop.turn() and not world.loop.turn()
    # The client took too long, so it is not waited for the next time either, until it is quick again.
    world.statement(1000)
    assert not world.loop.waiting
    world.statement(10)
    assert world.loop.waiting


def test_sleeps_for_a_while_where_others_have_work_for_the_processor(world: World) -> None:
    quick_us = WAIT_US // 2

    def displaced_us() -> int:
        """Return for how long nothing is looked for after a yield that takes long."""
        world.yield_us = WAIT_US
        assert world.loop.turn() and not world.loop.waiting
        world.yield_us = 0
        began_us = world.now_us
        while not world.loop.waiting:
            world.statement(quick_us)
        return world.now_us - began_us

    for _ in range(3):
        world.statement(10)
    # As the same goes on, for longer and longer.
    rests_us = [displaced_us() for _ in range(10)]
    expected_us = [min(REST_NS_MIN * 2**count, REST_NS_MAX) // 1000 for count in range(10)]
    assert all(0 <= rest - expected <= quick_us for rest, expected in zip(rests_us, expected_us, strict=True))
    assert rests_us[-1] >= REST_NS_MAX // 1000
    # Once it was looked for longer than it was not, that was by chance.
    for _ in range(2):
        for _ in range(REST_NS_MAX // 1000 // quick_us):
            world.statement(quick_us)
        assert displaced_us() - REST_NS_MIN // 1000 <= quick_us


def test_several_clients_are_not_waited_for(world: World) -> None:
    clients = [FakeClient(), FakeClient()]
    for number in range(10):
        world.statement(10, clients[number % 2])
        assert not world.loop.waiting


def test_never(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, wait_us=0)
    for _ in range(5):
        world.statement(0)
    assert not world.loop.waiting


def test_takes_the_packet_from_the_socket() -> None:
    with looked_for() as (loop, polling, client, far):
        assert loop.turn() and not client.received, "nothing is there yet"
        far.sendall(b"a packet")
        assert loop.turn() and client.received == [b"a packet"] and not loop.waiting
        # Whoever took it, it is looked for again once it is answered.
        polling.received()
        polling.answered(client)
        assert loop.turn() and loop.waiting and len(client.received) == 1


def test_a_long_packet_comes_in_parts() -> None:
    data = bytes(range(256)) * (PACKET_BYTES_MAX // 256) + b"the rest"
    with looked_for() as (loop, polling, client, far):
        far.sendall(data)
        while len(client.received) < 2:
            assert loop.turn()
            if not loop.waiting:
                polling.answered(client)
        assert b"".join(client.received) == data


def test_the_end_of_a_connection_is_for_the_loop() -> None:
    with looked_for() as (loop, polling, client, far):
        far.close()
        assert loop.turn() and not client.received and loop.waiting
        polling.forget(client)
        assert loop.turn() and not loop.waiting


def test_others_have_their_turn_while_nothing_comes() -> None:
    with looked_for(wait_us=10 * LOOK_NS_MAX // 1000) as (loop, _, client, _):
        turns_count = 0
        while loop.turn():
            turns_count += 1
        assert 1 <= turns_count <= 11 and not client.received


def test_a_yield_that_takes_too_long_ends_it() -> None:
    # Any yield takes longer than no time.
    with looked_for() as (_, polling, client, _):
        assert polling._look.look(client.descriptor, LOOK_NS_MAX, 0) == 0 and polling._look.was_displaced
        assert polling._look.look(client.descriptor, LOOK_NS_MAX, REST_NS_MAX) == 0 and not polling._look.was_displaced
