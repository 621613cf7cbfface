"""The join tables with which one statement's groupings over streams join, made of the statement's
tables.

Enters: groupings. Leaves: a join table for each of their probes, made once, before the first row is
folded. Must not scan streams.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from ringbuffer.groups.join_table import JoinTable
from sql.errors import SqlError
from sql.tree.relations import Relation
from views.plan.stream_grouping import StreamGrouping
from views.upkeep.join_tables import join_table


class StreamJoins:
    """The join tables of one statement.

    Attributes:
        tables: by the names of the groupings.

    Arguments:
        run: answers a relation over tables.
        bytes_max: of all join tables.
    """

    def __init__(self, run: Callable[[Relation], pa.Table], bytes_max: int) -> None:
        self._run = run
        self._bytes_max = bytes_max
        self.bytes_count = 0
        self.tables: dict[str, tuple[JoinTable, ...]] = {}

    def take(self, grouping: StreamGrouping) -> bool:
        """Make the join tables of a grouping; False when they are too large.

        They may take more memory than is left, or be larger than a join table can be. Raises
        SqlError for what fails on the rows of the tables.
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
