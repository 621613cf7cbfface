"""Spark gives PostgreSQL's answers: expressions in batches, those that raise inside a CASE, whole
queries, errors, cancelling.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from engine.spark import errors
from engine.spark import upper as executor
from engine.spark.runtime import SparkRuntime
from engine.spark.upper import SparkUpperExecutor
from sql.errors import SqlError
from sql.tree.relations import Relation
from tests.engine.answers import Answer, difference, engine_answer, oracle_answer, table_rows
from tests.engine.expressions import TOPICS, expressions, queries
from tests.engine.in_spark import in_spark, spark_takes
from tests.engine.random_expressions import random_expressions
from tests.engine.tables.test_tables import bound

pytestmark = pytest.mark.slow

BATCH = 12
RANDOM_COUNT = 40
TAKEN_MIN = 10
# Topics of which Spark evaluates nothing.
EMBEDDED = ("text", "time")
REFRESH_S_MAX = 2.0
SHORT_S_MAX = 60.0
CANCEL_S_MAX = 20.0
TASKS_END_S_MAX = 60.0
FAILING = (
    "1 / i", "i % s", "s + s", "i * i", "l + l", "-i", "l / 0", "w::integer", "n::numeric(4,1)", "l::smallint", "i::smallint",
)  # fmt: skip

# What Spark's analysis has no plan for, of texts that are printed for it.
REFUSED_BY_SPARK = (
    "select id, (select max(x.v) from (values (t.i), (t.s)) x(v)) from t",
    "select count(*) from t a join t b on a.i = b.i and a.s in (select c.s from t c where c.i = b.i)",
    "select count(*) from t a left join t b on a.i = b.i and (select max(c.s) from t c where c.i = b.i) > 1",
    "select a.id, (select sum(a.id + b.id) from t b) from t a",
)


class Sut:
    """The executor as something that answers queries."""

    def __init__(self, upper: SparkUpperExecutor, inputs: Mapping[str, pa.Table]) -> None:
        self._upper = upper
        self._inputs = inputs

    def answer(self, query: str) -> Answer:
        return engine_answer(self._run, query, self._inputs)

    def _run(self, relation: Relation, inputs: Mapping[str, pa.Table]) -> pa.Table:
        return self._upper.run("view", in_spark(relation), inputs, {})


def in_spark_bound(query: str) -> Relation:
    return in_spark(bound(query))


@pytest.fixture
def sut(upper: SparkUpperExecutor, inputs: dict[str, pa.Table]) -> Sut:
    return Sut(upper, inputs)


@pytest.mark.turns(6)
@pytest.mark.parametrize("topic", [topic for topic in TOPICS if topic not in EMBEDDED])
def test_expressions(topic: str, oracle: psycopg.Connection[Any], sut: Sut) -> None:
    check_expressions(oracle, sut, expressions(topic))


def test_random_expressions(oracle: psycopg.Connection[Any], sut: Sut, request: pytest.FixtureRequest) -> None:
    check_expressions(oracle, sut, random_expressions(request.config.getoption("--seed"), RANDOM_COUNT))


def check_expressions(oracle: psycopg.Connection[Any], sut: Sut, texts: Sequence[str]) -> None:
    """Compare in batches those that Spark evaluates; a batch that differs is compared one by
    one.
    """
    taken = [text for text in texts if spark_takes(bound(f"select {text} from t"))]
    assert len(taken) >= TAKEN_MIN
    guarded = (text for text in (guarded_expression(oracle, text) for text in taken) if text is not None)
    failures = []
    for batch in batches(guarded):
        if batch_difference(oracle, sut, batch) is not None:
            failures += [
                f"{text}: {what}" for text in batch if (what := batch_difference(oracle, sut, [text])) is not None
            ]
    assert not failures, "\n".join(failures)


def guarded_expression(oracle: psycopg.Connection[Any], text: str) -> str | None:
    """Return the expression for the rows on which it has a value within our limits: a CASE must
    keep it from the others.
    """
    answers = [
        oracle_answer(oracle, f"select ({text})::text from t where id = {row}") for row in range(len(table_rows()))
    ]
    if all(representable(answer) for answer in answers):
        return text
    rows = [str(row) for row, answer in enumerate(answers) if representable(answer)]
    return f"case when id in ({', '.join(rows)}) then {text} end" if rows else None


def representable(answer: Answer) -> bool:
    """True for a value that a numeric of ours could hold too, were it one."""
    if answer.sqlstate is not None:
        return False
    text = answer.rows[0][0]
    return text is None or (
        len(text.replace(".", "").lstrip("-")) <= 38 and text not in ("NaN", "Infinity", "-Infinity")
    )


def batches(texts: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(texts, BATCH)):
        yield batch


def batch_difference(oracle: psycopg.Connection[Any], sut: Sut, batch: Sequence[str]) -> str | None:
    query = f"select id, {', '.join(batch)} from t"
    return difference(oracle_answer(oracle, query), sut.answer(query))


@pytest.mark.turns(6)
@pytest.mark.parametrize("query", queries())
def test_queries(query: str, oracle: psycopg.Connection[Any], sut: Sut) -> None:
    assert difference(oracle_answer(oracle, query), sut.answer(query), ordered="order by" in query) is None


def test_what_is_asked_here_is_asked_of_spark() -> None:
    """The embedded engine would answer as well."""
    assert sum(spark_takes(bound(query)) for query in queries()) > 30
    texts = [text for topic in EMBEDDED for text in expressions(topic)]
    assert texts and not [text for text in texts if spark_takes(bound(f"select {text} from t"))]


def test_the_embedded_engine_answers_what_spark_refuses(oracle: psycopg.Connection[Any], sut: Sut) -> None:
    for query in REFUSED_BY_SPARK:
        assert spark_takes(bound(query)), query
        assert difference(oracle_answer(oracle, query), sut.answer(query)) is None, query


def test_errors(oracle: psycopg.Connection[Any], sut: Sut) -> None:
    for text in FAILING:
        assert spark_takes(bound(f"select {text} from t")), text
        failing = next(
            row
            for row in range(len(table_rows()))
            if oracle_answer(oracle, f"select {text} from t where id = {row}").sqlstate is not None
        )
        query = f"select {text} from t where id = {failing}"
        assert difference(oracle_answer(oracle, query), sut.answer(query)) is None, text


def test_cancel_stops_what_runs_for_one_and_nothing_else(
    spark: SparkRuntime, upper: SparkUpperExecutor, inputs: dict[str, pa.Table]
) -> None:
    slow = in_spark_bound(
        "select count(*) from t a, t b, t c, t d, t e, t f where a.id + b.id + c.id > d.id + e.id + f.id"
    )
    rather_slow = in_spark_bound("select count(*) from t a, t b, t c, t d where a.id + b.id > c.id + d.id")
    me, other = object(), object()
    with ThreadPoolExecutor(2) as threads:
        stopped = threads.submit(upper.run, me, slow, inputs, {})
        while not upper.runs_for(me):
            time.sleep(0)
        going_on = threads.submit(upper.run, other, rather_slow, inputs, {})
        # Once, and at once: it may be planning still.
        upper.cancel(me)
        with pytest.raises(SqlError, match="57014"):
            stopped.result(CANCEL_S_MAX)
        assert going_on.result().num_rows == 1
    assert not upper.runs_for(me) and not upper.runs_for(other)
    # The client is told at once; the work ends, too.
    until_s = time.monotonic() + TASKS_END_S_MAX
    while running_tasks(spark) and time.monotonic() < until_s:
        time.sleep(0.05)
    assert not running_tasks(spark)


def running_tasks(spark: SparkRuntime) -> int:
    """Return how many tasks have not ended in the JVM, also of jobs that were cancelled."""
    (executor,) = spark.session().sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    return int(executor.numRunningTasks())


def test_a_short_pipeline_goes_on_beside_more_long_ones_than_spark_has_threads(
    spark: SparkRuntime, upper: SparkUpperExecutor, inputs: dict[str, pa.Table]
) -> None:
    slow = in_spark_bound(
        "select count(*) from t a, t b, t c, t d, t e, t f where a.id + b.id + c.id > d.id + e.id + f.id"
    )
    count = spark.threads_count + 1
    with ThreadPoolExecutor(count + 1) as threads:
        long_ones = [threads.submit(upper.run, number, slow, inputs, {}) for number in range(count)]
        try:
            short = threads.submit(upper.run, "short", in_spark_bound("select count(*) from t"), inputs, {})
            assert short.result(SHORT_S_MAX).num_rows == 1
            assert not any(one.done() for one in long_ones)
        finally:
            for number in range(count):
                upper.cancel(number)
        for one in long_ones:
            with pytest.raises(SqlError, match="57014"):
                one.result(CANCEL_S_MAX)


@pytest.mark.parametrize("wait_s", [0.01, 0.05, 0.3])
def test_a_cancel_is_not_lost_whenever_it_comes(
    wait_s: float, upper: SparkUpperExecutor, inputs: dict[str, pa.Table]
) -> None:
    slow = in_spark_bound(
        "select count(*) from t a, t b, t c, t d, t e, t f where a.id + b.id + c.id > d.id + e.id + f.id"
    )
    with ThreadPoolExecutor(1) as threads:
        stopped = threads.submit(upper.run, "me", slow, inputs, {})
        time.sleep(wait_s)
        upper.cancel("me")
        with pytest.raises(SqlError, match="57014"):
            stopped.result(CANCEL_S_MAX)


def test_a_text_that_spark_refuses_is_run_by_the_embedded_engine_and_logged(
    upper: SparkUpperExecutor, inputs: dict[str, pa.Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    relation, refused = in_spark_bound("select count(*) from t"), list[str]()
    monkeypatch.setattr(errors.log, "error", lambda text, *parts: refused.append(text % parts))
    for sql in ("SELECT no_such_column FROM range(1)", "SELECT FROM WHERE"):
        monkeypatch.setattr(executor, "emit_spark", lambda root, names, sql=sql: sql)
        assert upper.run("view", relation, inputs, {}).to_pydict() == {"count": [inputs["t"].num_rows]}
    assert ["no_such_column" in text for text in refused] == [True, False]


def test_warm_refresh_of_1000_groups(upper: SparkUpperExecutor, inputs: dict[str, pa.Table]) -> None:
    table = inputs["t"].take(pa.array([index % inputs["t"].num_rows for index in range(1000)]))
    relation = in_spark_bound(
        "select c, count(*), sum(n) from t group by c having count(*) > 1 order by 2 desc limit 10"
    )
    upper.run("warm", relation, {"t": table}, {})
    start = time.monotonic()
    upper.run("warm", relation, {"t": table}, {})
    assert time.monotonic() - start < REFRESH_S_MAX


def test_nothing_is_written_elsewhere(
    spark: SparkRuntime, upper: SparkUpperExecutor, inputs: dict[str, pa.Table]
) -> None:
    upper.run("view", in_spark_bound("select count(*) from t"), inputs, {})
    assert not any(Path(name).exists() for name in ("spark-warehouse", "metastore_db", "derby.log", "artifacts"))
