"""Windows that close by the latest time among the rows, and late rows, beside PostgreSQL over rows
with the number of their statement; and a million rows in any order beside the same rows sorted.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg.pq import ExecStatus

from tests.end_to_end.raw_client import COPY_DONE, SYNC, bind, copy_data, execute, parse, query
from tests.engine.commit.test_passed_groups import HOUR_US, SECOND_US, SetClock, groups_of
from tests.engine.session_client import SessionClient, World
from tests.oracle.evidence import Evidence
from tests.oracle.postgres import PostgresCluster

COLUMNS = "(k int, x int, ts timestamp, tz timestamptz, d date)"
# By name: options, the window for us and its keys; for PostgreSQL its start, its size and the
# lateness.
VIEWS = {
    "minutes": ("emit = on_close, lateness = '10 s'", "tumble(TABLE s, ts, '1 minute')", "window_start, window_end",
                "date_bin('1 min', ts, '1970-01-01')", "1 min", "10 s"),
    "taken": ("emit = on_close, late = take", "tumble(TABLE s, ts, '1 minute')", "window_start, window_end",
              "date_bin('1 min', ts, '1970-01-01')", "1 min", "0"),
    "updated": ("lateness = '1 minute', late = drop", "s", "date_bin('5 min', tz, '2000-01-01 00:00+00')",
                "date_bin('5 min', tz, '2000-01-01 00:00+00')", "5 min", "1 min"),
    "hops": ("emit = on_close, lateness = '30 s'", "hop(TABLE s, ts, '1 minute', '3 minutes')", "window_start, window_end",
             "hop", "3 min", "30 s"),
    "hours": ("emit = on_close", "s", "date_trunc('hour', ts)", "date_trunc('hour', ts)", "1 hour", "0"),
    "days": ("emit = on_close, lateness = '1 day'", "s", "d", "d", "1 day", "1 day"),
}  # fmt: skip


def view_query(name: str) -> str:
    _, source, keys, *_ = VIEWS[name]
    items = f"k, {keys}, count(*) AS n, sum(x) AS s, string_agg(x::text, ',' ORDER BY x) AS xs"
    return f"SELECT {items} FROM {source} GROUP BY k, {keys}"


def plain_query(name: str) -> tuple[str, str]:
    """Return PostgreSQL's query for the rows of a view, and that for how many are late."""
    options, _, keys, start, size, lateness = VIEWS[name]
    time = "d" if name == "days" else "tz" if name == "updated" else "ts"
    newest = f"(SELECT max({time}) FROM t p WHERE p.statement < t.statement) AS newest"
    windows = f"SELECT t.*, {start} AS w, {newest} FROM t"
    if start == "hop":
        last = "date_bin('1 min', ts, '1970-01-01')"
        windows = f"SELECT t.*, w, {newest} FROM t, generate_series({last} - interval '2 min', {last}, '1 min') w"
    end = f"(w + interval '{size}')"
    late = f"COALESCE({end} <= newest - interval '{lateness}', false)"
    closed = f"{end} <= (SELECT max({time}) FROM t) - interval '{lateness}'"
    conditions = ["true"] if "take" in options else [f"NOT {late}"]
    conditions += [closed] if "emit" in options else []
    shown = f"w, {end}" if "window_end" in keys else "w"
    items = f"k, {shown}, count(*), sum(x), string_agg(x::text, ',' ORDER BY x)"
    rows = f"SELECT {items} FROM ({windows}) q WHERE {' AND '.join(conditions)} GROUP BY k, w"
    return rows, f"SELECT count(*) FROM ({windows}) q WHERE {late}"


@dataclass
class Both:
    """A session, and PostgreSQL with the same rows.

    Attributes:
        shown: the rows of each view that leaves late rows out when it was read last.
    """

    client: SessionClient
    theirs: psycopg.Connection[Any]
    statement: int = 0
    shown: dict[str, set[str]] = field(default_factory=dict)

    def insert(self, rows: Sequence[str]) -> None:
        """Insert the rows of one statement."""
        self.statement += 1
        self.client.run(f"INSERT INTO s VALUES {', '.join(f'({row})' for row in rows)}")
        theirs = ", ".join(f"({row}, {self.statement})" for row in rows)
        self.theirs.execute(f"INSERT INTO t VALUES {theirs}".encode())

    def expected(self, text: str) -> list[str]:
        answer = self.theirs.pgconn.exec_(text.encode())
        assert answer.status == ExecStatus.TUPLES_OK, answer.error_message
        cells = [[answer.get_value(row, place) for place in range(answer.nfields)] for row in range(answer.ntuples)]
        return sorted(f"D {row}" for row in cells)

    def check(self) -> None:
        for name, (options, *_) in VIEWS.items():
            rows, late = plain_query(name)
            found = sorted(self.client.rows(f"SELECT * FROM {name}"))
            assert found == self.expected(rows), name
            counted = f"SELECT tuples_late FROM pg_stat_continuous_views WHERE relname = '{name}'"
            assert self.client.rows(counted) == self.expected(late), name
            if "on_close" in options and "take" not in options:
                assert self.shown.get(name, set()) <= set(found), "what was shown stays as it is"
                self.shown[name] = set(found)


