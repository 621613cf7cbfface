"""The time that a prepared plan of Spark saves a refresh.

Upper pipelines of five kinds run over as many groups, each time over other rows: as refreshes run
them, planned anew for each run over the same files, and in PySpark's own way (createDataFrame, sql,
toArrow). The three ways take turns in one JVM, and each answer is compared with the others. Prints
medians and the least in milliseconds, and how Spark ran what was prepared.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from engine.spark.pipelines import SparkPipelines
from engine.spark.runtime import EXCHANGE_NAME, SparkRuntime

MEMORY_MB = 2048
THREADS = 2
TABLE = "table_bench"
TABLE_ROWS = 1000
# By the kinds of work above groups; the groups are in braces.
QUERIES = {
    "second grouping": "SELECT v, count(*) AS n, sum(k) AS total FROM {groups} GROUP BY v HAVING count(*) > 3",
    "window": "SELECT k, rank() OVER (PARTITION BY v ORDER BY total, k) AS place FROM {groups} WHERE k % 100 = 7",
    "join with a table": f"SELECT t.name, g.total FROM {{groups}} g JOIN {TABLE} t ON t.k = g.v WHERE t.k % 7 = 3",
    "join of groups": "SELECT a.k, b.total FROM {groups} a JOIN {groups} b ON a.k = b.k + 1 WHERE a.total > b.total + 990",
    "scalar subquery": "SELECT k, total FROM {groups} WHERE total = (SELECT max(total) FROM {groups})",
}
WAYS = ("prepared", "planned anew", "PySpark")

Way = Callable[[str, pa.Table], pa.Table]


def rows_of(count: int, seed: int) -> pa.Table:
    """Return groups: a key, a value of a hundred, a total."""
    random = np.random.default_rng(seed)
    columns = {"k": np.arange(count), "v": random.integers(0, 100, count), "total": random.integers(0, 1000, count)}
    return pa.table(columns)


def over(sql: str) -> Callable[[Mapping[str, str]], str]:
    """Return the text of a query over the names of its inputs."""
    return lambda names: sql.format(**names)


def ways_of(runtime: SparkRuntime, folder: Path, told: set[str]) -> dict[str, Way]:
    """Return the ways in which a query is answered. told: takes how the prepared ones were run."""
    session, pipelines = runtime.session(), runtime.pipelines()

    def prepared(sql: str, rows: pa.Table) -> pa.Table:
        answer = pipelines.run("prepared", {"groups": rows}, over(sql), {TABLE})
        told.add(answer.how)
        return answer.rows

    def planned_anew(sql: str, rows: pa.Table) -> pa.Table:
        anew = SparkPipelines(session, folder / EXCHANGE_NAME, THREADS)
        return anew.run("anew", {"groups": rows}, over(sql), {TABLE}).rows

    def in_pyspark(sql: str, rows: pa.Table) -> pa.Table:
        session.createDataFrame(rows).createOrReplaceTempView("groups_bench")
        return session.sql(sql.format(groups="groups_bench")).toArrow()

    return dict(zip(WAYS, (prepared, planned_anew, in_pyspark), strict=True))


def run(groups_counts: tuple[int, ...], runs_count: int) -> dict[tuple[str, int, str], float]:
    """Return the medians in milliseconds by kind of query, number of groups and way; print them."""
    figures: dict[tuple[str, int, str], float] = {}
    with tempfile.TemporaryDirectory(prefix="antumbra-bench-") as name:
        runtime = SparkRuntime(MEMORY_MB, THREADS, Path(name))
        try:
            make_table(runtime)
            print("| upper pipeline | groups | " + " | ".join(WAYS) + " | planned anew / prepared | plan |")
            print("|---|---|---|---|---|---|---|")
            for count in groups_counts:
                for kind, sql in QUERIES.items():
                    told: set[str] = set()
                    taken = measured(ways_of(runtime, Path(name), told), sql, count, runs_count)
                    figures |= {(kind, count, way): statistics.median(times) for way, times in taken.items()}
                    print(line(kind, count, taken, told), flush=True)
        finally:
            runtime.stop()
    return figures


def make_table(runtime: SparkRuntime) -> None:
    """Make the table that queries join, as tables of the server are made."""
    runtime.session()
    numbers = list(range(TABLE_ROWS))
    rows = pa.table({"k": pa.array(numbers, pa.int64()), "name": [f"name {number}" for number in numbers]})
    runtime.pipelines().make_view(TABLE, rows)


def measured(ways: Mapping[str, Way], sql: str, count: int, runs_count: int) -> dict[str, list[float]]:
    """Return the milliseconds of the later half of the runs, since a JVM warms up."""
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(runs_count):
        rows, answers = rows_of(count, number), []
        for way, answer in ways.items():
            began_s = time.perf_counter()
            answers.append(answer(sql, rows))
            taken[way].append((time.perf_counter() - began_s) * 1000)
        first, *others = map(sorted_rows, answers)
        assert all(other == first for other in others), f"run {number} of {sql}"
    return {way: times[len(times) // 2 :] for way, times in taken.items()}


def sorted_rows(rows: pa.Table) -> list[tuple[Any, ...]]:
    """Return the rows of an answer in an order of their own."""
    return sorted(tuple(row.values()) for row in rows.to_pylist())


def line(kind: str, count: int, taken: Mapping[str, list[float]], told: set[str]) -> str:
    """Return a line of the table."""
    cells = [f"{statistics.median(times):.0f} ({min(times):.0f})" for times in taken.values()]
    ratio = statistics.median(taken["planned anew"]) / statistics.median(taken["prepared"])
    how = "copied" if "copied" in told else "prepared"
    return f"| {kind} | {count:,} | {' | '.join(cells)} | {ratio:.1f} | {how} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, nargs="+", default=[1_000, 100_000], help="numbers of groups")
    parser.add_argument("--runs", type=int, default=60, help="runs of each way; the first half warms up")
    options = parser.parse_args()
    run(tuple(options.groups), options.runs)


if __name__ == "__main__":
    main()
