"""The groups of one table that other tables do not have: how many there are, and their bytes.

Enters: tables of one layout, none of which changes meanwhile. Leaves: numbers. Nothing is merged,
so that a statement may ask before it is applied. Must not know what keys and states mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.hash_table import (
    HEAP_ADDRESS,
    HEAP_USED,
    GroupTable,
    TableLayout,
    Words,
    equal_entries,
    find_group,
)
from ringbuffer.groups.partitions import rows_by_partition
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK

Flags = npt.NDArray[np.uint8]


class StateSize(NamedTuple):
    """How large groups are.

    Attributes:
        groups: how many different groups.
        bytes: what the groups take, as `GroupTable.used_bytes`.
    """

    groups: int = 0
    bytes: int = 0

    def plus(self, other: StateSize) -> StateSize:
        """Return the size of both."""
        return StateSize(self.groups + other.groups, self.bytes + other.bytes)

    def minus(self, other: StateSize) -> StateSize:
        """Return what is left without the other."""
        return StateSize(self.groups - other.groups, self.bytes - other.bytes)


def size_of(tables: Iterable[GroupTable]) -> StateSize:
    """Return the size of tables that have no group together."""
    groups = bytes_count = 0
    for table in tables:
        groups += table.groups_count
        bytes_count += table.used_bytes
    return StateSize(groups, bytes_count)


def size_of_new(
    tables: Sequence[GroupTable],
    partitions: Sequence[GroupTable],
    known: Sequence[GroupTable],
    keys_only: bool,
    with_lists: bool = False,
) -> StateSize:
    """Return the size of the groups of `tables` that neither `partitions` nor `known` have, each
    counted once.

    partitions: of merged groups, one or all. keys_only: states have no long texts, so that long
    texts are those of keys; otherwise all long texts of the tables count, also those of known
    groups. with_lists: states have lists, so that known groups grow by short texts as well; their
    words count for these.
    """
    groups = bytes_count = 0
    before = list(known)
    for table in tables:
        count, layout = table.groups_count, table.layout
        rows, starts = rows_by_partition(table) if len(partitions) > 1 else (table.rows, [0, count * layout.row_words])
        found: Flags = np.zeros(count, dtype=np.uint8)
        for other, start, end in zip(partitions, starts[:-1], starts[1:], strict=True):
            flags = found[start // layout.row_words : end // layout.row_words]
            mark_known(other.control, other.slots, other.rows, table.control, rows[start:end], flags, layout)
        for other in before:
            if other.groups_count:
                mark_known(other.control, other.slots, other.rows, table.control, rows, found, layout)
        new = count - int(np.count_nonzero(found))
        groups += new
        long_texts = long_key_bytes(rows, found, layout) if keys_only else int(table.control[HEAP_USED])
        bytes_count += (count if with_lists else new) * layout.group_bytes + long_texts
        before.append(table)
    return StateSize(groups, bytes_count)


@kernel
def mark_known(
    control: Words, slots: Words, rows: Words, source_control: Words, source: Words, found: Flags, layout: TableLayout
) -> None:
    """Set found[i] to 1 for each row i of the source that the table of `slots` and `rows` has."""
    key_words, _, row_words, text_mask = layout
    heap, source_heap = control[HEAP_ADDRESS], source_control[HEAP_ADDRESS]
    mask = len(slots) - 1
    for number in range(len(found)):
        if found[number] != 0:
            continue
        start = number * row_words
        hash_word = source[start]
        tag = hash_word >> 32
        slot = hash_word & mask
        while slots[slot] != 0:
            if slots[slot] >> 32 == tag:
                at = ((slots[slot] & LENGTH_MASK) - 1) * row_words + 1
                if equal_entries(rows, at, heap, source, start + 1, source_heap, key_words, text_mask):
                    found[number] = 1
                    break
            slot = (slot + 1) & mask


@kernel
def long_key_bytes(rows: Words, found: Flags, layout: TableLayout) -> int:
    """Return the bytes of the long texts of the entries whose `found` is 0."""
    _, entry_words, row_words, text_mask = layout
    total = 0
    for number in range(len(found)):
        if found[number] != 0 or text_mask == 0:
            continue
        for word in range(entry_words - 1):
            if (text_mask >> word) & 1:
                length = rows[number * row_words + 1 + word] & LENGTH_MASK
                if length > INLINE_BYTES_MAX:
                    total += length
    return total


def warm_up_counting() -> None:
    """Compile or load the kernels, since a commit may need them while others wait."""
    layout = TableLayout(key_words=2, entry_words=2, row_words=4, text_mask=0)
    one, other = GroupTable(layout), GroupTable(layout)
    key = np.zeros(layout.entry_words, dtype=np.int64)
    for table in (one, other):
        find_group(table.control, table.slots, table.rows, key, 0, 0, *layout)
    size_of_new([one], [other], [], keys_only=True)
