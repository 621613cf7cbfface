"""The cost of INSERTs of many rows on the wire: Antumbra beside PostgreSQL, in the same run.

One grouped view is attached to the stream, and its log is on. PostgreSQL writes a table without a
view, logged or UNLOGGED; where it is compared with UNLOGGED, which never waits for the disk, our
commits do not wait either (synchronous_commit = off). Each way begins with `values` (an INSERT of
1,000 rows of literals, as a Query or as an extended message) or is a client that sends runs of Bind
and Execute. Prints rows per second, medians of interleaved runs, with the least and the largest
ratio of a run; `--json` prints the same for programs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import psycopg

from bench import wire_clients as clients
from bench.figures import Rates, machine, rates
from bench.wire_clients import COLUMNS, Place
from bench.workload import NO_SPARK
from engine.demo.child import child_server
from tests.oracle.postgres import PostgresCluster

CREATE_STREAM = f"CREATE FOREIGN TABLE points ({COLUMNS}) SERVER stream"
CREATE_VIEW = "CREATE VIEW per_key AS SELECT k, count(*) AS n, sum(v) AS total, max(v) AS most FROM points GROUP BY k"
CREATE_TABLES = (f"CREATE TABLE points ({COLUMNS})", f"CREATE UNLOGGED TABLE unlogged ({COLUMNS})")
UNLOGGED = "unlogged"
LOGGED = "logged"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; the tests use tiny ones."""

    runs_count: int = 5
    rows_count: int = 50_000
    statement_rows_count: int = 1000
    seconds: int = 2


Way = tuple[Callable[[Place], float], tuple[str, ...]]


def ways(sizes: Sizes, folder: Path) -> dict[str, Way]:
    """Return what is measured, by its name, with the tables of PostgreSQL that it is compared
    with.
    """
    found: dict[str, Way] = {}
    count = sizes.statement_rows_count
    for connections_count in (1, 8):
        for name, extended in (("query", False), ("extended", True)):

            def values(place: Place, extended: bool = extended, connections: int = connections_count) -> float:
                messages = clients.values_messages(clients.values_text(place, count), extended)
                return clients.sent(place, messages, count, connections, sizes.seconds)

            found[f"values {name} {connections_count}"] = values, (LOGGED, UNLOGGED)

        def run(place: Place, connections: int = connections_count) -> float:
            return clients.sent(place, clients.run_messages(place, count), count, connections, sizes.seconds)

        found[f"run of Binds {connections_count}"] = run, (UNLOGGED,)
        pipeline = partial(
            clients.pgbench_pipeline, folder=folder, connections_count=connections_count, seconds=sizes.seconds
        )
        found[f"pgbench pipeline {connections_count}"] = pipeline, (UNLOGGED,)
    for name, client in (
        ("asyncpg executemany", clients.asyncpg_executemany),
        ("psycopg executemany", clients.psycopg_executemany),
        ("psycopg pipeline", clients.psycopg_pipeline),
        ("JDBC batch", clients.jdbc_batch),
    ):
        if client is not clients.jdbc_batch or clients.JAR.exists():
            found[name] = partial(client, rows_count=sizes.rows_count), (UNLOGGED,)
    return found


def measure(sizes: Sizes, chosen: Sequence[str]) -> list[Rates]:
    """Run both servers in temporary folders; return the rates of the ways whose names begin with a
    chosen word, of all ways if none is chosen.
    """
    with tempfile.TemporaryDirectory(prefix="antumbra-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        cluster = PostgresCluster(folder / "postgres", durable=True)
        cluster.start()
        try:
            with (
                child_server(folder / "data", options=NO_SPARK) as child,
                psycopg.connect(child.dsn, autocommit=True) as ours,
                cluster.connect() as theirs,
            ):
                ours.execute(CREATE_STREAM)
                ours.execute(CREATE_VIEW)
                for statement in CREATE_TABLES:
                    theirs.execute(statement.encode())
                our_place = Place(child.port, "postgres", "antumbra", "points")
                their_place = Place(cluster.port, "postgres", "postgres", "points")
                found = []
                for way, (rate, peers) in ways(sizes, folder).items():
                    if not chosen or way.startswith(tuple(chosen)):
                        found += [compared(way, rate, peer, our_place, their_place, sizes) for peer in peers]
                counted = ours.execute("SELECT count(*), sum(n) FROM per_key").fetchone()
                assert counted is not None and counted[0] > 0, counted
                return found
        finally:
            cluster.stop()


def compared(way: str, rate: Callable[[Place], float], peer: str, ours: Place, theirs: Place, sizes: Sizes) -> Rates:
    """Return the rates of one way."""
    if peer == UNLOGGED:
        ours, theirs = replace(ours, options="-c synchronous_commit=off"), replace(theirs, table=UNLOGGED)
    return rates(way, peer, sizes.runs_count, partial(rate, ours), partial(rate, theirs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ways", nargs="*", help="the first words of ways; all of them if none is given")
    parser.add_argument("--runs", type=int, default=5, help="interleaved runs (default 5)")
    parser.add_argument("--json", type=Path, help="a file to write")
    given = parser.parse_args()
    found = measure(Sizes(runs_count=given.runs), given.ways)
    print(f"Machine: {machine()}.")
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(one) for one in found], indent=1))


if __name__ == "__main__":
    main()
