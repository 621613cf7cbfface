"""A stream whose ring is made anew, with other columns or another capacity.

Rows go into the old ring until the commit. Enters: the stream before and after. Leaves: the newest
tuples in the new ring, under the same tids. Must not know catalogs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.streams.stream import Stream, with_missing_before
from ringbuffer.memory.columns import Morsel
from ringbuffer.ring.ring import TAIL_ROWS_MAX, OverwrittenError
from sql.errors import SqlError


@dataclass(frozen=True)
class Reshaping:
    """A change of a stream's ring by ALTER FOREIGN TABLE: the stream before and after."""

    before: Stream
    after: Stream

    def carry_over(self, check_cancelled: Callable[[], None]) -> None:
        """Copy to the new ring the tuples of the old ring that it lacks, as far as they fit.

        Writers may go on. Raises 23502 for a NULL in a column that takes none, and what
        check_cancelled raises.
        """
        source, target = self.before.ring, self.after.ring
        end = source.tuples_count
        rows_max = TAIL_ROWS_MAX
        while target.tuples_count < end:
            check_cancelled()
            first = max(target.tuples_count, source.oldest_tid, end - target.capacity)
            if first > end:
                # Writers have come round to all of it: what is there at COMMIT is brought then.
                return
            try:
                rows = source.read(first, min(end - first, rows_max))
            except OverwrittenError:
                # Writers come round to what is oldest next: less of it is copied before they do.
                rows_max = max(1, rows_max // 2)
                continue
            if first > target.tuples_count:
                target.restore(first, ())
            target.append(self.reshaped(rows))

    def reshaped(self, rows: Morsel) -> Morsel:
        """Return rows of the old ring in the form of the new ring. Raises 23502."""
        whole = with_missing_before(self.after, rows)
        for place in self.after.not_null:
            if whole.nulls[place].any():
                column = self.after.stored[place].name
                raise SqlError(
                    "23502",
                    f'column "{column}" of relation "{self.after.name}" contains null values',
                    table_name=self.after.name,
                    column_name=column,
                )
        return whole
