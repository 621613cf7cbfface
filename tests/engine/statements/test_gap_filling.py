"""time_bucket, time_bucket_gapfill, locf and interpolate over tables, views and in views, against
hand-written SQL in PostgreSQL: a row for each bucket, joined with the groups.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg.pq import ExecStatus

from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

COLUMNS = "(k int, x int, f float8, n numeric(10,2), ts timestamp, tz timestamptz, d date)"
FIRST, LAST = "2024-03-30 23:00", "2024-03-31 03:00"
# The time, the width, and the form of the time for PostgreSQL.
TIMES = {
    "minutes": ("ts", "7 minutes", "timestamp"),
    "zoned": ("tz", "15 minutes", "timestamptz"),
    "days": ("d", "2 days", "timestamp"),
}
ITEMS = (
    "count(*)",
    "sum(x)",
    "locf(max(x))",
    "locf(max(x), -5)",
    "locf(max(x), NULL, true)",
    "interpolate(max(x))",
    "interpolate(sum(x))",
    "interpolate(max(n))",
    "interpolate(min(f))",
    "coalesce(locf(sum(n)), 0) + count(*)",
)


def ends(name: str) -> tuple[str, str]:
    return ("2024-03-20", "2024-04-05") if name == "days" else (FIRST, LAST)


def ours(name: str, relation: str, keys: str, given: bool) -> str:
    """Return our query, with start and finish as arguments or as conditions."""
    time, width, _ = TIMES[name]
    start, finish = ends(name)
    arguments = f", '{start}', '{finish}'" if given else ""
    where = "" if given else f" WHERE {time} >= '{start}' AND {time} < '{finish}'"
    names = ", ".join(f"{item} AS i{number}" for number, item in enumerate(ITEMS))
    bucket = f"time_bucket_gapfill('{width}', {time}{arguments})"
    return f"SELECT {bucket} AS b, {keys}{names} FROM {relation}{where} GROUP BY {keys}b"


def theirs(name: str, keys: str, given: bool) -> str:
    """Return PostgreSQL's query. Only the rows of groups have `here`."""
    time, width, kind = TIMES[name]
    start, finish = ends(name)
    origin = f"{kind} '2000-01-03 00:00+00'" if kind == "timestamptz" else f"{kind} '2000-01-03'"
    bucket = f"date_bin('{width}', {time}, {origin})"
    where = "" if given else f"AND {time} >= '{start}' AND {time} < '{finish}'"
    key, by = ("k", "PARTITION BY k") if keys else ("1", "")
    groups = (
        f"SELECT {bucket} AS b, {key} AS k, true AS here, count(*) AS c, sum(x) AS sx, max(x) AS mx, max(n) AS mn, sum(n) AS sn, "
        f"min(f) AS mf FROM t WHERE {time} IS NOT NULL {where} GROUP BY 1, 2"
    )
    first, end = f"date_bin('{width}', {kind} '{start}', {origin})", f"{kind} '{finish}' - interval '1 us'"
    grid = f"SELECT b, k FROM (SELECT DISTINCT k FROM g) q, generate_series({first}, {end}, interval '{width}') b"
    rows = "SELECT b, k, here, c, sx, mx, mn, sn, mf FROM grid FULL JOIN g USING (b, k)"
    if keys:
        rows = "SELECT coalesce(grid.b, g.b) AS b, coalesce(grid.k, g.k) AS k, here, c, sx, mx, mn, sn, mf FROM grid FULL JOIN g "
        rows += "ON grid.b = g.b AND coalesce(grid.k, -1) = coalesce(g.k, -1)"
    order, back = f"{by} ORDER BY b", f"{by} ORDER BY b DESC"
    counts = (
        f"count(here) OVER ({order}) AS past, count(here) OVER ({back}) AS ahead, count(mx) OVER ({order}) AS known"
    )
    islands = f"SELECT r.*, {counts} FROM r"
    over, under = (
        f"(PARTITION BY {'k, ' if keys else ''}{one} ORDER BY b {way})"
        for one, way in (("past", ""), ("ahead", "DESC"))
    )
    known = over.replace("past", "known")

    def before(value: str, missing: str = "NULL") -> str:
        return f"CASE WHEN past > 0 THEN first_value({value}) OVER {over} ELSE {missing} END"

    def between(value: str, cast: str, form: str) -> str:
        y0, y1 = f"(first_value({value}) OVER {over})::{cast}", f"(first_value({value}) OVER {under})::{cast}"
        x0, x1 = (f"extract(epoch FROM first_value(b) OVER {one})::{cast}" for one in (over, under))
        x = f"extract(epoch FROM b)::{cast}"
        line = f"({y0} * ({x1} - {x}) + {y1} * ({x} - {x0})) / ({x1} - {x0})"
        return f"CASE WHEN here THEN {value} WHEN past > 0 AND ahead > 0 THEN {form.format(line)} END"

    items = (
        "c", "sx", before("mx"), before("mx", "-5"),
        f"CASE WHEN known > 0 THEN first_value(mx) OVER {known} END",
        between("mx", "numeric", "trunc({})::int"), between("sx", "numeric", "trunc({})::bigint"),
        between("mn", "numeric", "{}"), between("mf", "float8", "{}"),
        f"coalesce({before('sn')}, 0) + c",
    )  # fmt: skip
    query = f"WITH g AS ({groups}), grid AS ({grid}), r AS ({rows}), w AS ({islands})"
    return f"{query} SELECT b, {keys}{', '.join(items)} FROM w"


