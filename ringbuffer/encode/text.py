"""Columns in PostgreSQL's text output, one kernel per form, for DataRow and COPY.

Enters: Arrow arrays in the forms of views, the family of their SQL type, the reader's time zone.
Leaves: EncodedColumn. DateStyle is ISO, extra_float_digits 1, bytea and intervals do not exist.
Must not know message formats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.compile.jit import kernel
from ringbuffer.encode.encoded_column import (
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
from ringbuffer.scalar.calendars.calendar import SECOND_US, is_infinite_date, is_infinite_timestamp
from ringbuffer.scalar.calendars.time_zones import zone_offset_us, zone_table
from ringbuffer.scalar.numbers.int128 import int128_negate, signed_word, unsigned_word
from ringbuffer.scalar.numbers.numeric import SPECIAL_SCALE
from ringbuffer.scalar.numbers.shortest_float import FLOAT_BYTES_MAX, render_float4, render_float8
from ringbuffer.scalar.texts.put_values import (
    DATE_BYTES_MAX,
    INTEGER_BYTES_MAX,
    NUMERIC_DIGITS_MAX,
    TIMESTAMP_BYTES_MAX,
    U0,
    U10,
    WORD_DIGITS,
    put_before_christ,
    put_date,
    put_infinity,
    put_offset,
    put_special,
    put_timestamp,
    split_words,
    word_digits_count,
)

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
def render_numerics(
    words: npt.NDArray[np.int64], scales: npt.NDArray[np.int16], valid: Bytes, out: Bytes, ends: Offsets
) -> None:
    """Write exact decimals with all digits of their scale. words: int64[2n]; scales: int16[n] or
    [1]; ends: int64[n + 1].
    """
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
def render_timestamps(values: npt.NDArray[np.int64], valid: Bytes, out: Bytes, ends: Offsets) -> None:
    """Write timestamps without time zone. values: int64[n], microseconds since 1970; out:
    uint8[40n]; ends: int64[n + 1].
    """
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
    """Write timestamps with time zone: local time and its offset. values: int64[n], microseconds
    UTC; the zone as in time_zones.
    """
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
