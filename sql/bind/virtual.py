"""Columns that stand for aggregates and window calls while expressions are bound.

The row that expressions address is the FROM clause's; aggregate j is column AGGREGATES + j and window call k is column WINDOWS + k until
`sql.bind.select` knows where their values are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sql.expressions import AggregateCall, Column, WindowCall

AGGREGATES = 1 << 20
WINDOWS = 1 << 21


@dataclass
class VirtualColumns:
    """The aggregates and window calls of one SELECT; equal ones are computed once."""

    aggregates: list[tuple[str, AggregateCall]] = field(default_factory=list)
    windows: list[tuple[str, WindowCall]] = field(default_factory=list)

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
