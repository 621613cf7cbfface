"""Upper pipelines without Spark, of which a process has one: for tests of many databases."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

import pyarrow as pa

from engine.embedded.query_engine import QueryEngine
from sql.tree.relations import Relation
from sql.tree.walks import scans
from views.model.arrow_schema import arrow_schema
from views.model.protocols import TableExport

MEMORY_BYTES = 1 << 28


class EmbeddedUpper:
    """A `views.model.protocols.UpperExecutor` whose pipelines the embedded engine runs, made as
    `SparkUpperExecutor` is.
    """

    is_ready = False
    ready_jvm = None

    def __init__(self, *_: object) -> None:
        self._engine: QueryEngine | None = None

    def run(
        self,
        token: Hashable,
        relation: Relation,
        inputs: Mapping[str, pa.Table],
        tables: Mapping[str, TableExport],
        told: Callable[[str], None] = lambda how: None,
    ) -> pa.Table:
        # Most databases of a test have no use for it.
        self._engine = self._engine or QueryEngine(MEMORY_BYTES, threads_count=1)
        return self._engine.run(relation, {**inputs, **{name: export.table for name, export in tables.items()}})

    def run_embedded(
        self, token: Hashable, relation: Relation, inputs: Mapping[str, pa.Table], tables: Mapping[str, TableExport]
    ) -> pa.Table:
        return self.run(token, relation, inputs, tables)

    def explain(self, relation: Relation) -> Mapping[str, str]:
        return {"DuckDB SQL": "..."}

    def is_cold(self, inputs: Iterable[pa.Table]) -> bool:
        return True

    def start(self) -> None:
        """Do nothing: there is no JVM."""

    def check(self, token: Hashable, relation: Relation) -> None:
        self.run(token, relation, {scan.name: arrow_schema(scan.schema).empty_table() for scan in scans(relation)}, {})

    def cancel(self, token: Hashable) -> None:
        """Do nothing: runs are short."""
