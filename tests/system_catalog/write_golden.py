"""Writes golden/: psql's backslash commands over schema.sql, with the queries that they send and
what PostgreSQL 15 shows, and its answers to the queries of tools.

`python -m tests.system_catalog.write_golden` starts a PostgreSQL of its own, whose superuser is
called as ours is.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psycopg

from tests.oracle.postgres import PostgresCluster
from tests.system_catalog.tool_queries import Asked, dsn, queries, tools

FOLDER = Path(__file__).parent
GOLDEN = FOLDER / "golden"
USER = DATABASE = "antumbra"
# What a stream needs in PostgreSQL.
SERVER = "CREATE FOREIGN DATA WRAPPER antumbra", "CREATE SERVER stream FOREIGN DATA WRAPPER antumbra"
# What \watch shows above each answer.
WATCHED_AT = re.compile(r"\w{3} \w{3} +\d+ [\d:]+ \d{4} \(every")
QUERY_BEGIN, QUERY_END = "********* QUERY **********", "**************************"


def commands() -> list[str]:
    """Return the commands, and after them the scripts, which psql reads from its input."""
    scripts = (FOLDER / "psql_scripts.txt").read_text().strip("\n").split("\n\n")
    return [*single_commands(), *scripts]


def single_commands() -> list[str]:
    """Return the commands that psql is called with."""
    return (FOLDER / "psql_commands.txt").read_text().splitlines()


def schema() -> list[str]:
    """Return the statements that make the relations."""
    return [text.strip() for text in (FOLDER / "schema.sql").read_text().split(";\n") if text.strip()]


def psql(port: int, command: str, *options: str) -> str:
    """Return what psql shows for a command or a script, errors too; without times of the day, and
    lines of PostgreSQL's own source.
    """
    arguments = ["psql", "-X", *options, "-h", "127.0.0.1", "-p", str(port), "-U", USER, DATABASE]
    given = None if command in single_commands() else command + "\n"
    if given is None:
        arguments += ["-c", command]
    found = subprocess.run(
        arguments, input=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=60
    )
    lines = [line.rstrip() for line in found.stdout.splitlines() if not line.startswith("LOCATION:")]
    return WATCHED_AT.sub("(every", "\n".join(lines))


@contextmanager
def same_cluster() -> Iterator[PostgresCluster]:
    """A PostgreSQL with the relations of schema.sql, whose superuser and database have our
    names.
    """
    with tempfile.TemporaryDirectory(prefix="antumbra-golden-") as folder:
        Path(folder).chmod(0o755)
        cluster = PostgresCluster(Path(folder) / "postgres")
        cluster.start()
        try:
            with cluster.connect() as connection:
                connection.execute("CREATE ROLE other SUPERUSER LOGIN")
            start = f"host=127.0.0.1 port={cluster.port} dbname=postgres user="
            with psycopg.connect(start + "other", autocommit=True) as connection:
                connection.execute(f"ALTER ROLE postgres RENAME TO {USER}")
            with psycopg.connect(start + USER, autocommit=True) as connection:
                connection.execute("DROP ROLE other")
                connection.execute(f"CREATE DATABASE {DATABASE}")
            with psycopg.connect(dsn(cluster.port), autocommit=True) as connection:
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
            rows.append({"command": command, "shown": shown, "queries": sent(psql(cluster.port, command, "-E"))})
        write("psql", rows)
        for tool in tools():
            # Each has a session of its own: some change settings.
            with psycopg.connect(dsn(cluster.port), autocommit=True) as connection:
                asked = Asked(connection)
                write(tool, [{"title": title, **asdict(asked.answer(text))} for title, text in queries(tool).items()])


def write(name: str, rows: list[dict[str, Any]]) -> None:
    """Write a file, a row a line."""
    lines = ",\n".join(json.dumps(row) for row in rows)
    (GOLDEN / f"{name}.json").write_text(f"[\n{lines}\n]\n")


def sent(shown: str) -> list[str]:
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
