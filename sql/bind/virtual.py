"""Columns that stand for aggregates, window calls and set-returning functions while expressions are bound.

The row that expressions address is the FROM clause's; aggregate j is column AGGREGATES + j, window call k is column WINDOWS + k and
set-returning function m is column SETS + m, until `sql.bind.select` knows where their values are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sql.tree.expressions import AggregateCall, Column, Expression, WindowCall
from sql.types.datatypes import SqlType

AGGREGATES = 1 << 20
WINDOWS = 1 << 21
SETS = 1 << 22


@dataclass(frozen=True, slots=True)
class SetCall:
    """A bound call of a set-returning function; `type` is that of its values."""

    function: str
    arguments: tuple[Expression, ...]
    type: SqlType
    position: int | None = field(default=None, compare=False)


@dataclass
class VirtualColumns:
    """The aggregates, window calls and set-returning functions of one SELECT; equal aggregates and windows are computed once."""

    aggregates: list[tuple[str, AggregateCall]] = field(default_factory=list)
    windows: list[tuple[str, WindowCall]] = field(default_factory=list)
    sets: list[tuple[str, SetCall]] = field(default_factory=list)

    def aggregate(self, name: str, call: AggregateCall) -> Column:
        """Return the column that stands for the aggregate."""
        for index, (_, known) in enumerate(self.aggregates):
            if known == call:
                return Column(AGGREGATES + index, name, call.type, call.position)
        self.aggregates.append((name, call))
        return Column(AGGREGATES + len(self.aggregates) - 1, name, call.type, call.position)

    def window(self, name: str, call: WindowCall) -> Column:
        """Return the column that stands for the window call."""
        for index, (_, known) in enumerate(self.windows):
            if known == call:
                return Column(WINDOWS + index, name, call.type, call.position)
        self.windows.append((name, call))
        return Column(WINDOWS + len(self.windows) - 1, name, call.type, call.position)

    def set_function(self, name: str, call: SetCall) -> Column:
        """Return the column that stands for the function's values."""
        self.sets.append((name, call))
        return Column(SETS + len(self.sets) - 1, name, call.type, call.position)
