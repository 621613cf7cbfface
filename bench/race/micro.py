"""The contest of attached views: COPY of six integers into a stream with 0, 1, 2, 4 and 8 views.

Each view groups by a column and has an aggregate of its own. Ours are continuous views, log on,
over one connection; ClickHouse has materialized views in process, PostgreSQL an UNLOGGED table
whose triggers keep a table per view, once per statement; DuckDB has none, so it takes part without
views alone. ClickHouse reads the same rows as an Arrow file, DuckDB, Flink and Pathway as CSV, the
last two in a job of its own for each run. Values are rows per second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench import wire_clients as clients
from bench.race import numbers
from bench.race.measuring import Arena, Measure
from bench.race.peers import POSTGRES as POSTGRES_PEER
from bench.race.peers import Peer
from bench.race.servers import ANTUMBRA, UNLOGGED, Ours, Theirs, antumbra, postgres

ROWS = 1_000_000
COUNTS = (0, 1, 2, 4, 8)
ARROW = f"{ANTUMBRA}, Arrow"
ONE_VIEW = f"{ANTUMBRA}, one view"
CLICKHOUSE, DUCKDB = "ClickHouse", "DuckDB"
# Peers that run a job for each file, with its start.
JOBS = {"flink": "Flink", "pathway": "Pathway"}
AGGREGATES = ("sum", "max", "min", "sum", "max", "min", "sum", "max")
# How a group's value goes on with another of the same group.
MERGED = {"sum": "{t}.x + excluded.x", "max": "greatest({t}.x, excluded.x)", "min": "least({t}.x, excluded.x)"}


def view(number: int) -> tuple[str, str, str]:
    """Return a view's key, aggregate and the column that is aggregated."""
    columns = numbers.COLUMNS
    return columns[number % len(columns)], AGGREGATES[number], columns[(number + 1) % len(columns)]


EQUAL_COUNT = 8


def equal_views(arena: Arena) -> None:
    """Views with one and the same stream pipeline, which take their rows together, beside one."""
    rows_count = arena.sizes.rows(ROWS)
    text = numbers.copy_messages(numbers.delimited(numbers.numbers(rows_count), "\t"))
    with antumbra(arena.folder) as ours:
        measures: dict[str, Measure] = {}
        for whose, count in ((ANTUMBRA, EQUAL_COUNT), (ONE_VIEW, 1)):
            ours.client.execute(f"CREATE FOREIGN TABLE equal{count} ({numbers.DECLARED}) SERVER stream".encode())
            for number in range(count):
                query = f"SELECT a, count(*) AS n, sum(b) FROM equal{count} GROUP BY a HAVING count(*) > {number}"
                ours.client.execute(f"CREATE VIEW v{count}_{number} AS {query}".encode())
            measures[whose] = partial(clients.copied, ours.place(f"equal{count}"), "text", text, rows_count, 1)
        arena.race(f"{EQUAL_COUNT} equal views", "rows/s", measures)


def make_ours(ours: Ours, count: int) -> None:
    """Make the stream with so many views."""
    ours.client.execute(f"CREATE FOREIGN TABLE points{count} ({numbers.DECLARED}) SERVER stream".encode())
    for number in range(count):
        key, aggregate, column = view(number)
        query = f"SELECT {key}, count(*) AS n, {aggregate}({column}) AS x FROM points{count} GROUP BY {key}"
        ours.client.execute(f"CREATE VIEW v{count}_{number} AS {query}".encode())


def make_theirs(theirs: Theirs, count: int) -> None:
    """Make PostgreSQL's table with so many triggers."""
    theirs.client.execute(f"CREATE UNLOGGED TABLE points{count} ({numbers.DECLARED})".encode())
    for number in range(count):
        key, aggregate, column = view(number)
        name = f"v{count}_{number}"
        merged = MERGED[aggregate].format(t=name)
        summed = f"SELECT {key}, count(*), {aggregate}({column}) FROM fresh GROUP BY {key}"
        update = f"ON CONFLICT (k) DO UPDATE SET n = {name}.n + excluded.n, x = {merged}"
        body = f"BEGIN INSERT INTO {name} {summed} {update}; RETURN NULL; END"
        when = f"AFTER INSERT ON points{count} REFERENCING NEW TABLE AS fresh"
        for statement in (
            f"CREATE UNLOGGED TABLE {name} (k integer PRIMARY KEY, n bigint, x bigint)",
            f"CREATE FUNCTION f{name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$",
            f"CREATE TRIGGER {name} {when} EXECUTE FUNCTION f{name}()",
        ):
            theirs.client.execute(statement.encode())


