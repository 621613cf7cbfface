"""Sums of reals, deviations and regressions have PostgreSQL's last digits where the rows come in the same order."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import duckdb
import psycopg
import pytest

from engine.embedded.error_mark import own_error
from engine.embedded.functions.float_aggregates import RESULTS
from engine.embedded.functions.registration import register_functions

DEVIATIONS = ("stddev_samp", "stddev_pop", "var_samp", "var_pop")
SIZES = (0, 1, 2, 3, 5, 50, 1000)
SCALES = (1.0, 1e8, 1e-3, 1e150, 1e300)
ODD = (math.nan, math.inf, -math.inf)
Values = list[float | None]


@pytest.fixture(scope="module")
def engine() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    register_functions(connection)
    return connection


def drawn(seed: int) -> tuple[Values, Values]:
    """Return two columns, with NULLs, and in some of them NaN and infinities."""
    chance = Random(seed)
    size, scale, odd = chance.choice(SIZES), chance.choice(SCALES), seed % 5 == 0

    def value(scale: float) -> float | None:
        if chance.random() < 0.05:
            return None
        return chance.choice(ODD) if odd and chance.random() < 0.1 else chance.gauss(1, 1) * scale

    return [value(scale) for _ in range(size)], [value(1.0) for _ in range(size)]


def ours(engine: duckdb.DuckDBPyConnection, call: str, lists: tuple[Values, ...], kind: str = "DOUBLE") -> str:
    """Return what a function of lists gives, as text, or its SQLSTATE."""
    items = ", ".join(f"(SELECT list(v) FROM (SELECT unnest(?::{kind}[]) AS v))" for _ in lists)
    try:
        row = engine.execute(f"SELECT {call.format(items)}::DOUBLE", list(lists)).fetchone()
    except duckdb.Error as error:
        known = own_error(str(error))
        assert known is not None, error
        return known.sqlstate
    assert row is not None
    return repr(row[0])


def theirs(oracle: psycopg.Connection[Any], query: str, lists: tuple[Values, ...]) -> str:
    """Return PostgreSQL's value as text, or its SQLSTATE."""
    try:
        row = oracle.execute(query.encode(), lists).fetchone()
    except psycopg.Error as error:
        return str(error.sqlstate)
    assert row is not None
    return repr(row[0])


@pytest.mark.parametrize("seed", range(20))
def test_digits_are_those_of_postgres(
    engine: duckdb.DuckDBPyConnection, oracle: psycopg.Connection[Any], seed: int
) -> None:
    xs, ys = drawn(seed)
    for name in DEVIATIONS:
        known = theirs(oracle, f"SELECT {name}(x) FROM unnest(%s::float8[]) x", (xs,))
        assert ours(engine, f"float8_deviation({{}}, '{name}')", (xs,)) == known, (name, xs)
    for name in RESULTS:
        known = theirs(oracle, f"SELECT {name}(y, x) FROM unnest(%s::float8[], %s::float8[]) v(y, x)", (ys, xs))
        assert ours(engine, f"float8_regression({{}}, '{name}')", (ys, xs)) == known, (name, ys, xs)
    known = theirs(oracle, "SELECT sum(x)::float8 FROM unnest(%s::float4[]) x", (ys,))
    assert ours(engine, "float4_sum({})", (ys,), "FLOAT") == known, ys