def insert(chance: Random, client: SessionClient, other: psycopg.Connection[Any]) -> None:
    def one() -> str:
        at = f"timestamp '2024-03-30 22:30' + {chance.randrange(320)} * interval '1 min'"
        if chance.random() < 0.05:
            at = "NULL::timestamp"
        day = f"date '2024-03-18' + {chance.randrange(24)}"
        x = chance.choice(["NULL", str(chance.randrange(-50, 50))])
        return (
            f"({chance.choice(['NULL', '1', '2'])}, {x}, {x} / 4.0, {x} / 3.0, {at}, ({at}) AT TIME ZONE 'UTC', {day})"
        )

    values = ", ".join(one() for _ in range(25))
    for text in (f"INSERT INTO t VALUES {values}", f"INSERT INTO s VALUES {values}"):
        client.run(text)
    other.execute(f"INSERT INTO t VALUES {values}".encode())


def rows_of(other: psycopg.Connection[Any], text: str) -> list[str]:
    answer = other.pgconn.exec_(text.encode())
    assert answer.status == ExecStatus.TUPLES_OK, answer.error_message
    cells = [[answer.get_value(row, place) for place in range(answer.nfields)] for row in range(answer.ntuples)]
    return sorted(f"D {row}" for row in cells)


@pytest.mark.slow
def test_gaps_are_filled(tmp_path: Path, postgres: PostgresCluster) -> None:
    chance, world = Random(11), World(tmp_path)
    cases = [(name, keys, given) for name in TIMES for keys in ("", "k, ") for given in (False, True)]
    with postgres.connect() as other:
        other.execute(
            "DROP SCHEMA IF EXISTS gaps CASCADE; CREATE SCHEMA gaps; SET search_path = gaps; SET TimeZone = 'UTC'"
        )
        client = world.client().after("SET TimeZone = 'UTC'", f"CREATE TABLE t {COLUMNS}")
        client.run(f"CREATE FOREIGN TABLE s {COLUMNS} SERVER stream")
        other.execute(f"CREATE TABLE t {COLUMNS}".encode())
        for name, keys, given in cases:
            if keys or given:
                client.run(f"CREATE VIEW {name}_{len(keys)}_{given} AS {ours(name, 's', keys, given)}")
        for _ in range(3):
            insert(chance, client, other)
            for name, keys, given in cases:
                expected = rows_of(other, theirs(name, keys, given))
                asked = ours(name, "t", keys, given)
                assert sorted(client.rows(asked)) == expected, asked
                if keys or given:
                    view = f"{name}_{len(keys)}_{given}"
                    assert sorted(client.rows(f"SELECT * FROM {view}")) == expected, view
        other.execute("DROP SCHEMA gaps CASCADE")
    text = client.rows("SELECT pg_get_viewdef('zoned_3_True'::regclass)")[0]
    assert "time_bucket_gapfill('00:15:00'::interval, s.tz, '2024-03-30 23:00:00+00'::timestamp with time zone" in text
    assert "locf(max(s.x), NULL::integer, true)" in text
    client.run(f"CREATE VIEW again AS {eval(text[2:])[0].decode()}")  # noqa: S307  # what the client prints
    world.close()


TOLD = {
    "SELECT time_bucket_gapfill('1 min', ts) FROM t GROUP BY 1": "22023 at 8: missing time_bucket_gapfill argument: could "
    "not infer start from WHERE clause",
    "SELECT time_bucket_gapfill('1 min', ts) FROM t WHERE ts > '2024-01-01' GROUP BY 1": "22023 at 8: missing "
    "time_bucket_gapfill argument: could not infer finish from WHERE clause",
    "SELECT locf(max(x)) FROM t": "42803 at 8: locf is only allowed in a query that is grouped by time_bucket_gapfill",
    "SELECT 1 FROM t WHERE interpolate(x) > 1": "42803 at 23: interpolate is not allowed in WHERE",
    "SELECT time_bucket('1 month', ts) FROM t": "0A000 at 20: time_bucket by months or years is not supported yet",
    "SELECT time_bucket('0 s', ts) FROM t": "22023 at 20: the width of time_bucket must be greater than zero",
    "SELECT time_bucket('1 s', x) FROM t": "42883 at 8: time_bucket of integer does not exist",
    "SELECT time_bucket('1 s') FROM t": "42883 at 8: time_bucket takes other arguments",
    "SELECT interpolate(max(ts)) FROM t": "0A000 at 8: interpolate of timestamp without time zone is not supported yet",
}


def test_calls_that_fill_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client().after(f"CREATE TABLE t {COLUMNS}")
    for text, told in TOLD.items():
        assert client.ask(text)[0] == f"E ERROR {told}"
    buckets = "time_bucket('1 week', d), time_bucket('2 h', ts, interval '30 min'), time_bucket('2 h', ts, timestamp '2024-01-01 01:00')"
    client.run("INSERT INTO t (d, ts) VALUES ('2024-03-31', '2024-03-31 00:15')")
    assert client.rows(f"SELECT {buckets} FROM t") == [
        "D [b'2024-03-25', b'2024-03-30 22:30:00', b'2024-03-30 23:00:00']"
    ]
    world.close()
