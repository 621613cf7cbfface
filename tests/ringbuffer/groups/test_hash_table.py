"""Group tables against a dict: random keys of words and texts, growth, long texts, equal hashes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ringbuffer.groups import hash_table
from ringbuffer.groups.hash_table import ENTRY, HEAP_USED, GroupTable, TableLayout, find_group, find_recent, hash_entry
from ringbuffer.groups.partitions import partition, partition_of, rows_by_partition
from ringbuffer.memory.columns import INLINE_BYTES_MAX

# Entry: null mask, a word, a text, a shown word; then one state word.
LAYOUT = TableLayout(key_words=4, entry_words=5, row_words=7, text_mask=0b100)
STATE = 6
Key = tuple[int, int, bytes]


def text_words(text: bytes, heap: bytearray) -> tuple[int, int]:
    """Return the words of a text; a long one is appended to `heap`."""
    head = text[:INLINE_BYTES_MAX].ljust(INLINE_BYTES_MAX, b"\0")
    w0 = int.from_bytes(len(text).to_bytes(4, "little") + head[:4], "little", signed=True)
    if len(text) <= INLINE_BYTES_MAX:
        return w0, int.from_bytes(head[4:], "little", signed=True)
    heap += text
    return w0, len(heap) - len(text)


def find(table: GroupTable, key: Key, shown: int, is_recent: bool = False) -> int:
    """Return the row of a key, growing the table as its owner does."""
    heap = bytearray()
    mask, word, text = key
    w0, w1 = text_words(text, heap)
    source = np.frombuffer(bytes(heap) or b"\0", dtype=np.uint8)
    table.grow_heap(len(heap))
    table.control[ENTRY : ENTRY + 5] = (mask, word, w0, w1, shown)
    sizes = (LAYOUT.key_words, LAYOUT.entry_words, LAYOUT.row_words, LAYOUT.text_mask)
    while True:
        control = table.control
        # Kernels have the addresses of long texts in the entry, as numbers that count from 0.
        control[ENTRY + 3] += source.ctypes.data * (len(text) > INLINE_BYTES_MAX and is_recent)
        if is_recent:
            row = find_recent(control, table.slots, table.rows, *sizes)
        else:
            row = find_group(control, table.slots, table.rows, control, ENTRY, source.ctypes.data, *sizes)
        control[ENTRY + 3] = w1
        if row >= 0:
            return row
        table.grow_rows()


def key_at(table: GroupTable, row: int) -> Key:
    """Return the key of a row as the table holds it."""
    mask, word, w0, w1 = (int(item) for item in table.rows[row + 1 : row + 5])
    length = w0 & 0xFFFFFFFF
    if length <= INLINE_BYTES_MAX:
        inline = (w0 & (2**64 - 1)).to_bytes(8, "little")[4:] + (w1 & (2**64 - 1)).to_bytes(8, "little")
        return mask, word, inline[:length]
    return mask, word, table.heap[w1 : w1 + length].tobytes()


def random_key(choose: random.Random) -> Key:
    text = bytes(choose.choice(b"ab\0\xff") for _ in range(choose.choice((0, 1, 3, 4, 5, 12, 13, 16, 40))))
    return choose.choice((0, 1)), choose.choice((0, 1, -1, 2**63 - 1, -(2**63))), text


@pytest.mark.parametrize("is_recent", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_groups_are_those_of_a_dict(seed: int, is_recent: bool) -> None:
    choose = random.Random(seed)
    table = GroupTable(LAYOUT, rows_max=4)
    counts: dict[Key, int] = {}
    shown: dict[Key, int] = {}
    for number in range(3000):
        key = random_key(choose)
        row = find(table, key, number, is_recent)
        table.rows[row + STATE] += 1
        counts[key] = counts.get(key, 0) + 1
        shown.setdefault(key, number)
    assert table.groups_count == len(counts)
    rows = [number * LAYOUT.row_words for number in range(table.groups_count)]
    assert {key_at(table, row): int(table.rows[row + STATE]) for row in rows} == counts
    assert {key_at(table, row): int(table.rows[row + 5]) for row in rows} == shown
    assert int(table.control[HEAP_USED]) == sum(len(text) for _, _, text in counts if len(text) > INLINE_BYTES_MAX)


def test_equal_hashes_are_told_apart_by_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    table = GroupTable(LAYOUT, rows_max=64)
    first = find(table, (0, 1, b"one"), 0)
    # A row whose hash is made equal to another's has the same slot and the same tag.
    table.rows[first] = 0
    table.slots[:] = 0
    hash_table.fill_slots(table.slots, table.rows, 1, LAYOUT.row_words)
    assert find(table, (0, 1, b"one"), 0) != first
    assert table.groups_count == 2


def test_growth_keeps_rows_and_their_order() -> None:
    table = GroupTable(LAYOUT, rows_max=1)
    rows = [find(table, (0, number, b"text number %010d" % number), 0) for number in range(100)]
    assert rows == [number * LAYOUT.row_words for number in range(100)]
    assert [find(table, (0, number, b"text number %010d" % number), 0) for number in range(100)] == rows


def test_load_stays_at_half_at_most() -> None:
    table = GroupTable(LAYOUT, rows_max=2)
    for number in range(1000):
        find(table, (0, number, b""), 0)
        assert 2 * table.groups_count <= len(table.slots)


def test_every_partition_is_used() -> None:
    table = GroupTable(LAYOUT)
    rows = [find(table, (0, number, b""), 0) for number in range(4000)]
    found = [partition(int(table.rows[row])) for row in rows]
    assert set(found) == set(range(64))
    copies, starts = rows_by_partition(table)
    wanted = sorted(range(4000), key=found.__getitem__)
    assert copies.reshape(4000, -1).tolist() == table.rows.reshape(-1, LAYOUT.row_words)[wanted].tolist()
    assert np.diff(starts).tolist() == [LAYOUT.row_words * found.count(part) for part in range(64)]
    assert (partition_of(table), partition_of(GroupTable(LAYOUT))) == (None, 0)


def test_texts_that_differ_in_their_last_letters_spread_over_the_slots() -> None:
    count = 4096
    words = np.array([text_words(f"code {row:05}".encode(), bytearray()) for row in range(count)]).reshape(-1)
    slots = {hash_entry(words, 2 * row, 0, 2, 1) % (2 * count) for row in range(count)}
    # About as many as chance would fill: 1 - exp(-1/2) of them.
    assert len(slots) > 0.35 * 2 * count
