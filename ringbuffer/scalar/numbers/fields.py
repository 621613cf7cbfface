"""PostgreSQL's input functions as kernels: the text of one field to a value and an error code (0:
good).

Enter: `buffer` uint8[n] and the field's bytes [start, end) in it. bool, integers and numeric are
here; parse_float and parse_time hold the rest. White space around a value is allowed where
PostgreSQL allows it. Must not know columns, NULL or escapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import multiply_unsigned, signed_word
from ringbuffer.memory.columns import INT64_MAX, INT64_MIN, NUMERIC_DIGITS_MAX
from ringbuffer.memory.error_codes import (
    BIGINT_RANGE,
    INVALID_TEXT,
    NUMERIC_DIGITS,
    NUMERIC_FIELD_OVERFLOW,
    NUMERIC_OVERFLOW,
    NUMERIC_SPECIAL,
    OK,
)

# uint8[n]; elements are Any, because in compiled code they are machine integers and no classes of
# numpy.
Bytes = npt.NDArray[Any]

# Only between the functions here.
NUMERIC_INFINITE = -1

WORD_DIGITS_MAX = 19
# PostgreSQL's INT_MAX / 2: a larger exponent is an overflow whatever the digits are.
EXPONENT_MAX = 1073741823
# The most digits before the point that PostgreSQL's numeric can hold.
NUMERIC_WEIGHT_MAX = 131072

POWERS = np.array([[10**k & (2**64 - 1), 10**k >> 64] for k in range(NUMERIC_DIGITS_MAX + 1)], dtype=np.uint64)


@kernel
def parse_bool(buffer: Bytes, start: int, end: int) -> tuple[int, int]:
    """Return (0 or 1, error) of a bool.

    It is any unique prefix of true, false, yes, no, on, off, or 1 or 0, in any case.
    """
    start, end = trim(buffer, start, end)
    length = end - start
    if length == 0:
        return 0, INVALID_TEXT
    first = buffer[start] | 32
    if length == 1:
        if buffer[start] == 49 or first == 116 or first == 121:
            return 1, OK
        if buffer[start] == 48 or first == 102 or first == 110:
            return 0, OK
        return 0, INVALID_TEXT
    if first == 116 and is_prefix(buffer, start, end, TRUE):
        return 1, OK
    if first == 102 and is_prefix(buffer, start, end, FALSE):
        return 0, OK
    if first == 121 and is_prefix(buffer, start, end, YES):
        return 1, OK
    if first == 110 and is_prefix(buffer, start, end, NO):
        return 0, OK
    if first == 111 and is_prefix(buffer, start, end, ON):
        return 1, OK
    if first == 111 and is_prefix(buffer, start, end, OFF):
        return 0, OK
    return 0, INVALID_TEXT


@kernel
def parse_integer(buffer: Bytes, start: int, end: int, low: int, high: int, range_code: int) -> tuple[int, int]:
    """Return (value, error) of white space, a sign, digits.

    The error is `range_code` for a value outside of [low, high].
    """
    while start < end and is_space(buffer[start]):
        start += 1
    negative = False
    if start < end and (buffer[start] == 45 or buffer[start] == 43):
        negative = buffer[start] == 45
        start += 1
    first = start
    # Accumulated below zero, because the smallest value has no positive twin.
    value = 0
    while start < end:
        digit = signed_word(buffer[start]) - 48
        if digit < 0 or digit > 9:
            break
        if value < -922337203685477580 or (value == -922337203685477580 and digit == 9):
            return 0, range_code
        value = value * 10 - digit
        if value < low:
            return 0, range_code
        start += 1
    if start == first:
        return 0, INVALID_TEXT
    if not negative:
        if value == INT64_MIN or -value > high:
            return 0, range_code
        value = -value
    while start < end:
        if not is_space(buffer[start]):
            return 0, INVALID_TEXT
        start += 1
    return value, OK


@kernel
def parse_int64(buffer: Bytes, start: int, end: int) -> tuple[int, int]:
    """Return (value, error) of a bigint."""
    return parse_integer(buffer, start, end, INT64_MIN, INT64_MAX, BIGINT_RANGE)


@kernel
def parse_numeric(buffer: Bytes, start: int, end: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) with the digits as written; more than 38 are NUMERIC_DIGITS."""
    error, negative, word, digits_count, first, exponent = scan_decimal(buffer, start, end)
    if error != OK:
        error = numeric_error(buffer, start, end)
        return 0, 0, 0, NUMERIC_SPECIAL if error == NUMERIC_INFINITE else error
    scale = max(0, -exponent)
    kept = digits_count + exponent + scale
    if (digits_count > 0 and digits_count + exponent > NUMERIC_WEIGHT_MAX) or exponent > EXPONENT_MAX:
        return 0, 0, 0, NUMERIC_OVERFLOW
    if scale > NUMERIC_DIGITS_MAX or (digits_count > 0 and kept > NUMERIC_DIGITS_MAX):
        return 0, 0, 0, NUMERIC_DIGITS
    lo, hi = scaled_digits(buffer, first, word, digits_count, kept)
    if negative:
        lo, hi = negate(lo, hi)
    return signed_word(lo), signed_word(hi), scale, OK


