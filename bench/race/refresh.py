"""The contest of refreshes: upper pipelines of five kinds over 10^3 to 10^7 groups, what a prepared
plan saves, the first refresh after a start, and CREATE VIEW.

`views` are views of a server, read after 1,000 new rows, which are inserted before the clock
starts; beside them Spark's memory sink, up to 10^6 groups. Values are milliseconds, as the client
sees them and `inside`, by the server's own account or in the peer's process. `start` is a view's
refresh after new rows, 10 s after the server's start, and the hundredth of them. `create` is one
statement, whose kernels have to be compiled where no view of its shape was there.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from pathlib import Path

import psycopg

from bench import wire_clients as clients
from bench.clients import Client
from bench.race import numbers, plans
from bench.race.measuring import MILLISECONDS, Arena, Measure
from bench.race.peers import Peer
from bench.race.servers import ANTUMBRA, Ours, antumbra
from bench.race.tpch import NEW_ROWS, SPARK, our_ms
from bench.workload import WITH_SPARK
from engine.demo.child import child_server

GROUPS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
SPARK_GROUPS_MAX = 1_000_000
SELF_JOIN = "join of groups"
# Kept by change, and once more by Spark.
BY_CHANGE, WHOLE = "second grouping", f"{ANTUMBRA}, run whole"
STREAM = "CREATE FOREIGN TABLE events (k bigint, v integer, x integer) SERVER stream"
GROUPED = "SELECT k, max(v) AS v, sum(x) AS total FROM events GROUP BY k"
TABLE_ROWS = "SELECT i AS k, 'name ' || i AS name FROM generate_series(0, 999) AS r(i)"
REFRESHES = 100
# A JVM warms up, ours and Spark's own; reads of more groups are long enough to show little of that.
WARM_READS = 15
WARM_GROUPS_MAX = 10_000
WAIT_S = 10.0
COLUMNS = tuple(f"c{number}" for number in range(8))
AGGREGATES = ("sum({})", "min({})", "max({})", "count({})", "avg({})", "sum({0} * {0})", "max({} + 1)", "sum(abs({}))")
AGGREGATES_OF_A_VIEW = 6


def events_text(first: int, rows_count: int, groups_count: int) -> bytes:
    """Return rows as COPY's text, of keys from `first` on."""
    rows = ((number % groups_count, number) for number in range(first, first + rows_count))
    return "".join(f"{key}\t{key * 7919 % 100}\t{number * 31 % 1000}\n" for key, number in rows).encode()


def make(ours: Ours, groups_count: int) -> None:
    """Make the stream with all groups, the table, and a view of each kind."""
    ours.client.execute(STREAM.encode())
    ours.client.execute(f"CREATE TABLE {plans.TABLE} AS {TABLE_ROWS}".encode())
    for number, sql in enumerate(plans.QUERIES.values()):
        query = f"WITH g AS ({GROUPED}) {sql.format(groups='g')}"
        ours.client.execute(f"CREATE VIEW v{number} AS {query}".encode())
    sql = plans.QUERIES[BY_CHANGE].format(groups="g")
    ours.client.execute(f"CREATE VIEW whole WITH (upper_maintenance = spark) AS WITH g AS ({GROUPED}) {sql}".encode())
    fill = f"SELECT i, i * 7919 % 100, i * 31 % 1000 FROM generate_series(0, {groups_count - 1}) AS r(i)"
    ours.client.execute(f"INSERT INTO events {fill}".encode())


