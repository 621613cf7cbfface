"""Variances, deviations and regressions of groups, as PostgreSQL computes them.

Those of integers and small decimals are exact; those of floats come from squared deviations.
Enters: the words of a group table, and the places of sums, sums of squares and counts. Leaves:
columns of values and nulls. A value that does not fit into 128 bits is computed with Python's
integers, group by group. Must not know plans.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.groups.aggregate_results import DecimalVariances, decimal_variances
from ringbuffer.groups.float_frames import COUNT
from ringbuffer.groups.float_results import RESULTS
from ringbuffer.groups.pair_sums import PAIR_SUMS
from ringbuffer.memory.error_codes import FLOAT_OVERFLOW, NUMERIC_DIGITS, OK
from sql.functions.table import AGGREGATE_ROWS
from sql.types.datatypes import FLOAT8, NUMERIC_DIGITS_MAX

Array = npt.NDArray[Any]
Nulls = npt.NDArray[np.uint8]

WORD = 1 << 64
# PostgreSQL's numeric: digits of base 10^4, and how many significant digits a quotient has at
# least.
BASE_DIGITS = 4
SIGNIFICANT_MIN = 16


def float_results(rows: Array, at: int, seen_at: int, function: str) -> tuple[Array, Nulls, int]:
    """Return the column of a function over float states, its NULLs, and an error code.

    rows: int64[groups, words]; at: the place of a sum, its squared deviations and its mark of
    overflow, or of the sums of pairs, their count first, and their mark; seen_at: that of the
    count.
    """
    is_pair = AGGREGATE_ROWS[function].state(FLOAT8) == "PAIRS"
    width = PAIR_SUMS if is_pair else 2
    sums = np.zeros((len(rows), PAIR_SUMS))
    floats = np.ascontiguousarray(rows[:, at : at + width]).view(np.float64)
    sums[:, 0 if is_pair else 1 : 6 if is_pair else 3] = floats
    sums[:, COUNT] = rows[:, seen_at]
    with np.errstate(all="ignore"):
        values, missing = RESULTS[function](sums)
    failed = (rows[:, at + width] != 0) & ~missing
    return values, missing.astype(np.uint8), FLOAT_OVERFLOW if failed.any() else OK


def decimal_results(
    place: tuple[Array, int, int, int, int], squares_at: int, scale: int, function: str, nulls: Nulls
) -> tuple[Array, npt.NDArray[np.int16], int]:
    """Return int64[groups, 2], scales and an error code of a function over sums of decimals.

    scale: how many digits the summed numbers have after the point.
    """
    words, row_words, count, at, seen_at = place
    values, scales = np.zeros((count, 2), dtype=np.int64), np.zeros(count, dtype=np.int16)
    wide = np.zeros(count, dtype=np.uint8)
    sample = function.endswith("samp")
    out = DecimalVariances(values, scales, nulls, wide)
    decimal_variances(words, row_words, count, at, squares_at, seen_at, scale, sample, out)
    for number in np.flatnonzero(wide):
        row = int(number) * row_words
        found, digits = wide_variance(
            whole(words, row + at), whole(words, row + squares_at), int(words[row + seen_at]), scale, sample
        )
        if len(str(found)) > NUMERIC_DIGITS_MAX:
            return values, scales, NUMERIC_DIGITS
        write(values, scales, int(number), found, digits)
    if function.startswith("stddev"):
        for number in np.flatnonzero(nulls == 0):
            digits = int(scales[number])
            write(values, scales, int(number), root(joined(values, int(number)), digits), digits)
    return values, scales, OK


def whole(words: Array, at: int) -> int:
    """Return the sum (lo, hi, wraps) at words[at] as one integer."""
    lo, hi, wraps = (int(word) for word in words[at : at + 3])
    return (wraps << 128) + (hi << 64) + lo % WORD


def joined(values: Array, number: int) -> int:
    """Return the integer that two words hold."""
    return (int(values[number, 1]) << 64) + int(values[number, 0]) % WORD


def write(values: Array, scales: npt.NDArray[np.int16], number: int, value: int, digits: int) -> None:
    """Write a value into its two words, and its scale."""
    lo = value % WORD
    values[number, 0] = lo - WORD if lo >= WORD >> 1 else lo
    values[number, 1] = value >> 64
    scales[number] = digits


def wide_variance(total: int, squares: int, count: int, scale: int, sample: bool) -> tuple[int, int]:
    """Return a variance as an integer, and how many of its digits are after the point."""
    dividend = count * squares - total * total
    if dividend <= 0:
        return 0, 0
    divisor = count * (count - 1 if sample else count)
    digits = quotient_digits(dividend, 2 * scale, divisor)
    shift = digits - 2 * scale
    dividend, divisor = (dividend * 10**shift, divisor) if shift >= 0 else (dividend, divisor * 10**-shift)
    return (2 * dividend + divisor) // (2 * divisor), digits


def quotient_digits(dividend: int, scale: int, divisor: int) -> int:
    """Return the scale that PostgreSQL's select_div_scale chooses for (dividend / 10^scale) /
    divisor.
    """
    first, weight = first_base_digit(dividend, scale)
    other, other_weight = first_base_digit(divisor, 0)
    quotient_weight = weight - other_weight - (1 if first <= other else 0)
    return max(SIGNIFICANT_MIN - quotient_weight * BASE_DIGITS, scale, 0)


def first_base_digit(value: int, scale: int) -> tuple[int, int]:
    """Return the first digit of base 10^4 of value / 10^scale, and its weight."""
    padding = -scale % BASE_DIGITS
    digits = str(value * 10**padding)
    count = -(-len(digits) // BASE_DIGITS)
    first = digits[: len(digits) - (count - 1) * BASE_DIGITS]
    return int(first), count - 1 - (scale + padding) // BASE_DIGITS


def root(value: int, digits: int) -> int:
    """Return the square root of value / 10^digits at the same scale, rounded."""
    square = value * 10**digits
    below = isqrt(square)
    return below + (1 if square - below * below > below else 0)