def some(chance: Random, around_s: int) -> list[str]:
    rows = []
    for _ in range(chance.choice([1, 1, 1, 5, 40])):
        age_s = chance.choice(
            [chance.randrange(20), chance.randrange(200), chance.randrange(20_000), -chance.randrange(90)]
        )
        at = f"to_timestamp({around_s - age_s})"
        values = f"{chance.randrange(3)}, {chance.choice(['NULL', str(chance.randrange(9))])}"
        time = f"{at} AT TIME ZONE 'UTC'" if chance.random() < 0.95 else "NULL::timestamp"
        rows.append(f"{values}, {time}, ({time}) AT TIME ZONE 'UTC', ({time})::date")
    return rows


@pytest.mark.slow
def test_windows_close_once(tmp_path: Path, postgres: PostgresCluster) -> None:
    chance, world, now_s = Random(6), World(tmp_path), 1_700_000_000
    with postgres.connect() as theirs:
        theirs.execute("DROP SCHEMA IF EXISTS closing CASCADE; CREATE SCHEMA closing; SET search_path = closing")
        theirs.execute(f"SET TimeZone = 'UTC'; CREATE TABLE t {COLUMNS[:-1]}, statement int)".encode())
        both = Both(world.client().after("SET TimeZone = 'UTC'"), theirs)
        both.client.run(f"CREATE FOREIGN TABLE s {COLUMNS} SERVER stream")
        for name, (options, *_) in VIEWS.items():
            both.client.run(f"CREATE VIEW {name} WITH ({options}) AS {view_query(name)}")
        for round_ in range(40):
            now_s += chance.choice([1, 10, 60, 400, 4000])
            both.insert(some(chance, now_s))
            if round_ % 4 == 3:
                both.check()
            if round_ % 13 == 7:
                both.client.run("CHECKPOINT")
            if round_ % 10 == 9:
                world.abandon()
                world = World(tmp_path)
                world.database.definitions.follow()
                both.client = world.client().after("SET TimeZone = 'UTC'")
                both.check()
        both.client.run("BEGIN")
        now_s += 100
        for _ in range(3):
            both.insert(some(chance, now_s))
            now_s += 1000
        both.client.run("COMMIT")
        both.check()
        theirs.execute("DROP SCHEMA closing CASCADE")
    world.close()


def test_closed_windows_go_after_their_ttl(tmp_path: Path) -> None:
    clock = SetClock()
    world = World(tmp_path, clock=clock)
    client = world.client().after("SET TimeZone = 'UTC'", f"CREATE FOREIGN TABLE s {COLUMNS} SERVER stream")
    options = "emit = on_close, ttl = '1 hour', ttl_column = window_end"
    client.run(
        f"CREATE VIEW v WITH ({options}) AS SELECT window_end, count(*) AS n FROM tumble(s, tz, '1 min') GROUP BY 1"
    )
    for _ in range(4):
        for minute in range(70):
            at_s = clock.time_us // SECOND_US + 60 * minute
            client.run(f"INSERT INTO s (tz) VALUES (to_timestamp({at_s}))")
        clock.time_us += 70 * 60 * SECOND_US
        assert len(client.rows("SELECT * FROM v")) in (58, 59)
        clock.time_us += 3 * HOUR_US
        assert client.rows("SELECT * FROM v") == []
        world.database.checkpoints.make()
        # What tells how far times have come stays.
        assert groups_of(world, "v") == 1
    world.abandon()
    world = World(tmp_path, clock=clock)
    client = world.client()
    client.run(f"INSERT INTO s (tz) VALUES (to_timestamp({clock.time_us // SECOND_US - 7 * 3600}))")
    assert client.rows("SELECT tuples_late FROM pg_stat_continuous_views") == ["D [b'1']"]
    world.close()


