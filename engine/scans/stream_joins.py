"""What the groupings over streams of one statement join their streams with: tables as the statement sees them, as join tables.

Enters: groupings. Leaves: a join table for each of their probes, made once, before the first row is folded. Must not scan streams.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from ringbuffer.groups.join_table import JoinTable
from sql.errors import SqlError
from sql.tree.relations import Relation
from views.upkeep.join_tables import join_table
from views.upkeep.stream_grouping import StreamGrouping


class StreamJoins:
    """run: answers a relation over tables. bytes_max: of all join tables. tables: by the names of the groupings that were taken."""

    def __init__(self, run: Callable[[Relation], pa.Table], bytes_max: int) -> None:
        self._run = run
        self._bytes_max = bytes_max
        self.bytes_count = 0
        self.tables: dict[str, tuple[JoinTable, ...]] = {}

    def take(self, grouping: StreamGrouping) -> bool:
        """Make a grouping's join tables; False when they take more memory than is left, or no join table can be that large.

        Raises SqlError for what fails on the tables' rows.
        """
        made: list[JoinTable] = []
        bytes_count = self.bytes_count
        for probe in grouping.plan.stream.probes:
            rows = self._run(probe.build)
            if bytes_count + rows.nbytes > self._bytes_max:
                return False
            try:
                made.append(join_table(probe, rows))
            except SqlError:
                return False
            bytes_count += made[-1].bytes_count
        if bytes_count > self._bytes_max:
            return False
        self.tables[grouping.name] = tuple(made)
        self.bytes_count = bytes_count
        return True
