"""Aggregate states: the words of each state in the row of a group, and how a value is added.

All aggregates of one argument under one FILTER share a count word: how many rows have passed the
filter and have a value (for count(*): have passed). `seen` is that count before the row at hand. A
state with seen = 0 holds zero words, which is how every state starts. No update fails on data: a
value that can't be represented is marked in the state, and aggregate_results.py reports the mark
when the groups are read.

rows: int64[...], the rows of a hash table; `at`: where the state begins. Floats are kept as their
bits. Must not know SQL.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.hash_table import HEAP_ADDRESS, HEAP_USED, Words, store_text
from ringbuffer.memory.addresses import bits_of_float, copy_bytes, float_from_bits
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK
from ringbuffer.memory.error_codes import OK
from ringbuffer.scalar.numbers.any_numeric import any_compare
from ringbuffer.scalar.numbers.floats import compare_float64
from ringbuffer.scalar.numbers.int128 import int128_add, int128_multiply_words
from ringbuffer.scalar.numbers.narrow import real
from ringbuffer.scalar.numbers.numeric import NAN_RANK, SPECIAL_SCALE, numeric_rescale
from ringbuffer.scalar.texts.compared_bytes import stored_compare
from ringbuffer.scalar.texts.text_values import text_address, text_compare

signed_word: Any = np.int64
unsigned_word: Any = np.uint64
bits: Any = bits_of_float
from_bits: Any = float_from_bits
copy_memory: Any = copy_bytes

# In the wraps word of a sum: it can't be represented whatever else is added.
OUT_OF_RANGE = 1 << 62
# From here on: NaN or infinities were added, in three bits which of -Infinity, Infinity and NaN;
# they outweigh what can't be represented.
SPECIAL_SUM = 1 << 61
MINUS_BIT, PLUS_BIT, NAN_BIT = 1, 2, 4
NAN_KEY = 0x7FF8000000000000


class State(IntEnum):
    """The kinds of states, which are integers in the merge program."""

    COUNT = 0
    SUM_INTEGER = 1
    SUM_NUMERIC = 2
    SUM_FLOAT64 = 3
    SUM_FLOAT32 = 4
    AVERAGE_FLOAT = 5
    MIN_INTEGER = 6
    MAX_INTEGER = 7
    MIN_FLOAT = 8
    MAX_FLOAT = 9
    MIN_NUMERIC = 10
    MAX_NUMERIC = 11
    MIN_TEXT = 12
    MAX_TEXT = 13
    ANY_FALSE = 14
    ANY_TRUE = 15
    FIRST = 16
    BIT_AND = 17
    BIT_OR = 18
    BIT_XOR = 19
    SUM_SQUARES = 20
    MIN_STORED = 21
    MAX_STORED = 22
    LIST = 23
    PAIRS = 24
    REGISTERS = 25
    QUANTILES = 26
    COUNTERS = 27
    FILTER = 28
    COMBINED = 29
    TOP = 30


# The bits of a state in a step of the merge program; the form of what it compares is above them.
STATE_BITS = 8
STORED = frozenset({State.MIN_STORED, State.MAX_STORED})
# Sketches of values, and of sketches (ringbuffer/groups/sketches.py).
SKETCHES = frozenset({State.REGISTERS, State.QUANTILES, State.COUNTERS, State.FILTER, State.COMBINED, State.TOP})
# Whose first two words are a string.
TEXT_STATES = STORED | SKETCHES | {State.MIN_TEXT, State.MAX_TEXT, State.LIST}
# In the third word of a list, instead of the bytes that its place in the heap has: too much was
# appended; of a sketch: others were to be added that are of another kind.
TOO_LONG = -1
LIST_BYTES_MAX = (1 << 30) - 1
# So many times its bytes a list takes at most: its place, and the places that it has left.
LIST_GROWTH = 4

WORDS: dict[State, int] = {
    State.COUNT: 1,
    State.SUM_INTEGER: 3,
    State.SUM_NUMERIC: 4,
    State.SUM_FLOAT64: 2,
    State.SUM_FLOAT32: 2,
    State.AVERAGE_FLOAT: 3,
    State.MIN_INTEGER: 1,
    State.MAX_INTEGER: 1,
    State.MIN_FLOAT: 1,
    State.MAX_FLOAT: 1,
    State.MIN_NUMERIC: 3,
    State.MAX_NUMERIC: 3,
    State.MIN_TEXT: 2,
    State.MAX_TEXT: 2,
    State.ANY_FALSE: 1,
    State.ANY_TRUE: 1,
    # The null mask; the values' words follow (ringbuffer/groups/first_rows.py).
    State.FIRST: 1,
    State.BIT_AND: 1,
    State.BIT_OR: 1,
    State.BIT_XOR: 1,
    State.SUM_SQUARES: 3,
    State.MIN_STORED: 2,
    State.MAX_STORED: 2,
    State.LIST: 3,
    State.PAIRS: 7,
    State.REGISTERS: 2,
    State.QUANTILES: 3,
    State.COUNTERS: 3,
    State.FILTER: 3,
    State.COMBINED: 3,
    State.TOP: 3,
}


@kernel
def add_integer(rows: Words, at: int, lo: int, hi: int) -> None:
    """Add a 128-bit integer to a sum (lo, hi, wraps).

    The value of the sum is its two words + wraps * 2^128, so that the order of the additions does
    not matter.
    """
    rows[at], rows[at + 1], overflow = int128_add(rows[at], rows[at + 1], lo, hi)
    if overflow:
        rows[at + 2] += 1 if hi >= 0 else -1


@kernel
def add_square(rows: Words, at: int, value: int) -> None:
    """Add the square of a 64-bit integer to a sum that is kept as `add_integer` does."""
    lo, hi = int128_multiply_words(value, value)
    add_integer(rows, at, lo, hi)


@kernel
def add_numeric(rows: Words, at: int, lo: int, hi: int, scale: int) -> None:
    """Add a decimal to a sum (lo, hi, wraps, scale) whose scale is the largest scale so far."""
    if scale == SPECIAL_SCALE:
        mark_special(rows, at, NAN_BIT if lo == NAN_RANK else PLUS_BIT if lo > 0 else MINUS_BIT)
        return
    if scale > rows[at + 3]:
        if rows[at] != 0 or rows[at + 1] != 0 or rows[at + 2] != 0:
            old_lo, old_hi, error = numeric_rescale(rows[at], rows[at + 1], rows[at + 3], scale)
            if error != OK or rows[at + 2] != 0:
                mark_out_of_range(rows, at)
            rows[at] = old_lo
            rows[at + 1] = old_hi
        rows[at + 3] = scale
    elif scale < rows[at + 3]:
        lo, hi, error = numeric_rescale(lo, hi, scale, rows[at + 3])
        if error != OK:
            mark_out_of_range(rows, at)
    if rows[at + 2] < SPECIAL_SUM:
        add_integer(rows, at, lo, hi)


@kernel
def is_special_sum(wraps: int) -> bool:
    """Tell from the wraps word of a decimal sum whether NaN or infinities are in it."""
    return SPECIAL_SUM <= wraps < OUT_OF_RANGE


@kernel
def mark_special(rows: Words, at: int, bits_added: int) -> None:
    """Note in a decimal sum what NaN and infinities are in it."""
    if not is_special_sum(rows[at + 2]):
        rows[at + 2] = SPECIAL_SUM
    rows[at + 2] |= bits_added


@kernel
def mark_out_of_range(rows: Words, at: int) -> None:
    """Note that the finite part of a decimal sum can't be represented."""
    if not is_special_sum(rows[at + 2]):
        rows[at + 2] = OUT_OF_RANGE


