"""Pipelines that a definition needs, run while others define: as kernels are compiled (`engine.storage.kernel_files`).

Enters: pipelines over tables. Leaves: their rows, or PipelineNeededError for who holds what other definitions wait for. Must not know
views or statements.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import pyarrow as pa

from sql.errors import SqlError
from sql.tree.relations import Relation
from views.model.protocols import TableExport, UpperExecutor

Inputs = Mapping[str, pa.Table]
Tables = Mapping[str, TableExport]

CANCELLED = "57014"
# The tables of a pipeline may have changed each time that it has been run: then it is run at once.
RUNS_MAX = 3


class PipelineNeededError(Exception):
    """A pipeline that has not been run, and is not to be run now."""

    def __init__(self, relation: Relation, inputs: Inputs, tables: Tables) -> None:
        super().__init__("a pipeline")
        self.relation = relation
        self.inputs = inputs
        self.tables = tables


class AwaitedPipelines:
    """The static and upper pipelines of one statement that defines; implements `views.model.protocols.UpperExecutor`.

    token: by which the statement is cancelled, whatever tokens its views have. is_later: raise PipelineNeededError instead of running one.
    """

    def __init__(self, executor: UpperExecutor, token: Hashable) -> None:
        self._executor = executor
        self._token = token
        self._known: dict[Hashable, pa.Table | SqlError] = {}
        self._runs = 0
        self.is_later = False

    def run(self, token: Hashable, relation: Relation, inputs: Inputs, tables: Tables) -> pa.Table:
        """Return the rows of a pipeline, as it has been run over these versions of the tables. Raises what that has raised."""
        known = self._known.get(_key(relation, tables))
        if isinstance(known, SqlError):
            raise known
        if known is not None:
            return known
        if self.is_later and self._runs < RUNS_MAX and not any(rows.num_rows for rows in inputs.values()):
            raise PipelineNeededError(relation, inputs, tables)
        return self._executor.run(self._token, relation, inputs, tables)

    def run_needed(self, needed: PipelineNeededError) -> None:
        """Run a pipeline that was needed, for the next time that it is asked for. Raises 57014."""
        self._runs += 1
        key = _key(needed.relation, needed.tables)
        try:
            self._known[key] = self._executor.run(self._token, needed.relation, needed.inputs, needed.tables)
        except SqlError as error:
            if error.sqlstate == CANCELLED:
                raise
            self._known[key] = error

    def explain(self, relation: Relation) -> str:
        """Return the SQL text that `run` executes."""
        return self._executor.explain(relation)


def _key(relation: Relation, tables: Tables) -> Hashable:
    return relation, frozenset((name, export.version) for name, export in tables.items())
