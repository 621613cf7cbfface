"""The contest of TPC-H 1, 3, 6, 15 and 20 with lineitem as the stream, at scale factors 0.1 and 1.

`load`: COPY of lineitem with the five views attached, also with their reads at the end, beside the
same server without a view, PostgreSQL's UNLOGGED table, DuckDB's table, and ClickHouse with
materialized views; rows per second. `refresh`: the time of a read after 1,000 new rows, which are
inserted before the clock starts, beside ClickHouse's views, Spark's memory sink, and the query over
all rows in DuckDB and PostgreSQL. All have the same rows, and their answers are compared.

A refresh is timed as its client sees it, and `inside`: by the server's own account of the refresh,
or in the process of a peer, without the way to it and back.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb

from bench import wire_clients as clients
from bench.clients import Client
from bench.environments import TREE
from bench.race import numbers, tpch_peers
from bench.race.measuring import MILLISECONDS, Arena, Measure
from bench.race.micro import CLICKHOUSE, DUCKDB, rate
from bench.race.peers import INSIDE, ROUND_TRIP, Peer
from bench.race.peers import POSTGRES as POSTGRES_PEER
from bench.race.servers import ANTUMBRA, UNLOGGED, Ours, antumbra, postgres
from bench.stream_relation import AWAIT_SPARK, are_equal, copy_file
from bench.workload import WITH_SPARK
from tests.tpch.workload import TABLES, generate, queries, without_order

QUERIES = ("q01", "q03", "q06", "q15", "q20")
# Those whose pipelines above the groups are more than a projection.
SINKS = ("q15", "q20")
STREAM = "lineitem"
SPARK = "Spark's memory sink"
NO_VIEW = f"{ANTUMBRA}, no view"
NEW_ROWS = 1000
# A JVM warms up, ours and Spark's own.
WARM_READS = 15
DATA = TREE / "build" / "tpch"
CSV = "WITH (FORMAT csv, HEADER)"
REFRESH = (
    "SELECT swap_ms + merge_ms + hand_over_ms + spark_ms + store_ms FROM pg_stat_continuous_views WHERE relname = %s"
)


def data_of(arena: Arena, scale_factor: str) -> tuple[Path, Path, int]:
    """Return the folder of the CSV files, lineitem as COPY's text, and its rows. They are kept for
    the next run.
    """
    if arena.sizes.share < 1:
        scale_factor = "0.01"
    folder = DATA / scale_factor
    folder.mkdir(parents=True, exist_ok=True)
    generate(folder, scale_factor)
    text = folder / f"{STREAM}.tsv"
    with duckdb.connect() as database:
        if not text.exists():
            made = folder / "made.tsv"
            read = f"SELECT * FROM read_csv('{folder}/{STREAM}.csv', all_varchar = true)"
            database.execute(f"COPY ({read}) TO '{made}' (DELIMITER '\t', HEADER false)")
            made.rename(text)
    with text.open("rb") as file:
        count = sum(piece.count(b"\n") for piece in iter(partial(file.read, 1 << 20), b""))
    return folder, text, count


def make_ours(ours: Ours, data: Path) -> None:
    """Make the tables, lineitem as a stream, and the views; wait for Spark."""
    for table, columns in TABLES.items():
        if table == STREAM:
            ours.client.execute(f"CREATE FOREIGN TABLE {table} ({columns}) SERVER stream".encode())
        else:
            ours.client.execute(f"CREATE TABLE {table} ({columns})".encode())
            copy_file(ours.client, data / f"{table}.csv", f"COPY {table} FROM STDIN {CSV}")
    for statement in AWAIT_SPARK:
        ours.client.execute(statement.encode())
    for name in QUERIES:
        ours.client.execute(f"CREATE VIEW {name} AS {without_order(queries()[name])}".encode())


def make_tables(client: Client, data: Path) -> None:
    """Make PostgreSQL's tables."""
    for table, columns in TABLES.items():
        client.execute(f"CREATE UNLOGGED TABLE {table} ({columns})".encode())
        if table != STREAM:
            copy_file(client, data / f"{table}.csv", f"COPY {table} FROM STDIN {CSV}")
    client.execute("ANALYZE")


def make_duckdb(peer: Peer, data: Path) -> None:
    """Make DuckDB's tables."""
    for table, columns in TABLES.items():
        peer.ask("run", f"CREATE TABLE {table} ({columns})")
        if table != STREAM:
            peer.ask("run", f"COPY {table} FROM '{data}/{table}.csv' (HEADER)")


