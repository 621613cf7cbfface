"""Groups by partition: the first bits of a group's hash tell to which of 64 partitions it belongs.

Enters: a group table. Leaves: its rows, partition by partition. Slots are found by the last bits of
a hash, so that a table with the groups of one partition is as good a hash table as one with all.
Rows are copied, since the rows of a partition that stay where they are lie in as many pages of
memory: to read them so takes longer than to merge them. Must not know what keys and states mean.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.hash_table import GroupTable, Words
from ringbuffer.memory.kept_memory import kept_memory

PARTITION_BITS = 6
PARTITIONS_COUNT = 1 << PARTITION_BITS


def rows_by_partition(table: GroupTable) -> tuple[Words, list[int]]:
    """Return a copy of all rows, those of partition 0 first, and at which word each partition
    starts.

    The last of the 65 starts is the end. Long texts of the rows are in the heap of the table.
    """
    row_words = table.layout.row_words
    rows = kept_memory.take(table.groups_count * row_words * 8).view(np.int64)
    ends = np.zeros(PARTITIONS_COUNT, dtype=np.int64)
    copy_by_partition(table.rows, row_words, table.groups_count, rows, ends)
    return rows, [0, *(ends * row_words).tolist()]


def partition_of(table: GroupTable) -> int | None:
    """Return the partition of all groups of a table, None where the groups are of several."""
    row_words = table.layout.row_words
    hashes = table.rows[: table.groups_count * row_words : row_words]
    if len(hashes) == 0:
        return 0
    first = partition(int(hashes[0]))
    numbers = (hashes >> (64 - PARTITION_BITS)) & (PARTITIONS_COUNT - 1)
    return first if (numbers == first).all() else None


@kernel
def partition(hash_word: int) -> int:
    """Return the partition, from 0 to 63, of rows with this hash."""
    return (hash_word >> (64 - PARTITION_BITS)) & (PARTITIONS_COUNT - 1)


@kernel
def copy_by_partition(rows: Words, row_words: int, count: int, copies: Words, ends: Words) -> None:
    """Copy the first `count` rows, those of partition 0 first, and write where each partition ends.

    copies: int64[count * row_words]; ends: int64[64], of zeros.
    """
    for number in range(count):
        ends[partition(rows[number * row_words])] += 1
    before = 0
    for part in range(PARTITIONS_COUNT):
        before, ends[part] = before + ends[part], before
    for number in range(count):
        at = number * row_words
        part = partition(rows[at])
        to = ends[part] * row_words
        for word in range(row_words):
            copies[to + word] = rows[at + word]
        ends[part] += 1
