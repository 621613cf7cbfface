"""Pipelines in Spark, each by one call into the JVM; rows are Arrow files in Spark's own folder.

PySpark's `createDataFrame`, `sql` and `toArrow` make some forty calls, and take six milliseconds of
the interpreter, for which INSERTs would wait; `spark_pipelines.java` does the same in the JVM. A
query is parsed, analysed and planned once. Must not know relations, views of ours, nor errors of
clients.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from engine.spark.prepared import NUMBERS, PreparedQueries, PreparedQuery, QueryKey
from views.model.protocols import COPIED, PLANNED, PREPARED

# Of one batch of Arrow, which Spark copies into its memory as a whole.
BATCH_ROWS_MAX = 1 << 16
BATCH_BYTES_MAX = 1 << 24
# More rows are read by as many tasks as Spark has threads; an exchange above them is planned anew.
PARTITION_ROWS_MAX = 1_000_000
# Of an input that one task reads, for Spark's planner: too many for a broadcast, and so few that
# the product of two, which it takes for the size of a join, is no reason for an exchange.
ONE_TASK_BYTES = 1 << 25

# Returns the SQL of a query whose inputs have these names in Spark.
QueryText = Callable[[Mapping[str, str]], str]


@dataclass(frozen=True, slots=True)
class SparkAnswer:
    """The rows of a query. how: PLANNED, COPIED or PREPARED, of `views.model.protocols`."""

    rows: pa.Table
    how: str


class SparkPipelines:
    """The pipelines of one JVM. folder: exists, and no other code writes into it."""

    def __init__(self, session: Any, folder: Path, threads_count: int) -> None:
        """Look up the JVM's methods, each of which takes a call of its own."""
        self._folder = folder
        self._threads_count = threads_count
        self._session = session._jsparkSession
        self._queries = PreparedQueries()
        methods = session._jvm.antumbra.SparkPipelines
        self._run, self._cancel = methods.run, methods.cancel
        self._prepare_query, self._forget_query = methods.prepare, methods.forget
        self._make_view, self._drop_view = methods.makeView, methods.dropView

    def make_view(self, name: str, rows: pa.Table) -> None:
        """Make `rows` known to SQL under `name`, with which the names of files begin until
        `drop_view`.
        """
        schema, count = self._shape(rows)
        try:
            self._write(name, rows, count)
            self._make_view(self._session, name, str(self._folder / name), schema, count, rows.nbytes)
        except BaseException:
            self._unlink(name, count)
            raise

    def drop_view(self, name: str) -> None:
        """Drop a view of `make_view`, and the queries that read it."""
        self._forget(self._queries.take_readers(name))
        self._drop_view(self._session, name)
        self._unlink(name, self._threads_count)

    def run(
        self, job: str, inputs: Mapping[str, pa.Table], text: QueryText, views: Set[str] = frozenset()
    ) -> SparkAnswer:
        """Return the rows of a query over `inputs` and over `views` of tables.

        `job` is the name of a file as well. Raises what PySpark raises: PySparkException,
        Py4JJavaError, and Py4JError or OSError when the JVM is gone.
        """
        places = {name: f"input_{place}" for place, name in enumerate(inputs)}
        key = QueryKey(text(places), self._forms(inputs.values()))
        found = self._queries.take(key)
        query = self._prepare(list(inputs), key, text, views) if found is None else found
        how = PLANNED if found is None else PREPARED if query.is_kept else COPIED
        file = self._folder / job
        try:
            for name, rows, (_, count, _) in zip(query.input_names, inputs.values(), key.inputs, strict=True):
                self._write(name, rows, count)
            query.is_kept = self._run(self._session, job, query.name, str(file))
            # Read, not mapped: a kept answer is to be in memory.
            with pa.OSFile(str(file)) as source, pa.ipc.open_stream(source) as reader:
                answer = SparkAnswer(reader.read_all(), how)
        except BaseException:
            # Spark keeps the failure of what it would have kept.
            self._forget([query])
            raise
        finally:
            file.unlink(missing_ok=True)
            for name, (_, count, _) in zip(query.input_names, key.inputs, strict=True):
                self._unlink(name, count)
        self._forget(self._queries.give(key, query))
        return answer

    def cancel(self, job: str) -> None:
        """Stop `run` of `job`, from another thread; it raises then, unless Spark has done its
        part.
        """
        self._cancel(self._session, job)

    def _prepare(self, inputs: Sequence[str], key: QueryKey, text: QueryText, views: Set[str]) -> PreparedQuery:
        number = next(NUMBERS)
        names = tuple(f"query_{number}_{place}" for place in range(len(inputs)))
        lines: list[str] = []
        for name, (schema, count, bytes_count) in zip(names, key.inputs, strict=True):
            lines += [name, schema, str(count), str(bytes_count)]
        query = PreparedQuery(f"query_{number}", views, names)
        sql = text(dict(zip(inputs, names, strict=True)))
        self._prepare_query(self._session, query.name, str(self._folder), "\n".join(lines), sql)
        return query

    def _forget(self, queries: Sequence[PreparedQuery]) -> None:
        # A JVM that is gone has forgotten them.
        with suppress(Py4JError, OSError):
            for query in queries:
                self._forget_query(query.name)

    def _forms(self, inputs: Collection[pa.Table]) -> tuple[tuple[str, int, int], ...]:
        """Return the forms of inputs for which a query is planned.

        Sizes count where an input has partitions: what is small beside it is broadcast.
        """
        shapes = [self._shape(rows) for rows in inputs]
        if all(count == 1 for _, count in shapes):
            return tuple((schema, count, ONE_TASK_BYTES) for schema, count in shapes)
        # Rounded up, so that a plan is used again while its inputs grow.
        sizes = [1 << rows.nbytes.bit_length() for rows in inputs]
        return tuple((schema, count, size) for (schema, count), size in zip(shapes, sizes, strict=True))

    def _shape(self, rows: pa.Table) -> tuple[str, int]:
        """Return Spark's schema of rows and the number of their partitions."""
        return spark_schema(rows.schema)[0], 1 if rows.num_rows <= PARTITION_ROWS_MAX else self._threads_count

    def _write(self, name: str, rows: pa.Table, count: int) -> None:
        """Write rows as `count` Arrow streams, in the types that Spark reads."""
        _, types = spark_schema(rows.schema)
        if rows.schema != types:
            rows = rows.cast(types)
        size = -(-rows.num_rows // count)
        batch_rows = min(BATCH_ROWS_MAX, BATCH_BYTES_MAX * rows.num_rows // max(rows.nbytes, 1) + 1)
        for number in range(count):
            with (
                pa.OSFile(str(self._folder / f"{name}_{number}"), "wb") as sink,
                pa.ipc.new_stream(sink, types) as writer,
            ):
                writer.write_table(rows.slice(number * size, size), batch_rows)

    def _unlink(self, name: str, count: int) -> None:
        for number in range(count):
            (self._folder / f"{name}_{number}").unlink(missing_ok=True)


@lru_cache(maxsize=256)
def spark_schema(schema: pa.Schema) -> tuple[str, pa.Schema]:
    """Return Spark's schema for Arrow rows, as JSON, and the Arrow schema in which it reads
    them.
    """
    known = from_arrow_schema(schema, prefer_timestamp_ntz=True)
    return known.json(), to_arrow_schema(known, timezone="UTC")
