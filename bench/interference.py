"""Do refreshes hold up inserts? Single INSERTs at half of the highest rate, with and without a
reader who refreshes without pause.

pgbench sends at fixed times, whatever has been answered (--rate), and a latency counts from the
time at which an INSERT was to be sent. The view ranks its groups, so each refresh goes through
Spark, which has one thread of the lowest priority. Minutes without refreshes and with them take
turns, twice. Prints a table with thresholds and a checksum; `--write` puts it into bench/README.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.clients import Inserting
from bench.figures import Figure, report, told, write_report
from bench.workload import CREATE_STREAM, INSERT_SCRIPT, RANKED_QUERY
from engine.demo.child import Child, child_server
from tests.oracle.postgres import find_programs

OPTIONS = ("--set", "spark_threads=1", "--set", "spark_idle_priority=on")
READ = "SELECT count(*) FROM ranked"
CONNECTIONS_COUNT = 4


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured.

    The tests use tiny numbers. trial_s: of the highest rate; phase_s: of each turn; turns: of both.
    """

    trial_s: int = 10
    phase_s: int = 60
    turns: int = 2


@dataclass(frozen=True, slots=True)
class Found:
    """Latencies in milliseconds without and with refreshes, the rate, how many refreshes there
    were, and the rows.
    """

    alone_ms: list[float]
    beside_ms: list[float]
    rate: float
    refreshes: int
    rows_count: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return 1 if a threshold is missed."""
    parser = argparse.ArgumentParser(prog="bench.interference", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--seconds", type=int, default=Sizes().phase_s, help="of each turn (default 60)")
    parser.add_argument("--write", action="store_true", help="put the table into bench/README.md")
    options = parser.parse_args(arguments)
    found = measure(Sizes(phase_s=options.seconds))
    known = told(*figures(found))
    text = report(known, f"{found.rows_count} rows, all counted; {found.refreshes} refreshes", Sizes().turns)
    print(text)
    if options.write:
        write_report(text, "interference")
    return 0 if all(figure.holds for figure in known) else 1


def measure(sizes: Sizes) -> Found:
    """Insert in turns. Fails when the view has not counted every INSERT."""
    with (
        tempfile.TemporaryDirectory(prefix="antumbra-bench-") as name,
        child_server(Path(name) / "data", options=OPTIONS) as child,
    ):
        folder = Path(name)
        script = folder / "insert.sql"
        script.write_text(INSERT_SCRIPT)
        with psycopg.connect(child.dsn, autocommit=True) as client:
            client.execute(CREATE_STREAM)
            client.execute(f"CREATE VIEW ranked AS {RANKED_QUERY}".encode())
            for key in range(1000):
                client.execute(f"INSERT INTO events VALUES ({key}, 1.00, 1, 'x', '2026-05-01 12:00:00')".encode())
            for _ in range(20):
                # A Spark that has just begun is slower; not what is asked here.
                client.execute("INSERT INTO events VALUES (1, 1.00, 1, 'x', '2026-05-01 12:00:00')")
                client.execute(READ.encode())
            trial = Inserting(child.port, "antumbra", script, "prepared", CONNECTIONS_COUNT)
            highest, inserted = trial.run(sizes.trial_s)
            rate = highest / 2
            latencies: dict[bool, list[float]] = {False: [], True: []}
            refreshes = 0
            for turn in range(2 * sizes.turns):
                refreshing = turn % 2 == 1
                ends = threading.Event()
                with ThreadPoolExecutor(1) as threads:
                    reader = threads.submit(refresh, child, ends) if refreshing else None
                    found = insert(child, script, folder / f"turn{turn}", rate, sizes.phase_s)
                    ends.set()
                    refreshes += 0 if reader is None else reader.result()
                latencies[refreshing] += found
                inserted += len(found)
            counted = client.execute("SELECT sum(events) FROM ranked").fetchone()
            assert counted is not None and int(str(counted[0])) == inserted + 1020, f"{counted} of {inserted + 1020}"
            return Found(latencies[False], latencies[True], rate, refreshes, inserted)


def insert(child: Child, script: Path, log: Path, rate: float, seconds: int) -> list[float]:
    """Return the latency of each INSERT in milliseconds, from the time at which it was to be
    sent.
    """
    log.mkdir()
    command = [str(find_programs() / "pgbench"), "-h", "127.0.0.1", "-p", str(child.port), "-U", "antumbra", "-n"]
    command += [
        "-M",
        "prepared",
        "-c",
        str(CONNECTIONS_COUNT),
        "-T",
        str(seconds),
        "-R",
        f"{rate:.0f}",
        "-f",
        str(script),
        "-l",
    ]
    result = subprocess.run([*command, "antumbra"], capture_output=True, text=True, check=False, cwd=log)
    if result.returncode != 0:
        raise RuntimeError(f"pgbench failed: {result.stderr}")
    return [latency for file in sorted(log.iterdir()) for latency in latencies_of(file.read_text())]


def latencies_of(text: str) -> list[float]:
    """Return the milliseconds in a log of pgbench: its third column, in microseconds."""
    return [int(line.split()[2]) / 1000 for line in text.splitlines()]


def refresh(child: Child, ends: threading.Event) -> int:
    """Read the view without pause; return how often."""
    count = 0
    with psycopg.connect(child.dsn, autocommit=True) as client:
        while not ends.is_set():
            client.execute(READ.encode())
            count += 1
    return count


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that so large a share of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def figures(found: Found) -> list[Figure]:
    """Return the ratio of the 99th percentiles, and the longest INSERT beside refreshes."""
    alone, beside = (percentile(values, 0.99) for values in (found.alone_ms, found.beside_ms))
    detail = f"{beside:.2f} ms / {alone:.2f} ms at {found.rate:,.0f} INSERTs/s"
    return [
        Figure("99% of INSERTs beside refreshes, over those without", detail, beside / alone, "x", 3, False),
        Figure(
            "longest INSERT beside refreshes",
            f"{max(found.alone_ms):.0f} ms without",
            max(found.beside_ms),
            "ms",
            250,
            False,
        ),
    ]


if __name__ == "__main__":
    sys.exit(main())
