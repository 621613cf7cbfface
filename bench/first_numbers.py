"""Is the architecture right? Antumbra and PostgreSQL beside each other, in the same run: COPY,
single-row INSERTs, refresh, repeated read.

One grouped view is attached to the stream; PostgreSQL writes an UNLOGGED table with fsync off and
no view. It never waits for the disk, so our single-row INSERTs do not either (synchronous_commit =
off); bench.durability has those that wait. Every figure is the median of interleaved runs. Prints a
table with the threshold of each figure, a checksum, and the machine. `--write` puts it into
bench/README.md.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg

from bench.clients import Client, Inserting, copy_in
from bench.figures import Figure, compared, interleaved, report, told, write_report
from bench.workload import (
    COPY_CUSTOMERS,
    CREATE_CUSTOMERS,
    CREATE_GROUPED_VIEW,
    CREATE_STREAM,
    CREATE_TABLE,
    GROUPED_QUERY,
    INSERT_SCRIPT,
    JOIN_STREAMS,
    PURCHASES,
    RANKED_QUERY,
    copy_text,
    customers_text,
    purchases_text,
)
from engine.demo.child import Child, child_server
from tests.oracle.postgres import PostgresCluster

RUNS_COUNT = 5
COPY_ROWS_COUNT = 500_000
PGBENCH_S = 3
PGBENCH_CONNECTIONS_COUNT = 8
READS_COUNT = 500


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; the tests use tiny ones."""

    runs_count: int = RUNS_COUNT
    copy_rows_count: int = COPY_ROWS_COUNT
    pgbench_s: int = PGBENCH_S
    reads_count: int = READS_COUNT


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return 1 if a threshold is missed."""
    parser = argparse.ArgumentParser(prog="bench.first_numbers", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=RUNS_COUNT, help=f"interleaved runs (default {RUNS_COUNT})")
    parser.add_argument("--write", action="store_true", help="put the table into bench/README.md")
    options = parser.parse_args(arguments)
    figures, checksum = measure(Sizes(runs_count=options.runs))
    text = report(figures, checksum, options.runs)
    print(text)
    if options.write:
        write_report(text, "first numbers")
    return 0 if all(figure.holds for figure in figures) else 1


def measure(sizes: Sizes) -> tuple[list[Figure], str]:
    """Run both servers in temporary folders and return the figures and a checksum that both agree
    on.
    """
    with tempfile.TemporaryDirectory(prefix="antumbra-bench-") as name:
        folder = Path(name)
        # PostgreSQL's own user has to reach its folder, and pgbench the script.
        folder.chmod(0o755)
        script = folder / "insert.sql"
        script.write_text(INSERT_SCRIPT)
        cluster = PostgresCluster(folder / "postgres")
        cluster.start()
        try:
            with (
                child_server(folder / "data") as child,
                psycopg.connect(child.dsn, autocommit=True) as ours,
                cluster.connect() as theirs,
            ):
                ours.execute(CREATE_STREAM)
                ours.execute(CREATE_GROUPED_VIEW)
                theirs.execute(CREATE_TABLE)
                figures = told(measure_copy(ours, theirs, sizes))
                checksum = check(ours, theirs)
                figures += told(*measure_inserts(child, cluster, script, sizes))
                figures += told(*measure_reads(ours, sizes))
                figures += told(measure_join(ours, sizes))
                return figures, checksum
        finally:
            cluster.stop()


def measure_copy(ours: Client, theirs: Client, sizes: Sizes) -> Figure:
    """COPY text through psycopg in pieces of 64 KiB, rows per second."""
    text = copy_text(sizes.copy_rows_count)
    copy_in(ours, text)
    copy_in(theirs, text)
    our_rates, their_rates = interleaved(
        sizes.runs_count,
        lambda: sizes.copy_rows_count / copy_in(ours, text),
        lambda: sizes.copy_rows_count / copy_in(theirs, text),
    )
    return compared("COPY text, rows/s", our_rates, their_rates, 0.7, "PostgreSQL")


def check(ours: Client, theirs: Client) -> str:
    """Return a checksum of the grouped view after both got the same events.

    Fails if the two differ.
    """
    summary = "SELECT count(*), sum(events), sum(total), max(latest) FROM {} AS groups"
    found = ours.execute(summary.format("per_key")).fetchone()
    expected = theirs.execute(summary.format(f"({GROUPED_QUERY})")).fetchone()
    assert found == expected, f"{found} instead of {expected}"
    return " ".join(str(value) for value in found or ())


def measure_inserts(child: Child, cluster: PostgresCluster, script: Path, sizes: Sizes) -> list[Figure]:
    """Single-row INSERTs by pgbench over 8 connections, transactions per second."""
    figures = []
    for mode in ("simple", "prepared"):
        ours = Inserting(child.port, "antumbra", script, mode, PGBENCH_CONNECTIONS_COUNT, "-c synchronous_commit=off")
        theirs = Inserting(cluster.port, "postgres", script, mode, PGBENCH_CONNECTIONS_COUNT)
        our_rates, their_rates = interleaved(
            sizes.runs_count, partial(ours.rate, sizes.pgbench_s), partial(theirs.rate, sizes.pgbench_s)
        )
        name = f"pgbench -M {mode} INSERT, 8 connections, tps"
        figures.append(compared(name, our_rates, their_rates, 0.4, "PostgreSQL"))
    return figures


def measure_reads(ours: Client, sizes: Sizes) -> list[Figure]:
    """The first read of a new view whose 1,000 groups go through Spark, and reads of it while
    nothing changes.
    """
    copy_in(ours, copy_text(20_000))
    first_refresh_s(ours, 0)
    refreshes_s = [first_refresh_s(ours, run + 1) for run in range(sizes.runs_count)]
    last = f"ranked_{sizes.runs_count}"
    reads_s, ones_s = interleaved(
        sizes.runs_count,
        lambda: median_read_s(ours, f"SELECT * FROM {last}", sizes.reads_count),
        lambda: median_read_s(ours, "SELECT 1", sizes.reads_count),
    )
    read_s, one_s = statistics.median(reads_s), statistics.median(ones_s)
    refresh_s = statistics.median(refreshes_s)
    return [
        Figure("first refresh, 1,000 groups in Spark, warm", f"{refresh_s * 1000:.0f} ms", refresh_s, "s", 2.0, False),
        Figure(
            "repeated read, 1,000 rows, over SELECT 1",
            f"{read_s * 1e6:.0f} µs / {one_s * 1e6:.0f} µs",
            read_s / one_s,
            "x",
            3.0,
            False,
        ),
    ]


def first_refresh_s(ours: Client, number: int) -> float:
    """Create a view, fill it, and return the seconds of its first read."""
    ours.execute(f"CREATE VIEW ranked_{number} AS {RANKED_QUERY}".encode())
    copy_in(ours, copy_text(20_000))
    start_s = time.perf_counter()
    rows = ours.execute(f"SELECT * FROM ranked_{number}".encode()).fetchall()
    seconds = time.perf_counter() - start_s
    assert len(rows) == 1000, f"{len(rows)} groups"
    return seconds


def median_read_s(ours: Client, query: str, reads_count: int) -> float:
    """Return the median seconds from sending `query` to holding its whole result, before values
    become Python objects.
    """
    seconds = []
    with ours.cursor() as cursor:
        for _ in range(reads_count):
            start_s = time.perf_counter()
            cursor.execute(query.encode())
            seconds.append(time.perf_counter() - start_s)
    return statistics.median(seconds)


def measure_join(ours: Client, sizes: Sizes) -> Figure:
    """COPY into a stream with a grouped view, and with the same view over a join with 100,000
    customers, rows per second.
    """
    ours.execute(CREATE_CUSTOMERS)
    copy_in(ours, customers_text(), COPY_CUSTOMERS)
    text = purchases_text(sizes.copy_rows_count)
    for stream, query in JOIN_STREAMS.items():
        ours.execute(f"CREATE FOREIGN TABLE {stream} {PURCHASES} SERVER stream".encode())
        ours.execute(f"CREATE VIEW of_{stream} AS {query}".encode())
        copy_in(ours, text, f"COPY {stream} FROM STDIN")
    alone, joined = interleaved(
        sizes.runs_count,
        lambda: sizes.copy_rows_count / copy_in(ours, text, "COPY purchases_alone FROM STDIN"),
        lambda: sizes.copy_rows_count / copy_in(ours, text, "COPY purchases_joined FROM STDIN"),
    )
    one, other = (sorted(ours.execute(f"SELECT * FROM of_{stream}".encode()).fetchall()) for stream in JOIN_STREAMS)
    assert one == other, "a join with every customer's own key changes nothing"
    name = "COPY text, view with a join of 100,000 customers, rows/s"
    return compared(name, joined, alone, 0.7, "the view alone")


if __name__ == "__main__":
    sys.exit(main())
