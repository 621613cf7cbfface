"""Functions and wide queries: the embedded engine gives PostgreSQL's answers; Spark the same where
it does not refuse with 0A000.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from engine.embedded.query_engine import QueryEngine
from engine.spark.upper import SparkUpperExecutor
from sql.emit.spark import emit_spark
from sql.errors import SqlError
from sql.tree.relations import Relation
from sql.tree.walks import scans
from tests.engine.answers import difference, engine_answer, oracle_answer
from tests.engine.expressions import FUNCTION_TOPICS, FUNCTIONS, expressions, queries
from tests.engine.spark.test_upper import Sut, check_expressions
from tests.engine.tables.test_tables import bound, expression_failure

pytestmark = pytest.mark.slow

# The last ORDER BY of a text, when it is that of the whole query.
ORDERED = re.compile(r"order by [^()]*$")

# Their last digit is that of the C library in PostgreSQL, and of Java's in Spark.
LIBRARY = re.compile(r"(a?(sin|cos|tan)h?|cot|atan2|cbrt|exp|ln|log|log10)\(")


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


@pytest.mark.parametrize("query", queries(FUNCTIONS))
def test_embedded_queries(
    query: str, oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: dict[str, pa.Table]
) -> None:
    expected, found = oracle_answer(oracle, query), engine_answer(engine.run, query, inputs)
    assert difference(expected, found, ordered=ORDERED.search(query) is not None) is None


@pytest.mark.parametrize("topic", FUNCTION_TOPICS)
def test_spark_expressions(
    topic: str, oracle: psycopg.Connection[Any], upper: SparkUpperExecutor, inputs: dict[str, pa.Table]
) -> None:
    taken = [
        text
        for text in expressions(topic, FUNCTIONS)
        if not LIBRARY.match(text) and spark_takes(f"select {text} from t")
    ]
    check_expressions(oracle, Sut(upper, inputs), taken)


def test_spark_queries(oracle: psycopg.Connection[Any], upper: SparkUpperExecutor, inputs: dict[str, pa.Table]) -> None:
    sut, failures = Sut(upper, inputs), []
    for query in queries(FUNCTIONS):
        if not spark_takes(query):
            continue
        expected, found = oracle_answer(oracle, query), sut.answer(query)
        if found.sqlstate == "0A000":
            continue
        what = difference(expected, found, ordered=ORDERED.search(query) is not None)
        failures += [] if what is None else [f"{query}: {what}"]
    assert not failures, "\n".join(failures)


def spark_takes(query: str) -> bool:
    """Tell whether Spark has the functions of a query."""
    try:
        text(bound(query))
    except SqlError:
        return False
    return True


def text(relation: Relation) -> str:
    names: Mapping[str, str] = {scan.name: scan.name for scan in scans(relation)}
    return emit_spark(relation, names)
