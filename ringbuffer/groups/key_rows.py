"""Rows of keys as groups of a table, with the words that generated kernels make of such columns.

Enters: the columns of a morsel, of any types. Leaves: a group for each different row. A generated
kernel has these words in its text, with its types and places; this one is told them, so that to
seek the groups of a view needs no code that is compiled for the view. Must not know SQL types.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.aggregates import float_key, float_word, text_heap_bytes, text_key
from ringbuffer.groups.hash_table import ENTRY, ERROR, HEAP_MAX, HEAP_NEEDED, HEAP_USED, ROWS_COUNT, Words, find_group
from ringbuffer.memory.addresses import load_byte, load_float32, load_float64, load_int16, load_int32, load_word
from ringbuffer.memory.error_codes import OK
from ringbuffer.memory.stored_values import stored_numeric
from ringbuffer.scalar.numbers.int128 import signed_word
from ringbuffer.scalar.numbers.numeric import numeric_normalise
from ringbuffer.scalar.texts.compared_bytes import blank_trimmed, interval_span, stored_key
from ringbuffer.scalar.texts.text_functions import USED


class KeyKind(IntEnum):
    """The kind of a column of keys: one number for each row, or two words."""

    BYTE = 1
    INT16 = 2
    INT32 = 3
    INT64 = 4
    FLOAT32 = 5
    FLOAT64 = 6
    TWO_WORDS = 7
    STORED_NUMERIC = 8
    BYTES = 9
    BLANK_PADDED = 10
    INTERVAL = 11
    # Bytes of equal values differ; the form says what they have in common.
    STORED = 12


# Words of a row that describes a key. DATA and NULLS are the addresses of its column, TEXTS says
# how many texts in its words may be long, WORD and SHOWN where in the entry its words are.
KIND, DATA, NULLS, TEXTS, WORD, SHOWN, FORM = range(7)
KEY_WORDS = 7
Keys = Annotated[npt.NDArray[np.int64], 2]

BYTE, INT16, INT32, INT64 = map(int, (KeyKind.BYTE, KeyKind.INT16, KeyKind.INT32, KeyKind.INT64))
FLOAT32, FLOAT64, TWO_WORDS = map(int, (KeyKind.FLOAT32, KeyKind.FLOAT64, KeyKind.TWO_WORDS))
STORED_NUMERIC, BYTES, BLANK_PADDED = map(int, (KeyKind.STORED_NUMERIC, KeyKind.BYTES, KeyKind.BLANK_PADDED))
INTERVAL = int(KeyKind.INTERVAL)


@kernel
def fold_keys(
    start: int,
    end: int,
    control: Words,
    slots: Words,
    rows: Words,
    keys: Keys,
    heap: int,
    scratch: Words,
    sizes: Words,
) -> int:
    """Find or make the group of each row; return `end`, or the row at which something lacks.

    That is an error in ERROR, room in the heap in HEAP_NEEDED, or else room for rows. keys:
    int64[keys, KEY_WORDS]. heap: the address from which offsets of long texts count. scratch: the
    words of a scratch heap. sizes: int64[4], the table's layout.
    """
    key_words, entry_words, row_words, text_mask = sizes[0], sizes[1], sizes[2], sizes[3]
    for row in range(start, end):
        scratch[USED] = 0
        needed = 0
        for key in range(len(keys)):
            if keys[key, TEXTS] > 0:
                needed += keys[key, TEXTS] * text_heap_bytes(load_word(keys[key, DATA] + 16 * row))
        if control[HEAP_USED] + needed > control[HEAP_MAX]:
            control[HEAP_NEEDED] = needed
            return row
        for word in range(entry_words):
            control[ENTRY + word] = 0
        for key in range(len(keys)):
            if load_byte(keys[key, NULLS] + row) != 0:
                control[ENTRY] |= 1 << key
                continue
            error = write_key_words(control, keys, key, row, heap, scratch)
            if error != OK:
                control[ERROR] = error
                return row
        group = find_group(control, slots, rows, control, ENTRY, 0, key_words, entry_words, row_words, text_mask)
        if group < 0:
            return row
    return end


@kernel
def fold_one(control: Words, slots: Words, rows: Words, keys: Keys, heap: int, scratch: Words, sizes: Words) -> bool:
    """Let the first row be the only group of a table; return whether that was possible.

    The arguments are those of `fold_keys`.
    """
    control[ROWS_COUNT] = control[HEAP_USED] = 0
    slots[:] = 0
    is_folded: bool = fold_keys(0, 1, control, slots, rows, keys, heap, scratch, sizes) == 1
    return is_folded


@kernel
def write_key_words(control: Words, keys: Keys, key: int, row: int, heap: int, scratch: Words) -> int:
    """Write the words of one key of a row to the entry; return an error code."""
    kind, data = keys[key, KIND], keys[key, DATA]
    at, shown = ENTRY + keys[key, WORD], ENTRY + keys[key, SHOWN]
    if kind < FLOAT32:
        control[at] = number_at(kind, data, row)
        return OK
    if kind < TWO_WORDS:
        value = np.float64(load_float32(data + 4 * row)) if kind == FLOAT32 else load_float64(data + 8 * row)
        control[at], control[shown] = float_key(value), float_word(value)
        return OK
    w0, w1 = load_word(data + 16 * row), load_word(data + 16 * row + 8)
    if kind == TWO_WORDS:
        control[at], control[at + 1] = w0, w1
        return OK
    if kind == STORED_NUMERIC:
        lo, hi, scale = stored_numeric(w0, w1, heap)
        control[shown] = scale
        control[at], control[at + 1], control[at + 2] = numeric_normalise(lo, hi, scale)
        return OK
    if kind == BYTES:
        control[at], control[at + 1] = w0, text_key(w0, w1, heap)
        return OK
    control[shown], control[shown + 1] = w0, text_key(w0, w1, heap)
    if kind == INTERVAL:
        control[at], control[at + 1] = interval_span(w0, w1, heap)
        return OK
    if kind == BLANK_PADDED:
        w0, w1, heap = blank_trimmed(w0, w1, heap)
    else:
        w0, w1, heap, error = stored_key(keys[key, FORM], w0, w1, heap, scratch)
        if error != OK:
            return error
    control[at], control[at + 1] = w0, text_key(w0, w1, heap)
    return OK


@kernel
def number_at(kind: int, data: int, row: int) -> int:
    """Return the integer of a row, from a column of 1, 2, 4 or 8 bytes each."""
    number: int = signed_word(load_byte(data + row)) if kind == BYTE else 0
    if kind == INT64:
        number = load_word(data + 8 * row)
    elif kind == INT32:
        number = signed_word(load_int32(data + 4 * row))
    elif kind == INT16:
        number = signed_word(load_int16(data + 2 * row))
    return number