@kernel
def parse_numeric_column(buffer: Bytes, start: int, end: int, precision: int, scale: int) -> tuple[int, int, int]:
    """Return (lo, hi, error), rounded half away from zero to `scale`.

    More than `precision` digits are NUMERIC_FIELD_OVERFLOW.
    """
    error, negative, word, digits_count, first, exponent = scan_decimal(buffer, start, end)
    if error != OK:
        error = numeric_error(buffer, start, end)
        # A column with a precision takes NaN but no infinity.
        return 0, 0, NUMERIC_FIELD_OVERFLOW if error == NUMERIC_INFINITE else error
    if digits_count == 0:
        return 0, 0, OK
    if digits_count + exponent > NUMERIC_WEIGHT_MAX:
        return 0, 0, NUMERIC_OVERFLOW
    kept = digits_count + exponent + scale
    if kept > precision:
        return 0, 0, NUMERIC_FIELD_OVERFLOW
    if kept < 0:
        return 0, 0, OK
    lo, hi = scaled_digits(buffer, first, word, digits_count, kept)
    if exceeds(lo, hi, precision):
        return 0, 0, NUMERIC_FIELD_OVERFLOW
    if negative:
        lo, hi = negate(lo, hi)
    return signed_word(lo), signed_word(hi), OK


@kernel
def scan_decimal(buffer: Bytes, start: int, end: int) -> tuple[int, bool, np.uint64, int, int, int]:
    """Return (error, negative, word, digits_count, first, exponent) of a decimal number.

    The number is its digits times 10^exponent. digits_count: digits from the first one that is not
    zero, which is at `first`. word: the first 19 of them.
    """
    start, end = trim(buffer, start, end)
    negative = False
    if start < end and (buffer[start] == 45 or buffer[start] == 43):
        negative = buffer[start] == 45
        start += 1
    word = np.uint64(0)
    digits_count = 0
    first = start
    exponent = 0
    seen = False
    point = False
    while start < end:
        digit = signed_word(buffer[start]) - 48
        if 0 <= digit <= 9:
            seen = True
            if point:
                exponent -= 1
            if digits_count > 0 or digit != 0:
                if digits_count == 0:
                    first = start
                if digits_count < WORD_DIGITS_MAX:
                    word = word * np.uint64(10) + np.uint64(digit)
                digits_count += 1
        elif digit == -2 and not point:
            point = True
        else:
            break
        start += 1
    if not seen:
        return INVALID_TEXT, negative, word, 0, first, 0
    if start < end and (buffer[start] | 32) == 101:
        start += 1
        down = False
        if start < end and (buffer[start] == 45 or buffer[start] == 43):
            down = buffer[start] == 45
            start += 1
        power = 0
        if start == end:
            return INVALID_TEXT, negative, word, 0, first, 0
        while start < end and 48 <= buffer[start] <= 57:
            power = min(power * 10 + signed_word(buffer[start]) - 48, 2 * EXPONENT_MAX)
            start += 1
        exponent += -power if down else power
    if start != end:
        return INVALID_TEXT, negative, word, 0, first, 0
    return OK, negative, word, digits_count, first, exponent


@kernel
def scaled_digits(
    buffer: Bytes, first: int, word: np.uint64, digits_count: int, kept: int
) -> tuple[np.uint64, np.uint64]:
    """Return (lo, hi): the first `kept` (at most 38) digits as an integer.

    Zeros are appended, or the rest is rounded half away from zero.
    """
    if digits_count == 0:
        return np.uint64(0), np.uint64(0)
    taken = min(digits_count, kept)
    up = np.uint64(0)
    if kept < digits_count:
        up = np.uint64(1) if digit_at(buffer, first, kept) >= 5 else np.uint64(0)
    if taken == digits_count and digits_count <= WORD_DIGITS_MAX:
        lo, hi = word, np.uint64(0)
    else:
        lo, hi = leading_digits(buffer, first, taken)
    missing = kept - taken
    if missing > WORD_DIGITS_MAX:
        lo, hi = multiply_word(lo, hi, POWERS[WORD_DIGITS_MAX, 0])
        missing -= WORD_DIGITS_MAX
    if missing > 0:
        lo, hi = multiply_word(lo, hi, POWERS[missing, 0])
    total = lo + up
    return total, hi + (np.uint64(1) if total < lo else np.uint64(0))


