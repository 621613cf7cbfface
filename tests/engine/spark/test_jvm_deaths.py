"""A read that needs Spark waits for the next JVM, however often one is killed, until its limit or
its cancel ends it.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from tests.engine.server.test_serve import jvms
from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

KILLS = 3
LOOK_S = 0.02
END_S_MAX = 120.0
ROWS = [(1, 1), (2, 2)]
READ = "SELECT * FROM ranked ORDER BY k"


def make_view(client: psycopg.Connection[tuple[object, ...]]) -> None:
    client.execute("CREATE FOREIGN TABLE events (key integer) SERVER stream")
    client.execute(
        "CREATE VIEW ranked AS SELECT k, rank() OVER (ORDER BY n) FROM (SELECT key AS k, count(*) AS n FROM events GROUP BY 1) AS g"
    )
    client.execute("INSERT INTO events VALUES (1), (2), (2)")


@contextmanager
def killing(server: AntumbraServer, count: int) -> Iterator[list[int]]:
    """Kill so many JVMs as soon as they are there, in the middle of their start; yield the list of
    those that were.
    """
    killed: list[int] = []
    ended = threading.Event()

    def kill() -> None:
        while len(killed) < count and not ended.wait(LOOK_S):
            for process_id in set(jvms(server.process_id)) - set(killed):
                killed.append(process_id)
                os.kill(process_id, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


@pytest.mark.turns(4, 2)
def test_a_read_outlives_jvms_that_are_killed_while_they_start(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    try:
        with server.connect() as client, server.connect() as other, ThreadPoolExecutor(1) as pool:
            with killing(server, KILLS) as killed:
                make_view(client)
                assert client.execute(READ).fetchall() == ROWS
                assert len(killed) == KILLS
            # Who waits for one can be stopped, and has lost nothing.
            client.execute("INSERT INTO events VALUES (1), (1)")
            (living,) = jvms(server.process_id)
            os.kill(living, signal.SIGKILL)
            waiting = pool.submit(other.execute, READ)
            time.sleep(LOOK_S)
            other.cancel()
            with suppress(psycopg.errors.QueryCanceled):
                waiting.result(END_S_MAX)
            assert client.execute(READ).fetchall() == [(1, 2), (2, 1)]
    finally:
        server.kill()


def test_a_read_ends_when_it_has_waited_for_too_long(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data", "--set", "spark_wait_s_max=0.2").start()
    try:
        with server.connect() as client:
            # CREATE VIEW waits for no Spark.
            make_view(client)
            with pytest.raises(psycopg.errors.CannotConnectNow) as failure:
                client.execute(READ)
            assert failure.value.diag.message_detail == "The statement has waited 0.2 seconds for it."
            # It has begun to start, and the next one that comes in time finds it.
            end_s = time.monotonic() + END_S_MAX
            while True:
                try:
                    assert client.execute(READ).fetchall() == ROWS
                    break
                except psycopg.errors.CannotConnectNow:
                    assert time.monotonic() < end_s
                    time.sleep(LOOK_S)
    finally:
        server.kill()
