"""Placeholder columns for aggregates, window calls and set-returning functions while expressions
are bound.

The row that expressions address is the FROM clause's; aggregate j is column FIRST_AGGREGATE + j,
window call k is column FIRST_WINDOW + k and set-returning function m is column FIRST_SET + m, until
`sql.bind.queries.query` knows where their values are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

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
        return _column(self.aggregates, FIRST_AGGREGATE, name, call)

    def window(self, name: str, call: WindowCall) -> Column:
        """Return the column that stands for the window call."""
        return _column(self.windows, FIRST_WINDOW, name, call)

    def set_function(self, name: str, call: SetCall) -> Column:
        """Return the column that stands for the function's values."""
        self.sets.append((name, call))
        return Column(FIRST_SET + len(self.sets) - 1, name, call.type, call.position)


Of = TypeVar("Of", AggregateCall, WindowCall)


def _column(calls: list[tuple[str, Of]], first: int, name: str, call: Of) -> Column:
    """Return the column of a call among others, of which equal ones are one."""
    index = next((index for index, (_, known) in enumerate(calls) if known == call), len(calls))
    calls += [(name, call)] * (index == len(calls))
    return Column(first + index, name, call.type, call.position)