def load(arena: Arena, scale_factor: str) -> None:
    """Rows per second of COPY."""
    data, file, count = data_of(arena, scale_factor)
    messages = numbers.copy_messages(file.read_bytes())
    copied = partial(clients.copied, format_name="text", messages=messages, rows_count=count, connections_count=1)
    with ExitStack() as stack:
        ours = stack.enter_context(antumbra(arena.folder, options=WITH_SPARK))
        make_ours(ours, data)
        ours.client.execute(f"CREATE FOREIGN TABLE bare ({TABLES[STREAM]}) SERVER stream".encode())

        def with_views() -> dict[str, float]:
            began_s = time.perf_counter()
            alone = copied(ours.place(STREAM))
            for name in QUERIES:
                ours.client.execute(f"SELECT * FROM {name}".encode())
            return {"": alone, " and read": count / (time.perf_counter() - began_s)}

        measures: dict[str, Measure] = {ANTUMBRA: with_views, NO_VIEW: partial(copied, ours.place("bare"))}
        if POSTGRES_PEER in arena.peers:
            theirs = stack.enter_context(postgres(arena.folder, [f"CREATE UNLOGGED TABLE {STREAM} ({TABLES[STREAM]})"]))
            measures[UNLOGGED] = partial(copied, theirs.place(STREAM))
        if peer := arena.peer("duckdb"):
            peer.ask("run", f"CREATE TABLE {STREAM} ({TABLES[STREAM]})")
            statement = f"COPY {STREAM} FROM '{file}' (DELIMITER '\t', HEADER false)"
            measures[DUCKDB] = partial(rate, peer, statement, count)
        if peer := arena.peer("clickhouse"):
            tpch_peers.make_clickhouse(peer, data, list(QUERIES))
            measures[CLICKHOUSE] = partial(rate, peer, tpch_peers.clickhouse_insert(file), count)
        arena.race(f"COPY of lineitem, SF {scale_factor}", "rows/s", measures)


def refresh(arena: Arena, scale_factor: str) -> None:
    """The milliseconds of a read after new rows."""
    data, file, count = data_of(arena, scale_factor)
    new, every = arena.folder / "new.tsv", arena.folder / "every.tsv"
    with file.open("rb") as lines:
        new.write_bytes(b"".join(islice(lines, NEW_ROWS)))
    warm_reads = WARM_READS if arena.sizes.share == 1 else 1
    with file.open("rb") as lines, every.open("wb") as written:
        shutil.copyfileobj(lines, written)
        written.write(new.read_bytes() * warm_reads)
    whole, few = (numbers.copy_messages(path.read_bytes()) for path in (file, new))
    with ExitStack() as stack:
        ours = stack.enter_context(antumbra(arena.folder, options=WITH_SPARK))
        make_ours(ours, data)
        clients.copied(ours.place(STREAM), "text", whole, count, 1)
        for _ in range(warm_reads):
            clients.copied(ours.place(STREAM), "text", few, NEW_ROWS, 1)
            for name in QUERIES:
                our_ms(ours.client, name)
        contestants: dict[str, Callable[[str], Contestant]] = {
            ANTUMBRA: lambda name: Contestant(
                partial(clients.copied, ours.place(STREAM), "text", few, NEW_ROWS, 1),
                partial(our_ms, ours.client, name),
            )
        }
        if POSTGRES_PEER in arena.peers:
            theirs = stack.enter_context(postgres(arena.folder))
            make_tables(theirs.client, data)
            copy_file(theirs.client, every, f"COPY {STREAM} FROM STDIN")
            # Or query 20 reads lineitem once for each of some thousand supplies.
            theirs.client.execute(f"CREATE INDEX ON {STREAM} (l_partkey, l_suppkey)".encode())
            theirs.client.execute(f"ANALYZE {STREAM}".encode())
            insert = partial(copy_file, theirs.client, new, f"COPY {STREAM} FROM STDIN")
            contestants[UNLOGGED] = lambda name: Contestant(
                insert, partial(read_ms, theirs.client, without_order(queries()[name]))
            )
        del whole
        contestants |= peers_of(arena, data, every, new, warm_reads)
        # All have the same rows: Spark's sink takes part at first, and no longer then.
        for name in sorted(QUERIES, key=lambda name: name not in SINKS):
            found = {whose: contestant(name) for whose, contestant in contestants.items()}
            measures: dict[str, Measure] = {whose: one.measure for whose, one in found.items()}
            if SPARK in measures and name not in SINKS:
                del measures[SPARK]
            arena.race(f"refresh of {name}, SF {scale_factor}", MILLISECONDS, measures)
            for whose in measures:
                require_equal(name, whose, found[ANTUMBRA].rows, found[whose].rows)