def test_a_crash_finds_the_same_rows_late(tmp_path: Path) -> None:
    """Runs of executions, packets, one INSERT, a COPY and a block, each with the same late rows."""
    world = World(tmp_path)
    client = world.client().after("SET TimeZone = 'UTC'", "CREATE FOREIGN TABLE s (k int, ts timestamp) SERVER stream")
    select = "SELECT window_end, count(*) AS n, sum(k) AS s FROM tumble(s, ts, '1 min') GROUP BY 1"
    client.run(f"CREATE VIEW v WITH (emit = on_close) AS {select}")
    client.ask(parse("INSERT INTO s VALUES ($1, $2)", "ins"), SYNC)
    minutes = ["00:30", "02:30", "00:40", "09:30", "02:40"]

    def rows(hour: int) -> list[tuple[str, str]]:
        return [(str(k), f"2024-01-01 {hour:02}:{minute}") for k, minute in enumerate(minutes)]

    def executions(hour: int, after: bytes) -> bytes:
        return b"".join(bind([k.encode(), at.encode()], "ins") + execute() + after for k, at in rows(hour))

    client.ask(executions(0, b"") + SYNC)
    client.ask(executions(1, SYNC))
    client.run("INSERT INTO s VALUES " + ", ".join(f"({k}, '{at}')" for k, at in rows(2)))
    copied(client, "s", [f"{k}\t{at}\n" for k, at in rows(3)])
    client.run("BEGIN", *(f"INSERT INTO s VALUES ({k}, '{at}')" for k, at in rows(4)), "COMMIT")
    client.run("INSERT INTO s VALUES (9, '2024-01-02')")
    asked = ("SELECT * FROM v ORDER BY 1", "SELECT tuples_in, tuples_late FROM pg_stat_continuous_views")
    found = [client.rows(text) for text in asked]
    assert found[1] == ["D [b'26', b'4']"]
    world.abandon()
    world = World(tmp_path)
    world.database.definitions.follow()
    client = world.client().after("SET TimeZone = 'UTC'")
    assert [client.rows(text) for text in asked] == found
    world.close()


REFUSED = {
    ("emit = on_close", "SELECT k, count(*) FROM s GROUP BY k"): "0A000: emit, lateness or late in a view that does not "
    "group a stream by windows of time is not supported yet",
    ("late = take", "SELECT k, ts FROM s"): "0A000: emit, lateness or late in a view that keeps several groupings, "
    "or rows is not supported yet",
    ("emit = on_close", "SELECT window_end, k, count(*) FROM session(TABLE s PARTITION BY k, d, '1 day') GROUP BY 1, 2"): (
        "0A000: emit, lateness or late in a view that keeps several groupings, or rows is not supported yet"
    ),
    ("emit = on_close", "SELECT tz::date, count(*) FROM s GROUP BY 1"): "0A000: emit, lateness or late in a view that "
    "does not group a stream by windows of time is not supported yet",
    ("emit = never", "SELECT d, count(*) FROM s GROUP BY 1"): "22023 at 21: invalid value for option \"emit\": never",
    ("lateness = '-1 s'", "SELECT d, count(*) FROM s GROUP BY 1"): '22023: invalid value for option "lateness": "-1 s"',
    ("lateness = soon", "SELECT d, count(*) FROM s GROUP BY 1"): '22023: invalid value for option "lateness": "soon"',
    ("sw = '1 hour', late = take", "SELECT d, count(*) FROM s GROUP BY 1"): '22023: parameters "sw" and "late" exclude '
    "each other",
}  # fmt: skip


