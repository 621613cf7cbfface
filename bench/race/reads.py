"""The contest of reads: by key, of a view that has not changed, while events arrive or not.

A view's group, or a table's row by its primary key, in Antumbra beside a row by its primary key in
PostgreSQL, by pgbench with eight connections; each is read as of the last commit. Events arrive in
a COPY of their own every 100 ms, in Antumbra alone: its rates are compared with PostgreSQL's where
nothing arrives. Unchanged views of 10 and 1,000 rows are read beside `SELECT 1`; PostgreSQL's rates
for tables of the same rows tell what the client takes for them. On an idle machine `SELECT 1` can
be slower than ten rows, in PostgreSQL too: the ratio of ten rows says no more than that they cost
nothing beside the round trip. Values are reads per second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial

import psycopg

from bench.clients import Client, Inserting
from bench.race.measuring import Arena, Measure
from bench.race.peers import POSTGRES as POSTGRES_PEER
from bench.race.servers import ANTUMBRA, POSTGRES, antumbra, postgres

MAKE = (
    "CREATE FOREIGN TABLE events (k bigint, v integer) SERVER stream",
    "CREATE VIEW per_key AS SELECT k, count(*) AS n, sum(v) AS total, max(v) AS most FROM events GROUP BY k",
)
TABLE = "CREATE TABLE {} (k bigint PRIMARY KEY, n bigint, total bigint, most integer)"
COPY_ROWS = (TABLE.format("per_key_rows"), "INSERT INTO per_key_rows SELECT * FROM per_key")
FILL = "SELECT i % {groups}, i % 1000 FROM generate_series(0, {last}) AS r(i)"
GROUPS = 100_000
UNCHANGED_ROWS = (10, 1000)
READS = 500
EVENTS_PER_S = 50_000
EVENT_PERIOD_S = 0.1
CONNECTIONS = 8
SELECT_ONE = ", SELECT 1"


@contextmanager
def arriving(dsn: str, events_per_s: int, groups_count: int) -> Iterator[list[int]]:
    """Copy events at a rate meanwhile; the list has the number of events that were sent."""
    rows_count = int(events_per_s * EVENT_PERIOD_S)
    rows = "".join(f"{number * 7919 % groups_count}\t{number % 1000}\n" for number in range(rows_count)).encode()
    ends, sent = threading.Event(), [0]

    def send() -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            due_s = time.perf_counter()
            while not ends.wait(max(0.0, due_s - time.perf_counter())):
                with connection.cursor() as cursor, cursor.copy(b"COPY events FROM STDIN") as copy:
                    copy.write(rows)
                sent[0] += rows_count
                due_s += EVENT_PERIOD_S

    with ThreadPoolExecutor(1) as threads:
        sender = threads.submit(send)
        try:
            yield sent
        finally:
            ends.set()
        sender.result()


def by_key(arena: Arena) -> None:
    """Reads by key, with and without events."""
    groups = arena.sizes.rows(GROUPS)
    scripts = {name: arena.folder / f"{name}.sql" for name in ("per_key", "per_key_rows")}
    for name, script in scripts.items():
        script.write_text(f"\\set k random(0, {groups - 1})\nSELECT * FROM {name} WHERE k = :k\n")
    fill = FILL.format(groups=groups, last=3 * groups - 1)

    def rate(port: int, database: str, mode: str, name: str) -> float:
        return Inserting(port, database, scripts[name], mode, CONNECTIONS).rate(arena.sizes.seconds)

    with ExitStack() as stack:
        ours = stack.enter_context(antumbra(arena.folder, (*MAKE, f"INSERT INTO events {fill}", *COPY_ROWS)))
        places = {ANTUMBRA: (ours.child.port, "antumbra")}
        if POSTGRES_PEER in arena.peers:
            grouped = f"SELECT k, count(*), sum(v), max(v) FROM ({fill}) AS e(k, v) GROUP BY k"
            theirs = stack.enter_context(
                postgres(arena.folder, (TABLE.format("per_key"), f"INSERT INTO per_key {grouped}", *COPY_ROWS))
            )
            require_equal(ours.client, theirs.client, groups)
            places[POSTGRES] = (theirs.cluster.port, "postgres")

        def race(what: str, name: str = "per_key") -> None:
            for mode in ("prepared", "simple"):
                measures: dict[str, Measure] = {
                    whose: partial(rate, *place, mode, name) for whose, place in places.items()
                }
                arena.race(f"read by key, {mode}{what}", "reads/s", measures)

        race("")
        race(" of a table", "per_key_rows")
        with arriving(ours.child.dsn, EVENTS_PER_S, groups) as sent:
            began_s = time.perf_counter()
            race(f" beside {EVENTS_PER_S:,} events/s")
            arena.keep("events beside reads", ANTUMBRA, "events/s", [sent[0] / (time.perf_counter() - began_s)])


def require_equal(ours: Client, theirs: Client, groups_count: int) -> None:
    """Read some groups on both servers."""
    for key in range(0, groups_count, max(1, groups_count // 20)):
        query = b"SELECT n, total, most FROM per_key WHERE k = %s"
        rows = [connection.execute(query, (key,)).fetchall() for connection in (ours, theirs)]
        assert rows[0] == rows[1] and rows[0], (key, rows)


def unchanged(arena: Arena) -> None:
    """Reads of views while nothing changes, beside SELECT 1, and of tables in PostgreSQL."""
    grouped = "SELECT {k} AS k, count(*) AS n, sum(v) AS total, max(v) AS most FROM {rows} GROUP BY 1"
    keys = {rows: f"k % {rows}" for rows in UNCHANGED_ROWS}
    fill = FILL.format(groups=UNCHANGED_ROWS[-1], last=20 * UNCHANGED_ROWS[-1] - 1)
    views = [f"CREATE VIEW rows_{rows} AS {grouped.format(k=k, rows='events')}" for rows, k in keys.items()]
    tables = [
        f"CREATE TABLE rows_{rows} AS {grouped.format(k=k, rows=f'({fill}) AS e(k, v)')}" for rows, k in keys.items()
    ]
    with ExitStack() as stack:
        ours = stack.enter_context(antumbra(arena.folder, (MAKE[0], *views, f"INSERT INTO events {fill}")))
        clients = {ANTUMBRA: ours.client}
        if POSTGRES_PEER in arena.peers:
            clients[POSTGRES] = stack.enter_context(postgres(arena.folder, tables)).client
        for rows in UNCHANGED_ROWS:
            answers = [
                client.execute(f"SELECT * FROM rows_{rows} ORDER BY k".encode()).fetchall()
                for client in clients.values()
            ]
            assert all(answer == answers[0] and len(answer) == rows for answer in answers), rows
            measures: dict[str, Measure] = {}
            for whose, client in clients.items():
                measures[whose] = partial(read_rate, client, f"SELECT * FROM rows_{rows}".encode(), READS)
                measures[whose + SELECT_ONE] = partial(read_rate, client, b"SELECT 1", READS)
            arena.race(f"unchanged view of {rows:,} rows", "reads/s", measures)


def read_rate(client: Client, query: bytes, reads_count: int) -> float:
    """Return the reads per second, each from sending it to holding its whole result, before values
    become Python objects.
    """
    with client.cursor() as cursor:
        began_s = time.perf_counter()
        for _ in range(reads_count):
            cursor.execute(query)
        return reads_count / (time.perf_counter() - began_s)


PARTS: Mapping[str, Callable[[Arena], None]] = {"by key": by_key, "unchanged": unchanged}
