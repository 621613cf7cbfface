"""Durable tables in Spark, and what is computed of them: one temporary view per version, made once
and used until a table changes.

Enters: a relation over tables, and how its rows are made. Leaves: the names of temporary views.
Must not know pipelines, nor where rows come from.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from engine.spark.pipelines import SparkPipelines
from sql.emit.names import column_names
from sql.tree.relations import Relation, Schema

TABLES_KEPT_MAX = 64
# Of the names of views, which all executors of a session share.
NUMBERS = itertools.count(1)


@dataclass(eq=False)
class SparkTable:
    """The rows of a relation in Spark.

    Attributes:
        versions: of the tables that it reads.
        bytes_count: of the rows in Arrow.
        users: pipelines that are running on them.
        replaced: true if a newer version is there, or no room.
    """

    versions: tuple[Hashable, ...]
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
        self._tables: dict[Relation, SparkTable] = {}

    @contextmanager
    def view_of(
        self,
        pipelines: SparkPipelines,
        relation: Relation,
        versions: tuple[Hashable, ...],
        make: Callable[[], pa.Table],
    ) -> Iterator[str]:
        """Yield the name of a view that has the rows of a relation until the context ends.

        versions: of the tables that it reads; make: returns its rows.
        """
        table = self._taken(pipelines, relation, versions, make)
        try:
            yield table.view
        finally:
            with self._lock:
                table.users -= 1
            self._drop_unused(pipelines, [table])

    def _taken(
        self,
        pipelines: SparkPipelines,
        relation: Relation,
        versions: tuple[Hashable, ...],
        make: Callable[[], pa.Table],
    ) -> SparkTable:
        """Return the table of a relation, made if need be; it is not dropped while it has users."""
        with self._lock:
            if pipelines is not self._pipelines:
                # Another JVM has none of them.
                self._pipelines = pipelines
                self._tables.clear()
            known = self._tables.pop(relation, None)
            if known is not None:
                self._tables[relation] = known
                if known.versions == versions:
                    known.users += 1
                    return known
        rows = make()
        made = SparkTable(versions, f"table_{next(NUMBERS)}", rows.nbytes, users=1)
        pipelines.make_view(made.view, named_rows(relation.schema, rows))
        with self._lock:
            old = self._tables.pop(relation, None)
            self._tables[relation] = made
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


def named_rows(schema: Schema, rows: pa.Table) -> pa.Table:
    """Return `rows` with the names of columns that printed SQL uses for a scan of `schema`."""
    return rows.rename_columns(list(column_names(schema)))
