"""Groups found by their keys: those that a dictionary finds, in whatever table they lie."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ringbuffer.groups.aggregates import State
from ringbuffer.groups.found_groups import merge_found
from ringbuffer.groups.hash_table import HEAP_ADDRESS, HEAP_USED, GroupTable, TableLayout, find_group
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK

# A null mask, a number and a text are the key; a count is the state.
LAYOUT = TableLayout(key_words=4, entry_words=4, row_words=6, text_mask=0b100)
COUNT_AT = 5
PROGRAM = np.array([(int(State.COUNT), COUNT_AT, COUNT_AT)], dtype=np.int64)
# Keys have no state.
KEYS = TableLayout(key_words=4, entry_words=4, row_words=5, text_mask=0b100)

Key = tuple[int, bytes]


def add(table: GroupTable, key: Key, shown: bytes = b"") -> int:
    """Return where the row of a key begins, which is made if there is none.

    shown: a long text that tables with words for it show.
    """
    number, text = key
    heap = np.frombuffer(text + shown + b"\0" * 8, dtype=np.uint8)
    words = np.zeros(6, dtype=np.int64)
    words[1] = number
    inline = np.frombuffer(
        len(text).to_bytes(4, "little") + text[:INLINE_BYTES_MAX].ljust(INLINE_BYTES_MAX, b"\0"), np.int64
    )
    words[2:4] = inline
    if len(text) > INLINE_BYTES_MAX:
        words[3] = 0
    words[4:] = len(shown), len(text)
    table.grow_heap(len(text) + len(shown))
    while True:
        row = find_group(table.control, table.slots, table.rows, words, 0, heap.ctypes.data, *table.layout)
        if row >= 0:
            return int(row)
        table.grow_rows()


def groups(table: GroupTable) -> dict[Key, int]:
    """Return the counts by key."""
    found = {}
    for row in table.rows[: table.groups_count * table.layout.row_words].reshape(-1, table.layout.row_words):
        length = int(row[3]) & LENGTH_MASK
        inline = row[3:5].tobytes()[4 : 4 + length]
        start = int(row[4])
        text = inline if length <= INLINE_BYTES_MAX else table.heap[start : start + length].tobytes()
        found[int(row[2]), text] = int(row[COUNT_AT])
    return found


@pytest.mark.parametrize("seed", range(5))
def test_groups_are_those_of_a_dictionary(seed: int) -> None:
    choose = random.Random(seed)
    texts = [bytes([97 + choose.randrange(3)]) * choose.choice((0, 3, 12, 13, 40)) for _ in range(8)]
    known = [(choose.randint(-40, 40), choose.choice(texts)) for _ in range(400)]
    tables, counts = [GroupTable(LAYOUT) for _ in range(3)], dict[Key, int]()
    for key in known:
        table = choose.choice(tables[:2])
        row = add(table, key)
        table.rows[row + COUNT_AT] += 1
        counts[key] = counts.get(key, 0) + 1
    sought = {*choose.sample(known, 100), *((choose.randint(-60, 60), choose.choice(texts)) for _ in range(50))}
    keys, found = GroupTable(KEYS), GroupTable(LAYOUT)
    for key in sought:
        add(keys, key)
    before = [(table.rows.copy(), table.control.copy()) for table in tables]
    for table in tables:
        merge_found(found, keys, table, PROGRAM)
    assert groups(found) == {key: count for key, count in counts.items() if key in sought}
    for table, (rows, control) in zip(tables, before, strict=True):
        assert (table.rows == rows).all() and (table.control == control).all()
    assert found.control[HEAP_USED] <= len(found.heap) and found.control[HEAP_ADDRESS] == found.heap.ctypes.data


def test_texts_that_are_shown_have_room() -> None:
    """A key may be shown by a text that is longer than the one that is sought."""
    layout = TableLayout(key_words=4, entry_words=6, row_words=8, text_mask=0b10100)
    program = np.array([(int(State.COUNT), 7, 7)], dtype=np.int64)
    source, keys, found = GroupTable(layout), GroupTable(layout), GroupTable(layout)
    for number in range(40):
        add(source, (number, b"x"), b"%04d" % number * 50)
        add(keys, (number, b"x"))
    merge_found(found, keys, source, program)
    assert found.control[HEAP_USED] == 40 * 200 <= len(found.heap) < 3 * 40 * 200
    assert found.heap[: 40 * 200].tobytes() == b"".join(b"%04d" % number * 50 for number in range(40))
