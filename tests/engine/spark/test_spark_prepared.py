"""A query that is prepared once and run again answers as one that PySpark plans anew over the same
rows, whatever stands above its inputs.

The oracle is PySpark's own way, without a file, a leaf or a plan of ours. A stale answer would be
silent, so the queries are drawn from all that Spark keeps something of: exchanges, broadcasts and
subqueries, above inputs that change and above tables that don't.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from engine.spark import pipelines as pipelines_module
from engine.spark.pipelines import SparkPipelines
from engine.spark.runtime import SparkRuntime
from tests.engine.in_spark import over
from tests.engine.session_client import World
from tests.oracle.evidence import Evidence
from views.model.protocols import COPIED, PLANNED, PREPARED

pytestmark = pytest.mark.slow

# Of the rows under each query.
CHANGES = 4
TABLE_ROWS = 40
SIZES = (0, 1, 7, 60, 300)
# From which on an input has several partitions, in some of the plans.
PARTITION_ROWS = 50
INPUTS = ("a", "b")
VIEW = "prepared_table"
COLUMNS = ("k", "v", "t")


def rows_of(random: Random, count: int) -> pa.Table:
    """Return rows with keys that meet, NULLs and texts."""
    numbers = range(count)
    return pa.table(
        {
            "k": pa.array([random.randrange(40) for _ in numbers], pa.int64()),
            "v": pa.array([random.choice((None, *range(-3, 9))) for _ in numbers], pa.int64()),
            "t": pa.array([random.choice((None, "", "x", "naïve", "a longer text")) for _ in numbers], pa.string()),
        }
    )


class QueryMaker:
    """Draws queries with the columns k, v and t over the two inputs in braces, and the
    table.
    """

    def __init__(self, random: Random, counts: Counter[str]) -> None:
        self._random = random
        self._counts = counts
        self._aliases = 0

    def query(self) -> str:
        """Return a query whose answer does not depend on the order of rows."""
        text = self._relation(self._random.randint(1, 3))
        if self._random.random() < 0.3:
            self._counts["limit"] += 1
            return f"SELECT * FROM ({text}) ORDER BY k NULLS FIRST, v NULLS LAST, t LIMIT {self._random.randint(0, 9)}"
        return text

    def _alias(self) -> str:
        self._aliases += 1
        return f"r{self._aliases}"

    def _leaf(self) -> str:
        return self._random.choice(("{a}", "{a}", "{b}", VIEW))

    def _relation(self, depth: int) -> str:
        if depth == 0:
            return f"SELECT k, v, t FROM {self._leaf()}"
        kinds = ("filter", "project", "group", "global", "distinct", "join", "set", "window", "scalar", "in", "exists")
        kind = self._random.choice(kinds)
        self._counts[kind] += 1
        made: str = getattr(self, f"_{kind}")(depth - 1)
        return made

    def _from(self, depth: int) -> tuple[str, str]:
        alias = self._alias()
        return f"({self._relation(depth)}) {alias}", alias

    def _filter(self, depth: int) -> str:
        source, alias = self._from(depth)
        return f"SELECT k, v, t FROM {source} WHERE {alias}.k % {self._random.randint(2, 5)} = 1 OR {alias}.v > 2"

    def _project(self, depth: int) -> str:
        source, _ = self._from(depth)
        return f"SELECT k + {self._random.randint(0, 3)} AS k, coalesce(v, 0) AS v, concat(t, '!') AS t FROM {source}"

    def _group(self, depth: int) -> str:
        source, _ = self._from(depth)
        having = self._random.choice(("", " HAVING count(*) > 1", " HAVING sum(v) IS NOT NULL"))
        value = self._random.choice(("sum(v)", "count(*)", "count(DISTINCT v)", "max(v)"))
        return f"SELECT k % 7 AS k, {value} AS v, min(t) AS t FROM {source} GROUP BY k % 7{having}"

    def _global(self, depth: int) -> str:
        source, _ = self._from(depth)
        return f"SELECT count(*) AS k, sum(DISTINCT v) AS v, max(t) AS t FROM {source}"

    def _distinct(self, depth: int) -> str:
        source, _ = self._from(depth)
        return f"SELECT DISTINCT k, v, t FROM {source}"

    def _join(self, depth: int) -> str:
        (one, a), (two, b) = self._from(depth), self._from(depth)
        kind = self._random.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        condition = self._random.choice((f"{a}.k = {b}.k", f"{a}.k = {b}.k AND {a}.v < {b}.v", f"{a}.v = {b}.k + 1"))
        if self._random.random() < 0.15:
            self._counts["join without a key"] += 1
            return f"SELECT max({a}.k) AS k, count(*) AS v, min({b}.t) AS t FROM {one} {kind} {two} ON {a}.k < {b}.v"
        return (
            f"SELECT {a}.k AS k, sum({b}.v) AS v, max({a}.t) AS t FROM {one} {kind} {two} ON {condition} GROUP BY {a}.k"
        )

    def _set(self, depth: int) -> str:
        word = self._random.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL"))
        return f"SELECT k, v, t FROM ({self._relation(depth)}) {word} SELECT k, v, t FROM ({self._relation(depth)})"

    def _window(self, depth: int) -> str:
        source, _ = self._from(depth)
        part = self._random.choice(("PARTITION BY k % 3 ", ""))
        call = self._random.choice(("rank()", "count(*)", "sum(v)"))
        return f"SELECT k, {call} OVER ({part}ORDER BY k, v, t) AS v, t FROM {source}"

    def _scalar(self, depth: int) -> str:
        source, alias = self._from(depth)
        value = self._random.choice(("max", "min", "count"))
        return f"SELECT k, v, t FROM {source} WHERE {alias}.v = (SELECT {value}(v) FROM {self._leaf()})"

    def _in(self, depth: int) -> str:
        source, alias = self._from(depth)
        word = self._random.choice(("IN", "NOT IN"))
        return f"SELECT k, v, t FROM {source} WHERE {alias}.k {word} (SELECT v FROM ({self._relation(0)}))"

    def _exists(self, depth: int) -> str:
        (source, alias), other = self._from(depth), self._alias()
        word = self._random.choice(("EXISTS", "NOT EXISTS"))
        return f"SELECT k, v, t FROM {source} WHERE {word} (SELECT 1 FROM {self._leaf()} {other} WHERE {other}.k = {alias}.k)"


@pytest.fixture(scope="module")
def table(spark: SparkRuntime) -> Iterator[pa.Table]:
    rows = rows_of(Random(1), TABLE_ROWS)
    spark.pipelines().make_view(VIEW, rows)
    yield rows
    spark.pipelines().drop_view(VIEW)


def test_prepared_queries_answer_as_those_planned_anew(
    spark: SparkRuntime, table: pa.Table, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compare `--cases` answers, `CHANGES` of each query."""
    began_s = time.monotonic()
    seed, cases = pytestconfig.getoption("--seed"), pytestconfig.getoption("--cases")
    random, counts, how, failures = Random(f"prepared {seed}"), Counter[str](), Counter[str](), list[str]()
    for case in range(cases):
        if case % CHANGES == 0:
            query = QueryMaker(random, counts).query()
            few = random.random() < 0.25
            monkeypatch.setattr(pipelines_module, "PARTITION_ROWS_MAX", PARTITION_ROWS if few else 10**6)
        rows = {name: rows_of(random, random.choice(SIZES)) for name in INPUTS}
        answer = spark.pipelines().run(f"prepared_{case}", rows, over(query), {VIEW})
        how[answer.how] += 1
        if counted(answer.rows) != counted(planned_anew(spark.session(), query, rows)):
            failures.append(f"seed {seed}, case {case}: {query}")
    if pytestconfig.getoption("--write-evidence"):
        Evidence("prepared", seed, cases, time.monotonic() - began_s, counts + how, failures).write()
    assert not failures
    assert how[PREPARED] > cases / CHANGES, "nothing was tried"
    assert how[COPIED], "no query that is copied was drawn"


