"""Every kind of aggregate in every shape of query over streams, as views, against PostgreSQL over
the same rows; and the combinations that are refused.
"""

from __future__ import annotations

from random import Random

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

Connection = psycopg.Connection[tuple[object, ...]]

ROW = "(k int, x int, y int, t text, f float8, d timestamp, i interval)"
RELATIONS = {"s": ROW, "s2": ROW, "r": "(rk int, z int)"}
TABLE = "CREATE TABLE names (id int, name text); INSERT INTO names VALUES (1, 'one'), (2, 'two'), (2, 'two again'), (9, 'nine')"
AGGREGATES = (
    "count(*)",
    "sum(x)",
    "avg(x)",
    "min(t)",
    "max(d)",
    "sum(x) FILTER (WHERE y > 1)",
    "count(DISTINCT x)",
    "sum(DISTINCT y)",
    "bool_or(x > 1)",
    "bit_xor(y)",
    "stddev(x)",
    "variance(f)",
    "sum(f)",
    "corr(f, x)",
    "regr_slope(f, x)",
    "regr_count(f, x)",
    "sum(i)",
    "avg(i)",
    "array_agg(x ORDER BY x, t)",
    "array_agg(i::text ORDER BY i::text)",
    "array_agg(i ORDER BY i::text, x)",
    "string_agg(t, ',' ORDER BY t DESC)",
    "string_agg(DISTINCT t, ',')",
    "json_agg(x ORDER BY x)",
    "jsonb_object_agg(coalesce(t, 'none'), y ORDER BY y)",
    "mode() WITHIN GROUP (ORDER BY x)",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY f)",
    "percentile_cont(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY f)",
    "percentile_disc(0.3) WITHIN GROUP (ORDER BY x)",
    "rank(2) WITHIN GROUP (ORDER BY x)",
    "cume_dist(2) WITHIN GROUP (ORDER BY x)",
)
GROUPS = "(SELECT k % 2 AS k, x, y, t, f, d, i, count(*) AS c FROM s GROUP BY k % 2, x, y, t, f, d, i) q"
# What stands before the aggregates, and after them.
SHAPES = {
    "plain": ("k", "FROM s GROUP BY k"),
    "whole": ("1 AS one", "FROM s WHERE x > 1"),
    "subquery": ("k", "FROM (SELECT k % 2 AS k, x, y, t, f, d, i FROM s WHERE y > 0) q GROUP BY k"),
    "table": ("n.name", "FROM s JOIN names n ON n.id = s.k GROUP BY n.name"),
    "left_table": ("n.name", "FROM s LEFT JOIN names n ON n.id = s.k GROUP BY n.name"),
    "keeps_table": ("n.name", "FROM names n LEFT JOIN s ON n.id = s.k GROUP BY n.name"),
    "streams": ("s.k", "FROM s JOIN r ON r.rk = s.k AND r.z > 0 GROUP BY s.k"),
    "left_stream": ("r.z", "FROM s LEFT JOIN r ON r.rk = s.k GROUP BY r.z"),
    "union": ("k", "FROM (SELECT * FROM s UNION ALL SELECT * FROM s2 WHERE x > 0) q GROUP BY k"),
    "rollup": ("k", "FROM s GROUP BY ROLLUP (k)"),
    "sets": ("k, y, grouping(k, y) AS sets", "FROM s GROUP BY GROUPING SETS ((k), (y), ())"),
    "in_stream": ("k", "FROM s WHERE k IN (SELECT rk FROM r) GROUP BY k"),
    "above": ("k", f"FROM {GROUPS} GROUP BY k"),
    "above_rollup": ("k", f"FROM {GROUPS} GROUP BY ROLLUP (k)"),
    "having": ("k", "FROM s GROUP BY k HAVING count(*) > 4"),
    "limit": ("k", "FROM (SELECT * FROM s ORDER BY x DESC, y, f, t, k, d, i LIMIT 9) q GROUP BY k"),
    "top": (
        "k",
        "FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY f, x, t, y, d, i) AS n FROM s) q WHERE n <= 3 GROUP BY k",
    ),
    "top_of_union": (
        "k",
        "FROM (SELECT * FROM (TABLE s UNION ALL TABLE s2) u ORDER BY x, y, f, t, k, d, i LIMIT 9) q GROUP BY k",
    ),
}
# The value of the first or the last row in an order that tells them apart, and PostgreSQL's.
CHOSEN = {
    "first(t ORDER BY x, t)": "(array_agg(t ORDER BY x, t))[1]",
    "last(t ORDER BY x DESC, t) FILTER (WHERE y > 0)": "(array_agg(t ORDER BY x, t DESC) FILTER (WHERE y > 0))[1]",
    "arg_max(t, x ORDER BY t)": "(array_agg(t ORDER BY x DESC, t) FILTER (WHERE x IS NOT NULL))[1]",
    "arg_min(d, i ORDER BY d DESC)": "(array_agg(d ORDER BY i, d DESC) FILTER (WHERE i IS NOT NULL))[1]",
}
# Rows of these have no arrival.
WITHOUT_FIRSTS = ("keeps_table", "streams", "left_stream", "in_stream")


