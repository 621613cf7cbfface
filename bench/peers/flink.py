"""Flink's Table API, as a peer of the race.

Calls: keep(file, columns, views) reads the integers of a CSV file with a header to its end, as a
stream, and keeps a view for each (key, aggregate, column) meanwhile; each call is a job of its own.
"""

from __future__ import annotations

from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment
from pyflink.util.exceptions import TableException

from bench.peers.line_protocol import serve

CORES_COUNT = 2


def keep(file: str, columns: list[str], views: list[tuple[str, str, str]]) -> None:
    """Run a job."""
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.get_config().set("parallelism.default", str(CORES_COUNT))
    declared = ", ".join(f"{column} INT" for column in columns)
    options = f"'connector' = 'filesystem', 'path' = '{Path(file).as_uri()}', 'format' = 'csv'"
    environment.execute_sql(f"CREATE TABLE points ({declared}) WITH ({options}, 'csv.ignore-parse-errors' = 'true')")
    statements = environment.create_statement_set()
    for number, (key, aggregate, column) in enumerate(views):
        environment.execute_sql(f"CREATE TABLE v{number} (k INT, n BIGINT, x BIGINT) WITH ('connector' = 'blackhole')")
        query = f"SELECT {key}, count(*), CAST({aggregate}({column}) AS BIGINT) FROM points GROUP BY {key}"
        statements.add_insert_sql(f"INSERT INTO v{number} {query}")
    if not views:
        environment.execute_sql(f"CREATE TABLE bare ({declared}) WITH ('connector' = 'blackhole')")
        statements.add_insert_sql("INSERT INTO bare SELECT * FROM points")
    statements.execute().wait()


if __name__ == "__main__":
    serve("Flink 2.3", {"keep": keep}, (TableException,))
