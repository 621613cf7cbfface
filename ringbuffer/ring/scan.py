"""A scan of a ring while writers fill it: morsels of published tuples in order of tids, none torn.

Enters: a ring and the columns that are needed. Leaves: morsels of copies. The caller decides how
long to wait for more tuples. Source of the algorithm: C. Winter, "Managing Dynamic Workloads in
Relational Database Systems" (TUM 2023), chapter 3: pick a range, copy it, check that no writer has
come round to the range meanwhile. A scan that was overtaken ends with an error. Must not know SQL
or clocks.
"""

from __future__ import annotations

from collections.abc import Sequence

from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.row_block import MORSEL_ROWS_MAX
from ringbuffer.ring.ring import OverwrittenError, Ring


class RingScan:
    """A position in a ring, from which one thread takes tuples in order of tids while writers go
    on.

    A scan begins after the newest published tuple if `from_newest` is true, otherwise at the oldest
    tuple of the ring. `columns` are the indexes of the columns of the morsels, in the order of the
    morsels.

    Attributes:
        position: the tid that comes next.
    """

    def __init__(self, ring: Ring, columns: Sequence[int], from_newest: bool = False) -> None:
        self._ring = ring
        self._columns = tuple(columns)
        self._has_begun = from_newest
        self.position = ring.tuples_count if from_newest else ring.oldest_tid

    def take(self, below_tid: int, rows_max: int = MORSEL_ROWS_MAX) -> Morsel | None:
        """Return the next rows below the published tid `below_tid`; None when there are none.

        Raises OverwrittenError when writers have come round to the rows. A scan from the oldest
        tuple that has returned no row yet begins again at the tuple that is the oldest by then, if
        that tuple is below `below_tid`.
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
