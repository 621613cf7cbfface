"""Columns in PostgreSQL's binary output, for DataRow.

Enters: Arrow arrays in the forms of views, the family of their SQL type. Leaves: EncodedColumn,
big-endian, dates and times counted from 2000-01-01. Must not know message formats.
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
from ringbuffer.encode.text import is_valid
from ringbuffer.scalar.calendars.calendar import DATE_INFINITY, EPOCH_2000_DAYS, EPOCH_2000_US, TIMESTAMP_INFINITY
from ringbuffer.scalar.numbers.int128 import int128_negate, signed_word
from ringbuffer.scalar.numbers.numeric import (
    BASE_DIGITS,
    NAN_RANK,
    NUMERIC_HEAD_BYTES,
    SIGN_INFINITE,
    SIGN_MINUS_INFINITE,
    SIGN_NAN,
    SIGN_NEGATIVE,
    SPECIAL_SCALE,
)
from ringbuffer.scalar.texts.put_values import WORD_DIGITS, split_words

# A numeric is digits of base 10,000 after a head of four int16: their count, weight of the first,
# sign, display scale.
# What PostgreSQL sends as the scale of an infinity.
INFINITE_SCALE = 0x20
# 39 digits, which the scale may shift across group borders.
GROUPS_MAX = 11
NUMERIC_BYTES_MAX = NUMERIC_HEAD_BYTES + 2 * GROUPS_MAX

U10: Any = np.uint64(10)

DTYPES = {"int2": "int16", "int4": "int32", "int8": "int64", "float4": "float32", "float8": "float64"}


def binary_column(column: pa.Array | pa.ChunkedArray, family: str) -> EncodedColumn:
    """Return the binary form of each value. family: a key of the type table."""
    array = one_array(column)
    match family:
        case "text" | "varchar" | "void" | "unknown":
            return string_column(array)
        case "numeric":
            return _numeric_binary(array)
        case "bool":
            return _fixed(array, bool_values(array))
        case "date":
            days = fixed_values(array, "int32")
            return _fixed(array, _since_2000(days, EPOCH_2000_DAYS, DATE_INFINITY).astype(">i4"))
        case "timestamp" | "timestamptz":
            micros = fixed_values(array, "int64")
            return _fixed(array, _since_2000(micros, EPOCH_2000_US, TIMESTAMP_INFINITY).astype(">i8"))
    values = fixed_values(array, DTYPES[family])
    return _fixed(array, values.astype(values.dtype.newbyteorder(">")))


def _since_2000(values: npt.NDArray[Any], epoch: int, infinity: int) -> npt.NDArray[Any]:
    """Return days or microseconds since 2000; infinite ones are the ends of their integers."""
    counted: npt.NDArray[Any] = values - values.dtype.type(epoch)
    counted[values == infinity] = infinity
    counted[values == -infinity] = -infinity - 1
    return counted


def _fixed(array: pa.Array, values: npt.NDArray[Any]) -> EncodedColumn:
    size = values.dtype.itemsize
    ends = np.arange(0, size * len(values) + 1, size, dtype=np.int64)
    return EncodedColumn(frozen(values.view(np.uint8)), ends, valid_bytes(array))


def _numeric_binary(array: pa.Array) -> EncodedColumn:
    words, scales, valid = numeric_words(array)
    out = np.empty(NUMERIC_BYTES_MAX * len(array), dtype=np.uint8)
    ends = np.empty(len(array) + 1, dtype=np.int64)
    digits = np.zeros(BASE_DIGITS * GROUPS_MAX, dtype=np.uint8)
    encode_numerics(words, scales, valid, digits, out, ends)
    return EncodedColumn(frozen(out), ends, valid)


@kernel
def put_int16(out: Bytes, at: int, value: int) -> int:
    """Write a big-endian int16; return where it ends."""
    out[at] = (value >> 8) & 0xFF
    out[at + 1] = value & 0xFF
    return at + 2


@kernel
def encode_numerics(
    words: npt.NDArray[np.int64],
    scales: npt.NDArray[np.int16],
    valid: Bytes,
    digits: Bytes,
    out: Bytes,
    ends: Offsets,
) -> None:
    """Write exact decimals. words: int64[2n]; scales: int16[n] or [1]; digits: uint8[44], scratch;
    ends: int64[n + 1].
    """
    at = 0
    ends[0] = 0
    for row in range(len(ends) - 1):
        if is_valid(valid, row):
            scale = signed_word(scales[row if len(scales) > 1 else 0])
            at = put_numeric(out, at, words[2 * row], words[2 * row + 1], scale, digits)
        ends[row + 1] = at


@kernel
def put_numeric(out: Bytes, at: int, lo: int, hi: int, scale: int, digits: Bytes) -> int:
    """Write one value; return where it ends."""
    if scale == SPECIAL_SCALE:
        for _ in range(2):
            at = put_int16(out, at, 0)
        at = put_int16(out, at, SIGN_NAN if lo == NAN_RANK else SIGN_INFINITE if lo > 0 else SIGN_MINUS_INFINITE)
        return put_int16(out, at, 0 if lo == NAN_RANK else INFINITE_SCALE)
    negative = hi < 0
    if negative:
        lo, hi = int128_negate(lo, hi)
    head, tail = split_words(lo, hi)
    # Group 0 is the last one: its digits are padded with zeros so that a group border falls on the
    # decimal point.
    padding = -scale % BASE_DIGITS
    for index in range(len(digits)):
        digits[index] = 0
    for index in range(2 * WORD_DIGITS + 1):
        if index == WORD_DIGITS:
            tail = head
        quotient = tail // U10
        digits[padding + index] = tail - U10 * quotient
        tail = quotient
    lowest, highest = 0, GROUPS_MAX - 1
    while highest >= 0 and group_value(digits, highest) == 0:
        highest -= 1
    while lowest < highest and group_value(digits, lowest) == 0:
        lowest += 1
    if highest < 0:
        for _ in range(3):
            at = put_int16(out, at, 0)
        return put_int16(out, at, scale)
    fraction_groups = (scale + padding) // BASE_DIGITS
    at = put_int16(out, at, highest - lowest + 1)
    at = put_int16(out, at, highest - fraction_groups)
    at = put_int16(out, at, SIGN_NEGATIVE if negative else 0)
    at = put_int16(out, at, scale)
    for group in range(highest, lowest - 1, -1):
        at = put_int16(out, at, group_value(digits, group))
    return at


@kernel
def group_value(digits: Bytes, group: int) -> int:
    """Return the value of four digits, the least significant one first."""
    value = 0
    for index in range(BASE_DIGITS * group + BASE_DIGITS - 1, BASE_DIGITS * group - 1, -1):
        value = 10 * value + signed_word(digits[index])
    return value