def planned_anew(session: Any, query: str, rows: Mapping[str, pa.Table]) -> pa.Table:
    """Return the answer of PySpark."""
    names = {name: f"anew_{name}" for name in rows}
    for name, known in rows.items():
        session.createDataFrame(known).createOrReplaceTempView(names[name])
    return session.sql(over(query)(names)).toArrow()


def counted(rows: pa.Table) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in rows.to_pylist())


def test_a_query_of_a_table_that_is_dropped_is_planned_anew(spark: SparkRuntime) -> None:
    pipelines = spark.pipelines()
    rows = {"a": pa.table({"k": [1, 2]})}
    for found in ([1], [2]):
        # The name of the same view, which no two versions of a table share.
        pipelines.make_view("prepared_old", pa.table({"k": found}))
        for how in (PLANNED, PREPARED):
            assert run_over(pipelines, "over_old", rows) == (found, how)
        pipelines.drop_view("prepared_old")


def run_over(pipelines: SparkPipelines, job: str, rows: Mapping[str, pa.Table]) -> tuple[list[int], str]:
    sql = "SELECT a.k FROM {a} a JOIN prepared_old USING (k) ORDER BY 1"
    answer = pipelines.run(job, rows, over(sql), {"prepared_old"})
    return answer.rows.column("k").to_pylist(), answer.how