def row(chance: Random) -> tuple[object, ...]:
    """Return a row of `s`, of few values; its floats add up exactly."""

    def some(value: object) -> object:
        return None if chance.random() < 0.1 else value

    day = f"2026-01-{chance.randint(1, 9):02}"
    span = chance.choice(("1 day", f"{chance.choice((1, 2, 24))} hours"))
    values = (
        chance.randint(-2, 5),
        chance.randint(0, 3),
        chance.choice("abc") * chance.choice((1, 20)),
        chance.randint(-8, 8) / 4,
    )
    return (chance.randint(1, 3), *map(some, (*values, day, span)))


def query(shape: str, aggregates: tuple[str, ...]) -> str:
    """Return the query of a shape with aggregates, each under a name."""
    keys, after = SHAPES[shape]
    named = (f"{aggregate} AS a{place}" for place, aggregate in enumerate(aggregates))
    return f"SELECT {keys}, {', '.join(named)} {after}"


def answer(connection: Connection, text: str) -> list[str]:
    rows = connection.execute(text.encode()).fetchall()
    return sorted(repr(tuple(map(rounded, found))) for found in rows)


def rounded(value: object) -> object:
    """Return a value with floats as exact as an order of additions leaves them."""
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


@pytest.fixture(scope="module")
def sides(server: AntumbraServer, postgres: PostgresCluster) -> tuple[Connection, Connection]:
    """Both sides with the streams and the table."""
    ours, theirs = server.connect(), postgres.connect()
    for name, columns in RELATIONS.items():
        ours.execute(f"CREATE FOREIGN TABLE {name} {columns} SERVER stream".encode())
        theirs.execute(f"CREATE TABLE {name} {columns}".encode())
    for side in (ours, theirs):
        side.execute(TABLE.encode())
    return ours, theirs


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape", [pytest.param(shape, marks=pytest.mark.turns(6, place % 6)) for place, shape in enumerate(SHAPES)]
)
def test_aggregates(shape: str, sides: tuple[Connection, Connection]) -> None:
    ours, theirs = sides
    chance = Random(shape)
    firsts = f"EXPLAIN CREATE VIEW firsts AS {query(shape, ('first(t)', 'arg_max(t, x)'))}".encode()
    if shape in WITHOUT_FIRSTS:
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="first over rows that are grouped before"):
            ours.execute(firsts)
    else:
        ours.execute(firsts)
    # A view sees what comes after it was made.
    theirs.execute(b"TRUNCATE s, s2, r")
    ours.execute(f"CREATE VIEW shown AS {query(shape, (*AGGREGATES, *CHOSEN))}".encode())
    for _ in range(2):
        for name in RELATIONS:
            rows = [row(chance)[: 2 if name == "r" else None] for _ in range(4 if name == "r" else 7)]
            values = f"INSERT INTO {name} VALUES ({', '.join(['%s'] * len(rows[0]))})".encode()
            for side in sides:
                side.cursor().executemany(values, rows)
        assert answer(ours, "SELECT * FROM shown") == answer(theirs, query(shape, (*AGGREGATES, *CHOSEN.values())))
    ours.execute(b"DROP VIEW shown")