def test_views_whose_windows_do_not_close(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client().after(f"CREATE FOREIGN TABLE s {COLUMNS} SERVER stream")
    for (options, text), told in REFUSED.items():
        assert client.ask(f"CREATE VIEW v WITH ({options}) AS {text}")[0] == f"E ERROR {told}"
    client.run("CREATE VIEW v WITH (emit = on_close) AS SELECT d, count(*) AS n FROM s GROUP BY 1")
    client.run("CREATE OR REPLACE VIEW v WITH (emit = on_close) AS SELECT d, count(*) AS n, 1 AS one FROM s GROUP BY 1")
    for options in ("", "WITH (emit = on_close, lateness = '1 day')", "WITH (emit = on_close, late = take)"):
        answer = client.ask(
            f"CREATE OR REPLACE VIEW v {options} AS SELECT d, count(*) AS n, 1 AS one FROM s GROUP BY 1"
        )
        assert answer[0].startswith('E ERROR 55000: cannot replace view "v"'), answer
    # Two views of one pipeline tell late rows each from its own beginning.
    client.run("INSERT INTO s (d) VALUES ('2024-01-05')")
    client.run("CREATE VIEW w WITH (emit = on_close) AS SELECT d, count(*) AS n FROM s GROUP BY 1")
    client.run("INSERT INTO s (d) VALUES ('2024-01-02')", "INSERT INTO s (d) VALUES ('2024-01-08')")
    assert client.rows("SELECT d, n FROM v ORDER BY d") == ["D [b'2024-01-05', b'1']"]
    assert client.rows("SELECT d, n FROM w ORDER BY d") == ["D [b'2024-01-02', b'1']"]
    world.close()


# The rows of the large test: how many statements, rows in each, and seconds by which they are out
# of order at most.
SMALL, LARGE, SEED = (20, 500), (200, 5000), 9
DISORDER_S = 600
ORDERED = {
    "tumbled": ("", "SELECT k, window_start, window_end, count(*) AS n, sum(x) AS s FROM tumble({s}, tz, '1 min') GROUP BY 1, 2, 3"),
    "hopped": ("", "SELECT window_start, count(*) AS n, max(x) AS most FROM hop({s}, tz, '1 min', '5 min') GROUP BY 1"),
    "in_sessions": ("", "SELECT k, window_start, window_end, sum(x) AS s FROM session({s} PARTITION BY k, tz, '3 s') GROUP BY 1, 2, 3"),
    "young": ("sw = '1 hour', sw_column = tz, step_factor = 0", "SELECT k, count(*) AS n, sum(x) AS s FROM {s} GROUP BY k"),
    "closed": (f"emit = on_close, lateness = '{2 * DISORDER_S} s'",
               "SELECT window_end, count(*) AS n, sum(x) AS s FROM tumble({s}, tz, '1 min') GROUP BY 1"),
}  # fmt: skip


def copied(client: SessionClient, stream: str, rows: Sequence[str]) -> None:
    told = client.ask(query(f"COPY {stream} FROM STDIN"), copy_data("".join(rows).encode()), COPY_DONE)
    assert told[-2] == f"C COPY {len(rows)}", told


def in_any_order(tmp_path: Path, statements: int, size: int) -> None:
    """Let views over a stream of shuffled rows have the rows of those over one of sorted rows, at
    several times.
    """
    chance, clock = Random(SEED), SetClock()
    world = World(tmp_path, clock=clock)
    client = world.client().after("SET TimeZone = 'UTC'")
    for stream in ("ordered", "shuffled"):
        client.run(
            f"CREATE FOREIGN TABLE {stream} (k int, x int, tz timestamptz) SERVER stream OPTIONS (capacity '65536')"
        )
        for name, (options, text) in ORDERED.items():
            with_options = f"WITH ({options}) " if options else ""
            client.run(f"CREATE VIEW {name}_{stream} {with_options}AS {text.format(s=stream)}")
    began_s, count = clock.time_us // SECOND_US, statements * size
    times = sorted(began_s * 1000 + chance.randrange(count * 10) for _ in range(count))
    texts = [
        (at, f"{chance.randrange(50)}\t{chance.randrange(1000)}\t{shown(at // 1000)}.{at % 1000:03}+00\n")
        for at in times
    ]
    # Some come early, and most are late; the last ones make all windows close.
    jittered = sorted(texts, key=lambda one: one[0] + chance.randrange(-DISORDER_S * 1000, DISORDER_S * 1000))
    end = [f"0\t0\t{shown(times[-1] // 1000 + 10 * DISORDER_S)}+00\n"]
    for number in range(statements):
        part = slice(number * size, number * size + size)
        copied(client, "ordered", [text for _, text in texts[part]])
        copied(client, "shuffled", [text for _, text in jittered[part]])
        if number % max(statements // 4, 1) == 0:
            world.database.checkpoints.make()
    for stream in ("ordered", "shuffled"):
        copied(client, stream, end)
    clock.time_us = times[-1] * 1000
    for _ in range(3):
        for name in ORDERED:
            ordered, other = (
                sorted(client.rows(f"SELECT * FROM {name}_{stream}")) for stream in ("ordered", "shuffled")
            )
            assert ordered == other, name
            assert ordered or name == "young"
        clock.time_us += 1200 * SECOND_US
    late = "SELECT sum(tuples_late) FROM pg_stat_continuous_views"
    assert client.rows(late) == ["D [b'0']"]
    world.close()


def shown(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.slow
def test_ten_thousand_rows_in_any_order(tmp_path: Path) -> None:
    in_any_order(tmp_path, *SMALL)


@pytest.mark.long
@pytest.mark.timeout(0)  # Minutes: the rows of two streams, five views each.
def test_a_million_rows_in_any_order(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    evidence, began_s = Evidence("rows_in_any_order", SEED, LARGE[0] * LARGE[1]), time.monotonic()
    in_any_order(tmp_path, *LARGE)
    evidence.seconds, evidence.histogram = time.monotonic() - began_s, Counter(dict.fromkeys(ORDERED, evidence.cases))
    if pytestconfig.getoption("--write-evidence"):
        evidence.write()
