"""The contest of AIM: six queries over the calls of 100,000 and 1,000,000 customers.

`events`: COPY of events with the six views, in events per second. `queries`: the six queries in
turn, in queries per second, alone and beside 10,000 and 50,000 events/s, ours also with
`view_staleness = '1s'`. Beside ours are PostgreSQL, whose trigger keeps a table of the customers'
sums once per statement, and ClickHouse with a materialized view per query; both answer and insert
over the same connection. Before they do, their answers are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np
import psycopg

from bench import wire_clients as clients
from bench.clients import Client, copy_in
from bench.race import numbers
from bench.race.measuring import Arena, Measure
from bench.race.micro import CLICKHOUSE, rate
from bench.race.peers import POSTGRES as POSTGRES_PEER
from bench.race.peers import Peer
from bench.race.servers import ANTUMBRA, UNLOGGED, antumbra, postgres
from bench.race.splits import Split, make_clickhouse_view
from bench.race.tpch import require_equal
from bench.workload import SEED, WITH_SPARK

CUSTOMERS = (100_000, 1_000_000)
RATES = (0, 10_000, 50_000)
EVENTS = 1_000_000
PERIOD_S = 0.1
# A JVM warms up.
WARM_READS = 30
WEEK = 10
STALE = f"{ANTUMBRA}, view_staleness 1s"
COLUMNS = (
    "entity_id integer, duration integer, cost integer, local_cost integer, long_distance_cost integer, "
    "long_distance boolean, local_calls integer, week integer"
)
CUSTOMER_COLUMNS = (
    "id integer PRIMARY KEY, city_zip integer, region_id integer, kind integer, category integer, value_type integer"
)
# A list of numbers by the customer's own.
CUSTOMER_ROWS = "SELECT i, i % 1000, i % 50, i % 4, i % 3, i % 5 FROM generate_series(0, {last}) AS r(i)"
CLICKHOUSE_CUSTOMERS = (
    "SELECT number, number % 1000, number % 50, number % 4, number % 3, number % 5 FROM numbers({count})"
)


def split(aggregates: Mapping[str, str], above: str, where: str = "") -> Split:
    """Return a query over the customers' groups."""
    return Split("events", "entity_id", aggregates, f"week = {WEEK}{where}", above)


JOINED = "{groups} g JOIN customers c ON c.id = g.entity_id"
QUERIES: Mapping[str, Split] = {
    "q1": split({"n": "sum(1)", "duration": "sum(duration)"}, "SELECT avg(g.duration) FROM {groups} g WHERE g.n > 2"),
    "q2": split({"n": "sum(1)", "cost": "max(cost)"}, "SELECT max(g.cost) FROM {groups} g WHERE g.n > 2"),
    "q3": split(
        {"n": "sum(1)", "cost": "sum(cost)", "duration": "sum(duration)"},
        "SELECT g.n, sum(g.cost) * 1.0 / sum(g.duration) AS ratio FROM {groups} g GROUP BY g.n LIMIT 100",
    ),
    "q4": split(
        {"n": "sum(1)", "duration": "sum(duration)"},
        f"SELECT c.city_zip, avg(g.n) AS calls, sum(g.duration) AS duration FROM {JOINED} "
        "WHERE g.n > 4 AND g.duration > 25 GROUP BY c.city_zip",
        " AND NOT long_distance",
    ),
    "q5": split(
        {"far": "sum(long_distance_cost)", "near": "sum(local_cost)"},
        f"SELECT c.region_id, sum(g.far) AS far, sum(g.near) AS near FROM {JOINED} "
        "WHERE c.kind = 2 AND c.category = 1 GROUP BY c.region_id",
    ),
    "q7": split(
        {"cost": "sum(cost)", "duration": "sum(duration)"},
        f"SELECT sum(g.cost) * 1.0 / sum(g.duration) AS ratio FROM {JOINED} WHERE c.value_type = 2",
    ),
}
# PostgreSQL's table of groups has the sums of all queries.
KEPT = {
    "n": "sum(1)",
    "duration": "sum(duration)",
    "cost": "sum(cost)",
    "most": "max(cost)",
    "far": "sum(long_distance_cost)",
    "near": "sum(local_cost)",
    "near_n": "count(*) FILTER (WHERE NOT long_distance)",
    "near_duration": "coalesce(sum(duration) FILTER (WHERE NOT long_distance), 0)",
}
# What the table's columns are in a query.
RENAMED = {
    "q2": "(SELECT n, most AS cost FROM kept)",
    "q4": "(SELECT entity_id, near_n AS n, near_duration AS duration FROM kept)",
}


