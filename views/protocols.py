"""What views need from the process around them; `engine` implements and injects these, so that no import points up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import pyarrow as pa

from sql.relations import Relation


class UpperExecutor(Protocol):
    """Runs upper pipelines."""

    def run(self, view: str, relation: Relation, inputs: Mapping[str, pa.Table]) -> pa.Table:
        """Return the rows of `relation`, whose Scan leaves of kind 'groups' read `inputs` by name, in the forms of `views.arrow_schema`.

        Raises SqlError for what PostgreSQL would raise (22012, 22003, ...) and 57014 when cancelled.
        """

    def explain(self, relation: Relation) -> str:
        """Return the SQL text that `run` executes."""


class Clock(Protocol):
    """The time of day and a monotonic clock."""

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC."""

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start."""
