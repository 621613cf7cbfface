"""A scan of a ring while it is being filled: morsels of what has been published, in order of tids, each of them whole and right.

Enters: a ring and the columns that are needed. Leaves: morsels of copies. Whoever scans decides how long to wait for more. Source of the
algorithm: C. Winter, "Managing Dynamic Workloads in Relational Database Systems" (TUM 2023), chapter 3: pick a range, copy, check that no
writer has come round to it meanwhile; a scan that was overtaken ends with an error. Must not know SQL or clocks.
"""

from __future__ import annotations

from collections.abc import Sequence

from ringbuffer.memory.columns import Morsel
from ringbuffer.ring.ring import OverwrittenError, Ring

MORSEL_ROWS_MAX = 65_536


class RingScan:
    """position: the tid that comes next. One thread at a time; writers go on.

    columns: indexes of those that the morsels have, in that order; from_newest: begin behind what is published now, else at the oldest
    tuple of the ring.
    """

    def __init__(self, ring: Ring, columns: Sequence[int], from_newest: bool = False) -> None:
        self._ring = ring
        self._columns = tuple(columns)
        self._has_begun = from_newest
        self.position = ring.tuples_count if from_newest else ring.oldest_tid

    def take(self, below_tid: int, rows_max: int = MORSEL_ROWS_MAX) -> Morsel | None:
        """Return the next rows whose tids are smaller than `below_tid`, which is published; None when there are none.

        Raises OverwrittenError when writers have come round to them. Before its first row is out, a scan begins again at the tuple that is
        the oldest then, which is where it was to begin, if that is one of those asked for.
        """
        while True:
            rows_count = min(below_tid - self.position, rows_max)
            if rows_count <= 0:
                return None
            try:
                morsel = self._ring.read(self.position, rows_count, self._columns)
            except OverwrittenError:
                oldest = self._ring.oldest_tid
                if self._has_begun or oldest >= below_tid:
                    raise
                self.position = max(oldest, self.position)
                # Writers come round to what is oldest next: less of it is copied before they do.
                rows_max = max(1, rows_max // 2)
                continue
            self._has_begun = True
            self.position += rows_count
            return morsel
