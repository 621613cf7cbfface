"""Spark computes with the new types as PostgreSQL does, or leaves that to the embedded engine:
comparison, groups, intervals, char(n).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from engine.spark.upper import SparkUpperExecutor
from tests.engine.answers import difference, oracle_answer
from tests.engine.in_spark import spark_takes
from tests.engine.typed_table import bound, create_oracle_table, executor_answer
from tests.oracle.postgres import PostgresCluster

pytestmark = pytest.mark.slow

NAMES = ("c", "ti", "iv", "u", "by", "ai", "n")
QUERIES = (
    "select {0}, count(*) from v group by {0}",
    "select count(distinct {0}) from v",
    "select {0} from v order by {0}, id",
    "select a.id, b.id from v a join v b on a.{0} = b.{0}",
    "select id, rank() over (order by {0}) from v",
    "select id, {0} from v where {0} = (select max(x.{0}) from v x where x.id = 3)",
)
EXPRESSIONS = (
    "c::text", "c = 'a'", "iv = '1 mon'", "iv > '30 days'", "interval '1 day'", "'\\x6869'::bytea", "time '04:05'",
    "'{1,2}'::integer[]", "uuid 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "coalesce(iv, '1 day')", "iv is null",
)  # fmt: skip
# What Spark does not have is computed by the embedded engine.
BEYOND_SPARK = (
    "iv + '1 day'", "-iv", "ti - '1 hour'::interval", "d + ti", "extract(epoch from iv)", "date_trunc('hour', iv)",
    "c::varchar(2)", "i::char(3)", "length(c)", "ts::timestamp(1)", "greatest(iv, '1 day')", "iv * 2", "iv::text",
    "'1 day'::text::interval", "jb = '1'", "by::text", "ai::text",
)  # fmt: skip
EXTREMES = ("min(iv)", "max(iv)", "min(c)", "max(ti)", "count(by)", "max(n)")


@pytest.fixture(scope="module")
def typed(postgres: PostgresCluster) -> Iterator[psycopg.Connection[Any]]:
    with postgres.connect() as connection:
        create_oracle_table(connection)
        yield connection


@pytest.mark.turns(6)
@pytest.mark.parametrize("name", NAMES)
def test_queries(name: str, typed: psycopg.Connection[Any], upper: SparkUpperExecutor) -> None:
    queries = [text.format(name) for text in QUERIES]
    for query in queries[:-1] if name == "ai" else queries:
        expected, found = oracle_answer(typed, query), executor_answer(upper, query)
        assert expected.sqlstate or spark_takes(bound(query)), query
        assert difference(expected, found, ordered="order by" in query and "over" not in query) is None, query


def test_expressions(typed: psycopg.Connection[Any], upper: SparkUpperExecutor) -> None:
    query = f"select id, {', '.join(EXPRESSIONS)} from v"
    assert spark_takes(bound(query))
    assert difference(oracle_answer(typed, query), executor_answer(upper, query)) is None


def test_extremes(typed: psycopg.Connection[Any], upper: SparkUpperExecutor) -> None:
    query = f"select {', '.join(EXTREMES)} from v"
    assert spark_takes(bound(query))
    assert difference(oracle_answer(typed, query), executor_answer(upper, query)) is None


def test_what_spark_does_not_have(typed: psycopg.Connection[Any], upper: SparkUpperExecutor) -> None:
    for query in (f"select id, {', '.join(BEYOND_SPARK)} from v", "select avg(iv), sum(iv) from v"):
        assert not spark_takes(bound(query))
        assert difference(oracle_answer(typed, query), executor_answer(upper, query)) is None, query