def test_a_query_that_runs_is_planned_for_another_at_the_same_time(spark: SparkRuntime) -> None:
    """Two runs never share the files of their inputs."""
    pipelines = spark.pipelines()
    sql = "SELECT count(*) AS n, sum(k) AS s FROM {a}"

    def run(number: int) -> str:
        rows = pa.table({"k": pa.array([number] * (number + 1), pa.int64())})
        answer = pipelines.run(f"same_{number}", {"a": rows}, over(sql))
        assert answer.rows.to_pylist() == [{"n": number + 1, "s": number * (number + 1)}]
        return answer.how

    with ThreadPoolExecutor(4) as threads:
        assert PREPARED in threads.map(run, range(24))


def test_a_failure_is_not_kept(spark: SparkRuntime) -> None:
    pipelines, sql = spark.pipelines(), "SELECT max(6 div k) AS n FROM {a}"
    for numbers, found in (([0], None), ([2], 3), ([0], None), ([3], 2), ([1], 6)):
        rows = {"a": pa.table({"k": numbers})}
        if found is None:
            with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
                pipelines.run("failing", rows, over(sql))
        else:
            answer = pipelines.run("failing", rows, over(sql))
            assert answer.rows.to_pylist() == [{"n": found}]


GROUPED = "SELECT k, count(*) AS n FROM s GROUP BY k"


@pytest.mark.parametrize(
    ("query", "how", "grows"),
    [
        (f"SELECT n, count(*) AS keys FROM ({GROUPED}) g GROUP BY n", PREPARED, False),
        # A total of groups, and a table: a join of three, which is to need no exchange.
        (
            f"WITH g AS ({GROUPED}) SELECT a, k FROM t JOIN g ON b = n WHERE n = (SELECT max(n) FROM g)",
            PREPARED,
            True,
        ),
        # The groups are broadcast.
        (f"SELECT t.a, g.k FROM t LEFT JOIN ({GROUPED}) g ON g.n > t.a", COPIED, True),
    ],
)
def test_statistics_and_explain_tell_whether_a_plan_was_prepared(
    query: str, how: str, grows: bool, spark: SparkRuntime, tmp_path: Path
) -> None:
    spark.session()
    with closing(World(tmp_path / "data", spark=spark)) as world:
        client = world.client()
        client.run("CREATE TABLE t (a integer, b bigint)", "INSERT INTO t VALUES (0, 1)")
        client.run(
            "CREATE FOREIGN TABLE s (k integer) SERVER stream",
            f"CREATE VIEW v WITH (upper_maintenance = spark) AS {query}",
        )
    # Tables that were there at the start have a version too.
    with closing(World(tmp_path / "data", spark=spark)) as world:
        client = world.client()
        for number in range(3):
            client.run(f"INSERT INTO s VALUES ({number})")
            assert client.rows("SELECT count(*) FROM v") == [f"D [b'{number + 1 if grows else 1}']"]
        told = client.rows("SELECT upper_plan, refreshes_prepared > 1 FROM pg_stat_continuous_views")
        assert told == [f"D [b'{how}', b'{'t' if how == PREPARED else 'f'}']"]
        assert f"plan {how}" in "\n".join(client.rows("EXPLAIN (VERBOSE) SELECT * FROM v"))
