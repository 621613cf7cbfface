"""The groups of given keys, found in a table by their hash and merged with those of other tables.

Enters: a table whose groups are the keys that are sought, and a table that is searched; both have
the same words of keys. Leaves: the groups that were found, in a table of the caller's, or their
numbers. Must not change the tables that are searched, nor know what keys and states mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import entry_of, kernel
from ringbuffer.groups.aggregates import State
from ringbuffer.groups.first_rows import Program
from ringbuffer.groups.hash_table import (
    HEAP_ADDRESS,
    HEAP_MAX,
    HEAP_NEEDED,
    HEAP_USED,
    ROWS_COUNT,
    GroupTable,
    TableArrays,
    TableLayout,
    Words,
    equal_entries,
    find_group,
)
from ringbuffer.groups.merge import long_bytes, merge_rows
from ringbuffer.memory.columns import LENGTH_MASK

# The machine code of the kernels: to find out the types of NamedTuples takes longer than a lookup.
_entries: list[Callable[..., Any]] = []
_place_entries: list[Callable[..., Any]] = []


class SoughtRows:
    """Some of the groups of a table, as keys that are sought."""

    __slots__ = ("arrays", "control", "layout")

    def __init__(self, table: GroupTable) -> None:
        self.layout = table.layout
        self.control = table.control.copy()
        self.arrays = TableArrays(self.control, table.slots, table.rows)

    def seek(self, rows: Words, count: int) -> None:
        """Go on with copies of so many rows of the table."""
        self.control[ROWS_COUNT] = count
        self.arrays = TableArrays(self.control, self.arrays.slots, rows)


def merge_found(
    found: GroupTable, keys: GroupTable | SoughtRows, source: GroupTable, program: Program, heap_max: int | None = None
) -> bool:
    """Add the groups of `source` that have one of the keys to those of `found`.

    keys: its groups are the keys; it may have other words of states. found: has the layout of
    `source`. heap_max: False is returned where texts and lists would take more bytes.
    """
    count = keys.control.item(ROWS_COUNT)
    if not count or not source.control.item(ROWS_COUNT):
        return True
    sought, searched = keys.arrays, source.arrays
    start, key_row_words = 0, keys.layout.row_words
    while True:
        arguments = found.arrays, sought, key_row_words, searched, program, start, source.layout
        if not _entries:
            _entries.append(entry_of(merge_found_rows, *arguments))
        start = _entries[0](*arguments)
        if start == count:
            return True
        if found.control.item(HEAP_NEEDED):
            if heap_max is not None and found.control[HEAP_USED] + found.control[HEAP_NEEDED] > heap_max:
                return False
            found.grow_heap(int(found.control[HEAP_NEEDED]))
        else:
            found.grow_rows()


def find_places(source: GroupTable, keys: GroupTable, places: npt.NDArray[np.int64]) -> None:
    """Write the number of the group of `source` that has each key, -1 where there is none.

    places: int64[the number of keys].
    """
    arguments = source.arrays, keys.arrays, keys.layout.row_words, source.layout, places
    if not _place_entries:
        _place_entries.append(entry_of(place_rows, *arguments))
    _place_entries[0](*arguments)


@kernel
def merge_found_rows(
    found: TableArrays,
    keys: TableArrays,
    key_row_words: int,
    source: TableArrays,
    program: Program,
    start: int,
    layout: TableLayout,
) -> int:
    """Merge the groups of the source that have one of the keys from `start` on.

    Returns the number of the keys, or the key at which the table must grow first: its heap if that
    is in HEAP_NEEDED, else its rows.
    """
    count: int = keys.control[ROWS_COUNT]
    for number in range(start, count):
        row = find_row(source, keys, number * key_row_words, layout)
        if row >= 0:
            # As a key is shown, it may be longer than the key that is sought.
            needed = long_bytes(source.rows[row * layout.row_words :], 1, program, layout)
            if found.control[HEAP_USED] + needed > found.control[HEAP_MAX]:
                found.control[HEAP_NEEDED] = needed
                return number
            merged = merge_rows(
                found.control, found.slots, found.rows, source.control, source.rows, program, row, row + 1, layout
            )
            if merged == row:
                return number
    return count


@kernel
def place_rows(
    source: TableArrays,
    keys: TableArrays,
    key_row_words: int,
    layout: TableLayout,
    places: npt.NDArray[np.int64],
) -> None:
    """Write the number of the source's row with each key. places: int64[the number of keys]."""
    for number in range(len(places)):
        places[number] = find_row(source, keys, number * key_row_words, layout)


@kernel
def find_row(source: TableArrays, keys: TableArrays, start: int, layout: TableLayout) -> int:
    """Return the number of the source's row whose key words are those of the row at
    keys.rows[start], -1 if there is none.
    """
    key_words, _, row_words, text_mask = layout
    slots, rows = source.slots, source.rows
    heap, keys_heap = source.control[HEAP_ADDRESS], keys.control[HEAP_ADDRESS]
    hash_word = keys.rows[start]
    tag = hash_word >> 32
    mask = len(slots) - 1
    slot = hash_word & mask
    while slots[slot] != 0:
        if slots[slot] >> 32 == tag:
            number: int = (slots[slot] & LENGTH_MASK) - 1
            if equal_entries(rows, number * row_words + 1, heap, keys.rows, start + 1, keys_heap, key_words, text_mask):
                return number
        slot = (slot + 1) & mask
    return -1


def warm_up_finding() -> None:
    """Compile or load the kernels, since the event loop reads by key."""
    layout = TableLayout(key_words=2, entry_words=2, row_words=4, text_mask=0)
    found, keys = GroupTable(layout), GroupTable(layout)
    key = np.zeros(layout.entry_words, dtype=np.int64)
    find_group(keys.control, keys.slots, keys.rows, key, 0, 0, *layout)
    merge_found(found, keys, keys, np.array([(int(State.COUNT), 3, 3)], dtype=np.int64))
    find_places(found, keys, np.zeros(1, dtype=np.int64))
