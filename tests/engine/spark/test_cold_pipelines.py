"""While Spark is not there, upper pipelines of few groups run in the embedded engine, and are
counted; those of many wait for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pytest

from engine.spark.runtime import SparkRuntime
from sql.errors import SqlError
from tests.engine.session_client import World
from tests.engine.tables.test_tables import bound

GROUPS_MAX = 3
END_S_MAX = 60.0
VIEW = (
    "CREATE VIEW v WITH (upper_maintenance = spark) AS "
    "SELECT n, count(*) AS keys FROM (SELECT k, count(*) AS n FROM s GROUP BY k) g GROUP BY n"
)
READ = "SELECT n, keys FROM v ORDER BY n"
STARTING = "E ERROR 57P03: Spark is starting"
COUNTED = "SELECT refreshes, refreshes_without_spark FROM pg_stat_continuous_views WHERE relname = 'v'"


class ColdSpark:
    """A runtime whose JVM starts for ever."""

    threads_count = 1
    heap_bytes_max = 2**20
    is_ready = False
    ready_pipelines = None
    wait_s_max = 0.0

    def __init__(self) -> None:
        self.starts = 0

    def start(self) -> None:
        self.starts += 1

    def stop(self, wait_s_max: float = 0.0) -> None:
        pass

    def pipelines(self, check_cancelled: Callable[[], None], until_s: float | None) -> None:
        raise SqlError("57P03", "Spark is starting")


@pytest.fixture
def spark() -> ColdSpark:
    return ColdSpark()


@pytest.fixture
def world(tmp_path: Path, spark: ColdSpark) -> Iterator[World]:
    runtime = cast(SparkRuntime, spark)
    made = World(tmp_path / "data", spark=runtime, cold_upper_groups=GROUPS_MAX, spark_preload=False)
    yield made
    made.close()


def test_few_groups_do_not_wait_for_spark(world: World, spark: ColdSpark) -> None:
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (k integer) SERVER stream", VIEW)
    client.run("INSERT INTO s VALUES (1), (1), (2)")
    assert spark.starts == 0, "nobody has read the view"
    assert client.rows(READ) == ["D [b'1', b'1']", "D [b'2', b'1']"]
    assert spark.starts == 1, "it is started for the next reader"
    assert client.rows(COUNTED) == ["D [b'1', b'1']"]
    shown = "\n".join(client.rows("EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM v"))
    assert "While Spark is not there:" in shown
    assert f"DuckDB runs it for fewer than {GROUPS_MAX} groups" in shown
    client.run("INSERT INTO s VALUES (3)")
    assert STARTING in client.ask(READ)
    assert client.rows(COUNTED) == ["D [b'1', b'1']"]


def test_a_spark_that_is_there_is_asked(world: World, spark: ColdSpark) -> None:
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (k integer) SERVER stream", VIEW, "INSERT INTO s VALUES (1)")
    spark.is_ready = True
    assert STARTING in client.ask(READ)


def test_a_check_of_no_groups_that_takes_long_is_cancelled(world: World) -> None:
    upper, endless = (
        world.database.engines.upper,
        bound("SELECT sum(i % 7) FROM generate_series(1, 1000000000000) g(i)"),
    )
    with ThreadPoolExecutor(1) as pool:
        checking = pool.submit(upper.check, "statement", endless)
        while not upper.runs_for("statement"):
            time.sleep(0.01)
        upper.cancel("statement")
        with pytest.raises(SqlError, match="57014"):
            checking.result(END_S_MAX)
    # The engine may be closed now.
    upper._threads.shutdown()
