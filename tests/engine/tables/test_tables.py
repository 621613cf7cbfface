"""The embedded engine gives PostgreSQL's answers: every expression on every row, whole queries,
random expressions, interruption.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from engine.embedded.query_engine import QueryEngine
from sql.bind import bind_query
from sql.catalog.catalog import SessionSettings
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.expressions import Call, Column, Literal
from sql.tree.relations import Filter, OutputColumn, Project, Relation, Scan, Values
from sql.types.datatypes import INT4, INT8, TEXT
from tests.engine.answers import Answer, OneTable, difference, engine_answer, oracle_answer, table_rows
from tests.engine.expressions import TOPICS, expressions, queries
from tests.engine.random_expressions import random_expressions

ZONE = "America/New_York"
RANDOM_COUNT = 75


@pytest.mark.turns(3)
@pytest.mark.parametrize("topic", TOPICS)
def test_expressions(
    topic: str, oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: dict[str, pa.Table]
) -> None:
    failures = [
        failure
        for expression in expressions(topic)
        if (failure := expression_failure(oracle, engine, inputs, expression)) is not None
    ]
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("query", queries())
def test_queries(query: str, oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: dict[str, pa.Table]) -> None:
    expected, found = oracle_answer(oracle, query), engine_answer(engine.run, query, inputs)
    assert difference(expected, found, ordered="order by" in query) is None


def test_time_depends_on_the_captured_zone(
    oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: dict[str, pa.Table]
) -> None:
    oracle.execute(f"SET TimeZone = '{ZONE}'")
    try:
        for expression in [
            *expressions("time"),
            "tz::text",
            "ts::timestamptz",
            "tz::date",
            "d::timestamptz",
            "tz::timestamp",
        ]:
            query = f"select id, {expression} from t"
            expected, found = oracle_answer(oracle, query), engine_answer(engine.run, query, inputs, ZONE)
            assert difference(expected, found) is None, expression
    finally:
        oracle.execute("SET TimeZone = 'UTC'")


def test_random_expressions(
    oracle: psycopg.Connection[Any],
    engine: QueryEngine,
    inputs: dict[str, pa.Table],
    request: pytest.FixtureRequest,
) -> None:
    seed = request.config.getoption("--seed")
    failures = [
        failure
        for expression in random_expressions(seed, RANDOM_COUNT)
        if (failure := expression_failure(oracle, engine, inputs, expression)) is not None
    ]
    assert not failures, f"seed {seed}\n" + "\n".join(failures)


def expression_failure(
    oracle: psycopg.Connection[Any],
    engine: QueryEngine,
    inputs: Mapping[str, pa.Table],
    expression: str,
) -> str | None:
    """Return what differs for an expression: on the whole table, or where some row raises, on all
    rows that have a value, and row by row on the others.
    """
    query = f"select id, {expression} from t"
    expected = oracle_answer(oracle, query)
    found = engine_answer(engine.run, query, inputs)
    if expected.sqlstate is None and difference(expected, found) is None:
        return None
    queries = [f"select {expression} from t where id = {index}" for index in range(len(table_rows()))]
    answers = [oracle_answer(oracle, query) for query in queries]
    valued = [index for index, answer in enumerate(answers) if answer.sqlstate is None]
    alone = list(range(len(answers)))
    if valued:
        query = f"select id, {expression} from t where id in ({', '.join(map(str, valued))})"
        if difference(oracle_answer(oracle, query), engine_answer(engine.run, query, inputs)) is None:
            alone = [index for index in alone if index not in valued]
    for index in alone:
        expected, found = answers[index], engine_answer(engine.run, queries[index], inputs)
        if beyond_limits(expected, found):
            continue
        what = difference(expected, found)
        if what is not None:
            return f"{expression} over {table_rows()[index]}: {what}"
    return None


def beyond_limits(expected: Answer, found: Answer) -> bool:
    """Tell what differs by design: numerics of more than 38 digits (22003), and NaN as a
    numeric(p,s) (0A000).

    Of two operands that both raise, or of one that raises beside a NULL, PostgreSQL and an engine
    may evaluate another one first.
    """
    if expected.sqlstate is not None:
        return found.sqlstate is not None or found.rows[0][0] is None
    value = expected.rows[0][0] or ""
    if found.sqlstate == "0A000":
        return value == "NaN"
    return found.sqlstate == "22003" and len(value.replace(".", "").replace("-", "")) > 38


def test_types_and_duplicate_names(engine: QueryEngine) -> None:
    scan = Scan("V", "view", (OutputColumn("a", INT4), OutputColumn("a", INT8), OutputColumn("A", TEXT)))
    table = pa.Table.from_arrays(
        [pa.array([1], pa.int32()), pa.array([2], pa.int64()), pa.array(["x"])], names=["a", "a", "A"]
    )
    result = engine.run(scan, {"V": table})
    assert result.schema.names == ["a", "a", "A"]
    assert [column.to_pylist() for column in result.columns] == [[1], [2], ["x"]]


def test_values_without_columns_count_rows(engine: QueryEngine) -> None:
    one_row = Project(Values(((),), ()), (("x", Literal(1, INT4)),))
    assert engine.run(one_row, {}).to_pydict() == {"x": [1]}


def test_a_new_version_is_read(engine: QueryEngine) -> None:
    scan = Scan("versions", "view", (OutputColumn("a", INT4),))
    for value in (1, 2, 1):
        table = pa.table({"a": pa.array([value], pa.int32())})
        assert engine.run(scan, {"versions": table}).to_pydict() == {"a": [value]}


def bound(query: str) -> Relation:
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    return bind_query(statement.query, OneTable(), SessionSettings()).root


def test_interrupt(engine: QueryEngine, inputs: dict[str, pa.Table]) -> None:
    long_query = bound(
        "select count(*) from t a, t b, t c, t d, t e, t f where a.id + b.id + c.id > d.id + e.id + f.id"
    )
    failures: list[SqlError] = []

    def run() -> None:
        try:
            engine.run(long_query, inputs, token="session")
        except SqlError as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        engine.interrupt("session")
        time.sleep(0.01)
    thread.join()
    assert [error.sqlstate for error in failures] == ["57014"]
    assert engine.run(bound("select 1"), {}, token="session").num_rows == 1


def test_many_threads(engine: QueryEngine, inputs: dict[str, pa.Table]) -> None:
    root = bound("select sum(n / 3), count(*) from t where i < 1000")
    expected = engine.run(root, inputs)
    answers: list[pa.Table] = []
    threads = [threading.Thread(target=lambda: answers.append(engine.run(root, inputs))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert all(answer.equals(expected) for answer in answers)


def test_missing_functions_are_named(engine: QueryEngine, inputs: dict[str, pa.Table]) -> None:
    scan = Scan("t", "view", (OutputColumn("a", INT4),))
    root = Filter(scan, Call("frobnicate", (Column(0, "a", INT4),), INT4))
    with pytest.raises(SqlError, match=r"0A000: function frobnicate\(integer\) is not supported yet"):
        engine.run(root, inputs)


def test_a_count_of_rows_that_depends_on_the_row_outside_is_refused(engine: QueryEngine) -> None:
    query = "select (select i.x from (values (1), (2)) i (x) offset o.x limit 1) from (values (1), (0)) o (x)"
    assert engine_answer(engine.run, query, {}).sqlstate == "0A000"


@pytest.mark.parametrize("text", ["x + x", "x * 10", "x * x", "sum(x)", "x / 0.0001", "x - (0 - x)", "x + 0.1"])
def test_more_than_38_digits_are_refused(text: str, engine: QueryEngine) -> None:
    query = f"select {text} from (values ({'9' * 38}::numeric), ({'9' * 38})) v (x)"
    assert engine_answer(engine.run, query, {}).sqlstate == "22003"
