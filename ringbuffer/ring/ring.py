"""The ring buffer of a stream: one slot per tuple in each column, for the last `capacity` tuples.

Enters: morsels. Leaves: tids, and morsels of earlier tuples. The tid of a tuple is the number of
its claim, its slot is tid mod capacity, and a round is one pass over all slots. The long strings of
a round lie in strings[round mod 2]. A round starts with a fresh buffer in that place, and a reader
that still holds the old buffer keeps it alive. Tids are claimed per morsel and published in order.
Must not know SQL, views or statements.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import entry_of, kernel
from ringbuffer.memory.addresses import copy_bytes, load_byte, load_word, store_byte
from ringbuffer.memory.columns import (
    DTYPES,
    INLINE_BYTES_MAX,
    LENGTH_MASK,
    WIDE,
    Layout,
    Morsel,
    PhysicalType,
    new_column,
)
from ringbuffer.memory.kept_memory import kept_memory
from ringbuffer.memory.strings import copy_shifted, copy_strings, heap_bytes
from ringbuffer.ring.string_room import StringRoom

# A morsel up to this size is written under the lock: handing the lock over would cost more than the
# copy.
LOCKED_ROWS_MAX = 256
STRING_BYTES_MIN = 4096
STRING_CAPACITY_MAX = 1 << 40
# A string buffer grows twofold, or more once it can be told from so many tuples how much its round
# will need.
GROWTH, GROWTH_MAX = 2, 64
FORETELLING_ROWS_MIN = 1024
NO_STRINGS = np.empty(0, dtype=np.uint8)
# Rows of a tail are handed out in pieces of at most so many.
TAIL_ROWS_MAX = 65_536

# A row of a RowWriter's table says where a column's value and null byte come from and go to, by
# address, and how wide the value is.
SOURCE, TARGET, WIDTH, IS_TEXT, NULL_SOURCE, NULL_TARGET = range(6)


class OverwrittenError(Exception):
    """Tuples that were asked for are no longer in the ring, or were overwritten while they were
    read.
    """


class Ring:
    """The last `capacity` tuples (a power of two) of a stream.

    The string buffers begin with `string_bytes` bytes each, and grow. Each of them may hold
    `string_capacity` bytes: `string_room` tells before a commit whether there is room, and `append`
    takes all rows that were committed.

    A morsel may come without the last column of the layout, which has a fixed width and no NULLs:
    all rows of the morsel then get one value.
    """

    def __init__(
        self,
        layout: Layout,
        capacity: int,
        string_bytes: int = STRING_BYTES_MIN,
        string_capacity: int = STRING_CAPACITY_MAX,
    ) -> None:
        assert capacity > 0 and capacity & (capacity - 1) == 0, capacity
        self.layout = layout
        self.capacity = capacity
        self.string_capacity = string_capacity
        self.string_room = StringRoom(self)
        # Tuples that are published or being written; changed under the lock only.
        self.claimed = 0
        self._data = tuple(slots(column.physical, capacity) for column in layout)
        # Those of the last column may never be written.
        self._nulls = (*(kept_memory.take(capacity) for _ in layout[1:]), np.zeros(capacity, dtype=np.uint8))
        self._texts = tuple(index for index, column in enumerate(layout) if column.physical == PhysicalType.TEXT)
        self._fixed = tuple(index for index in range(len(layout)) if index not in self._texts)
        self._columns = range(len(layout))
        self._strings = [np.empty(max(string_bytes, 1), dtype=np.uint8) for _ in range(2)]
        self._strings_round = [0, 1]
        self._strings_used = [0, 0]
        self._writers = [0, 0]
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._published = 0
        # Smaller tids were not restored, or are forgotten.
        self._restored_from = 0
        self._is_retired = False

    @property
    def tuples_count(self) -> int:
        """Tuples published since the beginning."""
        return self._published

    @property
    def texts(self) -> tuple[int, ...]:
        """The indexes of the columns of strings."""
        return self._texts

    def strings_place(self) -> tuple[int, int]:
        """Return the next tid to be claimed, and the bytes of long strings that its round has so
        far.
        """
        with self._lock:
            round_number = self.claimed // self.capacity
            parity = round_number % 2
            used = self._strings_used[parity] if self._strings_round[parity] == round_number else 0
            return self.claimed, used

    @property
    def newest_tid(self) -> int:
        """The tid published last, or -1."""
        return self._published - 1

    @property
    def kept(self) -> tuple[int, int]:
        """The smallest tid that can be read, and the tid after the newest.

        Both are of one moment, so that the first is never greater than the second.
        """
        # With the lock, since one of the two read later than the other tells of an empty ring, or
        # of more than it holds.
        with self._lock:
            end = self._published
            return min(end, max(self._restored_from, self.claimed - self.capacity)), end

    @property
    def kept_count(self) -> int:
        """How many tuples can be read."""
        first, end = self.kept
        return end - first

    @property
    def oldest_tid(self) -> int:
        """The smallest tid that can be read.

        Writers may go on: a caller that needs the newest tid as well takes `kept`.
        """
        return self.kept[0]

    @property
    def is_retired(self) -> bool:
        """True after another ring has taken the place of this one: tuples can be read, but none
        come.
        """
        return self._is_retired

    def keep_newest(self, count: int) -> None:
        """Forget all but the newest `count` tuples. Nobody uses the ring yet."""
        self._restored_from = max(self._restored_from, self._published - count)

    def retire(self) -> None:
        """Say that nothing is appended any more."""
        self._is_retired = True

    @property
    def bytes_count(self) -> int:
        """Bytes of memory that the ring holds."""
        arrays = (*self._data, *self._nulls, *self._strings)
        return sum(array.nbytes for array in arrays)

    @property
    def string_bytes_counts(self) -> tuple[int, int]:
        """Bytes of the string buffers of even and of odd rounds."""
        even, odd = self._strings
        return even.nbytes, odd.nbytes

    def append(self, morsel: Morsel, last_value: int = 0, long_bytes: int | None = None) -> int:
        """Write the rows under consecutive tids, and return the first tid.

        The rows are visible when this returns. Any thread may call. `last_value` is the value of
        the last column, for a morsel without this column. `long_bytes` are the bytes of the long
        strings in the morsel, if the caller knows them.
        """
        rows_count = morsel.rows_count
        # The lock itself: entering the condition around it is a call more.
        with self._lock:
            first = self.claimed
            slot = first % self.capacity
            if rows_count <= LOCKED_ROWS_MAX and slot + rows_count <= self.capacity and self._published == first:
                string_bytes = self._long_bytes(morsel, 0, rows_count)
                start = self._reserve(first // self.capacity, string_bytes) if string_bytes else 0
                self._write(morsel, 0, rows_count, first, start, string_bytes, last_value)
                self.claimed = self._published = first + rows_count
                return first
            self.claimed = first + rows_count
        done = 0
        while done < rows_count:
            done += self._append_part(morsel, done, first + done, last_value, long_bytes)
        return first

    def read(self, first_tid: int, rows_count: int, columns: Sequence[int] | None = None) -> Morsel:
        """Return copies of tuples as a morsel of the columns with the given indexes, None: of all
        columns.

        Raises OverwrittenError when some of the tuples are gone, or go while they are copied.
        """
        chosen = self._columns if columns is None else columns
        with self._changed:
            if first_tid + rows_count > self._published:
                raise ValueError(f"tid {first_tid + rows_count - 1} is not published, the newest is {self.newest_tid}")
            self._check_kept(first_tid)
            strings = tuple(self._strings)
        data: list[npt.NDArray[Any]] = [new_column(self.layout[index].physical, rows_count) for index in chosen]
        nulls = [np.empty(rows_count, dtype=np.uint8) for _ in chosen]
        parts: list[tuple[int, int, int]] = []
        row = 0
        while row < rows_count:
            slot = (first_tid + row) % self.capacity
            count = min(rows_count - row, self.capacity - slot)
            parts.append((row, slot, count))
            for place, index in enumerate(chosen):
                data[place][row : row + count] = self._data[index][slot : slot + count]
                nulls[place][row : row + count] = self._nulls[index][slot : slot + count]
            row += count
        # The words are whole only if nobody has claimed their slots again; only then may their
        # offsets be followed.
        with self._changed:
            self._check_kept(first_tid)
        texts = [column for column, index in zip(data, chosen, strict=True) if index in self._texts]
        heap = self._copied_strings(texts, parts, first_tid, strings)
        return Morsel(rows_count, tuple(data), tuple(nulls), heap)

    def tail(self, below_tid: int, rows_max: int = TAIL_ROWS_MAX) -> Iterator[tuple[int, Morsel]]:
        """Yield pieces of the tuples below a published tid, the newest piece first, each with its
        first tid.

        The pieces adjoin one another, and have at most `rows_max` rows. Appends may go on. A tuple
        that is overwritten meanwhile is left out, and so are all tuples before it.
        """
        end = below_tid
        size = rows_max
        # Once for both: writers may come round in between.
        while size > 0 and end > (oldest := self.oldest_tid):
            first = max(oldest, end - size)
            try:
                morsel = self.read(first, end - first)
            except OverwrittenError:
                # Writers are at these very slots; newer ones may still be there.
                size = (end - first) // 2
                continue
            yield first, morsel
            end = first

    def restore(self, tuples_count: int, pieces: Iterable[tuple[int, Morsel]]) -> None:
        """Fill a ring that nobody uses yet with the pieces that `tail` has yielded of another ring.

        The ring then has published `tuples_count` tuples. Raises ValueError when the pieces are not
        the newest tuples of such a ring.
        """
        self._strings_round = [-1, -1]
        end = tuples_count
        for first, morsel in pieces:
            if first + morsel.rows_count != end or first < max(0, tuples_count - self.capacity):
                raise ValueError(f"tuples {first} to {first + morsel.rows_count - 1} where those before {end} are due")
            self._check_form(morsel)
            end = first
            done = 0
            while done < morsel.rows_count:
                tid = first + done
                count = min(morsel.rows_count - done, self.capacity - tid % self.capacity)
                string_bytes = self._long_bytes(morsel, done, count)
                start = self._reserve(tid // self.capacity, string_bytes) if string_bytes else 0
                self._write(morsel, done, count, tid, start, string_bytes, 0)
                done += count
        self._restored_from = end
        self.claimed = self._published = tuples_count

    def _check_form(self, morsel: Morsel) -> None:
        """Raise ValueError unless the rows are in the form of the ring's columns."""
        forms = [(array.dtype, array.shape[1:]) for array in self._data]
        found = [(array.dtype, array.shape[1:]) for array in morsel.data]
        lengths = {len(array) for array in (*morsel.data, *morsel.nulls)}
        if found != forms or len(morsel.nulls) != len(forms) or lengths != {morsel.rows_count}:
            raise ValueError(f"tuples of {found} for a ring of {forms}")

    def _copied_strings(
        self,
        texts: Sequence[npt.NDArray[Any]],
        parts: list[tuple[int, int, int]],
        first_tid: int,
        strings: tuple[npt.NDArray[np.uint8], ...],
    ) -> npt.NDArray[np.uint8]:
        """Copy the long strings of some words, and let the words point into the copy, which is
        returned.
        """
        heap = np.empty(sum(heap_bytes(words) for words in texts), dtype=np.uint8)
        used = 0
        for column in texts:
            for row, _, count in parts:
                words = column[row : row + count]
                source = strings[(first_tid + row) // self.capacity % 2]
                used += copy_strings(words, source, words, heap, used)
        return heap

    def _check_kept(self, first_tid: int) -> None:
        oldest = max(self._restored_from, self.claimed - self.capacity)
        if first_tid < oldest:
            raise OverwrittenError(f"tid {first_tid} is gone, the oldest is {oldest}")

    def _append_part(self, morsel: Morsel, done: int, tid: int, last_value: int, long_bytes: int | None) -> int:
        """Write and publish the rows from `done` on that fit before the round ends.

        Return how many.
        """
        count = min(morsel.rows_count - done, self.capacity - tid % self.capacity)
        if long_bytes is None or count < morsel.rows_count:
            long_bytes = self._long_bytes(morsel, done, count)
        parity = tid // self.capacity % 2
        with self._changed:
            # The slots' earlier tuples, one round back, must be visible before they may go.
            self._changed.wait_for(lambda: self._published >= tid + count - self.capacity)
            start = self._reserve(tid // self.capacity, long_bytes)
            self._writers[parity] += 1
        try:
            self._write(morsel, done, count, tid, start, long_bytes, last_value)
        finally:
            with self._changed:
                self._writers[parity] -= 1
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._published == tid)
                self._published = tid + count
                self._changed.notify_all()
        return count

    def _long_bytes(self, morsel: Morsel, done: int, count: int) -> int:
        if len(morsel.heap) == 0:
            return 0
        total = 0
        for index in self._texts:
            words: npt.NDArray[Any] = morsel.data[index]
            total += heap_bytes(words[done : done + count])
        return total

    def _reserve(self, round_number: int, size: int) -> int:
        """Return where `size` bytes begin in the string buffer of a round.

        The caller holds the lock.
        """
        parity = round_number % 2
        while True:
            if self._strings_round[parity] != round_number:
                room = max(len(self._strings[parity]), size)
                # Unless somebody reads it, the old one's memory is the new one's.
                self._strings[parity] = NO_STRINGS
                self._strings[parity] = kept_memory.take(room)
                self._strings_round[parity] = round_number
                self._strings_used[parity] = 0
            start = self._strings_used[parity]
            if start + size <= len(self._strings[parity]):
                self._strings_used[parity] = start + size
                return start
            if self._writers[parity] == 0:
                grown = kept_memory.take(max(start + size, self._ample_bytes(round_number, start + size)))
                grown[:start] = self._strings[parity][:start]
                self._strings[parity] = grown
            else:
                # Others still copy into the buffer; they need no lock to get that done.
                self._changed.wait()

    def _ample_bytes(self, round_number: int, used: int) -> int:
        """Return the size to which the string buffer of a round should grow, of which `used` bytes
        are used.

        The rest of the round fits into that size if its strings are as long as those so far.
        """
        now = len(self._strings[round_number % 2])
        tuples_count = min(self.claimed - round_number * self.capacity, self.capacity)
        expected = used * self.capacity // tuples_count * 5 // 4 if tuples_count >= FORETELLING_ROWS_MIN else 0
        return min(max(GROWTH * now, min(expected, GROWTH_MAX * now)), self.string_capacity)

    def _write(
        self, morsel: Morsel, done: int, count: int, tid: int, start: int, string_bytes: int, last_value: int
    ) -> None:
        slot = tid % self.capacity
        end = slot + count
        whole = count == morsel.rows_count
        rows = slice(done, done + count)
        columns: Sequence[int] = self._columns if string_bytes == 0 else self._fixed
        if len(morsel.data) < len(self._columns):
            self._data[-1][slot:end] = last_value
            columns = columns[:-1]
        for index in columns:
            self._data[index][slot:end] = morsel.data[index] if whole else morsel.data[index][rows]
        for index in range(len(morsel.nulls)):
            self._nulls[index][slot:end] = morsel.nulls[index] if whole else morsel.nulls[index][rows]
        if string_bytes:
            strings = self._strings[tid // self.capacity % 2]
            if whole and string_bytes == len(morsel.heap):
                # Nothing else is in it.
                strings[start : start + string_bytes] = morsel.heap
                for index in self._texts:
                    copy_shifted(morsel.data[index], self._data[index][slot:end], start)
                return
            for index in self._texts:
                source: npt.NDArray[Any] = morsel.data[index]
                target: npt.NDArray[Any] = self._data[index]
                start += copy_strings(source[rows], morsel.heap, target[slot:end], strings, start)


class RowWriter:
    """A writer of one row that lies in the same memory each time: one kernel call copies its
    columns.
    """

    def __init__(self, ring: Ring, row: Morsel) -> None:
        assert row.rows_count == 1
        self._ring = ring
        self._row = row
        self._places = np.zeros((len(ring.layout), 6), dtype=np.int64)
        self._copy_row = entry_of(copy_row, self._places, 0)
        for index, column in enumerate(row.data):
            target: npt.NDArray[Any] = ring._data[index]
            nulls, all_nulls = row.nulls[index], ring._nulls[index]
            assert column.dtype == target.dtype and column.flags.c_contiguous
            self._places[index] = (
                column.ctypes.data, target.ctypes.data, target.strides[0], index in ring._texts, nulls.ctypes.data, all_nulls.ctypes.data
            )  # fmt: skip

    @property
    def string_room(self) -> StringRoom | None:
        """The `StringRoom` that has to admit the long strings of the row; None: the row can't have
        any.
        """
        return self._ring.string_room if self._ring.texts else None

    def append(self) -> None:
        """Write the row as it is now; the row is visible when this returns.

        The row's owner calls, on any thread.
        """
        ring = self._ring
        with ring._lock:
            tid = ring.claimed
            # Long strings need room in the round's buffer, and a morsel that is not published yet
            # comes first.
            if ring._published == tid and self._copy_row(self._places, tid & (ring.capacity - 1)):
                ring.claimed = ring._published = tid + 1
                return
        ring.append(self._row)


def slots(physical: PhysicalType, capacity: int) -> npt.NDArray[Any]:
    """Return an array for the values of a column; the values are not defined."""
    width = np.dtype(DTYPES[physical]).itemsize * (1 + (physical in WIDE))
    values = kept_memory.take(capacity * width).view(DTYPES[physical])
    return values.reshape(capacity, 2) if physical in WIDE else values


@kernel
def copy_row(places: npt.NDArray[Any], slot: int) -> bool:
    """Copy a row to `slot`, and return whether that was done: a row with a long string is not
    copied.

    places: int64[columns, 6], whose second index is one of SOURCE to NULL_TARGET.
    """
    columns_count = places.shape[0]
    for index in range(columns_count):
        if places[index, IS_TEXT] != 0 and load_word(places[index, SOURCE]) & LENGTH_MASK > INLINE_BYTES_MAX:
            return False
    for index in range(columns_count):
        width = places[index, WIDTH]
        copy_bytes(places[index, TARGET] + slot * width, places[index, SOURCE], width)
        store_byte(places[index, NULL_TARGET] + slot, load_byte(places[index, NULL_SOURCE]))
    return True
