"""The parts of the process that views need: `engine` implements and passes them, so that no import
points up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from sql.tree.expressions import Case, Expression
from sql.tree.relations import Project, Relation
from views.model.refusals import not_in_kernels
from views.model.text import expression_text

# The ways of an upper pipeline: Spark was not there; Spark planned it for this run; a copy of an
# earlier plan was executed; what had executed an earlier plan was run again; its groups were
# changed where groups below had changed; its groups were made of all groups below, in kernels.
COLD, PLANNED, COPIED, PREPARED = "without Spark", "planned", "copied", "prepared"
BY_CHANGE, MADE_ANEW = "by change", "made anew"


class TableExport(NamedTuple):
    """The committed rows of a durable table, in the forms of `views.model.arrow_schema`.

    The columns are those of its description, in order.

    Attributes:
        version: what no other contents of any table have in this process: not after DROP and CREATE
            or RENAME, nor inside a transaction that has written it. Objects made of an export are
            used again while the version is equal.
    """

    version: Hashable
    table: pa.Table


class Source(Protocol):
    """The relations besides streams from which views read: the durable tables; thread-safe.

    Whatever implements it tells versions apart, so that what was made of a relation's rows is used
    again while they are the same.
    """

    def versions(self, names: Iterable[str]) -> dict[str, Hashable]:
        """Return the committed version of each table, never older than a commit answered before the
        call.

        The call is cheap and waits for nothing: a cut calls it under the commit lock.
        """

    def read_all(self, names: Iterable[str]) -> dict[str, TableExport]:
        """Return the tables as one read transaction sees them.

        An unchanged table is the same export.
        """


class UpperExecutor(Protocol):
    """The engines that run upper and static pipelines."""

    def run(
        self,
        token: Hashable,
        relation: Relation,
        inputs: Mapping[str, pa.Table],
        tables: Mapping[str, TableExport],
        told: Callable[[str], None] = lambda how: None,
    ) -> pa.Table:
        """Return the rows of `relation` in the forms of `views.model.arrow_schema`.

        Scan leaves of kind 'groups' read `inputs` by name, those of kind 'table' read `tables`.
        token: of the statement that waits, and can cancel the run, whatever else runs for the same
        view. told: called with COLD, PLANNED, COPIED or PREPARED, unless the pipeline is not for
        Spark. Raises SqlError for what PostgreSQL would raise (22012, 22003, ...) and 57014 when
        cancelled.
        """

    def check(self, token: Hashable, relation: Relation) -> None:
        """Run `relation` over no rows at all.

        Raises SqlError for an expression that no engine has, and 57014 when the work of `token` is
        cancelled.
        """

    def explain(self, relation: Relation) -> Mapping[str, str]:
        """Return the SQL texts that `run` executes by their titles, that of the answer last."""


class VersionExecutor(UpperExecutor, Protocol):
    """The engines that make versions."""

    def run_embedded(
        self, token: Hashable, relation: Relation, inputs: Mapping[str, pa.Table], tables: Mapping[str, TableExport]
    ) -> pa.Table:
        """Return what `run` returns, and raise what it raises, without Spark: for few rows."""


class RowEvaluator(Protocol):
    """An engine that computes, before a kernel runs, what no kernel evaluates; thread-safe."""

    def run(self, root: Relation, inputs: Mapping[str, pa.Table]) -> pa.Table:
        """Return the rows of a projection of an input, in the order of its rows and in the forms of
        `views.model.arrow_schema`.

        Besides the functions of SQL it knows tried(x), which is NULL where x fails, and
        has_failed(x), but for a few functions for which it raises 0A000. Raises SqlError for what
        PostgreSQL would raise, and 0A000 for what the engine does not have.
        """

    def row_function(self, expression: Expression) -> Callable[[Sequence[Any]], Any] | None:
        """Return what computes an expression from the Python values of one row's columns, for
        morsels of a few rows; None where only `run` computes it.

        The function raises SqlError for a row that fails.
        """


class NoEvaluator:
    """The evaluator of a process without an engine."""

    def run(self, root: Relation, inputs: Mapping[str, pa.Table]) -> pa.Table:
        """Raise 0A000."""
        assert isinstance(root, Project)
        _, expression = root.items[0]
        position = None if isinstance(expression, Case) else expression.position
        raise not_in_kernels(expression_text(expression), position)

    def row_function(self, expression: Expression) -> Callable[[Sequence[Any]], Any] | None:
        """Return None."""
        return None


NO_EVALUATOR = NoEvaluator()


class NoSource:
    """The source of a process without durable tables."""

    def versions(self, names: Iterable[str]) -> dict[str, Hashable]:
        """Return nothing, since there is no table to name."""
        assert not set(names), "there are no tables"
        return {}

    def read_all(self, names: Iterable[str]) -> dict[str, TableExport]:
        """Return nothing."""
        assert not set(names), "there are no tables"
        return {}


NO_SOURCE = NoSource()


class Clock(Protocol):
    """The time of day and a monotonic clock."""

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC."""

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start."""
