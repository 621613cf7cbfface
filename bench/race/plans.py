"""The time that a prepared plan of Spark saves a refresh, in this process and its JVM.

Upper pipelines of five kinds run over as many groups, each time over other rows: as refreshes run
them, planned anew for each run over the same files, and in PySpark's own way (createDataFrame, sql,
toArrow). The three ways take turns in one JVM, and each answer is compared with the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bench.race.measuring import MILLISECONDS, Arena, Measure
from bench.race.servers import ANTUMBRA
from engine.spark.pipelines import SparkPipelines
from engine.spark.runtime import EXCHANGE_NAME, SparkRuntime

MEMORY_MB = 2048
THREADS = 2
TABLE = "table_bench"
TABLE_ROWS = 1000
# A JVM warms up.
WARM_RUNS = 30
# By the kinds of work above groups; the groups are in braces.
QUERIES = {
    "second grouping": "SELECT v, count(*) AS n, sum(k) AS total FROM {groups} GROUP BY v HAVING count(*) > 3",
    "window": "SELECT k, rank() OVER (PARTITION BY v ORDER BY total, k) AS place FROM {groups} WHERE k % 100 = 7",
    "join with a table": f"SELECT t.name, g.total FROM {{groups}} g JOIN {TABLE} t ON t.k = g.v WHERE t.k % 7 = 3",
    "join of groups": "SELECT a.k, b.total FROM {groups} a JOIN {groups} b ON a.k = b.k + 1 WHERE a.total > b.total + 990",
    "scalar subquery": "SELECT k, total FROM {groups} WHERE total = (SELECT max(total) FROM {groups})",
}
PREPARED, ANEW, PYSPARK = f"{ANTUMBRA}, prepared", f"{ANTUMBRA}, planned anew", "PySpark"

Way = Callable[[str, pa.Table], pa.Table]


def rows_of(count: int, seed: int) -> pa.Table:
    """Return groups: a key, a value of a hundred, a total."""
    random = np.random.default_rng(seed)
    columns = {"k": np.arange(count), "v": random.integers(0, 100, count), "total": random.integers(0, 1000, count)}
    return pa.table(columns)


def over(sql: str) -> Callable[[Mapping[str, str]], str]:
    """Return the text of a query over the names of its inputs."""
    return lambda names: sql.format(**names)


def ways_of(runtime: SparkRuntime, folder: Path) -> dict[str, Way]:
    """Return the ways in which a query is answered."""
    session, pipelines = runtime.session(), runtime.pipelines()

    def prepared(sql: str, rows: pa.Table) -> pa.Table:
        return pipelines.run("prepared", {"groups": rows}, over(sql), {TABLE}).rows

    def planned_anew(sql: str, rows: pa.Table) -> pa.Table:
        anew = SparkPipelines(session, folder / EXCHANGE_NAME, THREADS)
        return anew.run("anew", {"groups": rows}, over(sql), {TABLE}).rows

    def in_pyspark(sql: str, rows: pa.Table) -> pa.Table:
        session.createDataFrame(rows).createOrReplaceTempView("groups_bench")
        return session.sql(sql.format(groups="groups_bench")).toArrow()

    return {PREPARED: prepared, ANEW: planned_anew, PYSPARK: in_pyspark}


def plans(arena: Arena, groups_count: int) -> None:
    """The milliseconds of upper pipelines over so many groups."""
    runtime = SparkRuntime(MEMORY_MB, THREADS, arena.folder)
    try:
        make_table(runtime)
        for kind, sql in QUERIES.items():
            answers: dict[int, list[tuple[Any, ...]]] = {}
            measures: dict[str, Measure] = {
                whose: partial(measured, way, sql, groups_count, answers, count())
                for whose, way in ways_of(runtime, arena.folder).items()
            }
            for _ in range(WARM_RUNS if arena.sizes.share == 1 else 0):
                for measure in measures.values():
                    measure()
            arena.race(f"{kind}, {groups_count:,} groups", MILLISECONDS, measures)
    finally:
        runtime.stop()


def measured(
    way: Way, sql: str, groups_count: int, answers: dict[int, list[tuple[Any, ...]]], numbers: Iterator[int]
) -> float:
    """Return the milliseconds of a run. answers: of the other ways by the number of the run."""
    number = next(numbers)
    rows = rows_of(groups_count, number)
    began_s = time.perf_counter()
    answer = way(sql, rows)
    took_ms = (time.perf_counter() - began_s) * 1000
    found = sorted_rows(answer)
    assert answers.setdefault(number, found) == found, f"run {number} of {sql}"
    return took_ms


def make_table(runtime: SparkRuntime) -> None:
    """Make the table that queries join, as tables of the server are made."""
    runtime.session()
    numbers = list(range(TABLE_ROWS))
    rows = pa.table({"k": pa.array(numbers, pa.int64()), "name": [f"name {number}" for number in numbers]})
    runtime.pipelines().make_view(TABLE, rows)


def sorted_rows(rows: pa.Table) -> list[tuple[Any, ...]]:
    """Return the rows of an answer in an order of their own."""
    return sorted(tuple(row.values()) for row in rows.to_pylist())
