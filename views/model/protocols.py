"""What views need from the process around them; `engine` implements and injects these, so that no import points up."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple, Protocol

import pyarrow as pa

from sql.tree.relations import Relation


class TableExport(NamedTuple):
    """A durable table's committed rows in the forms of `views.model.arrow_schema`, the columns of its description in order.

    version: a number that no other contents of a table of this name have in this process: not after DROP and CREATE, nor inside a
    transaction that has written it. What was made of an export is used again for as long as the version is the same.
    """

    version: int
    table: pa.Table


class TableSource(Protocol):
    """Where views find durable tables; thread-safe."""

    def versions(self, names: Iterable[str]) -> dict[str, int]:
        """Return the committed version of each table, never older than a commit that was answered before the call.

        Cheap, and it waits for nobody: a cut calls it under the commit lock.
        """

    def read_all(self, names: Iterable[str]) -> dict[str, TableExport]:
        """Return the tables as one read transaction sees them, each with its version in it; again the same export if unchanged."""


class UpperExecutor(Protocol):
    """Runs upper and static pipelines."""

    def run(
        self,
        token: Hashable,
        relation: Relation,
        inputs: Mapping[str, pa.Table],
        tables: Mapping[str, TableExport],
    ) -> pa.Table:
        """Return the rows of `relation` in the forms of `views.model.arrow_schema`.

        Its Scan leaves of kind 'groups' read `inputs` by name, those of kind 'table' read `tables`.
        token: who waits for it, and can have it cancelled, whatever else runs for the same view.
        Raises SqlError for what PostgreSQL would raise (22012, 22003, ...) and 57014 when cancelled.
        """

    def explain(self, relation: Relation) -> str:
        """Return the SQL text that `run` executes."""


class NoTables:
    """The source of a process without durable tables."""

    def versions(self, names: Iterable[str]) -> dict[str, int]:
        """Return nothing, since nobody can name a table."""
        assert not set(names), "there are no tables"
        return {}

    def read_all(self, names: Iterable[str]) -> dict[str, TableExport]:
        """Return nothing."""
        assert not set(names), "there are no tables"
        return {}


NO_TABLES = NoTables()


class Clock(Protocol):
    """The time of day and a monotonic clock."""

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC."""

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start."""
