"""Functions that are written anew for sizes, past numba: groups are found as a dictionary finds
them, as numba's code finds them, and numba compiles none of these functions.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from ringbuffer.compile.direct_compiler import compile_directly
from ringbuffer.compile.kernel_calls import Callees
from ringbuffer.compile.kernel_code import KernelCode, signature
from ringbuffer.compile.kernel_text import kernel_tree
from ringbuffer.compile.loader import load_code
from ringbuffer.groups.hash_table import ENTRY, GroupTable, TableLayout, find_group

pytestmark = pytest.mark.compiles

WORDS = "int64[::1]"
TYPES = ("int64", "int64", WORDS, WORDS, WORDS, "int64[:,::1]")
TEXT = """
from ringbuffer.compile.jit import kernel
from ringbuffer.groups.hash_table import ENTRY, find_group, find_recent


@kernel
def run(start, end, control, slots, rows, keys):
    for row in range(start, end):
{keys}
        group = {find}{key_words}, {entry_words}, {row_words}, {text_mask})
        if group < 0:
            return row
        rows[group + {row_words} - 1] += 1
    return end
"""
ROWS, GROUPS_MAX = 500, 1024


def texts(seed: int) -> tuple[int, ...]:
    """Return the words of a text that is no longer than its two words."""
    letters = bytes([97 + seed % 3] * (seed % 12))
    first, second = np.frombuffer(len(letters).to_bytes(4, "little") + letters.ljust(12, b"\0"), np.int64)
    return int(first), int(second)


@pytest.mark.parametrize(
    "find", ["find_group(control, slots, rows, control, ENTRY, 0, ", "find_recent(control, slots, rows, "]
)
@pytest.mark.parametrize(
    "layout",
    [
        TableLayout(2, 2, 4, 0),
        TableLayout(3, 4, 6, 0),
        TableLayout(3, 3, 9, 0b10),
        TableLayout(4, 4, 6, 0b10),
        # Of more words than one has bits for three of each.
        TableLayout(30, 32, 35, 0b10),
    ],
)
def test_groups_are_found(layout: TableLayout, find: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    call = Callees.call

    def counted(self: Callees, function: Any, *rest: Any) -> Any:
        asked.append(getattr(function, "__name__", ""))
        return call(self, function, *rest)

    monkeypatch.setattr(Callees, "call", counted)
    chance = random.Random(repr((layout, find)))
    rows = [[0] * layout.entry_words for _ in range(ROWS)]
    for row in rows:
        row[1:] = [chance.randrange(-3, 4) for _ in row[1:]]
        if layout.text_mask:
            row[1:3] = texts(chance.randrange(36))
        # Not a key: it follows from the keys.
        row[layout.key_words :] = [sum(row[: layout.key_words])] * (layout.entry_words - layout.key_words)
    keys = np.array(rows, np.int64)
    lines = "\n".join(f"        control[ENTRY + {place}] = keys[row, {place}]" for place in range(layout.entry_words))
    text = TEXT.format(find=find, keys=lines, **layout._asdict())
    code = KernelCode(*compile_directly(kernel_tree(text), "a_module", "run", signature(TYPES)[0]))
    kernel = load_code(code, "run", TYPES)
    ours, theirs = GroupTable(layout, GROUPS_MAX), GroupTable(layout, GROUPS_MAX)
    assert kernel(0, ROWS, ours.control, ours.slots, ours.rows, keys) == ROWS
    for row in keys:
        theirs.control[ENTRY : ENTRY + layout.entry_words] = row
        group = find_group(theirs.control, theirs.slots, theirs.rows, theirs.control, ENTRY, 0, *layout)
        theirs.rows[group + layout.row_words - 1] += 1
    assert ours.groups_count == theirs.groups_count
    assert ours.rows.tolist() == theirs.rows.tolist() and ours.slots.tolist() == theirs.slots.tolist()
    found = ours.rows.reshape(-1, layout.row_words)[: ours.groups_count]
    counts = {tuple(row[1 : 1 + layout.entry_words]): row[-1] for row in found.tolist()}
    assert counts == Counter(map(tuple, rows))
    assert {"find_group", "find_recent", "hash_entry", "equal_entries", "own_texts"}.isdisjoint(asked)
    # A table without room stops at the row that needs it.
    small = GroupTable(layout, 2)
    stopped = kernel(0, ROWS, small.control, small.slots, small.rows, keys)
    assert len(set(map(tuple, rows[:stopped]))) == 2 < len(set(map(tuple, rows[: stopped + 1])))
