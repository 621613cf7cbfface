"""Functions and wide queries: the embedded engine gives PostgreSQL's answers, and Spark the same of
queries that it evaluates.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from engine.embedded.query_engine import QueryEngine
from engine.spark.upper import SparkUpperExecutor
from sql.errors import SqlError
from tests.engine.answers import difference, engine_answer, oracle_answer
from tests.engine.expressions import FUNCTION_TOPICS, FUNCTIONS, expressions, queries
from tests.engine.in_spark import spark_takes
from tests.engine.spark.test_upper import Sut
from tests.engine.tables.test_tables import bound, expression_failure

pytestmark = pytest.mark.slow

# The last ORDER BY of a text, when it is that of the whole query.
ORDERED = re.compile(r"order by [^()]*$")
# Of the queries, so many are Spark's.
TAKEN_MIN = 20


@pytest.mark.turns(4)
@pytest.mark.parametrize("topic", FUNCTION_TOPICS)
def test_embedded_expressions(
    topic: str, oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: dict[str, pa.Table]
) -> None:
    failures = [
        failure
        for expression in expressions(topic, FUNCTIONS)
        if (failure := expression_failure(oracle, engine, inputs, expression)) is not None
    ]
    assert not failures, "\n".join(failures)


@pytest.mark.turns(4)
@pytest.mark.parametrize("query", queries(FUNCTIONS))
def test_embedded_queries(
    query: str, oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: dict[str, pa.Table]
) -> None:
    expected, found = oracle_answer(oracle, query), engine_answer(engine.run, query, inputs)
    assert difference(expected, found, ordered=ORDERED.search(query) is not None) is None


@pytest.mark.long
def test_spark_queries(oracle: psycopg.Connection[Any], upper: SparkUpperExecutor, inputs: dict[str, pa.Table]) -> None:
    sut, failures = Sut(upper, inputs), []
    taken: list[str] = []
    for query in queries(FUNCTIONS):
        with suppress(SqlError):
            taken += [query] if spark_takes(bound(query)) else []
    assert len(taken) > TAKEN_MIN
    for query in taken:
        expected, found = oracle_answer(oracle, query), sut.answer(query)
        what = difference(expected, found, ordered=ORDERED.search(query) is not None)
        failures += [] if what is None else [f"{query}: {what}"]
    assert not failures, "\n".join(failures)
