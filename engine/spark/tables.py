"""Durable tables in Spark: one temporary view per version, made once and used until the table
changes.

Enters: exports of tables. Leaves: the names of temporary views. Must not know pipelines, nor where
exports come from.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from engine.spark.pipelines import SparkPipelines
from sql.emit.names import column_names
from sql.tree.relations import Scan
from views.model.protocols import TableExport

TABLES_KEPT_MAX = 64
# Of the names of views, which all executors of a session share.
NUMBERS = itertools.count(1)


@dataclass(eq=False)
class SparkTable:
    """The rows of a table in Spark.

    Attributes:
        bytes_count: of the rows in Arrow.
        users: pipelines that are running on them.
        replaced: true if a newer version is there, or no room.
    """

    version: int
    scan: Scan
    view: str
    bytes_count: int
    users: int = 0
    replaced: bool = False


class SparkTables:
    """The tables that Spark holds, the least recently used first; thread-safe.

    bytes_max: of the tables that no pipeline is reading.
    """

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._pipelines: SparkPipelines | None = None
        self._tables: dict[str, SparkTable] = {}

    @contextmanager
    def view_of(self, pipelines: SparkPipelines, scan: Scan, export: TableExport) -> Iterator[str]:
        """Yield the name of a view that has the rows of `export` until the context ends."""
        table = self._taken(pipelines, scan, export)
        try:
            yield table.view
        finally:
            with self._lock:
                table.users -= 1
            self._drop_unused(pipelines, [table])

    def _taken(self, pipelines: SparkPipelines, scan: Scan, export: TableExport) -> SparkTable:
        """Return the table of an export, made if need be; it is not dropped while it has users."""
        with self._lock:
            if pipelines is not self._pipelines:
                # Another JVM has none of them.
                self._pipelines = pipelines
                self._tables.clear()
            known = self._tables.pop(scan.name, None)
            if known is not None:
                self._tables[scan.name] = known
                if known.version == export.version and known.scan == scan:
                    known.users += 1
                    return known
        made = SparkTable(export.version, scan, f"table_{next(NUMBERS)}", export.table.nbytes, users=1)
        pipelines.make_view(made.view, named_rows(scan, export.table))
        with self._lock:
            old = self._tables.pop(scan.name, None)
            self._tables[scan.name] = made
            gone = [] if old is None else [old]
            while len(self._tables) > TABLES_KEPT_MAX or self._bytes_count > self._bytes_max:
                gone.append(self._tables.pop(next(iter(self._tables))))
            for table in gone:
                table.replaced = True
        self._drop_unused(pipelines, gone)
        return made

    @property
    def _bytes_count(self) -> int:
        return sum(table.bytes_count for table in self._tables.values())

    def _drop_unused(self, pipelines: SparkPipelines, tables: list[SparkTable]) -> None:
        for table in tables:
            with self._lock:
                unused = table.replaced and table.users == 0
            if unused:
                pipelines.drop_view(table.view)


def named_rows(scan: Scan, rows: pa.Table) -> pa.Table:
    """Return `rows` with the names of columns that printed SQL uses for `scan`."""
    return rows.rename_columns(list(column_names(scan.schema)))
