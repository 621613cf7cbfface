"""ClickHouse in process (chdb), as a peer of the race.

Calls: run(sql) returns nothing, rows(sql) returns lists of values. Tables are kept in the folder
that the process is given.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from chdb import session

from bench.peers.line_protocol import serve


def main(folder: str) -> None:
    """Serve until standard input ends."""
    database = session.Session(f"{folder}/data")
    database.query("CREATE DATABASE IF NOT EXISTS race")
    database.query("USE race")

    def run(sql: str) -> None:
        database.query(sql)

    def rows(sql: str) -> list[list[Any]]:
        lines = database.query(sql, "JSONCompactEachRow").bytes().decode().splitlines()
        return [json.loads(line) for line in lines]

    serve(f"ClickHouse {rows('SELECT version()')[0][0]}", {"run": run, "rows": rows}, (RuntimeError,))


if __name__ == "__main__":
    main(sys.argv[1])
