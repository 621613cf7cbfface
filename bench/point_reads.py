"""The cost of a read by key: a view's group in Antumbra beside a row by its primary key in
PostgreSQL, in the same run, by pgbench with eight connections.

Each group is read as of the last commit. The second part reads while events arrive in a COPY of
their own every 100 ms, in Antumbra alone: its rates are compared with PostgreSQL's where nothing
arrives. Prints reads per second, medians of interleaved runs, with the least and the largest ratio
of a run; `--json` prints the same for programs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import psycopg

from bench.clients import Inserting
from bench.figures import Rates, machine, rates
from bench.workload import NO_SPARK
from engine.demo.child import child_server
from tests.oracle.postgres import PostgresCluster

COLUMNS = "k bigint, v integer"
CREATE_VIEW = "CREATE VIEW per_key AS SELECT k, count(*) AS n, sum(v) AS total, max(v) AS most FROM events GROUP BY k"
CREATE_TABLE = "CREATE TABLE per_key (k bigint PRIMARY KEY, n bigint, total bigint, most integer)"
FILL = "SELECT i % {groups}, i % 1000 FROM generate_series(0, {last}) AS r(i)"
SUMMED = "SELECT n, total, most FROM per_key WHERE k = %s"
MODES = ("prepared", "simple")
CONNECTIONS = 8
EVENT_PERIOD_S = 0.1


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; the tests use tiny ones."""

    runs_count: int = 5
    groups_count: int = 100_000
    events_per_s: int = 50_000
    seconds: int = 3


@contextmanager
def events(dsn: str, sizes: Sizes) -> Iterator[list[int]]:
    """Copy events at a rate meanwhile; the list has the number of events that were sent."""
    rows_count = int(sizes.events_per_s * EVENT_PERIOD_S)
    rows = "".join(f"{number * 7919 % sizes.groups_count}\t{number % 1000}\n" for number in range(rows_count)).encode()
    ends, sent = threading.Event(), [0]

    def send() -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            due_s = time.perf_counter()
            while not ends.wait(max(0.0, due_s - time.perf_counter())):
                with connection.cursor() as cursor, cursor.copy(b"COPY events FROM STDIN") as copy:
                    copy.write(rows)
                sent[0] += rows_count
                due_s += EVENT_PERIOD_S

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield sent
    finally:
        ends.set()
        thread.join()


def measure(sizes: Sizes) -> list[Rates]:
    """Run both servers in temporary folders; return the rates."""
    with tempfile.TemporaryDirectory(prefix="antumbra-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        script = folder / "read.sql"
        script.write_text(f"\\set k random(0, {sizes.groups_count - 1})\nSELECT * FROM per_key WHERE k = :k\n")
        fill = FILL.format(groups=sizes.groups_count, last=3 * sizes.groups_count - 1)
        cluster = PostgresCluster(folder / "postgres")
        cluster.start()
        try:
            with (
                child_server(folder / "data", options=NO_SPARK) as child,
                psycopg.connect(child.dsn, autocommit=True) as ours,
                cluster.connect() as theirs,
            ):
                for statement in (f"CREATE FOREIGN TABLE events ({COLUMNS}) SERVER stream", CREATE_VIEW):
                    ours.execute(statement.encode())
                ours.execute(f"INSERT INTO events {fill}".encode())
                theirs.execute(CREATE_TABLE.encode())
                grouped = f"SELECT k, count(*), sum(v), max(v) FROM ({fill}) AS e(k, v) GROUP BY k"
                theirs.execute(f"INSERT INTO per_key {grouped}".encode())
                theirs.commit()
                require_equal(ours, theirs, sizes)
                places = Place(child.port, "antumbra"), Place(cluster.port, "postgres")
                found = [compared(mode, *places, script, mode, sizes) for mode in MODES]
                with events(child.dsn, sizes) as sent:
                    began_s = time.perf_counter()
                    way = f"{{}} while {sizes.events_per_s:,} events/s arrive"
                    found += [compared(way.format(mode), *places, script, mode, sizes) for mode in MODES]
                    passed_s = time.perf_counter() - began_s
                print(f"events: {sent[0] / passed_s:,.0f}/s")
                return found
        finally:
            cluster.stop()


@dataclass(frozen=True, slots=True)
class Place:
    """A server and its database."""

    port: int
    database: str


def require_equal(ours: psycopg.Connection, theirs: psycopg.Connection, sizes: Sizes) -> None:
    """Read some groups on both servers."""
    for key in range(0, sizes.groups_count, max(1, sizes.groups_count // 20)):
        rows = [connection.execute(SUMMED.encode(), (key,)).fetchall() for connection in (ours, theirs)]
        assert rows[0] == rows[1] and rows[0], (key, rows)


def compared(way: str, ours: Place, theirs: Place, script: Path, mode: str, sizes: Sizes) -> Rates:
    """Return the rates of one way."""

    def rate(place: Place) -> float:
        return Inserting(place.port, place.database, script, mode, CONNECTIONS).rate(sizes.seconds)

    return rates(way, "PostgreSQL", sizes.runs_count, partial(rate, ours), partial(rate, theirs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="interleaved runs (default 5)")
    parser.add_argument("--json", type=Path, help="a file to write")
    given = parser.parse_args()
    found = measure(Sizes(runs_count=given.runs))
    print(f"Machine: {machine()}.")
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(one) for one in found], indent=1))


if __name__ == "__main__":
    main()
