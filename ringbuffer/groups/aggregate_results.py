"""From aggregate states to columns: one kernel per kind of result.

Each kernel reads the first `count` rows of a group table. rows: int64[...], of `row_words` words
each; `at` and `seen_at` are the places of the state and of its count within a row. Results go to
arrays of `count` values and nulls uint8[count]; an aggregate of no values is NULL. A kernel returns
the error code of the first group whose result can't be represented, or 0. Must not know SQL.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.aggregates import from_bits, is_special_sum, special_sum_rank, unsigned_word
from ringbuffer.groups.hash_table import Words
from ringbuffer.memory.error_codes import BIGINT_RANGE, FLOAT_OVERFLOW, NUMERIC_DIGITS, OK
from ringbuffer.scalar.numbers.arithmetic import numeric_average, numeric_divide
from ringbuffer.scalar.numbers.int128 import int128_exceeds_digits, int128_multiply, int128_subtract
from ringbuffer.scalar.numbers.numeric import SPECIAL_SCALE, numeric_rescale

# int64[n, 2].
Pairs = Annotated[npt.NDArray[np.int64], 2]
Nulls = npt.NDArray[np.uint8]
Scales = npt.NDArray[np.int16]
Floats = npt.NDArray[np.float64]

SCALE_OF_STATE = -1  # instead of a fixed scale: that of the fourth word


@kernel
def bigint_sums(rows: Words, row_words: int, count: int, at: int, seen_at: int, out: Words, nulls: Nulls) -> int:
    """Write sums as int64."""
    for number in range(count):
        row = number * row_words
        if rows[row + seen_at] == 0:
            nulls[number] = 1
            continue
        if rows[row + at + 2] != 0 or rows[row + at + 1] != rows[row + at] >> 63:
            return BIGINT_RANGE
        out[number] = rows[row + at]
    return OK


@kernel
def decimal_sums(
    rows: Words, row_words: int, count: int, at: int, seen_at: int, scale: int, out: Pairs, scales: Scales, nulls: Nulls
) -> int:
    """Write sums as int64[count, 2] and their scales."""
    for number in range(count):
        row = number * row_words
        if rows[row + seen_at] == 0:
            nulls[number] = 1
            continue
        lo, hi = rows[row + at], rows[row + at + 1]
        if scale == SCALE_OF_STATE and is_special_sum(rows[row + at + 2]):
            write_special(rows[row + at + 2], number, out, scales)
            continue
        if rows[row + at + 2] != 0 or int128_exceeds_digits(lo, hi):
            return NUMERIC_DIGITS
        out[number, 0] = lo
        out[number, 1] = hi
        scales[number] = rows[row + at + 3] if scale == SCALE_OF_STATE else scale
    return OK


@kernel
def write_special(wraps: int, number: int, out: Pairs, scales: Scales) -> None:
    """Write a sum or an average of values of which some are NaN or infinite."""
    rank = special_sum_rank(wraps)
    out[number, 0] = rank
    out[number, 1] = rank >> 63
    scales[number] = SPECIAL_SCALE


@kernel
def decimal_averages(
    rows: Words, row_words: int, count: int, at: int, seen_at: int, scale: int, out: Pairs, scales: Scales, nulls: Nulls
) -> int:
    """Write sums divided by counts as int64[count, 2], at PostgreSQL's scales."""
    for number in range(count):
        row = number * row_words
        if rows[row + seen_at] == 0:
            nulls[number] = 1
            continue
        if scale == SCALE_OF_STATE and is_special_sum(rows[row + at + 2]):
            write_special(rows[row + at + 2], number, out, scales)
            continue
        if rows[row + at + 2] != 0:
            return NUMERIC_DIGITS
        sum_scale = rows[row + at + 3] if scale == SCALE_OF_STATE else scale
        lo, hi, quotient_scale, error = numeric_average(
            rows[row + at], rows[row + at + 1], sum_scale, rows[row + seen_at]
        )
        if error != OK:
            return error
        out[number, 0] = lo
        out[number, 1] = hi
        scales[number] = quotient_scale
    return OK


@kernel
def float_sums(rows: Words, row_words: int, count: int, at: int, seen_at: int, out: Floats, nulls: Nulls) -> int:
    """Write sums as float64."""
    for number in range(count):
        row = number * row_words
        if rows[row + seen_at] == 0:
            nulls[number] = 1
            continue
        if rows[row + at + 1] != 0:
            return FLOAT_OVERFLOW
        out[number] = from_bits(unsigned_word(rows[row + at]))
    return OK


@kernel
def float_averages(rows: Words, row_words: int, count: int, at: int, seen_at: int, out: Floats, nulls: Nulls) -> int:
    """Write averages as float64."""
    for number in range(count):
        row = number * row_words
        if rows[row + seen_at] == 0:
            nulls[number] = 1
            continue
        if rows[row + at + 2] != 0:
            return FLOAT_OVERFLOW
        out[number] = from_bits(unsigned_word(rows[row + at])) / rows[row + seen_at]
    return OK


class DecimalVariances(NamedTuple):
    """Variances of groups.

    Attributes:
        values: int64[count, 2].
        scales: int16[count].
        nulls: uint8[count].
        wide: uint8[count], 1 for groups whose sums or products need more than 128 bits; nothing
            else is written for these.
    """

    values: Pairs
    scales: Scales
    nulls: Nulls
    wide: Nulls


@kernel
def decimal_variances(
    rows: Words,
    row_words: int,
    count: int,
    at: int,
    squares_at: int,
    seen_at: int,
    scale: int,
    sample: bool,
    out: DecimalVariances,
) -> None:
    """Write variances at PostgreSQL's scales.

    at, squares_at: places of the sums of numbers with `scale` digits after the point, and of the
    sums of their squares.
    """
    values_out, scales, nulls, wide = out
    for number in range(count):
        row = number * row_words
        values = rows[row + seen_at]
        if values <= (1 if sample else 0):
            nulls[number] = 1
            continue
        wide[number] = 1
        if rows[row + at + 2] != 0 or rows[row + squares_at + 2] != 0:
            continue
        alo, ahi, error = int128_multiply(rows[row + squares_at], rows[row + squares_at + 1], values, 0)
        blo, bhi, overflow = int128_multiply(rows[row + at], rows[row + at + 1], rows[row + at], rows[row + at + 1])
        if error or overflow:
            continue
        lo, hi, error = int128_subtract(alo, ahi, blo, bhi)
        if error or int128_exceeds_digits(lo, hi):
            continue
        if hi < 0 or (lo == 0 and hi == 0):
            wide[number] = 0
            continue
        dlo, dhi, error = int128_multiply(values, 0, values - 1 if sample else values, 0)
        lo, hi, quotient_scale, failed = numeric_divide(lo, hi, 2 * scale, dlo, dhi, 0)
        if error or failed != OK:
            continue
        values_out[number, 0] = lo
        values_out[number, 1] = hi
        scales[number] = quotient_scale
        wide[number] = 0


@kernel
def rescaled_keys(rows: Words, row_words: int, count: int, at: int, shown_at: int, out: Pairs) -> None:
    """Write decimal keys as int64[count, 2] at the scales with which the keys are shown.

    A key in a row is (lo, hi, scale without trailing zeros); `shown_at` is the place of the scale.
    """
    for number in range(count):
        row = number * row_words
        lo, hi, _ = numeric_rescale(rows[row + at], rows[row + at + 1], rows[row + at + 2], rows[row + shown_at])
        out[number, 0] = lo
        out[number, 1] = hi
