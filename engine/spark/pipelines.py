"""Pipelines in Spark, each by one call into the JVM; rows are Arrow files in Spark's own folder.

PySpark's `createDataFrame`, `sql` and `toArrow` make some forty calls, and take six milliseconds of
the interpreter, for which INSERTs would wait; `spark_pipelines.java` does the same in the JVM. Must
not know relations, views of ours, nor errors of clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

# As in PySpark: a batch becomes a partition where the rows stay Arrow.
BATCH_ROWS_MAX = 10_000


class SparkPipelines:
    """The pipelines of one JVM. folder: exists, and no other code writes into it."""

    def __init__(self, session: Any, folder: Path) -> None:
        """Look up the JVM's methods, each of which takes a call of its own."""
        self._folder = folder
        self._session = session._jsparkSession
        methods = session._jvm.antumbra.SparkPipelines
        self._run, self._cancel = methods.run, methods.cancel
        self._make_view, self._drop_view = methods.makeView, methods.dropView

    def make_view(self, name: str, rows: pa.Table) -> None:
        """Make `rows` known to SQL under `name`, which is also the name of a file meanwhile."""
        file = self._folder / name
        try:
            schema = write_rows(file, rows)
            self._make_view(self._session, name, schema, str(file))
        finally:
            file.unlink(missing_ok=True)

    def drop_view(self, name: str) -> None:
        """Drop a view of `make_view`."""
        self._drop_view(self._session, name)

    def run(self, job: str, inputs: Mapping[str, pa.Table], sql: str) -> pa.Table:
        """Return the rows of `sql` over views; those of `inputs` are made for this call alone.

        Names and `job` are names of files as well. Raises what PySpark raises: PySparkException,
        Py4JJavaError, and Py4JError or OSError when the JVM is gone.
        """
        files = [self._folder / name for name in (job, *inputs)]
        try:
            lines: list[str] = []
            for file, rows in zip(files[1:], inputs.values(), strict=True):
                lines += [file.name, write_rows(file, rows)]
            self._run(self._session, job, str(self._folder), "\n".join(lines), sql)
            # Read, not mapped: a kept answer is to be in memory.
            with pa.OSFile(str(files[0])) as source, pa.ipc.open_stream(source) as reader:
                return reader.read_all()
        finally:
            for file in files:
                file.unlink(missing_ok=True)

    def cancel(self, job: str) -> None:
        """Stop `run` of `job`, from another thread; it raises then, unless Spark has done its
        part.
        """
        self._cancel(self._session, job)


def write_rows(file: Path, rows: pa.Table) -> str:
    """Write rows as an Arrow stream, in the types that Spark reads.

    Return its schema for them as JSON.
    """
    schema, types = spark_schema(rows.schema)
    if rows.schema != types:
        rows = rows.cast(types)
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, types) as writer:
        writer.write_table(rows, BATCH_ROWS_MAX)
    return schema


@lru_cache(maxsize=256)
def spark_schema(schema: pa.Schema) -> tuple[str, pa.Schema]:
    """Return Spark's schema for Arrow rows, as JSON, and the Arrow schema in which it reads
    them.
    """
    known = from_arrow_schema(schema, prefer_timestamp_ntz=True)
    return known.json(), to_arrow_schema(known, timezone="UTC")
