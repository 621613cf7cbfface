"""Sums of reals, deviations and regressions have PostgreSQL's last digits where the rows come in
the same order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from threading import Timer
from time import monotonic
from typing import Any

import duckdb
import numpy as np
import psycopg
import pytest

from engine.embedded.error_mark import own_error
from engine.embedded.functions.registration import register_functions
from engine.embedded.stopping import Run
from engine.spark.runtime import SparkRuntime
from sql.functions.arguments import RUN
from sql.functions.table import AGGREGATE_ROWS
from tests.engine.session_client import SessionClient, World

REGRESSION = [name for name, row in AGGREGATE_ROWS.items() if row.adds_floats and "float8 float8" in row.signatures]
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
    items = [f"(SELECT list(v) FROM (SELECT unnest(${place}::{kind}[]) AS v))" for place in range(1, len(lists) + 1)]
    try:
        row = engine.execute(f"SELECT {call.format(*items)}::DOUBLE", list(lists)).fetchone()
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


@pytest.mark.turns(4)
@pytest.mark.parametrize("seed", range(20))
def test_digits_are_those_of_postgres(
    engine: duckdb.DuckDBPyConnection, oracle: psycopg.Connection[Any], seed: int
) -> None:
    xs, ys = drawn(seed)
    for name in (*DEVIATIONS, "avg", "sum"):
        known = theirs(oracle, f"SELECT {name}(x) FROM unnest(%s::float8[]) x", (xs,))
        assert ours(engine, f"float8_aggregate({{0}}, {{0}}, '{name}', 0)", (xs,)) == known, (name, xs)
    for name in REGRESSION:
        known = theirs(oracle, f"SELECT {name}(y, x) FROM unnest(%s::float8[], %s::float8[]) v(y, x)", (ys, xs))
        assert ours(engine, f"float8_aggregate({{}}, {{}}, '{name}', 0)", (ys, xs)) == known, (name, ys, xs)
    known = theirs(oracle, "SELECT sum(x)::float8 FROM unnest(%s::float4[]) x", (ys,))
    rounded = [None if y is None else float(np.float32(y)) for y in ys]
    assert ours(engine, "float8_aggregate({0}, {0}, 'real_sum', 0)", (rounded,)) == known, ys


# Each order is that of all rows: which of two equal rows comes first is nobody's promise.
ORDERS = ("ORDER BY id)", "ORDER BY y DESC NULLS LAST, id) FILTER (WHERE id % 3 > 0)")
WINDOWS = (
    "ORDER BY id",
    "PARTITION BY g ORDER BY id DESC",
    "ORDER BY id ROWS BETWEEN 5 PRECEDING AND 2 FOLLOWING",
    "PARTITION BY g ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ORDER BY id ROWS BETWEEN 3 FOLLOWING AND 5 FOLLOWING",
)
EMBEDDED_WINDOWS = (
    "ORDER BY id ROWS BETWEEN 5 PRECEDING AND 7 PRECEDING",
    "ORDER BY id RANGE BETWEEN 3 PRECEDING AND CURRENT ROW",
    "ORDER BY id GROUPS BETWEEN 2 PRECEDING AND CURRENT ROW",
    "ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP",
    "ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES",
    "ORDER BY id ROWS BETWEEN 4 PRECEDING AND 4 FOLLOWING EXCLUDE CURRENT ROW",
    "",
)
CALLS = [
    *(f"{name}({column})" for name in (*DEVIATIONS, "sum", "avg") for column in "xr"),
    *(f"{name}(y, x)" for name in REGRESSION),
    "regr_count(y, x)",
]
WINDOW_CALLS = ("sum(x)", "sum(r)", "avg(x)", "stddev_samp(r)", "corr(y, x)", "regr_intercept(y, x)")
GROUPED = "(SELECT g, id, sum(x) AS x, sum(y) AS y, sum(r) AS r FROM float_stream GROUP BY g, id) AS q"


def rows(seed: int) -> str:
    """Return rows whose sums depend on the order, as VALUES; three groups have NaN, an infinity or
    NULLs alone.
    """
    chance = Random(seed)

    def value() -> str:
        known = (chance.gauss(1e6, 1), chance.uniform(-10, 10), chance.random() * 10 ** chance.randint(-8, 8))
        return "NULL" if chance.random() < 0.05 else repr(chance.choice(known))

    given = [f"({number}, {chance.randrange(5)}, {value()}, {value()}, {value()})" for number in range(100)]
    odd = ("'inf', 1, 'nan'", "2, 3, 4", "'nan', 1, 'inf'", "1, 2, 3", "NULL, NULL, NULL")
    return ", ".join([*given, *(f"({1000 + place}, {5 + place // 2}, {items})" for place, items in enumerate(odd))])


def window_queries(windows: Sequence[str], source: str) -> Iterator[str]:
    for place, window in enumerate(windows):
        kept = " FILTER (WHERE id % 3 > 0)" if place % 2 else ""
        items = ", ".join(f"{call}{kept} OVER ({window}) AS a{number}" for number, call in enumerate(WINDOW_CALLS))
        yield f"SELECT id, {items} FROM {source}"


def group_queries(source: str) -> Iterator[str]:
    for order in ORDERS:
        items = ", ".join(f"{call.replace(')', f' {order}')} AS a{place}" for place, call in enumerate(CALLS))
        yield f"SELECT g, {items} FROM {source} GROUP BY g"


@pytest.mark.turns(3, 1)
def test_order_of_its_own_and_windows_on_tables_streams_and_in_spark(
    tmp_path: Path, spark: SparkRuntime, oracle: psycopg.Connection[Any]
) -> None:
    world = World(tmp_path, spark=spark)
    client = world.client()
    columns = "(id integer, g integer, x double precision, y double precision, r real)"
    for relation in ("float_rows", "float_stream"):
        kind, ending = ("FOREIGN TABLE", " SERVER stream") if relation == "float_stream" else ("TABLE", "")
        client.run(f"CREATE {kind} {relation} {columns}{ending}")
        oracle.execute(f"CREATE TEMP TABLE {relation} {columns}".encode())
    above = [*group_queries(GROUPED), *window_queries(WINDOWS[:3], GROUPED)]
    for place, query in enumerate(above):
        client.run(f"CREATE VIEW v{place} AS {query}")
    for relation in ("float_rows", "float_stream"):
        client.run(f"INSERT INTO {relation} VALUES {rows(7)}")
        oracle.execute(f"INSERT INTO {relation} VALUES {rows(7)}".encode())
    for query in (
        *group_queries("float_rows"),
        *window_queries((*WINDOWS, *EMBEDDED_WINDOWS), "float_rows"),
        *window_queries(WINDOWS[1:2], "float_stream"),
    ):
        check(client, oracle, f"{query} ORDER BY 1", f"{query} ORDER BY 1")
    for place, query in enumerate(above):
        check(client, oracle, f"SELECT * FROM v{place} ORDER BY 1", f"{query} ORDER BY 1")
    oracle.execute("DROP TABLE float_rows, float_stream")
    world.close()


def check(client: SessionClient, oracle: psycopg.Connection[Any], query: str, known: str) -> None:
    answer = oracle.pgconn.exec_(known.encode())
    texts = [[answer.get_value(row, column) for column in range(answer.nfields)] for row in range(answer.ntuples)]
    assert texts, answer.error_message
    assert client.rows(query) == [f"D {row}" for row in texts], query


def test_what_depends_on_an_order_is_added_in_it_over_a_stream(world: World) -> None:
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (g integer, x double precision, n integer) SERVER stream")
    client.run("CREATE VIEW v AS SELECT g, sum(x ORDER BY n) FROM s GROUP BY g")
    client.run("INSERT INTO s VALUES (1, 1, 3), (1, 1e100, 1)", "INSERT INTO s VALUES (1, -1e100, 2)")
    # In the order of arrival it is 0.
    assert client.rows("SELECT * FROM v") == ["D [b'1', b'1']"]
    client.run("CREATE VIEW w AS SELECT g, sum(n ORDER BY x) AS total FROM s GROUP BY g")


def test_a_long_frame_ends_with_its_statement() -> None:
    """Half a million frames of up to half a million rows each would take minutes."""
    engine = duckdb.connect(":memory:")
    register_functions(engine)
    run = Run(engine.execute)
    row = "{'id': i, 'y': 1.0, 'x': 1.0, 'low': i, 'high': 500000, 'out_low': 0, 'out_high': 0}"
    timer = Timer(0.5, lambda: setattr(run, "is_stopped", True))
    timer.start()
    began = monotonic()
    with pytest.raises(duckdb.Error, match="57014"):
        engine.execute(f"SELECT float8_window(list({row} ORDER BY i), 'sum', {RUN}) FROM range(500000) r(i)").fetchall()
    assert monotonic() - began < 20
