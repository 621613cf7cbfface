"""Upper pipelines of continuous views in Spark: groups go in as Arrow, the view's rows come out as Arrow.

Enters: a relation over 'groups' scans and their tables. Leaves: a table exactly in the forms of `views.arrow_schema`. The plan is made
anew for each refresh. Many views may refresh at once; one view does one refresh at a time.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from engine.result_forms import in_forms
from engine.spark import SparkRuntime
from engine.spark_errors import sql_error
from sql.emit.names import column_names
from sql.emit_spark import emit_spark
from sql.errors import SqlError
from sql.relations import Relation
from sql.trees import scans


class SparkUpperExecutor:
    """Implements `views.protocols.UpperExecutor`."""

    def __init__(self, runtime: SparkRuntime) -> None:
        self._runtime = runtime
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._running: dict[str, set[str]] = {}
        self._cancelled: set[str] = set()

    def run(self, view: str, relation: Relation, inputs: Mapping[str, pa.Table]) -> pa.Table:
        """Return the rows of `relation` over `inputs`, in order.

        Raises SqlError for what PostgreSQL would raise, and 57014 after `cancel`.
        """
        session = self._runtime.session()
        number = next(self._numbers)
        leaves = scans(relation)
        names = {scan.name: f"groups_{number}_{index}" for index, scan in enumerate(leaves)}
        text = emit_spark(relation, names)
        with self._job(session, view, number) as job:
            try:
                for scan in leaves:
                    table = inputs[scan.name].rename_columns(list(column_names(scan.schema)))
                    session.createDataFrame(table).createOrReplaceTempView(names[scan.name])
                result = session.sql(text).toArrow()
            except (PySparkException, Py4JJavaError) as error:
                raise self._client_error(job, error) from error
            finally:
                for name in names.values():
                    session.catalog.dropTempView(name)
        return in_forms(result, relation.schema)

    def cancel(self, view: str) -> None:
        """Stop what runs for `view`, if anything; from another thread."""
        with self._lock:
            jobs = tuple(self._running.get(view, ()))
            self._cancelled.update(jobs)
        for job in jobs:
            self._runtime.session().sparkContext.cancelJobGroup(job)

    def explain(self, relation: Relation) -> str:
        """Return the SQL text that `run` executes, its inputs under their own names."""
        return emit_spark(relation, {scan.name: scan.name for scan in scans(relation)})

    @contextmanager
    def _job(self, session: Any, view: str, number: int) -> Iterator[str]:
        """Name this thread's Spark jobs, so that `cancel` finds them by the view."""
        job = f"{view} {number}"
        session.sparkContext.setJobGroup(job, f"refresh of {view}", interruptOnCancel=True)
        with self._lock:
            self._running.setdefault(view, set()).add(job)
        try:
            yield job
        finally:
            with self._lock:
                self._cancelled.discard(job)
                self._running[view].discard(job)
                if not self._running[view]:
                    del self._running[view]

    def _client_error(self, job: str, error: Exception) -> Exception:
        with self._lock:
            if job in self._cancelled:
                return SqlError("57014", "canceling statement due to user request")
        return sql_error(error)
