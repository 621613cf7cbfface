"""PySpark as one would set it up beside us: lineitem is the CSV itself, its schema given, and the
other tables are Parquet.

Enters: the folder of TPC-H's CSV files, queries. Leaves: rows. It runs in this process with a JVM
of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from engine.spark.java import find_java
from tests.tpch.workload import TABLES

STREAM = "lineitem"
# PostgreSQL's names of types that Spark has under another name.
TYPES = {"text": "string", r"varchar\(\d+\)": "string", r"char\(\d+\)": "string", "numeric": "decimal"}
CONSTRAINTS = r" PRIMARY KEY(?: \([^)]*\))?| NOT NULL"


def spark_schema(columns: str) -> str:
    """Return a table's columns as Spark's reader takes them, without constraints."""
    text = re.sub(r",\s*PRIMARY KEY \([^)]*\)", "", columns)
    text = re.sub(CONSTRAINTS, "", text)
    for name, spark_name in TYPES.items():
        text = re.sub(rf"\b{name}", spark_name, text)
    return " ".join(text.split())


def csv_rows(session: Any, table: str, files: Sequence[Path]) -> Any:
    """Return the rows of a table's CSV, which are read when they are asked for."""
    return session.read.schema(spark_schema(TABLES[table])).option("header", True).csv([str(file) for file in files])


def use_stream_files(session: Any, files: Sequence[Path]) -> None:
    """Let queries read lineitem of these files."""
    csv_rows(session, STREAM, files).createOrReplaceTempView(STREAM)


@contextmanager
def spark_tables(data: Path, folder: Path, cores_count: int) -> Iterator[Any]:
    """Open a session that knows all tables but lineitem by name, for which see `use_stream_files`.

    folder: takes the Parquet files, and what Spark writes for itself.
    """
    os.environ["JAVA_HOME"] = str(find_java())
    builder: Any = SparkSession.builder
    settings = {
        "spark.driver.memory": "4g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(folder / "spark"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": str(cores_count),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.master(f"local[{cores_count}]").appName("stream_relation").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        for table in TABLES:
            if table != STREAM:
                csv_rows(session, table, [data / f"{table}.csv"]).write.mode("overwrite").parquet(str(folder / table))
                session.read.parquet(str(folder / table)).createOrReplaceTempView(table)
        yield session
    finally:
        session.stop()
