"""session(...) over streams, tables and views, against gaps and islands in PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg.pq import ExecStatus

from tests.engine.commit.test_passed_groups import HOUR_US, SECOND_US, SetClock, groups_of
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

COLUMNS = "(k int, j text, x int, f float8, n numeric, ts timestamp, tz timestamptz, d date)"
# By name: the partition, the time and its form for PostgreSQL, and the gap.
SESSIONS = {
    "by_k": ("k", "ts", "ts", "1 minute"),
    "by_both": ("k, j", "tz", "tz", "3 minutes"),
    "alone": ("", "ts", "ts", "1.37 seconds"),
    "days": ("j", "d", "d::timestamp", "1 day"),
    "by_numbers": ("n", "ts", "ts", "10 minutes"),
}
KEYS = "{keys}window_start, window_end"
# What is kept by keys and times with partial aggregates, by more columns, and row by row.
SHAPES = {
    "sums": f"SELECT {KEYS}, count(*), sum(x), min(j), avg(x), count(f) AS f FROM {{rows}} GROUP BY {KEYS}",
    "lists": f"SELECT {KEYS}, string_agg(j, ',' ORDER BY j), stddev(x) FROM {{rows}} GROUP BY {KEYS}",
    "distinct": "SELECT window_start, count(DISTINCT x), max(window_end - {time}) FROM {rows} WHERE x > 20 GROUP BY 1",
    "lengths": "SELECT DISTINCT window_end - window_start FROM {rows} WHERE j IS NOT NULL",
    "rows": "SELECT k, x, n, window_start, window_end FROM {rows}",
    "longest": f"SELECT {{keys}}max(n) FROM (SELECT {KEYS}, count(*) AS n FROM {{rows}} GROUP BY {KEYS}) q GROUP BY {{by}}",
}
VIEWS = [(name, shape) for name in SESSIONS for shape in SHAPES if name == "by_k" or shape == "sums"]
VIEWS.append(("by_both", "distinct"))

# Those that keep rows: lists, rows, and a partition by values of which equal ones look different.
OF_ROWS = ("by_k_lists", "by_k_rows", "by_numbers_sums")


def query(name: str, shape: str, relation: str) -> str:
    """Return a query over the sessions of a relation; without one, over PostgreSQL's islands."""
    partition, time, form, gap = SESSIONS[name]
    keys = f"{partition}, " if partition else ""
    by = partition or "()"
    if relation:
        over = f" PARTITION BY {partition}" if partition else ""
        rows = f"session(TABLE {relation}{over}, {time}, interval '{gap}')"
    else:
        over = f"PARTITION BY {partition} " if partition else ""
        more = f"PARTITION BY {keys}island"
        at = f"SELECT t.*, {form} AS at FROM t WHERE isfinite({time}) AND {time} > '0001-01-01 BC'"
        steps = f"SELECT a.*, (at - lag(at) OVER ({over}ORDER BY at) <= interval '{gap}') IS NOT TRUE AS begins FROM ({at}) a"
        islands = f"SELECT b.*, count(*) FILTER (WHERE begins) OVER ({over}ORDER BY at) AS island FROM ({steps}) b"
        ends = f"min(at) OVER ({more}) AS window_start, max(at) OVER ({more}) + interval '{gap}' AS window_end"
        rows = f"(SELECT c.*, {ends} FROM ({islands}) c) r"
    return SHAPES[shape].format(keys=keys, rows=rows, time=form, by=by)


def rows(chance: Random, count: int) -> str:
    def one() -> str:
        at = f"timestamp '2024-03-30 22:00' + {chance.randrange(20_000)} * interval '1.37 s'"
        if chance.random() < 0.1:
            at = chance.choice(["timestamp 'infinity'", "timestamp '-infinity'", "NULL::timestamp"])
        values = (
            chance.choice(["NULL", "1", "2", "3"]),
            chance.choice(["NULL", "'a'", "'b'"]),
            chance.choice(["NULL", str(chance.randrange(100))]),
            chance.choice(["NULL", "0.5"]),
            chance.choice(["NULL", "1.0", "3.5", "2"]),
            at,
        )
        return f"({', '.join(values)}, ({at}) AT TIME ZONE 'UTC', ({at})::date)"

    return ", ".join(one() for _ in range(count))


