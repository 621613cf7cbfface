"""Values as PostgreSQL's text, written into bytes from a place on by kernels: digits, dates,
timestamps, special values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.scalar.calendars.calendar import DAY_US, HOUR_US, MINUTE_US, SECOND_US, civil_from_days
from ringbuffer.scalar.numbers.fields import INFINITY, Bytes
from ringbuffer.scalar.numbers.int128 import int128_divide_unsigned, unsigned_word
from ringbuffer.scalar.numbers.numeric import NAN_RANK

INTEGER_BYTES_MAX = 20
# '5874897-12-31' and '4713-01-01 BC'
DATE_BYTES_MAX = 16
# '294276-12-31 23:59:59.999999+00:19:32 BC'
TIMESTAMP_BYTES_MAX = 40
# A value below 2^127 has 39 digits; sign, point and a leading zero come on top.
NUMERIC_DIGITS_MAX = 39
# 10^19, the greatest power of ten below 2^64, as a signed word: it splits 39 digits into two words.
WORD_DIGITS = 19
WORD_BASE = 10**WORD_DIGITS - 2**64
U0: Any = np.uint64(0)
U10: Any = np.uint64(10)


@kernel
def word_digits_count(value: np.uint64) -> int:
    """Return the decimal digits of an unsigned word; 0 has one."""
    count = 1
    while value >= U10:
        value //= U10
        count += 1
    return count


@kernel
def put_digits(out: Bytes, at: int, value: int, width: int) -> int:
    """Write a non-negative value with `width` digits, zeros in front; return where it ends."""
    for index in range(at + width - 1, at - 1, -1):
        quotient = value // 10
        out[index] = 48 + value - 10 * quotient
        value = quotient
    return at + width


@kernel
def split_words(lo: int, hi: int) -> tuple[np.uint64, np.uint64]:
    """Return an unsigned 128-bit value below 10^38 or so as (value // 10^19, value % 10^19)."""
    if hi == 0 and lo >= 0:
        return U0, unsigned_word(lo)
    head, _, tail, _ = int128_divide_unsigned(lo, hi, WORD_BASE, 0)
    return unsigned_word(head), unsigned_word(tail)


@kernel
def put_special(out: Bytes, at: int, rank: int) -> int:
    """Write NaN, Infinity or -Infinity; return where it ends."""
    if rank == NAN_RANK:
        out[at], out[at + 1], out[at + 2] = 78, 97, 78
        return at + 3
    end = put_infinity(out, at, rank > 0)
    out[end - len(INFINITY)] = 73
    return end


@kernel
def put_date(out: Bytes, at: int, days: int) -> tuple[int, bool]:
    """Write YYYY-MM-DD, the year with four digits or more.

    Return (where it ends, is it before Christ).
    """
    year, month, day = civil_from_days(days)
    before_christ = year <= 0
    if before_christ:
        year = 1 - year
    at = put_digits(out, at, year, max(4, word_digits_count(unsigned_word(year))))
    out[at] = 45
    at = put_digits(out, at + 1, month, 2)
    out[at] = 45
    return put_digits(out, at + 1, day, 2), before_christ


@kernel
def put_infinity(out: Bytes, at: int, positive: bool) -> int:
    """Write infinity or -infinity; return where it ends."""
    if not positive:
        out[at] = 45
        at += 1
    for index in range(len(INFINITY)):
        out[at + index] = INFINITY[index]
    return at + len(INFINITY)


@kernel
def put_before_christ(out: Bytes, at: int) -> int:
    """Write ' BC'."""
    out[at], out[at + 1], out[at + 2] = 32, 66, 67
    return at + 3


@kernel
def put_timestamp(out: Bytes, at: int, local_us: int) -> tuple[int, bool]:
    """Write date, time and as many digits of the second as are needed.

    Return (where it ends, is it before Christ).
    """
    days = local_us // DAY_US
    rest = local_us - days * DAY_US
    at, before_christ = put_date(out, at, days)
    out[at] = 32
    at = put_digits(out, at + 1, rest // HOUR_US, 2)
    out[at] = 58
    at = put_digits(out, at + 1, rest // MINUTE_US % 60, 2)
    out[at] = 58
    at = put_digits(out, at + 1, rest // SECOND_US % 60, 2)
    fraction = rest % SECOND_US
    if fraction != 0:
        out[at] = 46
        at = put_digits(out, at + 1, fraction, 6)
        while out[at - 1] == 48:
            at -= 1
    return at, before_christ


@kernel
def put_offset(out: Bytes, at: int, seconds: int) -> int:
    """Write an offset east of UTC: +00, -03:30, +00:19:32; return where it ends."""
    out[at] = 45 if seconds < 0 else 43
    seconds = abs(seconds)
    hours = seconds // 3600
    at = put_digits(out, at + 1, hours, max(2, word_digits_count(unsigned_word(hours))))
    if seconds % 3600 != 0:
        out[at] = 58
        at = put_digits(out, at + 1, seconds // 60 % 60, 2)
        if seconds % 60 != 0:
            out[at] = 58
            at = put_digits(out, at + 1, seconds % 60, 2)
    return at
