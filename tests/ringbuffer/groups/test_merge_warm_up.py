"""After the warm-up no commit waits for the compiler while it holds the lock that all commits
take.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ringbuffer.groups import hash_table, merge, partitions
from ringbuffer.groups.aggregates import State
from ringbuffer.groups.hash_table import GroupTable, TableLayout

COMPILED: tuple[Any, ...] = (
    merge.merge_rows,
    merge.merge_state,
    merge.long_bytes,
    merge.gather_strings,
    hash_table.find_group,
    hash_table.prefetch_row,
    hash_table.prefetch_slot,
    hash_table.fill_slots,
    partitions.copy_by_partition,
)


def test_warm_up_compiles_all_that_a_merge_needs() -> None:
    merge.warm_up_merging()
    before = [len(one.signatures) for one in COMPILED]
    layout = TableLayout(key_words=3, entry_words=3, row_words=8, text_mask=0b10)
    target, source = GroupTable(layout), GroupTable(layout)
    sizes = (layout.key_words, layout.entry_words, layout.row_words, layout.text_mask)
    for number in range(100):
        entry = np.array([0, 1, number], dtype=np.int64)
        while hash_table.find_group(source.control, source.slots, source.rows, entry, 0, 0, *sizes) < 0:
            source.grow_rows()
    program = np.array([(int(State.MIN_TEXT), 5, 7), (int(State.COUNT), 7, 7)], dtype=np.int64)
    merge.merge_tables(target, source, program)
    source.control[hash_table.HEAP_USED] = 1
    merge.merge_partition(target, source, partitions.rows_by_partition(source)[0], program)
    assert target.groups_count == 100
    assert [len(one.signatures) for one in COMPILED] == before