@kernel
def special_sum_rank(wraps: int) -> int:
    """Return the rank of a sum that has NaN or infinities; infinities of both signs make NaN."""
    both = MINUS_BIT | PLUS_BIT
    if wraps & NAN_BIT != 0 or wraps & both == both:
        return NAN_RANK
    return 1 if wraps & PLUS_BIT != 0 else -1


@kernel
def sum_float64(rows: Words, at: int, seen: int, value: float) -> None:
    """Add a float to a sum (bits, overflowed) of `seen` values.

    Finite summands whose sum is infinite are an overflow. The sum of no value is -0, to which every
    value can be added.
    """
    old = from_bits(unsigned_word(rows[at])) if seen else -0.0
    new = old + value
    if np.isinf(new) and not np.isinf(old) and not np.isinf(value):
        rows[at + 1] = 1
    rows[at] = signed_word(bits(new))


@kernel
def sum_float32(rows: Words, at: int, seen: int, value: float) -> None:
    """Add a float to a sum (bits of the float64, overflowed) of `seen` values, rounded to single
    precision at each step.

    PostgreSQL rounds its sums of real in this way.
    """
    old = real(from_bits(unsigned_word(rows[at])) if seen else -0.0)
    new = old + real(value)
    if np.isinf(new) and not np.isinf(old) and not np.isinf(value):
        rows[at + 1] = 1
    rows[at] = signed_word(bits(np.float64(new)))


@kernel
def add_average(rows: Words, at: int, seen: int, value: float) -> None:
    """Add a float to a state (sum, sum of squared deviations, overflowed) as PostgreSQL's
    float8_accum.

    The avg of such a state fails when the squares overflow.
    """
    old = from_bits(unsigned_word(rows[at]))
    squares = from_bits(unsigned_word(rows[at + 1]))
    new = old + value
    if seen > 0:
        count = np.float64(seen + 1)
        deviation = value * count - new
        squares += deviation * deviation / (count * np.float64(seen))
        if np.isinf(new) or np.isinf(squares):
            if not np.isinf(old) and not np.isinf(value):
                rows[at + 2] = 1
            squares = np.nan
    elif np.isnan(value) or np.isinf(value):
        squares = np.nan
    rows[at] = signed_word(bits(new))
    rows[at + 1] = signed_word(bits(squares))


