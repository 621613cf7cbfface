"""tumble and hop over streams and tables, against PostgreSQL over tables with the same rows."""

from __future__ import annotations

from pathlib import Path
from random import Random

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

Connection = psycopg.Connection[tuple[object, ...]]

COLUMNS = "(k int, x int, ts timestamp, tz timestamptz, d date)"
AGGREGATES = "count(*) n, sum(x) s, min(x) low, avg(x) mean"
# By name: the function, the time and its form for PostgreSQL, slide, size and offset.
WINDOWS = {
    "minutes": ("tumble", "ts", "ts", "1 minute", "1 minute", "0"),
    "shifted": ("tumble", "tz", "tz", "7 minutes", "7 minutes", "-100 s"),
    "days": ("tumble", "d", "d::timestamp", "3 days", "3 days", "0"),
    "hops": ("hop", "ts", "ts", "1 minute", "5 minutes", "0"),
    "uneven": ("hop", "tz", "tz", "20 minutes", "30 minutes", "11 s"),
    "gaps": ("hop", "ts", "ts", "10 minutes", "4 minutes", "0"),
    "weeks": ("hop", "d", "d::timestamp", "1 day", "7 days", "0"),
}
SHAPES = {
    "": f"k, window_start, window_end, {AGGREGATES}",
    "_lists": "k, window_start, stddev(x) deviation, string_agg(x::text, ',' ORDER BY x) texts",
    "_distinct": "window_end, count(DISTINCT x) d",
}
# Views of all windows, and some of each other shape.
VIEWS = [
    *((name, "") for name in WINDOWS),
    *((name, "_lists") for name in ("hops", "uneven")),
    *((name, "_distinct") for name in ("shifted", "hops")),
]


def view_query(name: str, select: str, relation: str) -> str:
    kind, time, _, slide, size, offset = WINDOWS[name]
    spans = [size] if kind == "tumble" else [slide, size]
    arguments = ", ".join(f"interval '{span}'" for span in [*spans, *([offset] if offset != "0" else [])])
    return f"SELECT {select} FROM {kind}(TABLE {relation}, {time}, {arguments}) GROUP BY {keys(select)}"


def keys(select: str) -> str:
    return ", ".join(one for one in ("k", "window_start", "window_end") if one in select)


def plain_query(name: str, select: str) -> str:
    """Return the query for PostgreSQL: every window around a time that holds it."""
    _, time, shown, slide, size, offset = WINDOWS[name]
    origin = f"{'timestamptz' if time == 'tz' else 'timestamp'} '1970-01-01 00:00+00' + interval '{offset}'"
    last = f"date_bin('{slide}', {shown}, {origin})"
    starts = f"generate_series({last} - 10 * interval '{slide}', {last}, '{slide}')"
    windows = f"SELECT t.*, w AS window_start, w + interval '{size}' AS window_end FROM t, {starts} w"
    rows = f"{windows} WHERE isfinite({time}) AND w + interval '{size}' > {shown}"
    return f"SELECT {select} FROM ({rows}) r GROUP BY {keys(select)}"


def rows(chance: Random, count: int) -> str:
    def one() -> str:
        at = f"timestamp '2024-03-30 22:00' + {chance.randrange(20_000)} * interval '1.37 s'"
        if chance.random() < 0.1:
            at = chance.choice(
                ["timestamp 'infinity'", "timestamp '-infinity'", "NULL::timestamp", "timestamp '0003-03-15 12:00'"]
            )
        values = (f"{chance.randrange(3)}", chance.choice(["NULL", str(chance.randrange(100))]), at)
        return f"({', '.join(values)}, ({at}) AT TIME ZONE 'UTC', ({at})::date)"

    return ", ".join(one() for _ in range(count))


def check(ours: Connection, theirs: Connection) -> None:
    for name, shape in VIEWS:
        select = SHAPES[shape]
        expected = sorted(map(repr, theirs.execute(plain_query(name, select).encode()).fetchall()))
        query = view_query(name, select, "t")
        assert sorted(map(repr, ours.execute(query.encode()).fetchall())) == expected, query
        found = ours.execute(f"SELECT * FROM {name}{shape}".encode()).fetchall()
        assert sorted(map(repr, found)) == expected, (name, shape)


def insert(chance: Random, ours: Connection, theirs: Connection) -> None:
    for _ in range(5):
        values = rows(chance, 12)
        for connection in (ours, theirs):
            connection.execute(f"INSERT INTO t VALUES {values}".encode())
        ours.execute(f"INSERT INTO s VALUES {values}".encode())


@pytest.mark.slow
@pytest.mark.turns(2, 1)
def test_windows_of_streams_and_tables(tmp_path: Path, oracle: Connection) -> None:
    chance = Random(4)
    server = AntumbraServer(tmp_path / "data").start()
    with server.connect() as ours:
        ours.execute(f"CREATE FOREIGN TABLE s {COLUMNS} SERVER stream".encode())
        for connection in (ours, oracle):
            connection.execute(f"CREATE TABLE t {COLUMNS}".encode())
            connection.execute("SET TimeZone = 'Europe/Berlin'")
        for name, shape in VIEWS:
            ours.execute(f"CREATE VIEW {name}{shape} AS {view_query(name, SHAPES[shape], 's')}".encode())
        insert(chance, ours, oracle)
        check(ours, oracle)
        streams = ours.execute(
            "SELECT count(*), count(DISTINCT window_start) FROM hop(s, ts, '1 minute', '5 minutes')"
        ).fetchone()
        assert (
            streams
            == oracle.execute(
                b"SELECT sum(n), count(DISTINCT window_start) FROM ("
                + plain_query("hops", SHAPES[""]).encode()
                + b") q"
            ).fetchone()
        )
        insert(chance, ours, oracle)
        check(ours, oracle)
        ours.execute("CHECKPOINT")
        insert(chance, ours, oracle)
    server.kill()
    server.start()
    with server.connect() as ours:
        for connection in (ours, oracle):
            connection.execute("SET TimeZone = 'Europe/Berlin'")
        check(ours, oracle)
        ours.execute("ALTER FOREIGN TABLE s RENAME ts TO moment")
        ours.execute("ALTER FOREIGN TABLE s RENAME TO events")
        text = str(ours.execute("SELECT pg_get_viewdef('hops_distinct'::regclass)").fetchall()[0][0])
        assert "FROM hop(TABLE events, moment, '00:01:00'::interval, '00:05:00'::interval)" in text
        ours.execute(f"CREATE VIEW again AS {text}".encode())
        assert ours.execute("SELECT * FROM again").fetchall() == []
    server.kill()
