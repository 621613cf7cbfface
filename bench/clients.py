"""The clients that measure a server, ours or PostgreSQL: a COPY through psycopg, and pgbench with
one script.

Leaves: seconds, and rates with the number of rows acknowledged.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.workload import COPY_EVENTS
from tests.oracle.postgres import find_programs

PIECE_BYTES = 64 * 1024

Client = psycopg.Connection[tuple[object, ...]]


def copy_in(connection: Client, text: bytes, statement: str = COPY_EVENTS) -> float:
    """Return the seconds that one COPY took."""
    view = memoryview(text)
    start_s = time.perf_counter()
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        for offset in range(0, len(view), PIECE_BYTES):
            copy.write(bytes(view[offset : offset + PIECE_BYTES]))
    return time.perf_counter() - start_s


@dataclass(frozen=True, slots=True)
class Inserting:
    """pgbench with a script of one INSERT. mode: pgbench's query mode; options: what it passes to
    the server as it connects.
    """

    port: int
    database: str
    script: Path
    mode: str
    connections_count: int
    options: str = ""

    def run(self, seconds: int) -> tuple[float, int]:
        """Return the transactions per second that pgbench reports, and how many there were.

        Raises RuntimeError when one fails.
        """
        command = [str(find_programs() / "pgbench"), *self._arguments(), "-T", str(seconds), self.database]
        environment = {**os.environ, "PGOPTIONS": self.options}
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        rate = re.search(r"tps = ([0-9.]+)", result.stdout)
        count = re.search(r"actually processed: (\d+)", result.stdout)
        if result.returncode != 0 or rate is None or count is None:
            raise RuntimeError(f"pgbench failed: {result.stderr}")
        return float(rate[1]), int(count[1])

    def rate(self, seconds: int) -> float:
        """Return the transactions per second alone."""
        return self.run(seconds)[0]

    def _arguments(self) -> Sequence[str]:
        threads = str(min(2, self.connections_count))
        load = ["-n", "-M", self.mode, "-c", str(self.connections_count), "-j", threads, "-f", str(self.script)]
        return [*load, "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]