def make_clickhouse(peer: Peer, count: int) -> None:
    """Make ClickHouse's table, which keeps no rows, as streams do, with so many views."""
    columns = ", ".join(f"{column} Int32" for column in numbers.COLUMNS)
    peer.ask("run", f"CREATE TABLE points{count} ({columns}) ENGINE = Null")
    for number in range(count):
        key, aggregate, column = view(number)
        state = f"countState() AS n, {aggregate}State({column}) AS x"
        columns = f"{key} Int32, n AggregateFunction(count), x AggregateFunction({aggregate}, Int32)"
        peer.ask("run", f"CREATE TABLE s{count}_{number} ({columns}) ENGINE = AggregatingMergeTree ORDER BY {key}")
        query = f"SELECT {key}, {state} FROM points{count} GROUP BY {key}"
        peer.ask("run", f"CREATE MATERIALIZED VIEW v{count}_{number} TO s{count}_{number} AS {query}")


def attached(arena: Arena, count: int) -> None:
    """Rows per second with so many views; all must have counted every row of their last look."""
    rows_count = arena.sizes.rows(ROWS)
    rows = numbers.numbers(rows_count)
    file = arena.folder / "rows.arrow"
    stream = numbers.arrow(rows)
    file.write_bytes(stream)
    text = numbers.copy_messages(numbers.delimited(rows, "\t"))
    measures: dict[str, Measure] = {}
    with ExitStack() as stack:
        ours = stack.enter_context(antumbra(arena.folder))
        make_ours(ours, count)
        copied = partial(clients.copied, rows_count=rows_count, connections_count=1)
        place = ours.place(f"points{count}")
        measures[ANTUMBRA] = partial(copied, place, "text", text)
        measures[ARROW] = partial(copied, place, "arrow", numbers.copy_messages(stream))
        if POSTGRES_PEER in arena.peers:
            theirs = stack.enter_context(postgres(arena.folder))
            make_theirs(theirs, count)
            measures[UNLOGGED] = partial(copied, theirs.place(f"points{count}"), "text", text)
        if peer := arena.peer("clickhouse"):
            make_clickhouse(peer, count)
            insert = f"INSERT INTO points{count} SELECT * FROM file('{file}', ArrowStream)"
            measures[CLICKHOUSE] = partial(rate, peer, insert, rows_count)
        if count == 0 and (peer := arena.peer("duckdb")):
            peer.ask("run", "CREATE TABLE points (" + numbers.DECLARED + ")")
            csv = arena.folder / "rows.csv"
            csv.write_bytes(numbers.delimited(rows, ","))
            measures[DUCKDB] = partial(rate, peer, f"COPY points FROM '{csv}'", rows_count)
        headed = arena.folder / "headed.csv"
        headed.write_bytes(f"{','.join(numbers.COLUMNS)}\n".encode() + numbers.delimited(rows, ","))
        for name, whose in JOBS.items():
            if peer := arena.peer(name):
                measures[whose] = partial(job_rate, peer, headed, count, rows_count)
        arena.race(f"{count} views", "rows/s", measures)
        for number in range(count):
            found = ours.client.execute(f"SELECT sum(n) FROM v{count}_{number}".encode()).fetchone()
            assert found is not None and int(str(found[0])) % rows_count == 0 and found[0], found


def job_rate(peer: Peer, file: Path, count: int, rows_count: int) -> float:
    """Return the rows per second of a job that keeps so many views of a file."""
    views = [view(number) for number in range(count)]
    return rows_count / peer.seconds("keep", str(file), numbers.COLUMNS, views)


def rate(peer: Peer, statement: str, rows_count: int) -> float:
    """Return the rows per second of a peer's statement, in its process."""
    return rows_count / peer.seconds("run", statement)


PARTS: Mapping[str, Callable[[Arena], None]] = {
    **{f"{count} views": partial(attached, count=count) for count in COUNTS},
    "equal views": equal_views,
}