@kernel
def merge_average(rows: Words, at: int, seen: int, source: Words, start: int, count: int) -> None:
    """Add another state (sum, squared deviations, overflowed) of `count` > 0 values:
    float8_combine.

    A state of one value is added as the value itself would be, so that single rows have the last
    digits of float8_accum.
    """
    if count == 1:
        add_average(rows, at, seen, from_bits(unsigned_word(source[start])))
        return
    if seen == 0:
        for word in range(3):
            rows[at + word] = source[start + word]
        return
    old = from_bits(unsigned_word(rows[at]))
    added = from_bits(unsigned_word(source[start]))
    new = old + added
    mine, theirs = np.float64(seen), np.float64(count)
    difference = old / mine - added / theirs
    old_squares = from_bits(unsigned_word(rows[at + 1]))
    added_squares = from_bits(unsigned_word(source[start + 1]))
    squares = old_squares + added_squares + mine * theirs * difference * difference / (mine + theirs)
    if source[start + 2] != 0 or (np.isinf(new) and not np.isinf(old) and not np.isinf(added)):
        rows[at + 2] = 1
    if np.isinf(squares) and not np.isinf(old_squares) and not np.isinf(added_squares):
        rows[at + 2] = 1
    rows[at] = signed_word(bits(new))
    rows[at + 1] = signed_word(bits(squares))


@kernel
def min_integer(rows: Words, at: int, seen: int, value: int) -> None:
    """Keep the smaller integer (bool, date and timestamp too)."""
    if seen == 0 or value < rows[at]:
        rows[at] = value


@kernel
def max_integer(rows: Words, at: int, seen: int, value: int) -> None:
    """Keep the larger integer."""
    if seen == 0 or value > rows[at]:
        rows[at] = value


@kernel
def bit_and(rows: Words, at: int, seen: int, value: int) -> None:
    """Keep the bits that all integers have."""
    rows[at] = value if seen == 0 else rows[at] & value


@kernel
def bit_or(rows: Words, at: int, seen: int, value: int) -> None:
    """Keep the bits that any integer has."""
    rows[at] = value if seen == 0 else rows[at] | value


@kernel
def bit_xor(rows: Words, at: int, seen: int, value: int) -> None:
    """Keep the bits that an odd number of integers has."""
    rows[at] = value if seen == 0 else rows[at] ^ value


@kernel
def min_float(rows: Words, at: int, seen: int, value: float) -> None:
    """Keep the smaller float.

    NaN is the largest; of 0 and -0 the later one stays, as in PostgreSQL.
    """
    if seen == 0 or compare_float64(from_bits(unsigned_word(rows[at])), value) >= 0:
        rows[at] = signed_word(bits(value))


@kernel
def max_float(rows: Words, at: int, seen: int, value: float) -> None:
    """Keep the larger float. NaN is the largest; of 0 and -0 the later one stays."""
    if seen == 0 or compare_float64(from_bits(unsigned_word(rows[at])), value) <= 0:
        rows[at] = signed_word(bits(value))


@kernel
def min_numeric(rows: Words, at: int, seen: int, lo: int, hi: int, scale: int) -> None:
    """Keep the smaller decimal (lo, hi, scale); of equal ones the later stays, as in PostgreSQL."""
    if seen == 0 or any_compare(rows[at], rows[at + 1], rows[at + 2], lo, hi, scale) >= 0:
        rows[at] = lo
        rows[at + 1] = hi
        rows[at + 2] = scale


@kernel
def max_numeric(rows: Words, at: int, seen: int, lo: int, hi: int, scale: int) -> None:
    """Keep the larger decimal (lo, hi, scale); of equal ones the later stays."""
    if seen == 0 or any_compare(rows[at], rows[at + 1], rows[at + 2], lo, hi, scale) <= 0:
        rows[at] = lo
        rows[at + 1] = hi
        rows[at + 2] = scale


@kernel
def min_text(control: Words, rows: Words, at: int, seen: int, w0: int, w1: int, heap: int) -> None:
    """Keep the smaller text by its bytes. The heap of the table has room for the text.

    w0, w1: the words of the text, as in text_values.py.
    """
    if seen == 0 or text_compare(rows[at], rows[at + 1], control[HEAP_ADDRESS], w0, w1, heap) > 0:
        keep_text(control, rows, at, w0, w1, heap)