def events_text(count: int, customers_count: int) -> bytes:
    """Return events as COPY's text."""
    chance = np.random.default_rng(SEED)
    columns = [chance.integers(0, most, count) for most in (customers_count, 100, 1000, 500, 500, 2, 10)]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    lines = (f"{e}\t{d}\t{c}\t{near}\t{far}\t{'ft'[is_far]}\t{n}\t{WEEK}\n" for e, d, c, near, far, is_far, n in rows)
    return "".join(lines).encode()


class Connection:
    """A connection of a contestant, which inserts rows of a file or text, and answers queries."""

    def __init__(self, insert: Callable[[], object], ask: Callable[[str], object]) -> None:
        self._insert = insert
        self._ask = ask

    def rate(self, seconds: float, inserts_per_s: float) -> float:
        """Return the queries per second, while rows are inserted so often over the same
        connection.
        """
        began_s = now_s = time.perf_counter()
        due_s, answers = began_s, 0
        names = cycle(QUERIES)
        while (now_s := time.perf_counter()) < began_s + seconds:
            if inserts_per_s and now_s >= due_s:
                self._insert()
                due_s += 1 / inserts_per_s
            else:
                self._ask(next(names))
                answers += 1
        return answers / (now_s - began_s)


@contextmanager
def ours(arena: Arena, customers_count: int) -> Iterator[tuple[Client, clients.Place]]:
    """Run our server with the views."""
    rows = CUSTOMER_ROWS.format(last=customers_count - 1)
    statements = [
        f"CREATE FOREIGN TABLE events ({COLUMNS}) SERVER stream",
        f"CREATE TABLE customers ({CUSTOMER_COLUMNS})",
        f"INSERT INTO customers {rows}",
        *(f"CREATE VIEW {name} AS {query.over(f'({query.groups})')}" for name, query in QUERIES.items()),
    ]
    with antumbra(arena.folder, statements, options=WITH_SPARK) as server:
        yield server.client, server.place("events")


@contextmanager
def theirs(arena: Arena, customers_count: int) -> Iterator[tuple[Client, clients.Place]]:
    """Run PostgreSQL with the trigger."""
    rows = CUSTOMER_ROWS.format(last=customers_count - 1)
    merged = ", ".join(
        f"{name} = {'greatest' if name == 'most' else ''}(kept.{name} {',' if name == 'most' else '+'} excluded.{name})"
        for name in KEPT
    )
    grouped = f"SELECT entity_id, {', '.join(KEPT.values())} FROM fresh WHERE week = {WEEK} GROUP BY entity_id"
    body = f"BEGIN INSERT INTO kept {grouped} ON CONFLICT (entity_id) DO UPDATE SET {merged}; RETURN NULL; END"
    statements = [
        f"CREATE UNLOGGED TABLE events ({COLUMNS})",
        f"CREATE UNLOGGED TABLE customers ({CUSTOMER_COLUMNS})",
        f"INSERT INTO customers {rows}",
        f"CREATE UNLOGGED TABLE kept (entity_id integer PRIMARY KEY, {', '.join(f'{name} bigint' for name in KEPT)})",
        f"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $${body}$$",
        "CREATE TRIGGER keep AFTER INSERT ON events REFERENCING NEW TABLE AS fresh EXECUTE FUNCTION keep()",
        "ANALYZE",
    ]
    with postgres(arena.folder, statements) as server:
        yield server.client, server.place("events")


def make_clickhouse(peer: Peer, customers_count: int) -> None:
    """Make ClickHouse's tables and views."""
    columns = COLUMNS.replace(" integer", " Int32").replace(" boolean", " Bool")
    customers = CUSTOMER_COLUMNS.replace(" PRIMARY KEY", "").replace(" integer", " Int32")
    peer.ask("run", f"CREATE TABLE events ({columns}) ENGINE = Null")
    peer.ask("run", f"CREATE TABLE customers ({customers}) ENGINE = MergeTree ORDER BY id")
    peer.ask("run", f"INSERT INTO customers {CLICKHOUSE_CUSTOMERS.format(count=customers_count)}")
    for name, query in QUERIES.items():
        make_clickhouse_view(peer, name, query)


