"""Upper pipelines run in Spark before anybody reads them; CREATE VIEW does not wait for that."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Set
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from engine.scans import warm_pipelines
from engine.spark.pipelines import SparkAnswer
from engine.spark.runtime import SparkRuntime
from tests.engine.session_client import World
from views.model.protocols import PLANNED

RUNS = 3
WAIT_S_MAX = 20.0
STREAM = "CREATE FOREIGN TABLE s (k integer, t text) SERVER stream"
GROUPS = "SELECT k, count(*) AS n FROM s GROUP BY k"
VIEW = f"CREATE VIEW v WITH (upper_maintenance = spark) AS SELECT n, count(*) AS keys FROM ({GROUPS}) g GROUP BY n"


class FakeJvm:
    """Pipelines that answer no rows, once they may go on."""

    def __init__(self) -> None:
        self.rows_counts: list[int] = []
        self.texts: list[str] = []
        self.failure: Exception | None = None
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def run(
        self, job: str, inputs: Mapping[str, pa.Table], text: Callable[..., str], views: Set[str] = frozenset()
    ) -> SparkAnswer:
        failure = self.failure
        self.texts.append(text({name: name for name in inputs}))
        self.rows_counts += [rows.num_rows for rows in inputs.values()]
        if failure is not None:
            raise failure
        assert self.may_go_on.wait(WAIT_S_MAX)
        return SparkAnswer(pa.table({"n": pa.array([], pa.int64()), "keys": pa.array([], pa.int64())}), PLANNED)

    def make_view(self, name: str, rows: pa.Table) -> None:
        pass

    def drop_view(self, name: str) -> None:
        pass

    def cancel(self, job: str) -> None:
        self.may_go_on.set()


class FakeSpark:
    """A runtime whose JVM is exchanged by the test."""

    threads_count = 1
    heap_bytes_max = 2**20
    wait_s_max = 0.0

    def __init__(self) -> None:
        self.ready_pipelines: Any = FakeJvm()
        self.starts = 0

    @property
    def is_ready(self) -> bool:
        return True

    def start(self) -> None:
        self.starts += 1

    def stop(self, wait_s_max: float = 0.0) -> None:
        pass

    def pipelines(self, check_cancelled: Callable[[], None], until_s: float | None) -> FakeJvm:
        jvm: FakeJvm = self.ready_pipelines
        return jvm


@pytest.fixture
def spark(monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    monkeypatch.setattr(warm_pipelines, "RUNS", RUNS)
    monkeypatch.setattr(warm_pipelines, "LOOK_S", 0.02)
    return FakeSpark()


def new_world(folder: Path, spark: FakeSpark) -> World:
    return World(folder / "data", spark=cast(SparkRuntime, spark), cold_upper_groups=10)


def wait_for(condition: Callable[[], bool]) -> None:
    end_s = time.monotonic() + WAIT_S_MAX
    while not condition():
        assert time.monotonic() < end_s
        time.sleep(0.01)


def test_a_view_is_warmed_up_on_each_jvm_and_after_a_restart(tmp_path: Path, spark: FakeSpark) -> None:
    world = new_world(tmp_path, spark)
    client, first = world.client(), spark.ready_pipelines
    client.run(STREAM, f"CREATE VIEW flat AS {GROUPS}", VIEW)
    wait_for(lambda: first.rows_counts == [warm_pipelines.ROWS] * RUNS)
    second = spark.ready_pipelines = FakeJvm()
    wait_for(lambda: second.rows_counts == [warm_pipelines.ROWS] * RUNS)
    assert len(first.rows_counts) == RUNS
    counted = client.rows("SELECT refreshes, upper_plan FROM pg_stat_continuous_views WHERE relname = 'v'")
    assert counted == ["D [b'0', None]"], "it is nobody's refresh"
    world.close()
    third = spark.ready_pipelines = FakeJvm()
    world = new_world(tmp_path, spark)
    # As a server does after its recovery.
    world.database.definitions.follow()
    try:
        wait_for(lambda: third.rows_counts == [warm_pipelines.ROWS] * RUNS)
    finally:
        world.close()


def test_what_stands_above_several_groupings_is_warmed_up(tmp_path: Path, spark: FakeSpark) -> None:
    world, jvm = new_world(tmp_path, spark), spark.ready_pipelines
    try:
        client = world.client()
        client.run(STREAM, "CREATE TABLE t (n bigint)")
        client.run(
            "CREATE VIEW v WITH (upper_maintenance = spark) AS SELECT n, k::bigint AS keys"
            f" FROM t JOIN ({GROUPS}) a USING (n) WHERE n = (SELECT max(n) FROM ({GROUPS}) b)"
        )
        wait_for(lambda: len(jvm.texts) == RUNS)
    finally:
        world.close()
    assert set(jvm.rows_counts) == {warm_pipelines.ROWS}
    assert len(set(jvm.texts)) == 1


@pytest.mark.parametrize("is_preloaded", [True, False])
def test_a_jvm_that_has_died_is_replaced_as_the_settings_say(
    is_preloaded: bool, tmp_path: Path, spark: FakeSpark
) -> None:
    spark.ready_pipelines = None
    world = World(tmp_path / "data", spark=cast(SparkRuntime, spark), spark_preload=is_preloaded)
    try:
        warm = world.database.warm_pipelines
        world.client().run(STREAM)
        warm._turn()
        assert spark.starts == 0, "there is no view for it"
        world.client().run(VIEW)
        warm._turn()
    finally:
        world.close()
    assert bool(spark.starts) == is_preloaded


def test_a_view_with_now_is_planned_once(tmp_path: Path, spark: FakeSpark) -> None:
    world, jvm = new_world(tmp_path, spark), spark.ready_pipelines
    try:
        groups = "SELECT k, count(*) AS n, max(arrival_timestamp) AS last FROM s GROUP BY k"
        query = f"SELECT n, count(*) AS keys FROM ({groups}) g GROUP BY n HAVING max(last) < now()"
        world.client().run(STREAM, f"CREATE VIEW v WITH (upper_maintenance = spark) AS {query}")
        wait_for(lambda: len(jvm.texts) == RUNS)
    finally:
        world.close()
    assert len(set(jvm.texts)) == 1


def test_a_dropped_view_is_let_go(tmp_path: Path, spark: FakeSpark) -> None:
    world = new_world(tmp_path, spark)
    try:
        client = world.client()
        client.run(STREAM, VIEW)
        wait_for(lambda: len(spark.ready_pipelines.rows_counts) == RUNS)
        chain = weakref.ref(world.database.catalog.image.chains[0])
        client.run("DROP VIEW v", "INSERT INTO s VALUES (1, 'a')")

        def is_gone() -> bool:
            gc.collect()
            return chain() is None

        wait_for(is_gone)
    finally:
        world.close()


def test_create_view_does_not_wait_and_the_end_of_the_server_ends_it(tmp_path: Path, spark: FakeSpark) -> None:
    world, jvm = new_world(tmp_path, spark), spark.ready_pipelines
    try:
        jvm.may_go_on.clear()
        client = world.client()
        client.run(STREAM, VIEW, "CREATE VIEW other WITH (upper_maintenance = spark) AS " + VIEW.partition(" AS ")[2])
        wait_for(lambda: bool(jvm.rows_counts))
    finally:
        # It cancels what runs.
        world.close()
    assert jvm.may_go_on.is_set()
    assert len(jvm.rows_counts) == 1


def test_a_view_that_fails_ends_no_warm_up_and_one_that_is_dropped_is_let_go(tmp_path: Path, spark: FakeSpark) -> None:
    world, jvm = new_world(tmp_path, spark), spark.ready_pipelines
    try:
        client = world.client()
        jvm.failure = ZeroDivisionError("made up")
        client.run(STREAM, VIEW)
        wait_for(lambda: len(jvm.rows_counts) == 1)
        jvm.failure = None
        client.run("CREATE VIEW other WITH (upper_maintenance = spark) AS " + VIEW.partition(" AS ")[2])
        wait_for(lambda: len(jvm.rows_counts) == 1 + RUNS)
        client.run("DROP VIEW v", "DROP VIEW other")
        warm = world.database.warm_pipelines
        wait_for(lambda: not warm._pipelines)
    finally:
        world.close()


def test_wrong_queries_are_refused_without_a_run_in_spark(tmp_path: Path, spark: FakeSpark) -> None:
    world = new_world(tmp_path, spark)
    try:
        client = world.client()
        client.run(STREAM)
        for query, sqlstate in (
            (f"SELECT sum(n) OVER (ORDER BY t) FROM ({GROUPS}) g", "42703"),
            (f"SELECT n + 'x'::text, count(*) FROM ({GROUPS}) g GROUP BY 1", "42883"),
            (f"SELECT n FROM ({GROUPS}) g GROUP BY k", "42803"),
        ):
            assert any(
                f"ERROR {sqlstate}" in line
                for line in client.ask(f"CREATE VIEW v WITH (upper_maintenance = spark) AS {query}")
            )
        assert spark.ready_pipelines.rows_counts == []
    finally:
        world.close()


def test_values_that_a_pipeline_refuses_are_left_out() -> None:
    rows = warm_pipelines.made_up(
        pa.schema([("a", pa.int16()), ("b", pa.decimal128(38, 2)), ("c", pa.string()), ("d", pa.list_(pa.int64()))])
    )
    assert rows.num_rows == warm_pipelines.ROWS
    assert [column.null_count for column in rows.columns] == [0, 0, 0, warm_pipelines.ROWS]
