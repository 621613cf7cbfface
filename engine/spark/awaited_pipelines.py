"""Pipelines that a definition needs, run while other sessions define.

Kernels are compiled in the same way (`engine.storage.kernel_files`). Enters: pipelines over tables.
Leaves: their rows, or PipelineNeededError for a caller that holds the lock for which other
definitions wait. Must not know views or statements.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

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
    """The static pipelines of one statement that defines, as an `UpperExecutor`.

    Arguments:
        token: by which the statement is cancelled, whatever tokens its views have.
        is_later: raise PipelineNeededError instead of running a pipeline.
    """

    def __init__(self, executor: UpperExecutor, token: Hashable) -> None:
        self._executor = executor
        self._token = token
        self._known: dict[Hashable, pa.Table | SqlError] = {}
        self._runs = 0
        self.is_later = False

    def run(
        self,
        token: Hashable,
        relation: Relation,
        inputs: Inputs,
        tables: Tables,
        told: Callable[[str], None] = lambda how: None,
    ) -> pa.Table:
        """Return the rows of a pipeline that was run over these versions of the tables, or run it.

        Raises the error of that run.
        """
        known = self._known.get(_key(relation, tables))
        if isinstance(known, SqlError):
            raise known
        if known is not None:
            return known
        if self.is_later and self._runs < RUNS_MAX and not any(rows.num_rows for rows in inputs.values()):
            raise PipelineNeededError(relation, inputs, tables)
        return self._executor.run(self._token, relation, inputs, tables, told)

    def check(self, token: Hashable, relation: Relation) -> None:
        """Raise SqlError for what no engine has, and 57014."""
        self._executor.check(self._token, relation)

    def run_needed(self, needed: PipelineNeededError) -> None:
        """Run a pipeline that was needed, for the next call of `run`. Raises 57014."""
        self._runs += 1
        key = _key(needed.relation, needed.tables)
        try:
            self._known[key] = self._executor.run(self._token, needed.relation, needed.inputs, needed.tables)
        except SqlError as error:
            if error.sqlstate == CANCELLED:
                raise
            self._known[key] = error

    def explain(self, relation: Relation) -> Mapping[str, str]:
        """Return the SQL texts that `run` executes by their titles."""
        return self._executor.explain(relation)


def _key(relation: Relation, tables: Tables) -> Hashable:
    return relation, frozenset((name, export.version) for name, export in tables.items())