def views(arena: Arena, groups_count: int) -> None:
    """Reads of views after new rows."""
    groups_count = max(100, int(groups_count * arena.sizes.share))
    new = events_text(0, NEW_ROWS, groups_count)
    messages = numbers.copy_messages(new)
    with antumbra(arena.folder, options=WITH_SPARK) as ours:
        make(ours, groups_count)
        spark = arena.peer("spark") if groups_count <= SPARK_GROUPS_MAX else None
        files = arena.folder / "files"
        files.mkdir()
        if spark:
            (files / "all.tsv").write_bytes(events_text(0, groups_count, groups_count))
            spark.ask("run", f"CREATE TABLE {plans.TABLE} AS SELECT id AS k, 'name ' || id AS name FROM range(1000)")
            spark.ask("source", "events", "k bigint, v int, x int", str(files))
            spark.ask("keep", "g", GROUPED)
            spark.ask("advance")
        names = count()
        for number, (kind, sql) in enumerate(plans.QUERIES.items()):
            insert = partial(clients.copied, ours.place("events"), "text", messages, NEW_ROWS, 1)
            measures: dict[str, Measure] = {ANTUMBRA: partial(ours_after, insert, ours.client, f"v{number}")}
            if kind == BY_CHANGE:
                measures[WHOLE] = partial(ours_after, insert, ours.client, "whole")
            # Spark does not resolve the columns of a memory sink that is joined with itself.
            if spark and kind != SELF_JOIN:
                measures[SPARK] = partial(sink_after, spark, files, names, new, sql.format(groups="g"))
            for measure in measures.values():
                for _ in range(WARM_READS if groups_count <= WARM_GROUPS_MAX and arena.sizes.share == 1 else 0):
                    measure()
            arena.race(f"{kind} of a view, {groups_count:,} groups", MILLISECONDS, measures)


def ours_after(insert: Callable[[], float], client: Client, view: str) -> Mapping[str, float]:
    """Return the times of a read of ours after new rows."""
    insert()
    return our_ms(client, view)[0]


def sink_after(peer: Peer, files: Path, names: count[int], new: bytes, sql: str) -> Mapping[str, float]:
    """Return the times of a query over a memory sink after new rows."""
    (files / f"new{next(names)}.tsv").write_bytes(new)
    peer.ask("advance")
    return peer.both_ms("rows", sql)


def start(arena: Arena) -> None:
    """The first refresh 10 s after a start, and the hundredth."""
    groups_count = arena.sizes.rows(10_000)
    messages = numbers.copy_messages(events_text(0, NEW_ROWS, groups_count))
    with antumbra(arena.folder, options=WITH_SPARK) as ours:
        make(ours, groups_count)

    def refreshes() -> dict[str, float]:
        with (
            child_server(arena.folder / "antumbra", options=WITH_SPARK) as child,
            psycopg.connect(child.dsn, autocommit=True) as client,
        ):
            time.sleep(WAIT_S if arena.sizes.share == 1 else 0)
            insert = partial(clients.copied, Ours(child, client).place("events"), "text", messages, NEW_ROWS, 1)
            times = [ours_after(insert, client, "v1")[""] for _ in range(REFRESHES)]
        return {", first": times[0], ", hundredth": times[-1]}

    arena.race("refresh after a start", MILLISECONDS, {ANTUMBRA: refreshes})


def create(arena: Arena) -> None:
    """CREATE VIEW of a new shape, and of one that is known."""
    # Other shapes in each run of the bench, since kernels are kept.
    chance = random.Random()
    columns = ", ".join(f"{column} bigint" for column in COLUMNS)
    with antumbra(arena.folder, [f"CREATE FOREIGN TABLE events (k bigint, {columns}) SERVER stream"]) as ours:
        names = count()

        def made() -> dict[str, float]:
            listed = [chance.choice(AGGREGATES).format(chance.choice(COLUMNS)) for _ in range(AGGREGATES_OF_A_VIEW)]
            aggregates = ", ".join(f"{text} AS a{number}" for number, text in enumerate(listed))
            found = {}
            for end in (", new shape", ", known shape"):
                began_s = time.perf_counter()
                ours.client.execute(
                    f"CREATE VIEW v{next(names)} AS SELECT k, {aggregates} FROM events GROUP BY k".encode()
                )
                found[end] = (time.perf_counter() - began_s) * 1000
            return found

        arena.race("CREATE VIEW", MILLISECONDS, {ANTUMBRA: made})


PARTS: Mapping[str, Callable[[Arena], None]] = {
    **{f"plans {groups:,}": partial(plans.plans, groups_count=groups) for groups in (1_000, 100_000)},
    **{f"views {groups:,}": partial(views, groups_count=groups) for groups in GROUPS},
    "start": start,
    "create": create,
}
