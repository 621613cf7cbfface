"""The contest of the wire: INSERTs of one row and of many, and COPY, by 1 and 8 connections.

One grouped view is attached to our stream, and its log is on. PostgreSQL writes a table without a
view, logged or UNLOGGED; UNLOGGED never waits for the disk, so our commits do not wait either where
they are compared with it (synchronous_commit = off), but for COPY. Each way is a client:
`wire_clients` says how they work. Values are rows per second, all of them acknowledged.

A line ends with the number of connections. `simple` and `prepared` are modes of pgbench; an INSERT
of 1,000 rows is one statement of literals, sent by the simple protocol (`Query`) or the extended
one; a run of Binds is one Parse and then a Bind and an Execute per row, up to one Sync; pgbench's
pipeline has 100 INSERTs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from bench import wire_clients as clients
from bench.clients import Inserting
from bench.race import numbers
from bench.race.measuring import Arena
from bench.race.peers import POSTGRES as POSTGRES_PEER
from bench.race.servers import ANTUMBRA, NO_WAIT, NOT_WAITING, POSTGRES, UNLOGGED, antumbra, postgres
from bench.wire_clients import Place

STREAM = f"CREATE FOREIGN TABLE points ({clients.COLUMNS}) SERVER stream"
VIEW = "CREATE VIEW per_key AS SELECT k, count(*) AS n, sum(v) AS total, max(v) AS most FROM points GROUP BY k"
TABLES = (f"CREATE TABLE points ({clients.COLUMNS})", f"CREATE UNLOGGED TABLE unlogged ({clients.COLUMNS})")
NUMBERS_STREAM = f"CREATE FOREIGN TABLE points ({numbers.DECLARED}) SERVER stream"
NUMBERS_VIEW = "CREATE VIEW per_key AS SELECT a, count(*) AS n, sum(b) AS total, max(c) AS most FROM points GROUP BY a"
NUMBERS_TABLES = (f"CREATE TABLE points ({numbers.DECLARED})", f"CREATE UNLOGGED TABLE unlogged ({numbers.DECLARED})")
CONNECTIONS = (1, 8)
STATEMENT_ROWS = 1000
EXECUTED_ROWS = 50_000
COPIED_ROWS = 1_000_000
FORMATS: Mapping[str, Callable[..., bytes]] = {
    "text": partial(numbers.delimited, delimiter="\t"),
    "csv": partial(numbers.delimited, delimiter=","),
    "binary": numbers.binary,
}

Way = Callable[[Place], float]


@contextmanager
def places(arena: Arena, numbers_alone: bool = False) -> Iterator[dict[str, Place]]:
    """Run the servers; yield the places by the names of the contestants."""
    ours_made, theirs_made = (
        ((NUMBERS_STREAM, NUMBERS_VIEW), NUMBERS_TABLES) if numbers_alone else ((STREAM, VIEW), TABLES)
    )
    with antumbra(arena.folder, ours_made) as ours:
        found = {ANTUMBRA: ours.place("points"), NOT_WAITING: ours.place("points", NO_WAIT)}
        if POSTGRES_PEER not in arena.peers:
            yield found
            return
        with postgres(arena.folder, theirs_made) as theirs:
            yield found | {POSTGRES: theirs.place("points"), UNLOGGED: theirs.place("unlogged")}


def race(arena: Arena, what: str, way: Way, found: Mapping[str, Place]) -> None:
    """Measure one way at all places."""
    arena.race(what, "rows/s", {whose: partial(way, place) for whose, place in found.items()})


def single(arena: Arena) -> None:
    """INSERTs of one row by pgbench."""
    with places(arena) as found:
        for mode in ("simple", "prepared"):
            for connections in CONNECTIONS:

                def way(place: Place, mode: str = mode, connections: int = connections) -> float:
                    script = arena.folder / f"{place.table}.sql"
                    script.write_text(f"\\set k random(0, 999)\n{place.insert(':k, 1.5, $$some text$$')};\n")
                    inserting = Inserting(place.port, place.database, script, mode, connections, place.options)
                    return inserting.rate(arena.sizes.seconds)

                race(arena, f"single INSERT, {mode}, {connections}", way, found)


def values(arena: Arena) -> None:
    """INSERTs of 1,000 rows of literals, as a Query and as an extended message."""
    with places(arena) as found:
        for name, extended in (("Query", False), ("extended", True)):
            for connections in CONNECTIONS:

                def way(place: Place, extended: bool = extended, connections: int = connections) -> float:
                    messages = clients.values_messages(clients.values_text(place, STATEMENT_ROWS), extended)
                    return clients.sent(place, messages, STATEMENT_ROWS, connections, arena.sizes.seconds)

                race(arena, f"INSERT VALUES of 1,000 rows, {name}, {connections}", way, found)


def pipelined(arena: Arena) -> None:
    """Runs of Bind and Execute with one Sync, and pgbench's pipelines."""
    seconds = arena.sizes.seconds
    with places(arena) as found:
        for connections in CONNECTIONS:

            def run(place: Place, connections: int = connections) -> float:
                messages = clients.run_messages(place, STATEMENT_ROWS)
                return clients.sent(place, messages, STATEMENT_ROWS, connections, seconds)

            pipeline = partial(
                clients.pgbench_pipeline, folder=arena.folder, connections_count=connections, seconds=seconds
            )
            race(arena, f"run of Binds, {connections}", run, found)
            race(arena, f"pgbench pipeline, {connections}", pipeline, found)


def drivers(arena: Arena) -> None:
    """The ways in which drivers send many rows."""
    ways: dict[str, Callable[..., float]] = {
        "asyncpg executemany": clients.asyncpg_executemany,
        "psycopg executemany": clients.psycopg_executemany,
        "psycopg pipeline": clients.psycopg_pipeline,
    }
    if clients.JAR.exists():
        ways["JDBC batch"] = clients.jdbc_batch
    with places(arena) as found:
        for name, client in ways.items():
            race(arena, name, partial(client, rows_count=arena.sizes.rows(EXECUTED_ROWS)), found)


def copy(arena: Arena) -> None:
    """COPY of six integers in three formats."""
    count = arena.sizes.rows(COPIED_ROWS)
    rows = numbers.numbers(count)
    with places(arena, numbers_alone=True) as found:
        for name, encoded in FORMATS.items():
            messages = numbers.copy_messages(encoded(rows))
            for connections in CONNECTIONS:
                way = partial(
                    clients.copied, format_name=name, messages=messages, rows_count=count, connections_count=connections
                )
                race(arena, f"COPY {name}, {connections}", way, found)


PARTS: Mapping[str, Callable[[Arena], None]] = {
    "single": single,
    "values": values,
    "pipelined": pipelined,
    "drivers": drivers,
    "copy": copy,
}
