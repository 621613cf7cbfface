"""Packets that are answered as a whole, at once or when the log has answered: order, bugs and
ends.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from sql.errors import SqlError
from tests.engine.fake_session import WAIT_S_MAX, FakeSession, FakeWorld
from tests.engine.server.test_server import LIMITS, RawClient, error_fields
from tests.sql.wire.frames import query


@pytest.fixture
def world() -> Iterator[FakeWorld]:
    running = FakeWorld(LIMITS).start()
    yield running
    running.stop()


@pytest.fixture
def client(world: FakeWorld) -> Iterator[RawClient]:
    raw = RawClient(world)
    raw.log_in()
    yield raw
    raw.close()


def begin_packet(client: RawClient, world: FakeWorld, text: str = "log x") -> FakeSession:
    """Send a packet and return the session once it waits for the log."""
    world.waiting.clear()
    client.socket.sendall(query(text))
    assert world.waiting.wait(WAIT_S_MAX)
    return world.sessions[0]


def test_at_once(client: RawClient, world: FakeWorld) -> None:
    assert [client.ask(query("packet x")) for _ in range(3)] == [b"DZ"] * 3
    assert not world.handled


def test_waits_for_the_log(client: RawClient, world: FakeWorld) -> None:
    for _ in range(3):
        begin_packet(client, world).log_answers()
        assert client.until_ready() == [(b"D", b"\0\1\0\0\0\1x"), (b"Z", b"I")]
    begin_packet(client, world).log_answers(SqlError("58030", "the disk is gone"))
    (_, body), _ = client.until_ready()
    assert error_fields(body)["C"] == "58030"
    assert client.ask(query("packet x")) == b"DZ" and not world.handled


def test_a_client_that_goes_on_at_once_is_looked_for(client: RawClient, world: FakeWorld) -> None:
    """Also while it does not come, and in between statements of others."""
    other = RawClient(world)
    other.log_in()
    for turn in range(30):
        begin_packet(client, world).log_answers()
        assert client.until_ready() == [(b"D", b"\0\1\0\0\0\1x"), (b"Z", b"I")]
        if turn % 10 == 5:
            time.sleep(0.01)
            assert other.ask(query("packet x")) == b"DZ"
    other.close()


def test_what_comes_meanwhile_waits(client: RawClient, world: FakeWorld) -> None:
    """More than may wait in the server, so that the rest stays in the socket; nothing is handled
    before the log has answered.
    """
    session = begin_packet(client, world)
    count = 10_000
    client.socket.sendall(query("echo y") * count)
    # Another connection's turn comes after the reads of this one.
    other = RawClient(world)
    other.log_in()
    assert not world.handled
    session.log_answers()
    assert [kind for kind, _ in client.until_ready()] == [b"D", b"Z"]
    for _ in range(count):
        assert [kind for kind, _ in client.until_ready()] == [b"T", b"D", b"C", b"Z"]
    assert client.ask(query("packet x")) == b"DZ"
    other.close()


@pytest.mark.parametrize("text", ["packet bug", "log bug"])
def test_a_bug_costs_one_packet(
    client: RawClient, world: FakeWorld, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    with caplog.at_level(logging.ERROR, "engine.server.pump"):
        for _ in range(2):
            if text == "log bug":
                begin_packet(client, world, text).log_answers()
            else:
                client.socket.sendall(query(text))
            (kind, body), ready = client.until_ready()
            assert (kind, ready) == (b"E", (b"Z", b"I"))
            assert error_fields(body)["C"] == "XX000"
            assert client.ask(query("echo x")) == b"TDCZ"
    assert len(caplog.records) == 2


def test_a_client_that_leaves_while_its_packet_waits(client: RawClient, world: FakeWorld) -> None:
    session = begin_packet(client, world)
    client.close()
    assert not world.closed.acquire(timeout=0.1)
    session.log_answers()
    assert world.closed.acquire(timeout=WAIT_S_MAX)


def test_a_bug_is_over_when_threads_are(client: RawClient, world: FakeWorld) -> None:
    """The messages after it are not handled before."""
    assert client.ask(query("beside bug") + query("echo x")) == b"EZ"
    (session,) = world.sessions
    assert session.under_way() is None
    assert [kind for kind, _ in client.until_ready()] == [b"T", b"D", b"C", b"Z"]


def test_a_client_that_leaves_while_threads_work_for_it(client: RawClient, world: FakeWorld) -> None:
    assert client.ask(query("beside")) == b"CZ"
    client.close()
    assert world.closed.acquire(timeout=WAIT_S_MAX)


def test_shutdown_waits_for_threads_that_work_for_clients() -> None:
    world = FakeWorld(LIMITS).start()
    client = RawClient(world)
    client.log_in()
    assert client.ask(query("beside")) == b"CZ"
    world.stop()
    assert world.closed.acquire(timeout=WAIT_S_MAX)
    client.close()


def test_shutdown_waits_for_the_log() -> None:
    world = FakeWorld(LIMITS).start()
    client = RawClient(world)
    client.log_in()
    session = begin_packet(client, world)
    world.begin_stop()
    # It says goodbye as soon as it listens no more.
    with suppress(ConnectionError):
        while True:
            RawClient(world).close()
    session.log_answers()
    kinds = []
    while (message := client.message()) is not None:
        kinds.append(message[0])
    assert kinds == [b"D", b"Z", b"E"]
    world.wait_until_stopped()
    assert world.closed.acquire(timeout=WAIT_S_MAX)


def test_what_comes_while_the_server_stops_is_not_looked_at() -> None:
    """Messages before it in the same pipeline were dropped, so that its answer would be taken for
    another one's.
    """
    world = FakeWorld(LIMITS).start()
    client = RawClient(world)
    client.log_in()
    session = begin_packet(client, world)
    world.begin_stop()
    with suppress(ConnectionError):
        while True:
            RawClient(world).close()
    client.socket.sendall(query("echo y"))
    time.sleep(0.1)
    session.log_answers()
    kinds = []
    while (message := client.message()) is not None:
        kinds.append(message[0])
    assert kinds == [b"D", b"Z", b"E"] and not world.handled
    world.wait_until_stopped()
