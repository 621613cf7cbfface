"""Tables whose groups are taken away, and groups that have lost their rows.

A count and an exact sum are words that add up, so that what is merged with the opposite sign takes
rows away again (DBToaster's multiplicities: Nikolic, Efficient Incremental Data Analysis, 2.3).
Enters: tables of groupings all of whose states are such. Must not know pipelines.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.groups.aggregates import State
from ringbuffer.groups.hash_table import GroupTable, Words
from ringbuffer.groups.merge import merge_partition
from views.codegen.grouping import Grouping

# The states from which values can be taken away, without a loss.
ADDITIVE = frozenset({State.COUNT, State.SUM_INTEGER, State.SUM_SQUARES})
SMALLEST = np.iinfo(np.int64).min
# So many groups without rows may stay, and as many as others.
DEAD_MAX = 1 << 10


def negate(table: GroupTable, grouping: Grouping) -> None:
    """Give all counts and sums of a table the opposite sign.

    np.negative(column, out=column) is wrong for columns of a matrix (numpy 2.4.6).
    """
    rows = _rows(table)
    for slot in grouping.inputs:
        rows[:, slot.count_word] = 0 - rows[:, slot.count_word]
        for state, word in slot.states.items():
            assert state in ADDITIVE, state
            _negate_sums(rows[:, word : word + 3])


def _negate_sums(sums: Words) -> None:
    """Negate sums (lo, hi, wraps), each of two words and wraps * 2^128.

    sums: int64[rows, 3]. The smallest number of two words is its own opposite, less 2^128.
    """
    low, high, wraps = sums[:, 0], sums[:, 1], sums[:, 2]
    is_smallest = (low == 0) & (high == SMALLEST)
    high[:] = ~high + (low == 0)
    low[:] = 0 - low
    wraps[:] = is_smallest - wraps


def without_dead(table: GroupTable, grouping: Grouping, program: Words) -> GroupTable:
    """Return the table, or a copy without the groups that have no rows, where these are many."""
    if not grouping.keys:
        return table
    (count_word,) = (slot.count_word for slot in grouping.inputs if slot.argument is None and slot.filter is None)
    rows = _rows(table)
    living = rows[:, count_word] != 0
    dead = len(rows) - int(np.count_nonzero(living))
    if dead <= DEAD_MAX or 2 * dead <= len(rows):
        return table
    fresh = GroupTable(table.layout)
    merge_partition(fresh, table, rows[living].reshape(-1), program)
    return fresh


def _rows(table: GroupTable) -> Words:
    words = table.layout.row_words
    rows: Words = table.rows[: table.groups_count * words].reshape(-1, words)
    return rows
