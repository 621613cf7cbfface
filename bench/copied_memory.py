r"""The memory that a long \copy takes: psql sends a CSV of a given size into a stream, or a table,
and the server's memory is watched.

    python -m bench.copied_memory --megabytes 1000 --into stream

Leaves: a line with the greatest resident memory before and while it ran. Exits with 1 where it grew
by more than `--growth` megabytes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import psycopg

from bench.workload import NO_SPARK
from engine.demo.child import Child, child_server

MEGABYTE = 1_000_000
GROWTH_MB_MAX = 200
WATCH_S = 0.05
ROWS_PER_BLOCK = 10_000
RING_ROWS = 65_536
COLUMNS = "(id bigint, name text, price numeric(10,2))"
TARGETS = {
    "stream": f"CREATE FOREIGN TABLE copied {COLUMNS} SERVER stream OPTIONS (capacity '{RING_ROWS}')",
    "table": f"CREATE TABLE copied {COLUMNS}",
}


class Watch(threading.Thread):
    """Reads a process's resident memory again and again. peak_kb: the greatest so far."""

    def __init__(self, process_id: int) -> None:
        super().__init__(daemon=True)
        self.peak_kb = 0
        self._process_id = process_id
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(WATCH_S):
            self.peak_kb = max(self.peak_kb, resident_kb(self._process_id))

    def stop(self) -> None:
        """End the watch."""
        self._over.set()
        self.join()


def resident_kb(process_id: int) -> int:
    """Return the resident memory that /proc tells."""
    lines = Path(f"/proc/{process_id}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1])


def write_csv(path: Path, megabytes: float) -> int:
    """Write lines of about 38 bytes; return how many."""
    count = 0
    with path.open("w") as file:
        while file.tell() < megabytes * MEGABYTE:
            rows = range(count, count + ROWS_PER_BLOCK)
            file.write("".join(f"{row},visitor number {row * 7919 % 1_000_003},{row % 10_000}.25\n" for row in rows))
            count += ROWS_PER_BLOCK
    return count


def growth_mb(child: Child, into: str, csv: Path, rows_count: int) -> float:
    """Copy the file with psql; return by how many megabytes the server's memory grew.

    Prints a line.
    """
    with psycopg.connect(child.dsn, autocommit=True) as connection:
        connection.execute(TARGETS[into].encode())
        before_kb = resident_kb(child.process_id)
        watch = Watch(child.process_id)
        watch.start()
        command = f"\\copy copied from '{csv}' with (format csv)"
        subprocess.run([*child.psql.split(), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", command], check=True)
        watch.stop()
        found = connection.execute("SELECT count(*) FROM copied").fetchone()
    assert found == (rows_count if into == "table" else min(rows_count, RING_ROWS),), found
    grown = (watch.peak_kb - before_kb) / 1000
    print(f"{into}: {rows_count} rows, {before_kb / 1000:.0f} MB before, at most {grown:.0f} MB more")
    return grown


def main() -> int:
    """Run the copy with a server of its own."""
    parser = argparse.ArgumentParser(prog="python -m bench.copied_memory")
    parser.add_argument("--megabytes", type=float, default=1000, help="size of the CSV")
    parser.add_argument("--growth", type=int, default=GROWTH_MB_MAX, help="megabytes that the server may grow by")
    parser.add_argument("--into", choices=sorted(TARGETS), default="stream", help="what is filled")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        csv = Path(folder, "copied.csv")
        rows_count = write_csv(csv, arguments.megabytes)
        with child_server(Path(folder, "data"), options=NO_SPARK) as child:
            grown = growth_mb(child, arguments.into, csv, rows_count)
    return int(grown > arguments.growth)


if __name__ == "__main__":
    sys.exit(main())
