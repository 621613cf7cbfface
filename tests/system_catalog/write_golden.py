"""Writes golden/psql.json: psql's backslash commands over schema.sql, with the queries that they send and what PostgreSQL 15 shows.

`python -m tests.system_catalog.write_golden` starts a PostgreSQL of its own, whose superuser is called as ours is.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.oracle.postgres import PostgresCluster

FOLDER = Path(__file__).parent
GOLDEN = FOLDER / "golden"
USER = DATABASE = "antumbra"
# What a stream needs in PostgreSQL.
SERVER = "CREATE FOREIGN DATA WRAPPER antumbra", "CREATE SERVER stream FOREIGN DATA WRAPPER antumbra"
QUERY_BEGIN, QUERY_END = "********* QUERY **********", "**************************"


def commands() -> list[str]:
    """Return the commands."""
    return (FOLDER / "psql_commands.txt").read_text().splitlines()


def schema() -> list[str]:
    """Return the statements that make the relations."""
    return [text.strip() for text in (FOLDER / "schema.sql").read_text().split(";\n") if text.strip()]


def psql(port: int, command: str, *options: str) -> str:
    """Return what psql shows for a command, errors too."""
    arguments = ["psql", "-X", *options, "-h", "127.0.0.1", "-p", str(port), "-U", USER, DATABASE, "-c", command]
    found = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return "\n".join(line.rstrip() for line in found.stdout.splitlines())


@contextmanager
def same_cluster() -> Iterator[PostgresCluster]:
    """A PostgreSQL with the relations of schema.sql, whose superuser and database have our names."""
    with tempfile.TemporaryDirectory(prefix="antumbra-golden-") as folder:
        Path(folder).chmod(0o755)
        cluster = PostgresCluster(Path(folder) / "postgres")
        cluster.start()
        try:
            with cluster.connect() as connection:
                connection.execute("CREATE ROLE other SUPERUSER LOGIN")
            dsn = f"host=127.0.0.1 port={cluster.port} dbname=postgres user="
            with psycopg.connect(dsn + "other", autocommit=True) as connection:
                connection.execute(f"ALTER ROLE postgres RENAME TO {USER}")
            with psycopg.connect(dsn + USER, autocommit=True) as connection:
                connection.execute("DROP ROLE other")
                connection.execute(f"CREATE DATABASE {DATABASE}")
            with psycopg.connect(
                dsn.replace("dbname=postgres", f"dbname={DATABASE}") + USER, autocommit=True
            ) as connection:
                for text in (*SERVER, *schema()):
                    connection.execute(text)
            yield cluster
        finally:
            cluster.stop()


def main() -> None:
    """Write the file."""
    GOLDEN.mkdir(exist_ok=True)
    rows = []
    with same_cluster() as cluster:
        for command in commands():
            shown = psql(cluster.port, command)
            rows.append({"command": command, "shown": shown, "queries": queries(psql(cluster.port, command, "-E"))})
    lines = ",\n".join(json.dumps(row) for row in rows)
    (GOLDEN / "psql.json").write_text(f"[\n{lines}\n]\n")


def queries(shown: str) -> list[str]:
    """Return the queries that psql -E shows."""
    found: list[str] = []
    current: list[str] | None = None
    for line in shown.splitlines():
        if line == QUERY_BEGIN:
            current = []
        elif line == QUERY_END and current is not None:
            found.append("\n".join(current))
            current = None
        elif current is not None:
            current.append(line)
    return found


if __name__ == "__main__":
    main()
