"""Long statements keep nobody from the server: short ones go on beside them, who waits is seen, and
everybody can be stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[tuple[object, ...]]
# Twice as many as begin at once.
LONG_COUNT = 16
END_S_MAX = 30.0
# All of them are done in milliseconds; a queue after the long ones would last for hours.
SHORT = (
    "SELECT 1",
    "SELECT n FROM seen WHERE k = 1",
    "SELECT count(*) FROM many WHERE a > 5",
    "INSERT INTO watched VALUES (2)",
    "INSERT INTO few VALUES (1)",
    "SELECT count(*) FROM pg_stat_activity",
    "CREATE TEMP TABLE mine (a integer)",
    "DROP TABLE mine",
)
LONG = "SELECT count(*) FROM many a, many b, many c, many d WHERE a.a + b.a + c.a + d.a <> %d"


def prepare(connection: Connection) -> None:
    for text in (
        "CREATE TABLE many (a integer)",
        "INSERT INTO many SELECT * FROM generate_series(1, 5000)",
        "CREATE TABLE few (a integer)",
        "CREATE FOREIGN TABLE watched (k integer) SERVER stream",
        "CREATE VIEW seen AS SELECT k, count(*) AS n FROM watched GROUP BY k",
        "INSERT INTO watched VALUES (1)",
    ):
        connection.execute(text)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AntumbraServer]:
    """A server of its own, which others would find slow."""
    running = AntumbraServer(tmp_path_factory.mktemp("starving") / "data").start()
    with running.connect() as connection:
        prepare(connection)
    yield running
    running.kill()


@pytest.fixture
def client(server: AntumbraServer) -> Iterator[Connection]:
    with server.connect() as connection:
        yield connection


@contextmanager
def long_ones(server: AntumbraServer, count: int) -> Iterator[tuple[Sequence[Connection], Sequence[Future[Any]]]]:
    """Run long statements meanwhile; all of them run at the beginning."""
    with ExitStack() as stack:
        connections = [stack.enter_context(server.connect()) for _ in range(count)]
        threads = stack.enter_context(ThreadPoolExecutor(count))
        running = [threads.submit(one.execute, LONG % number) for number, one in enumerate(connections)]
        try:
            with server.connect() as looking:
                until(lambda: all(active(looking, one.info.backend_pid) for one in connections))
            yield connections, running
        finally:
            for one in connections:
                one.cancel()


def active(looking: Connection, process_id: int) -> bool:
    text = "SELECT state = 'active' FROM pg_stat_activity WHERE pid = %s"
    return looking.execute(text, (process_id,)).fetchone() == (True,)


def until(holds: Callable[[], bool]) -> None:
    end_s = time.monotonic() + END_S_MAX
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0.02)


def stopped(running: Future[Any]) -> str:
    """Return the error with which a statement ends, in time."""
    with pytest.raises(psycopg.errors.QueryCanceled) as caught:
        running.result(END_S_MAX)
    return str(caught.value.diag.message_primary)


@pytest.mark.turns(2, 1)
def test_short_statements_go_on_beside_long_ones(server: AntumbraServer, client: Connection) -> None:
    client.execute(f"SET statement_timeout = {int(END_S_MAX * 1000)}")
    with long_ones(server, LONG_COUNT) as (connections, running):
        for text in SHORT:
            client.execute(text)
        with server.connect() as new:
            assert new.execute("SELECT count(*) FROM many WHERE a < 3").fetchone() == (2,)
        assert not any(one.done() for one in running)
        ended = [client.execute("SELECT pg_cancel_backend(%s)", (one.info.backend_pid,)) for one in connections]
        assert all(one.fetchone() == (True,) for one in ended)
        assert {stopped(one) for one in running} == {"canceling statement due to user request"}


def test_their_timeouts_end_them(server: AntumbraServer) -> None:
    with ThreadPoolExecutor(LONG_COUNT) as threads, ExitStack() as stack:
        connections = [stack.enter_context(server.connect()) for _ in range(LONG_COUNT)]
        for one in connections:
            one.execute("SET statement_timeout = '1s'")
        running = [threads.submit(one.execute, LONG % number) for number, one in enumerate(connections)]
        assert {stopped(one) for one in running} == {"canceling statement due to statement timeout"}


def test_who_waits_for_a_turn_is_seen_and_ends_when_asked_to(tmp_path: Path) -> None:
    options = ("--set", "worker_threads=1", "--set", "worker_turn_ms=60000")
    server = AntumbraServer(tmp_path / "data", *options).start()
    try:
        with server.connect() as client:
            prepare(client)
        with long_ones(server, 1), server.connect() as waiting, server.connect() as other, ThreadPoolExecutor(1) as one:

            def waits() -> bool:
                found = other.execute(
                    "SELECT wait_event_type, wait_event FROM pg_stat_activity WHERE pid = %s",
                    (waiting.info.backend_pid,),
                )
                return found.fetchone() == ("IPC", "WorkerTurn")

            def wait() -> Future[Any]:
                return one.submit(waiting.execute, "SELECT count(*) FROM many")

            for stop in (
                waiting.cancel,
                lambda: other.execute("SELECT pg_cancel_backend(%s)", (waiting.info.backend_pid,)),
            ):
                began = wait()
                until(waits)
                stop()
                assert stopped(began) == "canceling statement due to user request"
            waiting.execute("SET statement_timeout = '300ms'")
            assert stopped(wait()) == "canceling statement due to statement timeout"
    finally:
        assert server.stop() == 0
