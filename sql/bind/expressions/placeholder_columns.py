"""Placeholder columns for aggregates, window calls and set-returning functions while expressions
are bound.

The row that expressions address is the FROM clause's; aggregate j is column FIRST_AGGREGATE + j,
window call k is column FIRST_WINDOW + k and set-returning function m is column FIRST_SET + m, until
`sql.bind.queries.query` knows where their values are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sql.tree.expressions import AggregateCall, Column, Expression, WindowCall
from sql.types.datatypes import SqlType

FIRST_AGGREGATE = 1 << 20
FIRST_WINDOW = 1 << 21
FIRST_SET = 1 << 22


@dataclass(frozen=True, slots=True)
class SetCall:
    """A bound call of a set-returning function; `type` is that of its values."""

    function: str
    arguments: tuple[Expression, ...]
    type: SqlType
    position: int | None = field(default=None, compare=False)


@dataclass
class PlaceholderColumns:
    """The aggregates, window calls and set-returning functions of one SELECT.

    Equal aggregates and windows are computed once.
    """

    aggregates: list[tuple[str, AggregateCall]] = field(default_factory=list)
    windows: list[tuple[str, WindowCall]] = field(default_factory=list)
    sets: list[tuple[str, SetCall]] = field(default_factory=list)

    def aggregate(self, name: str, call: AggregateCall) -> Column:
        """Return the column that stands for the aggregate."""
        for index, (_, known) in enumerate(self.aggregates):
            if known == call:
                return Column(FIRST_AGGREGATE + index, name, call.type, call.position)
        self.aggregates.append((name, call))
        return Column(FIRST_AGGREGATE + len(self.aggregates) - 1, name, call.type, call.position)

    def window(self, name: str, call: WindowCall) -> Column:
        """Return the column that stands for the window call."""
        for index, (_, known) in enumerate(self.windows):
            if known == call:
                return Column(FIRST_WINDOW + index, name, call.type, call.position)
        self.windows.append((name, call))
        return Column(FIRST_WINDOW + len(self.windows) - 1, name, call.type, call.position)

    def set_function(self, name: str, call: SetCall) -> Column:
        """Return the column that stands for the function's values."""
        self.sets.append((name, call))
        return Column(FIRST_SET + len(self.sets) - 1, name, call.type, call.position)