@dataclass
class Both:
    """A session, and PostgreSQL with the same table."""

    client: SessionClient
    theirs: psycopg.Connection[Any]

    def define(self, *texts: str) -> None:
        self.client.run(*texts)
        for text in texts:
            self.theirs.execute(text.encode())

    def insert(self, chance: Random) -> None:
        for _ in range(3):
            values = rows(chance, 60)
            self.define(f"INSERT INTO t VALUES {values}")
            self.client.run(f"INSERT INTO s VALUES {values}")

    def expected(self, text: str) -> list[str]:
        answer = self.theirs.pgconn.exec_(text.encode())
        assert answer.status == ExecStatus.TUPLES_OK, answer.error_message
        cells = [[answer.get_value(row, place) for place in range(answer.nfields)] for row in range(answer.ntuples)]
        return sorted(f"D {row}" for row in cells)

    def check(self) -> None:
        for name, shape in VIEWS:
            expected = self.expected(query(name, shape, ""))
            asked = query(name, shape, "t")
            assert sorted(self.client.rows(asked)) == expected, asked
            assert sorted(self.client.rows(f"SELECT * FROM {name}_{shape}")) == expected, (name, shape)


@pytest.mark.slow
@pytest.mark.turns(2, 1)
def test_sessions_of_streams_and_tables(tmp_path: Path, postgres: PostgresCluster) -> None:
    chance, world = Random(5), World(tmp_path)
    with postgres.connect() as theirs:
        theirs.execute("DROP SCHEMA IF EXISTS sessions CASCADE; CREATE SCHEMA sessions; SET search_path = sessions")
        both = Both(world.client(), theirs)
        both.define("SET TimeZone = 'Europe/Berlin'", f"CREATE TABLE t {COLUMNS}")
        both.client.run(f"CREATE FOREIGN TABLE s {COLUMNS} SERVER stream")
        for name, shape in VIEWS:
            told = both.client.ask(f"CREATE VIEW {name}_{shape} AS {query(name, shape, 's')}")
            kept = "every row of stream s" if f"{name}_{shape}" in OF_ROWS else "sessions are made of groups"
            assert told[0].startswith(f"N NOTICE 00000: {kept}"), told
        both.insert(chance)
        both.check()
        both.client.run("CHECKPOINT")
        both.insert(chance)
        world.abandon()
        world = World(tmp_path)
        world.database.definitions.follow()
        both.client = world.client().after("SET TimeZone = 'Europe/Berlin'")
        both.check()
        theirs.execute("DROP SCHEMA sessions CASCADE")
    both.client.run("ALTER FOREIGN TABLE s RENAME j TO name")
    text = both.client.rows("SELECT pg_get_viewdef('by_both_sums'::regclass)")[0]
    assert "FROM session(TABLE s PARTITION BY (k, name), tz, '00:03:00'::interval)" in text
    spellings = (
        "TABLE(SESSION(TABLE t PARTITION BY (k, j), DESCRIPTOR(tz), INTERVAL '3' MINUTE))",
        "session(TABLE t PARTITION BY k, j, tz, '3 minutes')",
        "session(t PARTITION BY k, j, descriptor(tz), interval '3 minutes') AS w",
    )
    counts = [both.client.rows(f"SELECT count(*), count(DISTINCT window_end) FROM {one}") for one in spellings]
    assert counts[0] == counts[1] == counts[2]
    world.close()


def test_groups_below_sessions_pass(tmp_path: Path) -> None:
    clock = SetClock()
    world = World(tmp_path, clock=clock)
    client = world.client().after(
        "SET TimeZone = 'UTC'", "CREATE FOREIGN TABLE s (k int, tz timestamptz) SERVER stream"
    )
    young = "WITH young AS (SELECT * FROM s WHERE tz > now() - interval '1 hour') "
    select = "SELECT k, window_start, count(*) FROM session(TABLE young PARTITION BY k, tz, '10 s') GROUP BY 1, 2"
    client.run(f"CREATE VIEW v AS {young}{select}")
    for _ in range(5):
        client.run(
            f"INSERT INTO s SELECT n % 5, to_timestamp({clock.time_us // SECOND_US} + n) FROM generate_series(1, 50) n"
        )
        assert len(client.rows("SELECT * FROM v")) == 5
        clock.time_us += 3 * HOUR_US
        assert client.rows("SELECT * FROM v") == []
    world.database.checkpoints.make()
    assert groups_of(world, "v") == 0
    world.close()
