"""Spark with Structured Streaming, as a peer of the race.

Calls: run(sql) returns nothing, rows(sql) returns lists of values. source(name, schema, folder)
names a stream of the files of a folder, tab-separated; keep(name, sql) keeps a query over sources
in a memory sink, in complete mode, as the table of that name; advance() waits until the sinks have
all files.
"""

from __future__ import annotations

import sys
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from bench.peers.line_protocol import Calls, serve

CORES_COUNT = 2


def main(folder: str) -> None:
    """Serve until standard input ends."""
    builder: Any = SparkSession.builder
    settings = {
        "spark.driver.memory": "6g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": f"{folder}/spark",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.sql.shuffle.partitions": str(CORES_COUNT),
        "spark.sql.streaming.checkpointLocation": f"{folder}/checkpoints",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.master(f"local[{CORES_COUNT}]").appName("race").getOrCreate()
    queries: list[Any] = []

    def run(sql: str) -> None:
        session.sql(sql)

    def rows(sql: str) -> list[list[Any]]:
        return [list(row) for row in session.sql(sql).collect()]

    def source(name: str, schema: str, files: str) -> None:
        session.readStream.schema(schema).option("sep", "\t").csv(files).createOrReplaceTempView(name)

    def keep(name: str, sql: str) -> None:
        writer = session.sql(sql).writeStream.outputMode("complete").format("memory").queryName(name)
        queries.append(writer.start())

    def advance() -> None:
        for query in queries:
            query.processAllAvailable()

    calls: Calls = {"run": run, "rows": rows, "source": source, "keep": keep, "advance": advance}
    serve(f"Spark {session.version}", calls, (PySparkException,))
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1])
