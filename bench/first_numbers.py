"""Is the architecture right? Antumbra and PostgreSQL beside each other, in the same run: COPY, single-row INSERTs, refresh, repeated read.

One grouped view is attached to the stream; PostgreSQL writes an UNLOGGED table with fsync off and no view. Every figure is the median of
interleaved runs. Prints a table with the threshold of each figure, a checksum, and the machine. `--write` puts it into bench/README.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg

from bench.workload import (
    COPY_CUSTOMERS,
    COPY_EVENTS,
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
from engine.child import Child, child_server
from tests.oracle.postgres import PostgresCluster, find_programs

RUNS_COUNT = 5
COPY_ROWS_COUNT = 500_000
PIECE_BYTES = 64 * 1024
PGBENCH_S = 3
PGBENCH_CONNECTIONS_COUNT = 8
READS_COUNT = 500
README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- first numbers: begin -->", "<!-- first numbers: end -->"

Client = psycopg.Connection[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; the tests use tiny ones."""

    runs_count: int = RUNS_COUNT
    copy_rows_count: int = COPY_ROWS_COUNT
    pgbench_s: int = PGBENCH_S
    reads_count: int = READS_COUNT


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the table. value: what the threshold is about; detail: the measured medians behind it."""

    name: str
    detail: str
    value: float
    unit: str
    threshold: float
    more_is_better: bool

    @property
    def holds(self) -> bool:
        """Tell whether the threshold is kept."""
        return self.value >= self.threshold if self.more_is_better else self.value < self.threshold


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return 1 if a threshold is missed."""
    parser = argparse.ArgumentParser(prog="bench.first_numbers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS_COUNT, help=f"interleaved runs (default {RUNS_COUNT})")
    parser.add_argument("--write", action="store_true", help="put the table into bench/README.md")
    options = parser.parse_args(arguments)
    figures, checksum = measure(Sizes(runs_count=options.runs))
    text = report(figures, checksum, options.runs)
    print(text)
    if options.write:
        before, rest = README.read_text().split(BEGIN)
        README.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")
    return 0 if all(figure.holds for figure in figures) else 1


def measure(sizes: Sizes) -> tuple[list[Figure], str]:
    """Run both servers in temporary folders and return the figures and a checksum that both agree on."""
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
                figures = [measure_copy(ours, theirs, sizes)]
                checksum = check(ours, theirs)
                figures += measure_inserts(child, cluster, script, sizes)
                figures += measure_reads(ours, sizes)
                figures.append(measure_join(ours, sizes))
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
    return compared("COPY text, rows/s", our_rates, their_rates, 0.7)


def copy_in(connection: Client, text: bytes, statement: str = COPY_EVENTS) -> float:
    """Return the seconds that one COPY took."""
    view = memoryview(text)
    start_s = time.perf_counter()
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        for offset in range(0, len(view), PIECE_BYTES):
            copy.write(bytes(view[offset : offset + PIECE_BYTES]))
    return time.perf_counter() - start_s


def check(ours: Client, theirs: Client) -> str:
    """Return a checksum of the grouped view after both got the same events. Fails if the two differ."""
    summary = "SELECT count(*), sum(events), sum(total), max(latest) FROM {} AS groups"
    found = ours.execute(summary.format("per_key")).fetchone()
    expected = theirs.execute(summary.format(f"({GROUPED_QUERY})")).fetchone()
    assert found == expected, f"{found} instead of {expected}"
    return " ".join(str(value) for value in found or ())


def measure_inserts(child: Child, cluster: PostgresCluster, script: Path, sizes: Sizes) -> list[Figure]:
    """Single-row INSERTs by pgbench over 8 connections, transactions per second."""
    figures = []
    for mode in ("simple", "prepared"):
        ours, theirs = interleaved(
            sizes.runs_count,
            partial(pgbench, child.port, "antumbra", mode, script, sizes.pgbench_s),
            partial(pgbench, cluster.port, "postgres", mode, script, sizes.pgbench_s),
        )
        figures.append(compared(f"pgbench -M {mode} INSERT, 8 connections, tps", ours, theirs, 0.4))
    return figures


def pgbench(port: int, database: str, mode: str, script: Path, seconds: int) -> float:
    """Return the transactions per second that pgbench reports."""
    clients = str(PGBENCH_CONNECTIONS_COUNT)
    command = [str(find_programs() / "pgbench"), "-n", "-M", mode, "-c", clients, "-j", "2", "-T", str(seconds)]
    command += ["-f", str(script), "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", database]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    rate = re.search(r"tps = ([0-9.]+)", result.stdout)
    if result.returncode != 0 or rate is None:
        raise RuntimeError(f"pgbench failed: {result.stderr}")
    return float(rate.group(1))


def measure_reads(ours: Client, sizes: Sizes) -> list[Figure]:
    """The first read of a new view whose 1,000 groups go through Spark, and reads of it while nothing changes."""
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
    """Return the median seconds from sending `query` to holding its whole result, before values become Python objects."""
    seconds = []
    with ours.cursor() as cursor:
        for _ in range(reads_count):
            start_s = time.perf_counter()
            cursor.execute(query.encode())
            seconds.append(time.perf_counter() - start_s)
    return statistics.median(seconds)


def measure_join(ours: Client, sizes: Sizes) -> Figure:
    """COPY into a stream with a grouped view, and with the same view over a join with 100,000 customers, rows per second."""
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
    rate, joined_rate = statistics.median(alone), statistics.median(joined)
    detail = f"{joined_rate:,.0f} / {rate:,.0f}"
    name = "COPY text, view with a join of 100,000 customers, rows/s"
    return Figure(name, detail, joined_rate / rate, "of the view alone", 0.7, True)


def interleaved(
    runs_count: int, ours: Callable[[], float], theirs: Callable[[], float]
) -> tuple[list[float], list[float]]:
    """Return what both measure in turns, so that a slow moment of the machine meets both."""
    pairs = [(ours(), theirs()) for _ in range(runs_count)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def compared(name: str, ours: list[float], theirs: list[float], threshold: float) -> Figure:
    """Return the figure of a rate that is compared with PostgreSQL's."""
    our_rate, their_rate = statistics.median(ours), statistics.median(theirs)
    detail = f"{our_rate:,.0f} / {their_rate:,.0f}"
    return Figure(name, detail, our_rate / their_rate, "of PostgreSQL", threshold, True)


def report(figures: Sequence[Figure], checksum: str, runs_count: int) -> str:
    """Return the table in Markdown."""
    lines = ["| what | measured | result | wanted | |", "|---|---|---|---|---|"]
    for figure in figures:
        bound = f"{'at least' if figure.more_is_better else 'under'} {figure.threshold:g}"
        verdict = "holds" if figure.holds else "MISSED"
        lines.append(f"| {figure.name} | {figure.detail} | {figure.value:.2f} {figure.unit} | {bound} | {verdict} |")
    lines += ["", f"Median of {runs_count} interleaved runs. Checksum: {checksum}.", f"Machine: {machine()}."]
    return "\n".join(lines)


def machine() -> str:
    """Return what the figures were measured on."""
    models = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory_kb = re.findall(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    memory = f"{int(memory_kb[0]) / 1024**2:.0f} GB" if memory_kb else "unknown memory"
    return (
        f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores, {memory}, "
        f"Linux {platform.release()}, Python {platform.python_version()}"
    )


if __name__ == "__main__":
    sys.exit(main())
