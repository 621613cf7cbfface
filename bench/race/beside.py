"""The contest of refreshes beside INSERTs: single INSERTs at half of the highest rate, with and
without a reader who refreshes without pause.

pgbench sends at fixed times, whatever has been answered (--rate), and a latency counts from the
time at which an INSERT was to be sent. The view ranks its groups, so each refresh goes through
Spark, which has one thread of the lowest priority. Server and pgbench are in one session, since
Linux's priorities count within a session (`kernel.sched_autogroup_enabled`).
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg

from bench.clients import Inserting
from bench.figures import percentile
from bench.race.measuring import MILLISECONDS, Arena
from bench.race.servers import ANTUMBRA, Ours, antumbra
from bench.workload import CREATE_STREAM, INSERT_SCRIPT, RANKED_QUERY, WITH_SPARK
from tests.oracle.postgres import find_programs

OPTIONS = (*WITH_SPARK, "--set", "spark_threads=1", "--set", "spark_idle_priority=on")
READ = "SELECT count(*) FROM ranked"
ONE_ROW = "INSERT INTO events VALUES ({key}, 1.00, 1, 'x', '2026-05-01 12:00:00')"
KEYS_COUNT = 1000
WARM_READS = 20
CONNECTIONS_COUNT = 4
TRIAL_S_PER_S = 5
TURN_S_PER_S = 15
ALONE = f"{ANTUMBRA}, without refreshes"


def inserts(arena: Arena) -> None:
    """The 99th percentile and the longest of the INSERTs of each turn. Fails when the view has not
    counted every INSERT.
    """
    views = (CREATE_STREAM, f"CREATE VIEW ranked AS {RANKED_QUERY}")
    script = arena.folder / "insert.sql"
    script.write_text(INSERT_SCRIPT)
    with antumbra(arena.folder, views, OPTIONS) as ours:
        for key in range(KEYS_COUNT):
            ours.client.execute(ONE_ROW.format(key=key).encode())
        for _ in range(WARM_READS):
            # A Spark that has just begun is slower; not what is asked here.
            ours.client.execute(ONE_ROW.format(key=1).encode())
            ours.client.execute(READ.encode())
        trial = Inserting(ours.child.port, "antumbra", script, "prepared", CONNECTIONS_COUNT)
        highest, inserted = trial.run(TRIAL_S_PER_S * arena.sizes.seconds)

        def turn(refreshing: bool) -> dict[str, float]:
            nonlocal inserted
            ends = threading.Event()
            with ThreadPoolExecutor(1) as threads:
                reader = threads.submit(refresh, ours, ends) if refreshing else None
                try:
                    found = insert(ours, script, highest / 2, TURN_S_PER_S * arena.sizes.seconds)
                finally:
                    ends.set()
                assert reader is None or reader.result() > 0
            inserted += len(found)
            return {", 99%": percentile(found, 0.99), ", longest": max(found)}

        measures = {ANTUMBRA: lambda: turn(True), ALONE: lambda: turn(False)}
        arena.race("INSERTs beside refreshes", MILLISECONDS, measures)
        counted = ours.client.execute("SELECT sum(events) FROM ranked").fetchone()
        expected = inserted + KEYS_COUNT + WARM_READS
        assert counted is not None and int(str(counted[0])) == expected, f"{counted} of {expected}"


def insert(ours: Ours, script: Path, rate: float, seconds: int) -> list[float]:
    """Return the latency of each INSERT in milliseconds, from the time at which it was to be
    sent.
    """
    with tempfile.TemporaryDirectory() as log:
        command = [str(find_programs() / "pgbench"), "-h", "127.0.0.1", "-p", str(ours.child.port), "-U", "antumbra"]
        command += ["-n", "-M", "prepared", "-c", str(CONNECTIONS_COUNT), "-T", str(seconds), "-R", f"{rate:.0f}"]
        command += ["-f", str(script), "-l", "antumbra"]
        result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=log)
        if result.returncode != 0:
            raise RuntimeError(f"pgbench failed: {result.stderr}")
        return [latency for file in sorted(Path(log).iterdir()) for latency in latencies_of(file.read_text())]


def latencies_of(text: str) -> list[float]:
    """Return the milliseconds in a log of pgbench: its third column, in microseconds."""
    return [int(line.split()[2]) / 1000 for line in text.splitlines()]


def refresh(ours: Ours, ends: threading.Event) -> int:
    """Read the view without pause; return how often."""
    count = 0
    with psycopg.connect(ours.child.dsn, autocommit=True) as client:
        while not ends.is_set():
            client.execute(READ.encode())
            count += 1
    return count


PARTS: Mapping[str, Callable[[Arena], None]] = {"inserts": inserts}
