"""The first row of each group in an order, as a state: a null mask, then the words of some values.

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
from typing import Annotated

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.aggregates import from_bits, keep_text, unsigned_word
from ringbuffer.groups.hash_table import HEAP_ADDRESS, Words
from ringbuffer.scalar.numbers.any_numeric import any_compare
from ringbuffer.scalar.numbers.floats import compare_float64
from ringbuffer.scalar.numbers.numeric import numeric_compare
from ringbuffer.scalar.texts.compared_bytes import stored_compare

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
