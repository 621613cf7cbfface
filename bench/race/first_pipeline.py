"""The contest of first pipelines: the kernel of a stream pipeline in this process beside DuckDB's
scan and aggregation of a native table, of TPC-H 1, 3, 6, 15, 20 and of AIM, with one thread each.

Values are rows per second of the processor's time. The kernel folds morsels that lie in memory
into a new group table, as a commit does, growth of the table included; neither COPY, nor the log,
nor the copy into the ring is in it, and a join's table is there already. DuckDB's time has the
plan, the join's build side and the merge as well, and the groups are reduced to one row, so that no
client waits for them; its columns are compressed in memory, ours are not, and lineitem has no order
of dates, so that its bounds per block leave nothing out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench.race import aim, tpch, tpch_peers
from bench.race.measuring import Arena, Measure
from bench.race.micro import DUCKDB
from bench.race.peers import Peer
from bench.race.servers import ANTUMBRA
from engine.catalog.image import StreamEntry
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.row_block import MORSEL_ROWS_MAX
from tests.engine.session_client import SessionClient, World
from tests.tpch.workload import TABLES, queries, without_order
from views.upkeep.program import StreamProgram

SCALE_FACTOR = "0.1"
CAPACITY = 1 << 20
CUSTOMERS = 100_000
NO_TIME = 0


@contextmanager
def opened(arena: Arena, files: Path) -> Iterator[World]:
    """Open a database in this process, which may read the files of a folder."""
    world = World(arena.folder / "antumbra", copy_directory=files, log_segment_bytes=1 << 26)
    try:
        yield world
    finally:
        world.close()


def execute(client: SessionClient, statement: str) -> None:
    """Execute a statement. Raises RuntimeError for an error."""
    errors = [line for line in client.ask(statement) if line.startswith("E ")]
    if errors:
        raise RuntimeError(errors[0])


def morsels_of(world: World, stream: str) -> list[Morsel]:
    """Return all rows that the ring of a stream has."""
    entry = world.database.catalog.image.entries[stream]
    assert isinstance(entry, StreamEntry)
    ring = entry.stream.ring
    starts = range(ring.oldest_tid, ring.tuples_count, MORSEL_ROWS_MAX)
    return [ring.read(start, min(MORSEL_ROWS_MAX, ring.tuples_count - start)) for start in starts]


@contextmanager
def program_of(world: World, client: SessionClient, query: str) -> Iterator[StreamProgram]:
    """Make a view, and yield its stream pipeline."""
    execute(client, f"CREATE VIEW one AS {query}")
    (state,) = world.database.catalog.image.states.values()
    yield state.chain.state.program
    execute(client, "DROP VIEW one")


def fold(program: StreamProgram, morsels: Sequence[Morsel]) -> float:
    """Fold rows into a new table; return the seconds of the processor."""
    table = program.new_table()
    began_s = time.thread_time()
    for morsel in morsels:
        program.fold(morsel, table, NO_TIME)
    return time.thread_time() - began_s


def kernel_rate(program: StreamProgram, morsels: Sequence[Morsel]) -> float:
    """Return the rows per second of the processor."""
    return sum(morsel.rows_count for morsel in morsels) / fold(program, morsels)


def duckdb_rate(peer: Peer, groups: str, rows_count: int) -> float:
    """Return the rows per second of the processor of the query of the groups."""
    return rows_count / float(peer.ask("cpu_s", f"SELECT max(COLUMNS(*)) FROM ({groups}) AS g"))


def open_tpch(arena: Arena, world: World, client: SessionClient) -> tuple[Path, Path]:
    """Make TPC-H's tables and its stream with all rows; return the folder and lineitem's file."""
    data, file, _ = tpch.data_of(arena, SCALE_FACTOR)
    for table, columns in TABLES.items():
        if table == tpch.STREAM:
            options = f"SERVER stream OPTIONS (capacity '{CAPACITY}')"
            execute(client, f"CREATE FOREIGN TABLE {table} ({columns}) {options}")
            execute(client, f"COPY {table} FROM '{file}'")
        else:
            execute(client, f"CREATE TABLE {table} ({columns})")
            execute(client, f"COPY {table} FROM '{data / table}.csv' {tpch.CSV}")
    return data, file


def of_tpch(arena: Arena) -> None:
    """The pipelines of TPC-H."""
    with opened(arena, tpch.DATA) as world:
        client = world.client()
        data, file = open_tpch(arena, world, client)
        morsels = morsels_of(world, tpch.STREAM)
        rows_count = sum(morsel.rows_count for morsel in morsels)
        if peer := arena.peer("duckdb"):
            tpch.make_duckdb(peer, data)
            peer.ask("run", f"COPY {tpch.STREAM} FROM '{file}' (DELIMITER '\t', HEADER false)")
            peer.ask("run", "SET threads = 1")
        for name in tpch.QUERIES:
            with program_of(world, client, without_order(queries()[name])) as program:
                measures: dict[str, Measure] = {ANTUMBRA: partial(kernel_rate, program, morsels)}
                if peer:
                    split = tpch_peers.SPLITS[name]
                    groups = replace(split, where=split.where.format(orders=tpch_peers.ORDERS)).groups
                    measures[DUCKDB] = partial(duckdb_rate, peer, groups, rows_count)
                arena.race(f"first pipeline of {name}", "rows/s of a core", measures)


def of_aim(arena: Arena) -> None:
    """The pipelines of AIM."""
    customers_count = arena.sizes.rows(CUSTOMERS)
    files = arena.folder / "files"
    files.mkdir()
    file = files / "events.tsv"
    file.write_bytes(aim.events_text(arena.sizes.rows(CAPACITY), customers_count))
    with opened(arena, files) as world:
        client = world.client()
        options = f"SERVER stream OPTIONS (capacity '{CAPACITY}')"
        execute(client, f"CREATE FOREIGN TABLE events ({aim.COLUMNS}) {options}")
        execute(client, f"COPY events FROM '{file}'")
        morsels = morsels_of(world, "events")
        rows_count = sum(morsel.rows_count for morsel in morsels)
        if peer := arena.peer("duckdb"):
            peer.ask("run", f"CREATE TABLE events ({aim.COLUMNS})")
            peer.ask("run", f"COPY events FROM '{file}' (DELIMITER '\t', HEADER false)")
            peer.ask("run", "SET threads = 1")
        for name, query in aim.QUERIES.items():
            with program_of(world, client, query.groups) as program:
                measures: dict[str, Measure] = {ANTUMBRA: partial(kernel_rate, program, morsels)}
                if peer:
                    measures[DUCKDB] = partial(duckdb_rate, peer, query.groups, rows_count)
                arena.race(f"first pipeline of AIM {name}", "rows/s of a core", measures)


PARTS: Mapping[str, Callable[[Arena], None]] = {"tpch": of_tpch, "aim": of_aim}
