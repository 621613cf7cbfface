"""Group tables: hash tables from the keys of a grouping to the words of its aggregate states.

A table is three arrays and a control block. slots: int64[power of two], each 0 or (upper half of a
hash, dense row number + 1). rows: int64[capacity * row_words]; the words of a row are its hash, the
*entry* (null mask of the keys, key words, shown words) and the state words. heap: uint8[], a bump
arena of the strings longer than 12 bytes. The states of a new row have words of 0, so that zero
words are the start of every state. A text is the two words of `ringbuffer.memory.columns`; its
offset is relative to the address of a heap.

Kernels never grow a table: a kernel stops and says so, the owner grows the table and calls again.
Must not know what keys and states mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import inlined_kernel, kernel, sized_kernel
from ringbuffer.memory.addresses import copy_bytes, load_byte, load_word, prefetch
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK

Words = npt.NDArray[np.int64]
Zeros = Callable[[int, type[np.generic]], npt.NDArray[Any]]

# Words of a control block. A kernel that returns early has set ERROR, or HEAP_NEEDED, or needs more
# rows.
ROWS_COUNT = 0
ROWS_MAX = 1
HEAP_USED = 2
HEAP_MAX = 3
HEAP_ADDRESS = 4
ERROR = 5
EXPRESSION = 6
ROWS_PASSED = 7
ROWS_SKIPPED = 8
HEAP_NEEDED = 9
ROWS_IN = 10
ROWS_LATE = 11
ENTRY = 16

ENTRY_WORDS_MAX = 200
# Where a kernel that stopped within the matches of a row goes on: one word per join.
RESUME = ENTRY + ENTRY_WORDS_MAX
JOINS_MAX = 32
# The places of the groups that were found last, by a few bits of their keys.
RECENT = RESUME + JOINS_MAX
RECENT_BITS = 5
CONTROL_WORDS = RECENT + (1 << RECENT_BITS)
ROWS_FIRST = 32
HEAP_BYTES_FIRST = 256
GROWTH = 4
SLOTS_PER_ROW = 2

HASH_SEED = np.uint64(0x9E3779B97F4A7C15)
HASH_FACTOR = np.uint64(0xD6E8FEB86659FD93)
HALF = np.uint64(32)

# So many rows ahead a kernel begins to load the row of a group, and before it a slot, of tables of
# room for more rows than FAR_ROWS: others are near anyway.
ROW_AHEAD = 8
SLOT_AHEAD = 16
FAR_ROWS = 1 << 12
# One of so many rows has to come to the groups for that.
PASSED_SHARE = 4
LINE_WORDS = 8

unsigned_word: Any = np.uint64
signed_word: Any = np.int64
copy_memory: Any = copy_bytes


class TableLayout(NamedTuple):
    """The layout of the words of a row: 1 word of hash, the entry, then the states.

    Attributes:
        key_words: the first words of the entry (null mask, keys), which are compared.
        entry_words: words of the entry.
        row_words: words of the whole row.
        text_mask: bit i is set where entry words i and i + 1 are a text, a key or a shown one.
    """

    key_words: int
    entry_words: int
    row_words: int
    text_mask: int

    @property
    def group_bytes(self) -> int:
        """Bytes that a group takes without its long texts: its row, and its share of the slots."""
        return 8 * (self.row_words + SLOTS_PER_ROW)


class TableArrays(NamedTuple):
    """The arrays of a table, as kernels take them together."""

    control: Words
    slots: Words
    rows: Words


class GroupTable:
    """The owner of the arrays of one table.

    The owner makes sure that the table has one writer at a time. zeros: makes the arrays.

    Attributes:
        arrays: those of them that kernels take together, until the table grows.
    """

    __slots__ = ("arrays", "control", "heap", "layout", "rows", "slots", "zeros")

    def __init__(self, layout: TableLayout, rows_max: int = ROWS_FIRST, zeros: Zeros = np.zeros) -> None:
        assert layout.entry_words <= ENTRY_WORDS_MAX
        self.layout = layout
        self.zeros = zeros
        self.control: Words = np.zeros(CONTROL_WORDS, dtype=np.int64)
        self.rows: Words = zeros(rows_max * layout.row_words, np.int64)
        self.slots: Words = zeros(SLOTS_PER_ROW * rows_max, np.int64)
        self.arrays = TableArrays(self.control, self.slots, self.rows)
        self.heap: npt.NDArray[np.uint8] = zeros(HEAP_BYTES_FIRST, np.uint8)
        self.control[ROWS_MAX] = rows_max
        self._locate_heap()

    @property
    def groups_count(self) -> int:
        """Rows in the table."""
        return int(self.control[ROWS_COUNT])

    @property
    def bytes_count(self) -> int:
        """Bytes of memory that the table holds."""
        return self.control.nbytes + self.rows.nbytes + self.slots.nbytes + self.heap.nbytes

    @property
    def used_bytes(self) -> int:
        """Bytes of the groups alone, without room for more of them."""
        return self.groups_count * self.layout.group_bytes + int(self.control[HEAP_USED])

    def copy(self, zeros: Zeros | None = None) -> GroupTable:
        """Return a table with the same groups; zeros: makes its arrays, else as those here."""
        result = GroupTable(self.layout, int(self.control[ROWS_MAX]), zeros or self.zeros)
        result.grow_heap(int(self.control[HEAP_USED]))
        place = result.control[[HEAP_MAX, HEAP_ADDRESS]]
        used = self.groups_count * self.layout.row_words, int(self.control[HEAP_USED])
        result.control[:], result.slots[:] = self.control, self.slots
        result.control[[HEAP_MAX, HEAP_ADDRESS]] = place
        result.rows[: used[0]], result.heap[: used[1]] = self.rows[: used[0]], self.heap[: used[1]]
        return result

    def grow_rows(self) -> None:
        """Make room for four times as many rows."""
        rows_max = int(self.control[ROWS_MAX]) * GROWTH
        rows = self.zeros(rows_max * self.layout.row_words, np.int64)
        rows[: len(self.rows)] = self.rows
        slots = self.zeros(SLOTS_PER_ROW * rows_max, np.int64)
        fill_slots(slots, rows, self.groups_count, self.layout.row_words)
        self.rows, self.slots = rows, slots
        self.arrays = TableArrays(self.control, slots, rows)
        self.control[ROWS_MAX] = rows_max

    def grow_heap(self, free_bytes: int) -> None:
        """Make room for at least `free_bytes` more bytes of strings."""
        used = int(self.control[HEAP_USED])
        self.control[HEAP_NEEDED] = 0
        if used + free_bytes <= len(self.heap):
            return
        heap = self.zeros(max(used + free_bytes, 2 * len(self.heap)), np.uint8)
        heap[:used] = self.heap[:used]
        self.heap = heap
        self._locate_heap()

    def exchange_heap(self, heap: npt.NDArray[np.uint8], used: int) -> None:
        """Go on with another heap, of which `used` bytes are the strings of the rows."""
        self.heap = heap
        self.control[HEAP_USED] = used
        self._locate_heap()

    def _locate_heap(self) -> None:
        self.control[HEAP_MAX] = len(self.heap)
        self.control[HEAP_ADDRESS] = self.heap.ctypes.data


@sized_kernel
def find_group(
    control: Words,
    slots: Words,
    rows: Words,
    source: Words,
    start: int,
    source_heap: int,
    key_words: int,
    entry_words: int,
    row_words: int,
    text_mask: int,
) -> int:
    """Return where the row begins in `rows` whose entry has the given key words.

    -1: grow rows first.

    The key words are source[start : start + key_words]; a row is made if there is none. The offsets
    of long texts in `source` count from the address `source_heap`. The caller has made room in the
    heap of the table.
    """
    hash_word = hash_entry(source, start, source_heap, key_words, text_mask)
    tag = hash_word >> 32
    mask = len(slots) - 1
    slot = hash_word & mask
    while True:
        entry = slots[slot]
        if entry == 0:
            break
        if entry >> 32 == tag:
            row: int = ((entry & LENGTH_MASK) - 1) * row_words
            if equal_entries(rows, row + 1, control[HEAP_ADDRESS], source, start, source_heap, key_words, text_mask):
                return row
        slot = (slot + 1) & mask
    count = control[ROWS_COUNT]
    if count >= control[ROWS_MAX]:
        return -1
    row = count * row_words
    rows[row] = hash_word
    for word in range(entry_words):
        rows[row + 1 + word] = source[start + word]
    if text_mask != 0:
        own_texts(control, rows, row + 1, source_heap, entry_words, text_mask)
    control[ROWS_COUNT] = count + 1
    slots[slot] = (tag << 32) | (count + 1)
    return row


@inlined_kernel
def find_recent(
    control: Words, slots: Words, rows: Words, key_words: int, entry_words: int, row_words: int, text_mask: int
) -> int:
    """Return what `find_group` returns for the entry in `control`, sooner where few groups come
    again and again.
    """
    mixed = unsigned_word(0)
    for word in range(key_words):
        mixed = mixed ^ (unsigned_word(control[ENTRY + word]) << unsigned_word((3 * word) & 63))
    place = RECENT + signed_word((mixed * HASH_FACTOR) >> unsigned_word(64 - RECENT_BITS))
    row: int = control[place]
    is_same = row < control[ROWS_COUNT] * row_words
    for word in range(key_words):
        is_same &= rows[row + 1 + word] == control[ENTRY + word]
        if text_mask != 0 and (text_mask >> word) & 1:
            is_same &= (control[ENTRY + word] & LENGTH_MASK) <= INLINE_BYTES_MAX
    if is_same:
        return row
    row = find_group(control, slots, rows, control, ENTRY, 0, key_words, entry_words, row_words, text_mask)
    if row >= 0:
        control[place] = row
    return row


@kernel
def prefetch_slot(slots: Words, mixed: np.uint64) -> None:
    """Begin to load the slot at which a later `find_group` of keys with this hash begins."""
    prefetch(signed_word(slots.ctypes.data) + 8 * (signed_word(mixed) & (len(slots) - 1)))


@kernel
def prefetch_row(slots: Words, rows: Words, mixed: np.uint64, row_words: int) -> None:
    """Begin to load the row that a later `find_group` of keys with this hash returns, most likely.

    The row of another group is loaded in vain where the first slot has one.
    """
    entry = slots[signed_word(mixed) & (len(slots) - 1)]
    if entry != 0:
        row = signed_word(rows.ctypes.data) + 8 * row_words * ((entry & LENGTH_MASK) - 1)
        for word in range(0, row_words, LINE_WORDS):
            prefetch(row + 8 * word)
        prefetch(row + 8 * (row_words - 1))


@sized_kernel
def own_texts(control: Words, rows: Words, at: int, source_heap: int, entry_words: int, text_mask: int) -> None:
    """Copy the long texts of a new entry from the heap of the source to the heap of the table."""
    for word in range(entry_words - 1):
        if (text_mask >> word) & 1:
            length = rows[at + word] & LENGTH_MASK
            if length > INLINE_BYTES_MAX:
                rows[at + word + 1] = store_text(control, length, source_heap + rows[at + word + 1])


@sized_kernel
def hash_entry(source: Words, start: int, source_heap: int, key_words: int, text_mask: int) -> int:
    """Return the hash of the key words, and of the bytes of the long texts among the keys."""
    mixed = HASH_SEED
    previous_long = False
    for word in range(key_words):
        value = source[start + word]
        if previous_long:
            mixed = hash_bytes(mixed, source_heap + value, source[start + word - 1] & LENGTH_MASK)
            previous_long = False
            continue
        mixed = mix(mixed, value)
        if text_mask != 0 and (text_mask >> word) & 1:
            previous_long = (value & LENGTH_MASK) > INLINE_BYTES_MAX
    # Folding the halves once more would undo what `mix` did last: texts that differ in their last
    # letters met in a few slots then.
    result: int = signed_word(mixed)
    return result


@kernel
def mix(mixed: np.uint64, value: int) -> np.uint64:
    """Return the hash state after one more word."""
    mixed = (mixed ^ unsigned_word(value)) * HASH_FACTOR
    result: np.uint64 = mixed ^ (mixed >> HALF)
    return result


@kernel
def mix_text(mixed: np.uint64, is_null: int, w0: int, w1: int, heap: int) -> np.uint64:
    """Return the hash state after the words of a text, or after those of NULL where that is not 0.

    heap: the address from which the offsets of long texts count.
    """
    if is_null != 0:
        return mix(mix(mixed, 0), 0)
    length = w0 & LENGTH_MASK
    mixed = mix(mixed, w0)
    return hash_bytes(mixed, heap + w1, length) if length > INLINE_BYTES_MAX else mix(mixed, w1)


@kernel
def hash_bytes(mixed: np.uint64, address: int, length: int) -> np.uint64:
    """Return the hash state after `length` bytes."""
    position = 0
    while position + 8 <= length:
        mixed = mix(mixed, load_word(address + position))
        position += 8
    while position < length:
        mixed = mix(mixed, signed_word(load_byte(address + position)))
        position += 1
    return mixed


@sized_kernel
def equal_entries(
    rows: Words, at: int, heap: int, source: Words, start: int, source_heap: int, key_words: int, text_mask: int
) -> bool:
    """Return whether an entry in the table and one in `source` have equal key words."""
    previous_long = False
    for word in range(key_words):
        ours = rows[at + word]
        theirs = source[start + word]
        if previous_long:
            if not equal_bytes(heap + ours, source_heap + theirs, rows[at + word - 1] & LENGTH_MASK):
                return False
            previous_long = False
            continue
        if ours != theirs:
            return False
        if text_mask != 0 and (text_mask >> word) & 1:
            previous_long = (ours & LENGTH_MASK) > INLINE_BYTES_MAX
    return True


@kernel
def equal_bytes(a: int, b: int, length: int) -> bool:
    """Return whether `length` bytes at two addresses are equal."""
    position = 0
    while position + 8 <= length:
        if load_word(a + position) != load_word(b + position):
            return False
        position += 8
    while position < length:
        if load_byte(a + position) != load_byte(b + position):
            return False
        position += 1
    return True


@kernel
def store_text(control: Words, length: int, address: int) -> int:
    """Copy `length` bytes to the heap of the table and return their offset.

    The caller has made room.
    """
    offset: int = control[HEAP_USED]
    copy_memory(control[HEAP_ADDRESS] + offset, address, length)
    control[HEAP_USED] = offset + length
    return offset


@kernel
def own_text(control: Words, w0: int, w1: int, heap: int) -> int:
    """Return the second word of a text, after copying a long text to the heap of the table.

    w0, w1: the words of the text, as in text_values.py; `heap` is the address from which w1 counts.
    """
    length = w0 & LENGTH_MASK
    if length > INLINE_BYTES_MAX:
        return store_text(control, length, heap + w1)
    return w1


@kernel
def fill_slots(slots: Words, rows: Words, rows_count: int, row_words: int) -> None:
    """Enter the first `rows_count` rows, which are all different, into empty slots."""
    mask = len(slots) - 1
    for number in range(rows_count):
        hash_word = rows[number * row_words]
        slot = hash_word & mask
        while slots[slot] != 0:
            slot = (slot + 1) & mask
        slots[slot] = ((hash_word >> 32) << 32) | (number + 1)