@kernel
def leading_digits(buffer: Bytes, first: int, count: int) -> tuple[np.uint64, np.uint64]:
    """Return (lo, hi) of `count` digits (at most 38) from `first` on.

    A point among them is skipped.
    """
    lo = np.uint64(0)
    hi = np.uint64(0)
    chunk = np.uint64(0)
    chunk_digits = 0
    while count > 0:
        if buffer[first] != 46:
            chunk = chunk * np.uint64(10) + np.uint64(buffer[first] - 48)
            chunk_digits += 1
            count -= 1
        first += 1
        if chunk_digits == WORD_DIGITS_MAX or count == 0:
            lo, hi = multiply_word(lo, hi, POWERS[chunk_digits, 0])
            total = lo + chunk
            if total < lo:
                hi += np.uint64(1)
            lo = total
            chunk = np.uint64(0)
            chunk_digits = 0
    return lo, hi


@kernel
def digit_at(buffer: Bytes, first: int, index: int) -> int:
    """Return the digit `index` places after the one at `first`."""
    while True:
        if buffer[first] != 46:
            if index == 0:
                digit: int = signed_word(buffer[first]) - 48
                return digit
            index -= 1
        first += 1


@kernel
def multiply_word(lo: np.uint64, hi: np.uint64, factor: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the 128-bit product of (lo, hi) and `factor`, modulo 2^128."""
    low, high = multiply_unsigned(lo, factor)
    return low, high + hi * factor


@kernel
def negate(lo: np.uint64, hi: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the two's complement of (lo, hi)."""
    low = ~lo + np.uint64(1)
    return low, ~hi + (np.uint64(1) if low == np.uint64(0) else np.uint64(0))


@kernel
def exceeds(lo: np.uint64, hi: np.uint64, precision: int) -> bool:
    """Return whether the unsigned (lo, hi) has more than `precision` digits."""
    beyond: bool = hi > POWERS[precision, 1] or (hi == POWERS[precision, 1] and lo >= POWERS[precision, 0])
    return beyond


@kernel
def numeric_error(buffer: Bytes, start: int, end: int) -> int:
    """Return the error of a text that scan_decimal has refused."""
    start, end = trim(buffer, start, end)
    if start < end and end - start > 3 and (buffer[start] == 45 or buffer[start] == 43):
        start += 1
    elif is_word(buffer, start, end, NAN):
        return NUMERIC_SPECIAL
    if is_word(buffer, start, end, INF) or is_word(buffer, start, end, INFINITY):
        return NUMERIC_INFINITE
    return INVALID_TEXT


TRUE = np.frombuffer(b"true", dtype=np.uint8).copy()
FALSE = np.frombuffer(b"false", dtype=np.uint8).copy()
YES = np.frombuffer(b"yes", dtype=np.uint8).copy()
NO = np.frombuffer(b"no", dtype=np.uint8).copy()
ON = np.frombuffer(b"on", dtype=np.uint8).copy()
OFF = np.frombuffer(b"off", dtype=np.uint8).copy()
NAN = np.frombuffer(b"nan", dtype=np.uint8).copy()
INF = np.frombuffer(b"inf", dtype=np.uint8).copy()
INFINITY = np.frombuffer(b"infinity", dtype=np.uint8).copy()


@kernel
def is_space(byte: int) -> bool:
    """Return whether C's isspace holds in the C locale."""
    return byte == 32 or 9 <= byte <= 13


@kernel
def trim(buffer: Bytes, start: int, end: int) -> tuple[int, int]:
    """Return (start, end) without white space at either end."""
    while start < end and is_space(buffer[start]):
        start += 1
    while start < end and is_space(buffer[end - 1]):
        end -= 1
    return start, end


@kernel
def is_prefix(buffer: Bytes, start: int, end: int, word: Bytes) -> bool:
    """Return whether the bytes, in any case, begin `word` (lower-case letters)."""
    if end - start > len(word):
        return False
    for index in range(end - start):
        if (buffer[start + index] | 32) != word[index]:
            return False
    return True


@kernel
def is_word(buffer: Bytes, start: int, end: int, word: Bytes) -> bool:
    """Return whether the bytes, in any case, are `word`."""
    return end - start == len(word) and is_prefix(buffer, start, end, word)
