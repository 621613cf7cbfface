"""DuckDB, as a peer of the race.

Calls: run(sql) returns nothing, rows(sql) returns lists of values; cpu_s(sql) runs a statement and
returns the processor's seconds that it took. Tables are kept in the folder that the process is
given.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import duckdb

from bench.peers.line_protocol import serve


def main(folder: str) -> None:
    """Serve until standard input ends."""
    database = duckdb.connect(f"{folder}/race.duckdb")

    def run(sql: str) -> None:
        database.execute(sql)

    def rows(sql: str) -> list[list[Any]]:
        return [list(row) for row in database.execute(sql).fetchall()]

    def cpu_s(sql: str) -> float:
        began_s = time.process_time()
        database.execute(sql).fetchall()
        return time.process_time() - began_s

    serve(f"DuckDB {duckdb.__version__}", {"run": run, "rows": rows, "cpu_s": cpu_s}, (duckdb.Error,))


if __name__ == "__main__":
    main(sys.argv[1])