@kernel
def max_text(control: Words, rows: Words, at: int, seen: int, w0: int, w1: int, heap: int) -> None:
    """Keep the larger text by its bytes."""
    if seen == 0 or text_compare(rows[at], rows[at + 1], control[HEAP_ADDRESS], w0, w1, heap) < 0:
        keep_text(control, rows, at, w0, w1, heap)


@kernel
def min_stored(control: Words, rows: Words, at: int, seen: int, form: int, w0: int, w1: int, heap: int) -> None:
    """Keep the smaller of values that are kept as bytes; of equal ones the later stays, as in
    PostgreSQL.

    form: as in compared_bytes.py. The heap of the table has room for the value.
    """
    if seen == 0 or stored_compare(form, rows[at], rows[at + 1], control[HEAP_ADDRESS], w0, w1, heap) >= 0:
        keep_text(control, rows, at, w0, w1, heap)


@kernel
def max_stored(control: Words, rows: Words, at: int, seen: int, form: int, w0: int, w1: int, heap: int) -> None:
    """Keep the larger of values that are kept as bytes; of equal ones the later stays."""
    if seen == 0 or stored_compare(form, rows[at], rows[at + 1], control[HEAP_ADDRESS], w0, w1, heap) <= 0:
        keep_text(control, rows, at, w0, w1, heap)


@kernel
def keep_text(control: Words, rows: Words, at: int, w0: int, w1: int, heap: int) -> None:
    """Replace the text of a state; a long text takes the memory of an old one that was as long."""
    length = w0 & LENGTH_MASK
    if length > INLINE_BYTES_MAX:
        if (rows[at] & LENGTH_MASK) >= length:
            copy_memory(control[HEAP_ADDRESS] + rows[at + 1], heap + w1, length)
            w1 = rows[at + 1]
        else:
            w1 = store_text(control, length, heap + w1)
    rows[at] = w0
    rows[at + 1] = w1


@kernel
def list_room(rows: Words, at: int, w0: int) -> int:
    """Return how many bytes of the heap it takes to append a string to a list (w0, w1, bytes of its
    place in the heap).

    A list that has to move gets a place twice as large, so that most do not move.
    """
    length: int = (rows[at] & LENGTH_MASK) + (w0 & LENGTH_MASK)
    if length <= INLINE_BYTES_MAX or length <= rows[at + 2] or rows[at + 2] == TOO_LONG or length > LIST_BYTES_MAX:
        return 0
    return 2 * length if rows[at] != 0 else length


@kernel
def append_list(control: Words, rows: Words, at: int, w0: int, w1: int, heap: int) -> None:
    """Append a string, the elements of another list, to a list. The heap of the table has
    `list_room`.
    """
    old, added = rows[at] & LENGTH_MASK, w0 & LENGTH_MASK
    length, room = old + added, list_room(rows, at, w0)
    if rows[at + 2] == TOO_LONG or length > LIST_BYTES_MAX:
        rows[at + 2] = TOO_LONG
        return
    # The bytes of a short list are those after its length.
    inline = signed_word(rows.ctypes.data) + 8 * at + 4
    if length > INLINE_BYTES_MAX:
        if room != 0:
            begin = control[HEAP_USED]
            if old > INLINE_BYTES_MAX:
                copy_memory(control[HEAP_ADDRESS] + begin, control[HEAP_ADDRESS] + rows[at + 1], old)
            else:
                copy_memory(control[HEAP_ADDRESS] + begin, inline, old)
            control[HEAP_USED] = begin + room
            rows[at + 1], rows[at + 2] = begin, room
        target = control[HEAP_ADDRESS] + rows[at + 1] + old
    else:
        target = inline + old
    copy_memory(target, text_address(w0, w1, heap), added)
    if old < 4 and length > INLINE_BYTES_MAX:
        # The first four bytes stand beside the length, too.
        copy_memory(inline, control[HEAP_ADDRESS] + rows[at + 1], 4)
    rows[at] += added


@kernel
def text_key(w0: int, w1: int, heap: int) -> int:
    """Return the second word of a text whose entry counts offsets from address 0."""
    return heap + w1 if (w0 & LENGTH_MASK) > INLINE_BYTES_MAX else w1


@kernel
def text_heap_bytes(w0: int) -> int:
    """Return the bytes that a text needs in a heap: 0 for an inline text."""
    length = w0 & LENGTH_MASK
    return length if length > INLINE_BYTES_MAX else 0


@kernel
def float_word(value: float) -> int:
    """Return the bits of a float."""
    word: int = signed_word(bits(value))
    return word


@kernel
def float_key(value: float) -> int:
    """Return bits that are equal for equal floats: -0 and 0 have the same bits, and so has every
    NaN.
    """
    if value == 0.0:
        return 0
    if np.isnan(value):
        return NAN_KEY
    word: int = signed_word(bits(value))
    return word
