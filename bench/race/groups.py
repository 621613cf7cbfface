"""The contest of groups: COPY into a view of 10 to 10^7 groups, and a read of all of them after
1,000 new rows.

Beside ours are ClickHouse with a materialized view, and DuckDB, which groups all rows when it is
asked. Values are rows per second, and milliseconds of a read, which is reduced to one row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from bench import wire_clients as clients
from bench.clients import Client
from bench.race import numbers
from bench.race.measuring import MILLISECONDS, Arena, Measure
from bench.race.micro import CLICKHOUSE, DUCKDB, rate
from bench.race.peers import Peer
from bench.race.servers import ANTUMBRA, antumbra
from bench.race.splits import Split, make_clickhouse_view
from bench.race.tpch import NEW_ROWS, asked, read_ms
from bench.workload import SEED

COUNTS = (10, 1_000, 100_000, 1_000_000, 10_000_000)
ROWS_MIN = 1_000_000
SPLIT = Split(
    "events", "k", {"n": "sum(1)", "total": "sum(v)"}, "true", "SELECT count(*), max(g.total) FROM {groups} g"
)
CLICKHOUSE_INSERT = "INSERT INTO events SELECT * FROM file('{}', TSV)"
DUCKDB_INSERT = "COPY events FROM '{}' (DELIMITER '\t', HEADER false)"


def groups(arena: Arena, groups_count: int) -> None:
    """COPY of all rows, and the read after some more."""
    groups_count = max(10, int(groups_count * arena.sizes.share))
    rows_count = max(arena.sizes.rows(ROWS_MIN), groups_count)
    keys = np.random.default_rng(SEED).permutation(rows_count) % groups_count
    texts = [
        "".join(f"{key}\t{key % 1000}\n" for key in some.tolist()).encode()
        for some in (keys, np.resize(keys, NEW_ROWS))
    ]
    whole, few = arena.folder / "whole.tsv", arena.folder / "few.tsv"
    for file, text in zip((whole, few), texts, strict=True):
        file.write_bytes(text)
    with antumbra(arena.folder, ["CREATE FOREIGN TABLE events (k bigint, v integer) SERVER stream"]) as ours:
        ours.client.execute(f"CREATE VIEW kept AS {SPLIT.groups}".encode())
        messages = [numbers.copy_messages(text) for text in texts]
        copied = partial(clients.copied, ours.place("events"), "text", connections_count=1)
        copies: dict[str, Measure] = {ANTUMBRA: partial(copied, messages[0], rows_count)}
        add = partial(copied, messages[1], NEW_ROWS)
        reads: dict[str, Measure] = {ANTUMBRA: partial(ours_after, add, ours.client, groups_count)}
        if peer := arena.peer("clickhouse"):
            peer.ask("run", "CREATE TABLE events (k Int64, v Int32) ENGINE = Null")
            make_clickhouse_view(peer, "kept", SPLIT)
            copies[CLICKHOUSE] = partial(rate, peer, CLICKHOUSE_INSERT.format(whole), rows_count)
            insert = CLICKHOUSE_INSERT.format(few)
            reads[CLICKHOUSE] = partial(theirs_after, peer, insert, SPLIT.over_parts("kept"), groups_count)
        if peer := arena.peer("duckdb"):
            peer.ask("run", "CREATE TABLE events (k bigint, v integer)")
            copies[DUCKDB] = partial(rate, peer, DUCKDB_INSERT.format(whole), rows_count)
            insert = DUCKDB_INSERT.format(few)
            reads[DUCKDB] = partial(theirs_after, peer, insert, SPLIT.over(f"({SPLIT.groups})"), groups_count)
        arena.race(f"COPY into {groups_count:,} groups", "rows/s", copies)
        arena.race(f"read of {groups_count:,} groups", MILLISECONDS, reads)


def ours_after(insert: Callable[[], float], client: Client, groups_count: int) -> Mapping[str, float]:
    """Return the times of a read of ours after new rows."""
    insert()
    times, rows = read_ms(client, SPLIT.over("kept"))
    assert rows[0][0] == groups_count, rows
    return times


def theirs_after(peer: Peer, insert: str, query: str, groups_count: int) -> Mapping[str, float]:
    """Return the times of a peer's read after new rows."""
    peer.ask("run", insert)
    times, rows = asked(peer, query)
    assert rows[0][0] == groups_count, rows
    return times


PARTS: Mapping[str, Callable[[Arena], None]] = {
    f"{count:,} groups": partial(groups, groups_count=count) for count in COUNTS
}
