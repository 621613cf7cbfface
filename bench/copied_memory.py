"""What a long \\copy costs in memory: psql sends a CSV of a given size into a stream and into a table, and the server's memory is watched.

    python -m bench.copied_memory --megabytes 1000

Leaves: a line each with the greatest resident memory before and while it ran. Exits with 1 where it grew by more than `--growth` megabytes.
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
from engine.child import Child, child_server

MEGABYTE = 1_000_000
GROWTH_MB_MAX = 200
WATCH_S = 0.05
ROWS_PER_BLOCK = 10_000
TARGETS = (
    (
        "stream",
        "CREATE FOREIGN TABLE copied (id bigint, name text, price numeric(10,2)) SERVER stream OPTIONS (capacity '65536')",
    ),
    ("table", "CREATE TABLE copied (id bigint, name text, price numeric(10,2))"),
)


class Watch(threading.Thread):
    """Reads a process's resident memory again and again. peak_kb: the greatest so far."""

    def __init__(self, process_id: int) -> None:
        super().__init__(daemon=True)
        self.peak_kb = 0
        self._status = Path(f"/proc/{process_id}/status")
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(WATCH_S):
            self.peak_kb = max(self.peak_kb, resident_kb(self._status))

    def stop(self) -> None:
        """End the watch."""
        self._over.set()
        self.join()


def resident_kb(status: Path) -> int:
    """Return the resident memory that /proc tells."""
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1])


def write_csv(path: Path, megabytes: int) -> int:
    """Write lines of about 50 bytes; return how many."""
    count = 0
    with path.open("w") as file:
        while file.tell() < megabytes * MEGABYTE:
            lines = (
                f"{row},visitor number {row * 7919 % 1_000_003},{row % 10_000}.25\n"
                for row in range(count, count + ROWS_PER_BLOCK)
            )
            file.write("".join(lines))
            count += ROWS_PER_BLOCK
    return count


def growth_mb(child: Child, target: tuple[str, str], csv: Path, rows_count: int) -> float:
    """Copy the file with psql; return by how many megabytes the server's memory grew. Prints a line."""
    what, create = target
    with psycopg.connect(child.dsn, autocommit=True) as connection:
        connection.execute(create.encode())
        before_kb = resident_kb(Path(f"/proc/{child.process_id}/status"))
        watch = Watch(child.process_id)
        watch.start()
        command = f"\\copy copied from '{csv}' with (format csv)"
        psql = [*child.psql.split(), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", command]
        subprocess.run(psql, check=True)
        watch.stop()
        found = connection.execute("SELECT count(*) FROM copied").fetchone()
        assert found is not None and found[0] == (rows_count if what == "table" else min(rows_count, 65_536)), found
    grown = (watch.peak_kb - before_kb) / 1000
    print(
        f"{what}: {rows_count} rows, {before_kb / 1000:.0f} MB before, at most {watch.peak_kb / 1000:.0f} MB, {grown:.0f} MB more"
    )
    return grown


def main() -> int:
    """Run both copies, each with a server of its own."""
    parser = argparse.ArgumentParser(prog="python -m bench.copied_memory")
    parser.add_argument("--megabytes", type=int, default=1000, help="size of the CSV")
    parser.add_argument("--growth", type=int, default=GROWTH_MB_MAX, help="megabytes that the server may grow by")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        csv = Path(folder, "copied.csv")
        rows_count = write_csv(csv, arguments.megabytes)
        grown = []
        for target in TARGETS:
            with child_server(Path(folder, target[0]), options=NO_SPARK) as child:
                grown.append(growth_mb(child, target, csv, rows_count))
    return int(max(grown) > arguments.growth)


if __name__ == "__main__":
    sys.exit(main())