class Contestant:
    """A contestant of refreshes, of one query: inserts rows, and reads then. rows: the last
    answer.
    """

    def __init__(
        self, insert: Callable[[], Any], read: Callable[[], tuple[Mapping[str, float], Sequence[Any]]]
    ) -> None:
        self._insert = insert
        self._read = read
        self.rows: Sequence[Any] = ()

    def measure(self) -> Mapping[str, float]:
        """Return the times of one read after new rows."""
        self._insert()
        times, self.rows = self._read()
        return times


def our_ms(client: Client, name: str) -> tuple[Mapping[str, float], Sequence[Any]]:
    """Read a view of ours."""
    times, rows = read_ms(client, f"SELECT * FROM {name}")
    inside = client.execute(REFRESH, (name,)).fetchone()
    assert inside is not None
    return {**times, INSIDE: float(str(inside[0]))}, rows


def read_ms(client: Client, query: str) -> tuple[Mapping[str, float], Sequence[Any]]:
    """Run a query."""
    began_s = time.perf_counter()
    rows = client.execute(query.encode()).fetchall()
    return {ROUND_TRIP: (time.perf_counter() - began_s) * 1000}, rows


def asked(peer: Peer, query: str) -> tuple[Mapping[str, float], Sequence[Any]]:
    """Run a query of a peer; its rows are kept from the answer that was timed."""
    times = peer.both_ms("rows", query)
    return times, peer.last


def peers_of(
    arena: Arena, data: Path, file: Path, new: Path, warm_reads: int
) -> dict[str, Callable[[str], Contestant]]:
    """Return the peers that are there, filled; Spark has answered as often as ours."""
    found: dict[str, Callable[[str], Contestant]] = {}
    if clickhouse := arena.peer("clickhouse"):
        tpch_peers.make_clickhouse(clickhouse, data, list(QUERIES))
        clickhouse.ask("run", tpch_peers.clickhouse_insert(file))
        insert = partial(clickhouse.ask, "run", tpch_peers.clickhouse_insert(new))
        found[CLICKHOUSE] = lambda name: Contestant(
            insert, partial(asked, clickhouse, tpch_peers.SPLITS[name].over_parts(name))
        )
    if database := arena.peer("duckdb"):
        make_duckdb(database, data)
        copy = f"COPY {STREAM} FROM '{{}}' (DELIMITER '\t', HEADER false)"
        database.ask("run", copy.format(file))
        append = partial(database.ask, "run", copy.format(new))
        found[DUCKDB] = lambda name: Contestant(append, partial(asked, database, without_order(queries()[name])))
    if spark := arena.peer("spark"):
        files = arena.folder / "files"
        files.mkdir()
        (files / "all.tsv").hardlink_to(file)
        tpch_peers.make_spark(spark, data, files, list(SINKS))
        spark.ask("advance")
        for name in SINKS * warm_reads:
            spark.ask("rows", tpch_peers.SPLITS[name].over(name))
        added = iter(range(1 << 30))

        def add() -> None:
            shutil.copy(new, files / f"new{next(added)}.tsv")
            spark.ask("advance")

        found[SPARK] = lambda name: Contestant(add, partial(asked, spark, tpch_peers.SPLITS[name].over(name)))
    return found


def require_equal(name: str, whose: str, ours: Sequence[Any], theirs: Sequence[Any]) -> None:
    """Compare two answers."""
    found, expected = ([tuple(map(plain, row)) for row in rows] for rows in (ours, theirs))
    assert are_equal(found, expected), f"{name}: {found[:3]}, but {whose} {expected[:3]}"


def plain(value: object) -> object:
    """Return a number, or the text of something else."""
    text = str(value).strip()
    try:
        return float(text)
    except ValueError:
        return text


PARTS: Mapping[str, Callable[[Arena], None]] = {
    f"{way.__name__} {scale_factor}": partial(way, scale_factor=scale_factor)
    for scale_factor in ("0.1", "1")
    for way in (load, refresh)
}
