"""Statements end when a client asks for it: more slow readers in Spark than may compute at once,
each cancelled while all of them wait.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Set
from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from engine.spark.runtime import SparkRuntime
from engine.spark.upper import SparkUpperExecutor
from sql.wire.messages import Query
from tests.engine.embedded_upper import EmbeddedUpper
from tests.engine.session_client import SessionClient, World

WORKERS = 2
READERS = 3 * WORKERS
END_S_MAX = 60.0


class BlockedJvm:
    """A JVM that answers no pipeline before it is cancelled, and a cancel only when that has
    ended.
    """

    heap_bytes_max = 1
    threads_count = READERS
    is_ready = False
    ready_jvm = None

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.running: set[str] = set()
        self.cancelled: set[str] = set()
        self.is_deaf = False

    def pipelines(self, check_cancelled: Callable[[], None], until_s: float | None) -> BlockedJvm:
        return self

    def exit_status(self, _: object) -> None:
        return

    def run(self, job: str, inputs: Mapping[str, pa.Table], text: object, views: Set[str]) -> pa.Table:
        with self._changed:
            self.running.add(job)
            assert self._changed.wait_for(lambda: job in self.cancelled, END_S_MAX)
            self.running.remove(job)
        raise PySparkException("the job was cancelled")

    def cancel(self, job: str) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: not self.is_deaf, END_S_MAX)
            self.cancelled.add(job)
            self._changed.notify_all()
            # As slow as a JVM that is out of breath.
            self._changed.wait_for(lambda: job not in self.running, END_S_MAX)

    def hear(self) -> None:
        """Do what was asked for meanwhile."""
        with self._changed:
            self.is_deaf = False
            self._changed.notify_all()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "data", worker_threads=WORKERS)
    yield made
    made.close()


def let_run(world: World, upper: object) -> None:
    """Exchange what runs upper pipelines."""
    object.__setattr__(world.database.engines, "upper", upper)


@pytest.fixture
def jvm(world: World) -> BlockedJvm:
    """Views v0, v1, ... whose readers all wait for it."""
    let_run(world, EmbeddedUpper())
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (k integer) SERVER stream")
    for number in range(READERS):
        counted = f"SELECT k, count(*) AS n FROM s WHERE k <> {number} GROUP BY k"
        client.run(
            f"CREATE VIEW v{number} WITH (upper_maintenance = spark) AS SELECT n, count(*) AS keys FROM ({counted}) g GROUP BY n"
        )
    client.run("INSERT INTO s VALUES (-1), (-2)")
    for number in range(READERS):
        # The next one asks for the version of this position.
        assert client.rows(f"SELECT * FROM v{number}")
    client.run("INSERT INTO s VALUES (-3)")
    made = BlockedJvm()
    let_run(world, SparkUpperExecutor(cast(SparkRuntime, made), world.database.store.engine))
    return made


def in_time(world: World, jvm: BlockedJvm, stop: Callable[[SessionClient], None]) -> list[list[str]]:
    """Let all read at once, stop each once all are in Spark, and return their answers."""
    clients = [world.client() for _ in range(READERS)]

    async def read(client: SessionClient, number: int) -> None:
        working = client.session.handle(Query(f"SELECT * FROM v{number}"))
        assert working is not None
        await working

    async def all_together() -> None:
        reading = [asyncio.ensure_future(read(client, number)) for number, client in enumerate(clients)]
        while len(jvm.running) < READERS:
            assert not all(task.done() for task in reading)
            await asyncio.sleep(0.01)
        for client in clients:
            stop(client)
        await asyncio.wait_for(asyncio.gather(*reading), END_S_MAX)

    world.runner.run(all_together())
    return [client.ask() for client in clients]


def test_readers_in_spark_are_cancelled_when_they_have_all_threads(world: World, jvm: BlockedJvm) -> None:
    answers = in_time(world, jvm, lambda client: client.session.cancel())
    assert answers == [["E ERROR 57014: canceling statement due to user request", "Z I"]] * READERS


def test_readers_in_spark_end_with_the_server(world: World, jvm: BlockedJvm) -> None:
    answers = in_time(world, jvm, lambda client: client.session.end())
    assert all("57P01" in "".join(answer) for answer in answers)


def test_readers_do_not_wait_for_a_jvm_that_has_not_heard_of_their_end(world: World, jvm: BlockedJvm) -> None:
    jvm.is_deaf = True
    answers = in_time(world, jvm, lambda client: client.session.cancel())
    assert answers == [["E ERROR 57014: canceling statement due to user request", "Z I"]] * READERS
    assert len(jvm.running) == READERS
    jvm.hear()