def events(arena: Arena, customers_count: int) -> None:
    """Events per second alone."""
    customers_count, count = arena.sizes.rows(customers_count), arena.sizes.rows(EVENTS)
    text = events_text(count, customers_count)
    file = arena.folder / "events.tsv"
    file.write_bytes(text)
    copied = partial(
        clients.copied,
        format_name="text",
        messages=numbers.copy_messages(text),
        rows_count=count,
        connections_count=1,
    )
    with ours(arena, customers_count) as (_, place):
        measures: dict[str, Measure] = {ANTUMBRA: partial(copied, place)}
        if peer := arena.peer("clickhouse"):
            make_clickhouse(peer, customers_count)
            measures[CLICKHOUSE] = partial(rate, peer, f"INSERT INTO events SELECT * FROM file('{file}', TSV)", count)
        what = f"AIM events, {customers_count:,} customers"
        if POSTGRES_PEER not in arena.peers:
            arena.race(what, "events/s", measures)
            return
        with theirs(arena, customers_count) as (_, their_place):
            arena.race(what, "events/s", {**measures, UNLOGGED: partial(copied, their_place)})


def queries(arena: Arena, customers_count: int) -> None:
    """Queries per second."""
    customers_count = arena.sizes.rows(customers_count)
    text = events_text(arena.sizes.rows(EVENTS), customers_count)
    with (
        ours(arena, customers_count) as (client, place),
        theirs(arena, customers_count) as (their_client, _),
        psycopg.connect(place.dsn, autocommit=True) as stale_client,
    ):
        stale_client.execute("SET view_staleness = '1s'")
        copy_in(client, text)
        copy_in(their_client, text)
        peer = arena.peer("clickhouse")
        whole = arena.folder / "events.tsv"
        whole.write_bytes(text)
        if peer:
            make_clickhouse(peer, customers_count)
            peer.ask("run", f"INSERT INTO events SELECT * FROM file('{whole}', TSV)")
        for name in QUERIES:
            answer = ask_ours(client, name)
            require_equal(name, UNLOGGED, answer, ask_theirs(their_client, name))
            if peer:
                require_equal(name, CLICKHOUSE, answer, ask_clickhouse(peer, name))
        few = events_text(arena.sizes.rows(1000), customers_count)
        for name in [*QUERIES] * (WARM_READS if arena.sizes.share == 1 else 1):
            copy_in(client, few)
            ask_ours(client, name)
        for events_per_s in RATES:
            piece = events_text(max(1, int(events_per_s * PERIOD_S)), customers_count)
            file = arena.folder / f"{events_per_s}.tsv"
            file.write_bytes(piece)
            connections = {
                ANTUMBRA: Connection(partial(copy_in, client, piece), partial(ask_ours, client)),
                STALE: Connection(partial(copy_in, stale_client, piece), partial(ask_ours, stale_client)),
                UNLOGGED: Connection(partial(copy_in, their_client, piece), partial(ask_theirs, their_client)),
            }
            if peer:
                insert = f"INSERT INTO events SELECT * FROM file('{file}', TSV)"
                connections[CLICKHOUSE] = Connection(partial(peer.ask, "run", insert), partial(ask_clickhouse, peer))
            rates = {
                whose: partial(one.rate, 2.0 * arena.sizes.seconds, bool(events_per_s) / PERIOD_S)
                for whose, one in connections.items()
            }
            beside = f" beside {events_per_s:,} events/s" if events_per_s else ""
            arena.race(f"AIM queries, {customers_count:,} customers{beside}", "queries/s", rates)


def ask_ours(client: Client, name: str) -> Sequence[Any]:
    """Read a view."""
    return client.execute(f"SELECT * FROM {name}".encode()).fetchall()


def ask_theirs(client: Client, name: str) -> Sequence[Any]:
    """Query the table of groups."""
    return client.execute(QUERIES[name].over(RENAMED.get(name, "kept")).encode()).fetchall()


def ask_clickhouse(peer: Peer, name: str) -> Sequence[Any]:
    """Query a materialized view."""
    rows: Sequence[Any] = peer.ask("rows", QUERIES[name].over_parts(name))
    return rows


PARTS: Mapping[str, Callable[[Arena], None]] = {
    f"{way.__name__} {customers:,}": partial(way, customers_count=customers)
    for customers in CUSTOMERS
    for way in (events, queries)
}
