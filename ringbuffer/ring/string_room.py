"""The room in the string buffers of a ring, told before a commit, when a refusal is still possible.

Enters: where long strings are in the rows of a transaction, in the order of commits. Leaves:
whether the strings of each round fit into the bytes that a buffer may hold. Rows are appended in
the order in which they are admitted, so that admission knows their tids. A replay appends without
asking, so that what was admitted once always comes back. Must not know statements; the caller
locks.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK, Morsel

if TYPE_CHECKING:
    from ringbuffer.ring.ring import Ring

# Larger morsels are counted in steps of so many rows.
EXACT_ROWS_MAX = 4096
STEP_ROWS = 64


@dataclass(frozen=True, slots=True)
class StringSizes:
    """The bytes of the long strings in a morsel.

    Attributes:
        rows_count: rows of the morsel.
        step: how many rows one sum is of.
        sums: int64[n], the bytes of each `step` rows; None where there are no long strings.
    """

    rows_count: int
    step: int
    sums: npt.NDArray[np.int64] | None

    @property
    def total(self) -> int:
        """The bytes of all rows."""
        return 0 if self.sums is None else int(self.sums.sum())

    def between(self, first: int, end: int) -> int:
        """Return the bytes of rows [first, end), in which a few rows more at both ends may be
        counted.
        """
        if self.sums is None:
            return 0
        return int(self.sums[first // self.step : -(-end // self.step)].sum())


def string_sizes(morsel: Morsel, texts: Sequence[int]) -> StringSizes:
    """Return the sizes of a morsel's long strings. texts: the indexes of its columns of strings."""
    if len(morsel.heap) == 0:
        return StringSizes(morsel.rows_count, 1, None)
    step = 1 if morsel.rows_count <= EXACT_ROWS_MAX else STEP_ROWS
    sums = np.zeros(-(-morsel.rows_count // step), dtype=np.int64)
    for index in texts:
        words: npt.NDArray[Any] = morsel.data[index]
        add_heap_bytes(words, step, sums)
    return StringSizes(morsel.rows_count, step, sums)


@kernel
def add_heap_bytes(words: npt.NDArray[Any], step: int, sums: npt.NDArray[Any]) -> None:
    """Add the heap bytes of strings int64[n, 2] to sums int64[ceil(n / step)]."""
    for index in range(sums.shape[0]):
        total = 0
        for row in range(index * step, min((index + 1) * step, words.shape[0])):
            length = words[row, 0] & LENGTH_MASK
            total += length if length > INLINE_BYTES_MAX else 0
        sums[index] += total


@dataclass(frozen=True, slots=True)
class Place:
    """The point at which the rows that are admitted next begin.

    Attributes:
        tid: their first tid.
        used: bytes of long strings that their round has before them.
    """

    tid: int
    used: int


class NoRoomError(Exception):
    """The strings of a round do not fit.

    Attributes:
        wanted: bytes of the rows that are to be admitted.
        used: bytes of the rows before them.
        limit: the bytes that both may have together.
    """

    def __init__(self, wanted: int, used: int, limit: int) -> None:
        super().__init__(f"{wanted} bytes of strings beside {used}, where {limit} fit")
        self.wanted = wanted
        self.used = used
        self.limit = limit

    @property
    def is_lasting(self) -> bool:
        """True when the rows do not fit into an empty buffer either."""
        return self.wanted > self.limit


class StringRoom:
    """The long strings that are admitted to a ring, whether their rows have been appended or
    not.
    """

    __slots__ = ("_ring", "_round_mask", "_tid", "_used")

    def __init__(self, ring: Ring) -> None:
        # The ring's memory goes with its last user, without waiting for the collector of cycles.
        self._ring = weakref.ref(ring)
        self._round_mask = ring.capacity - 1
        self._tid = 0
        self._used = 0

    @property
    def place(self) -> Place:
        """Where the next rows begin."""
        # A replay appends without asking.
        ring = self._living()
        if ring.claimed > self._tid:
            self._tid, self._used = ring.strings_place()
        return Place(self._tid, self._used)

    def after(self, pieces: Iterable[StringSizes]) -> Place:
        """Return the place of the rows that follow `pieces`. Raises NoRoomError."""
        place = self.place
        tid, used, wanted = place.tid, place.used, 0
        ring = self._living()
        capacity, limit = ring.capacity, ring.string_capacity
        for piece in pieces:
            done = 0
            while done < piece.rows_count:
                count = min(capacity - tid % capacity, piece.rows_count - done)
                size = piece.between(done, done + count)
                wanted += size
                used += size
                if used > limit and wanted:
                    raise NoRoomError(wanted, used - wanted, limit)
                tid += count
                done += count
                if tid % capacity == 0:
                    used = wanted = 0
        return Place(tid, used)

    def set(self, place: Place) -> None:
        """Admit the rows for which `after` has returned `place`, or take such an admission back."""
        self._tid, self._used = place.tid, place.used

    def _living(self) -> Ring:
        ring = self._ring()
        assert ring is not None, "whoever asks has the ring"
        return ring

    # Single rows, which may not cost more than some hundred nanoseconds.

    def takes_row(self, size: int) -> bool:
        """Tell whether a row with at most `size` bytes of long strings can be admitted for sure."""
        ring = self._ring()
        assert ring is not None
        if ring.claimed > self._tid:
            self._tid, self._used = ring.strings_place()
        return self._used + size <= ring.string_capacity

    def add_row(self, size: int) -> None:
        """Admit a row for which `takes_row` was true.

        size: bytes of the long strings of the row, or up to seven bytes more, also for a row
        without any.
        """
        self._tid += 1
        if self._tid & self._round_mask == 0:
            self._used = 0
        elif size > INLINE_BYTES_MAX:
            self._used += size
