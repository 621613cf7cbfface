"""Columns in PostgreSQL's text output, one kernel per form, for DataRow and COPY.

Enters: Arrow arrays in the forms of views, the family of their SQL type, the reader's time zone. Leaves: EncodedColumn. DateStyle is
ISO, extra_float_digits 1, bytea and intervals do not exist. Must not know message formats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.calendar import (
    DAY_US,
    HOUR_US,
    MINUTE_US,
    SECOND_US,
    civil_from_days,
    is_infinite_date,
    is_infinite_timestamp,
)
from ringbuffer.encoded_column import (
    Bytes,
    EncodedColumn,
    Offsets,
    bool_values,
    fixed_values,
    frozen,
    numeric_words,
    one_array,
    string_column,
    valid_bytes,
)
from ringbuffer.fields import INFINITY
from ringbuffer.int128 import int128_divide_unsigned, int128_negate, signed_word, unsigned_word
from ringbuffer.jit import kernel
from ringbuffer.numeric import NAN_RANK, SPECIAL_SCALE
from ringbuffer.shortest_float import FLOAT_BYTES_MAX, render_float4, render_float8
from ringbuffer.time_zones import zone_offset_us, zone_table

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

TRUE_BYTE, FALSE_BYTE = ord("t"), ord("f")


def text_column(column: pa.Array | pa.ChunkedArray, family: str, zone: str) -> EncodedColumn:
    """Return the text of each value. family: a key of the type table; zone: for timestamptz."""
    array = one_array(column)
    match family:
        case "text" | "varchar" | "void" | "unknown":
            return string_column(array)
        case "bool":
            values = bool_values(array)
            data = np.where(values != 0, TRUE_BYTE, FALSE_BYTE).astype(np.uint8)
            return EncodedColumn(frozen(data), np.arange(len(array) + 1, dtype=np.int64), valid_bytes(array))
        case "int2" | "int4" | "int8":
            width = {"int2": "int16", "int4": "int32", "int8": "int64"}[family]
            return _render(
                array, INTEGER_BYTES_MAX, render_integers, frozen(fixed_values(array, width).astype(np.int64))
            )
        case "float8":
            return _render(array, FLOAT_BYTES_MAX, render_float8, fixed_values(array, "int64"))
        case "float4":
            return _render(array, FLOAT_BYTES_MAX, render_float4, fixed_values(array, "int32"))
        case "numeric":
            return _numeric_text(array)
        case "date":
            return _render(array, DATE_BYTES_MAX, render_dates, fixed_values(array, "int32"))
        case "timestamp":
            return _render(array, TIMESTAMP_BYTES_MAX, render_timestamps, fixed_values(array, "int64"))
        case "timestamptz":
            return _render(
                array, TIMESTAMP_BYTES_MAX, render_zoned_timestamps, fixed_values(array, "int64"), *zone_table(zone)
            )
    raise AssertionError(f"no text form of {family}")


def _render(
    array: pa.Array, bytes_max: int, render: Any, values: npt.NDArray[Any], *more: npt.NDArray[Any]
) -> EncodedColumn:
    valid = valid_bytes(array)
    out = np.empty(bytes_max * len(array), dtype=np.uint8)
    ends = np.empty(len(array) + 1, dtype=np.int64)
    render(values, *more, valid, out, ends)
    return EncodedColumn(frozen(out), ends, valid)


def _numeric_text(array: pa.Array) -> EncodedColumn:
    words, scales, valid = numeric_words(array)
    scale_max = int(scales.max()) if len(scales) else 0
    out = np.empty((max(NUMERIC_DIGITS_MAX, scale_max + 1) + 2) * len(array), dtype=np.uint8)
    ends = np.empty(len(array) + 1, dtype=np.int64)
    render_numerics(words, scales, valid, out, ends)
    return EncodedColumn(frozen(out), ends, valid)


@kernel
def is_valid(valid: Bytes, row: int) -> bool:
    """Tell whether a row has a value; an empty `valid` says that all have."""
    return len(valid) == 0 or valid[row] != 0


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
def render_integers(values: npt.NDArray[np.int64], valid: Bytes, out: Bytes, ends: Offsets) -> None:
    """Write decimal numbers. values: int64[n]; out: uint8[20n]; ends: int64[n + 1]."""
    at = 0
    ends[0] = 0
    for row in range(len(values)):
        if is_valid(valid, row):
            value = values[row]
            magnitude = unsigned_word(value)
            if value < 0:
                out[at] = 45
                at += 1
                magnitude = U0 - magnitude
            count = word_digits_count(magnitude)
            for index in range(at + count - 1, at - 1, -1):
                quotient = magnitude // U10
                out[index] = 48 + (magnitude - U10 * quotient)
                magnitude = quotient
            at += count
        ends[row + 1] = at


@kernel
def split_words(lo: int, hi: int) -> tuple[np.uint64, np.uint64]:
    """Return an unsigned 128-bit value below 10^38 or so as (value // 10^19, value % 10^19)."""
    if hi == 0 and lo >= 0:
        return U0, unsigned_word(lo)
    head, _, tail, _ = int128_divide_unsigned(lo, hi, WORD_BASE, 0)
    return unsigned_word(head), unsigned_word(tail)


@kernel
def render_numerics(
    words: npt.NDArray[np.int64], scales: npt.NDArray[np.int16], valid: Bytes, out: Bytes, ends: Offsets
) -> None:
    """Write exact decimals with all digits of their scale. words: int64[2n]; scales: int16[n] or [1]; ends: int64[n + 1]."""
    at = 0
    ends[0] = 0
    for row in range(len(ends) - 1):
        if is_valid(valid, row):
            lo, hi = words[2 * row], words[2 * row + 1]
            scale = signed_word(scales[row if len(scales) > 1 else 0])
            if scale == SPECIAL_SCALE:
                at = put_special(out, at, lo)
                ends[row + 1] = at
                continue
            if hi < 0:
                out[at] = 45
                at += 1
                lo, hi = int128_negate(lo, hi)
            head, tail = split_words(lo, hi)
            digits_count = word_digits_count(tail) if head == U0 else WORD_DIGITS + word_digits_count(head)
            count = max(digits_count, scale + 1)
            end = at + count + (1 if scale > 0 else 0)
            index = end
            for digit in range(count):
                if digit == scale and scale > 0:
                    index -= 1
                    out[index] = 46
                if digit == WORD_DIGITS:
                    tail = head
                quotient = tail // U10
                index -= 1
                out[index] = 48 + (tail - U10 * quotient)
                tail = quotient
            at = end
        ends[row + 1] = at


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
    """Write YYYY-MM-DD, the year with four digits or more; return (where it ends, is it before Christ)."""
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
def render_dates(values: npt.NDArray[np.int32], valid: Bytes, out: Bytes, ends: Offsets) -> None:
    """Write dates. values: int32[n], days since 1970; out: uint8[16n]; ends: int64[n + 1]."""
    at = 0
    ends[0] = 0
    for row in range(len(values)):
        if is_valid(valid, row):
            days = signed_word(values[row])
            if is_infinite_date(days):
                at = put_infinity(out, at, days > 0)
            else:
                at, before_christ = put_date(out, at, days)
                if before_christ:
                    at = put_before_christ(out, at)
        ends[row + 1] = at


@kernel
def put_timestamp(out: Bytes, at: int, local_us: int) -> tuple[int, bool]:
    """Write date, time and as many digits of the second as are needed; return (where it ends, is it before Christ)."""
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
def render_timestamps(values: npt.NDArray[np.int64], valid: Bytes, out: Bytes, ends: Offsets) -> None:
    """Write timestamps without time zone. values: int64[n], microseconds since 1970; out: uint8[40n]; ends: int64[n + 1]."""
    at = 0
    ends[0] = 0
    for row in range(len(values)):
        if is_valid(valid, row):
            if is_infinite_timestamp(values[row]):
                at = put_infinity(out, at, values[row] > 0)
            else:
                at, before_christ = put_timestamp(out, at, values[row])
                if before_christ:
                    at = put_before_christ(out, at)
        ends[row + 1] = at


@kernel
def render_zoned_timestamps(
    values: npt.NDArray[np.int64],
    transitions: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int32],
    valid: Bytes,
    out: Bytes,
    ends: Offsets,
) -> None:
    """Write timestamps with time zone: local time and its offset. values: int64[n], microseconds UTC; the zone as in time_zones."""
    at = 0
    ends[0] = 0
    for row in range(len(values)):
        if is_valid(valid, row):
            if is_infinite_timestamp(values[row]):
                at = put_infinity(out, at, values[row] > 0)
            else:
                offset_us = zone_offset_us(values[row], transitions, offsets)
                at, before_christ = put_timestamp(out, at, values[row] + offset_us)
                at = put_offset(out, at, offset_us // SECOND_US)
                if before_christ:
                    at = put_before_christ(out, at)
        ends[row + 1] = at


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
