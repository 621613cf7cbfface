"""The first row of each group in an order, as a state: a null mask, then the words of some values.
Several first rows are such rows one after the other, in their order.

The values that decide the order come first. Each value has a form: bits 0-2 are its kind, then come
whether it decides the order, descending or not, NULLs first or last, and whether of equal rows the
later one stays; from bit 8 on stands its bit in the null mask, from bit 16 on the form in which
strings are compared (compared_bytes.py). Of rows that are equal in the order the row that came
first stays otherwise, so that tables must be merged in the order of their commits. Texts are as in
`ringbuffer.groups.aggregates`.
Must not know SQL.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.aggregates import LIST_BYTES_MAX, STATE_BITS, TOO_LONG, from_bits, keep_text, unsigned_word
from ringbuffer.groups.hash_table import HEAP_ADDRESS, Words
from ringbuffer.memory.addresses import copy_bytes
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK
from ringbuffer.scalar.numbers.any_numeric import any_compare
from ringbuffer.scalar.numbers.floats import compare_float64
from ringbuffer.scalar.numbers.numeric import numeric_compare
from ringbuffer.scalar.texts.compared_bytes import stored_compare
from ringbuffer.scalar.texts.text_values import make_text, text_address

# int64[n, 2].
Texts = Annotated[npt.NDArray[np.int64], 2]
# int64[steps, 3].
Program = Annotated[npt.NDArray[np.int64], 2]


class Kind(IntEnum):
    """The kind of a value, which says what the words of the value are."""

    WORD = 0
    FLOAT = 1
    INT128 = 2
    NUMERIC = 3
    TEXT = 4


KIND_WORDS = {Kind.WORD: 1, Kind.FLOAT: 1, Kind.INT128: 2, Kind.NUMERIC: 3, Kind.TEXT: 2}
KIND_MASK = 7
ORDERS = 8
DESCENDING = 16
NULLS_FIRST = 32
LATER = 64
BIT_SHIFT = 8
BIT_MASK = 63
FORM_SHIFT = 16
VALUES_MAX = 63
# In the head of several first rows: how many are kept, above the state, and the words of each.
ROWS_BITS = 16
ROWS_MASK = (1 << ROWS_BITS) - 1
WIDTH_SHIFT = STATE_BITS + ROWS_BITS

copy_memory: Any = copy_bytes

FLOAT = int(Kind.FLOAT)
INT128 = int(Kind.INT128)
NUMERIC = int(Kind.NUMERIC)
TEXT = int(Kind.TEXT)


@kernel
def compare_kept(
    form: int,
    control: Words,
    rows: Words,
    mask_at: int,
    at: int,
    source: Words,
    source_mask: int,
    start: int,
    heap: int,
) -> int:
    """Return -1, 0 or 1: the kept value rows[at] comes before, with or after source[start] in the
    order.

    The order is that of `form`.
    """
    bit = (form >> BIT_SHIFT) & BIT_MASK
    kept_null = (rows[mask_at] >> bit) & 1
    new_null = (source[source_mask] >> bit) & 1
    if kept_null != 0 or new_null != 0:
        if kept_null == new_null:
            return 0
        return -1 if (kept_null != 0) == ((form & NULLS_FIRST) != 0) else 1
    kind = form & KIND_MASK
    if kind == FLOAT:
        order = compare_float64(from_bits(unsigned_word(rows[at])), from_bits(unsigned_word(source[start])))
    elif kind == INT128:
        order = numeric_compare(rows[at], rows[at + 1], 0, source[start], source[start + 1], 0)
    elif kind == NUMERIC:
        order = any_compare(rows[at], rows[at + 1], rows[at + 2], source[start], source[start + 1], source[start + 2])
    elif kind == TEXT:
        words = (rows[at], rows[at + 1], control[HEAP_ADDRESS], source[start], source[start + 1], heap)
        order = stored_compare(form >> FORM_SHIFT, *words)
    else:
        order = (1 if rows[at] > source[start] else 0) - (1 if rows[at] < source[start] else 0)
    if order == 0:
        return 0
    return -1 if (order < 0) != ((form & DESCENDING) != 0) else 1


@kernel
def is_kept_text(form: int) -> bool:
    """Tell whether a value of this form is a text."""
    return form & KIND_MASK == TEXT


@kernel
def keep_value(form: int, control: Words, rows: Words, at: int, source: Words, start: int, heap: int) -> None:
    """Write source[start] to the place of rows[at]; the heap of the table has room for a text."""
    kind = form & KIND_MASK
    if kind == TEXT:
        keep_text(control, rows, at, source[start], source[start + 1], heap)
        return
    rows[at] = source[start]
    if kind in (INT128, NUMERIC):
        rows[at + 1] = source[start + 1]
    if kind == NUMERIC:
        rows[at + 2] = source[start + 2]


@kernel
def merge_first(
    control: Words, rows: Words, group: int, seen: int, source: Words, row: int, program: Program, step: int, heap: int
) -> None:
    """Keep the earlier of the rows at rows[group] and source[row].

    program[step] is the head; the steps of the values follow it.
    """
    mask, count = program[step, 1], program[step, 2]
    wins = seen == 0
    if not wins:
        wins = program[step + 1, 0] & LATER != 0
        for value in range(step + 1, step + 1 + count):
            form = program[value, 0]
            if form & ORDERS == 0:
                break
            at = program[value, 1]
            order = compare_kept(form, control, rows, group + mask, group + at, source, row + mask, row + at, heap)
            if order != 0:
                wins = order > 0
                break
    if wins:
        rows[group + mask] = source[row + mask]
        for value in range(step + 1, step + 1 + count):
            at = program[value, 1]
            keep_value(program[value, 0], control, rows, group + at, source, row + at, heap)


@kernel
def open_place(rows: Words, at: int, width: int, place: int, last: int) -> None:
    """Move the rows [place, last) of several first rows, `width` words each, to the next place.

    The words of row `last`, which leaves, come to `place`, so that a text may take the room of its
    texts.
    """
    for word in range(at, at + width):
        left = rows[word + last * width]
        for number in range(last, place, -1):
            rows[word + number * width] = rows[word + (number - 1) * width]
        rows[word + place * width] = left


@kernel
def merge_several(
    control: Words, rows: Words, group: int, seen: int, source: Words, row: int, program: Program, step: int, heap: int
) -> None:
    """Keep the first ones of the rows at rows[group], of `seen` that came, and source[row].

    program[step] is the head; the steps of the values follow it.
    """
    head, mask, count = program[step, 0], program[step, 1], program[step, 2]
    rows_max, width = head >> STATE_BITS & ROWS_MASK, head >> WIDTH_SHIFT
    kept, place = min(seen, rows_max), 0
    for number in range(min(source[row + program[step + 1, 2]], rows_max)):
        # Those of the source are in order, so that the next one comes after this one.
        start = row + number * width
        while place < kept:
            at, order = group + place * width, 0
            for value in range(step + 1, step + 1 + count):
                form, word = program[value, 0], program[value, 1]
                if form & ORDERS == 0 or order != 0:
                    break
                order = compare_kept(
                    form, control, rows, at + mask, at + word, source, start + mask, start + word, heap
                )
            if order > 0:
                break
            place += 1
        if place == rows_max:
            return
        last = min(kept, rows_max - 1)
        open_place(rows, group + mask, width, place, last)
        kept, at = last + 1, group + place * width
        rows[at + mask] = source[start + mask]
        for value in range(step + 1, step + 1 + count):
            word = program[value, 1]
            keep_value(program[value, 0], control, rows, at + word, source, start + word, heap)
        place += 1


@kernel
def join_texts(
    rows: Words, row_words: int, at: int, width: int, rows_max: int, seen_at: int, heap: int, address: int, lists: Texts
) -> int:
    """Join a text of all first rows of each group; return the bytes of them all, TOO_LONG for too
    many of one group.

    at: of the text of the first of at most `rows_max` rows, `width` words each. address: where the
    lists are written, 0: their bytes are counted alone. lists: int64[groups, 2], whose offsets
    count from there.
    """
    used = 0
    for number in range(len(lists)):
        row, begin = number * row_words, used
        for place in range(min(rows[row + seen_at], rows_max)):
            word = row + at + place * width
            length = rows[word] & LENGTH_MASK
            if address != 0:
                copy_memory(address + used, text_address(rows[word], rows[word + 1], heap), length)
            used += length
        if used - begin > LIST_BYTES_MAX:
            return TOO_LONG
        if address != 0:
            first, second = make_text(address + begin, used - begin)
            lists[number, 0] = first
            lists[number, 1] = second - address if used - begin > INLINE_BYTES_MAX else second
    return used
