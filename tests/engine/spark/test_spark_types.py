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
from tests.engine.typed_table import create_oracle_table, executor_answer
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
    "iv + '1 day'", "iv - '1 mon'", "-iv", "ti + iv", "ti - '1 hour'::interval", "ti - '04:05'::time", "d + ti",
    "ts - '2000-01-01'::timestamp", "extract(epoch from iv)", "extract(second from iv)", "extract(day from iv)",
    "extract(month from iv)", "extract(hour from iv)", "date_part('epoch', iv)", "date_trunc('hour', iv)",
    "date_trunc('year', iv)", "extract(minute from ti)", "c::text", "c::varchar(2)", "i::char(3)", "t::char(3)",
    "c::char(2)", "c = 'a'", "length(c)", "iv = '1 mon'", "iv > '30 days'", "ts::timestamp(1)", "jb::text",
    "interval '1 day'", "'\\x6869'::bytea", "time '04:05'", "'{1,2}'::integer[]",
    "uuid 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "coalesce(iv, '1 day')", "greatest(iv, '1 day')", "iv is null",
)  # fmt: skip
# What Spark does not have is computed by the embedded engine.
BEYOND_SPARK = "iv * 2, iv::text, '1 day'::text::interval, jb = '1', by::text, ai::text, jb ->> 'a'"
EXTREMES = ("min(iv)", "max(iv)", "min(c)", "max(ti)", "count(by)", "sum(iv)", "max(n)")


@pytest.fixture(scope="module")
def typed(postgres: PostgresCluster) -> Iterator[psycopg.Connection[Any]]:
    with postgres.connect() as connection:
        create_oracle_table(connection)
        yield connection


@pytest.mark.parametrize("name", NAMES)
def test_queries(name: str, typed: psycopg.Connection[Any], upper: SparkUpperExecutor) -> None:
    queries = [text.format(name) for text in QUERIES]
    for query in queries[:-1] if name == "ai" else queries:
        expected, found = oracle_answer(typed, query), executor_answer(upper, query)
        assert difference(expected, found, ordered="order by" in query and "over" not in query) is None, query


def test_expressions(typed: psycopg.Connection[Any], upper: SparkUpperExecutor) -> None:
    for start in range(0, len(EXPRESSIONS), 12):
        query = f"select id, {', '.join(EXPRESSIONS[start : start + 12])} from v"
        assert difference(oracle_answer(typed, query), executor_answer(upper, query)) is None, query


def test_extremes(typed: psycopg.Connection[Any], upper: SparkUpperExecutor) -> None:
    query = f"select {', '.join(EXTREMES)} from v"
    assert difference(oracle_answer(typed, query), executor_answer(upper, query)) is None


def test_what_spark_does_not_have(typed: psycopg.Connection[Any], upper: SparkUpperExecutor) -> None:
    for query in (f"select id, {BEYOND_SPARK} from v", "select avg(iv) from v"):
        assert difference(oracle_answer(typed, query), executor_answer(upper, query)) is None, query
