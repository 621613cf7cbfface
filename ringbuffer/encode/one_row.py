"""One row of few values as a DataRow message, where columns would take longer than the work.

Enters: each value as two words and a scale, and its form. Leaves: the bytes that `text` and
`binary` make of columns. Must not know SQL.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.encode.binary import GROUPS_MAX, put_numeric
from ringbuffer.encode.encoded_column import ALL_VALID, Bytes, Offsets
from ringbuffer.encode.text import (
    render_dates,
    render_integers,
    render_numerics,
    render_timestamps,
    render_zoned_timestamps,
)
from ringbuffer.memory.addresses import float_from_bits, load_byte
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK
from ringbuffer.scalar.calendars.calendar import (
    DATE_INFINITY,
    EPOCH_2000_DAYS,
    EPOCH_2000_US,
    TIMESTAMP_INFINITY,
)
from ringbuffer.scalar.calendars.time_zones import Zone
from ringbuffer.scalar.numbers.int128 import signed_word, unsigned_word
from ringbuffer.scalar.numbers.numeric import BASE_DIGITS
from ringbuffer.scalar.numbers.shortest_float import render_float4, render_float8


class Form(IntEnum):
    """How a value is sent: as it is, as a big-endian number of some bytes, or as text."""

    RAW = 0
    BYTES_1 = 1
    BYTES_2 = 2
    BYTES_4 = 4
    BYTES_8 = 8
    FLOAT4_BINARY = 9
    DATE_BINARY = 10
    TIMESTAMP_BINARY = 11
    NUMERIC_BINARY = 12
    BOOL = 13
    INTEGER = 14
    FLOAT8 = 15
    FLOAT4 = 16
    DATE = 17
    TIMESTAMP = 18
    ZONED_TIMESTAMP = 19
    NUMERIC = 20


RAW, BYTES_4, BYTES_8 = int(Form.RAW), int(Form.BYTES_4), int(Form.BYTES_8)
FLOAT4_BINARY, NUMERIC_BINARY = int(Form.FLOAT4_BINARY), int(Form.NUMERIC_BINARY)
DATE_BINARY, TIMESTAMP_BINARY = int(Form.DATE_BINARY), int(Form.TIMESTAMP_BINARY)
BOOL, INTEGER, FLOAT8, FLOAT4, DATE = map(int, (Form.BOOL, Form.INTEGER, Form.FLOAT8, Form.FLOAT4, Form.DATE))
TIMESTAMP, ZONED_TIMESTAMP, NUMERIC = int(Form.TIMESTAMP), int(Form.ZONED_TIMESTAMP), int(Form.NUMERIC)

# Words of a value.
NULL, LOW, HIGH, SCALE = range(4)
Values = Annotated[npt.NDArray[np.int64], 2]

# A longer row is left to the general way.
ROW_BYTES_MAX = 4096
# Of a value but a text: a numeric of more digits after the point is left to the general way.
VALUE_BYTES_MAX = 128
SCALE_MAX = 64
# The type, the length and the number of fields.
ROW_HEAD_BYTES = 7
LENGTH_BYTES = 4
TRUE_BYTE, FALSE_BYTE, ROW_BYTE = ord("t"), ord("f"), ord("D")


class Scratch(NamedTuple):
    """The memory of one row after the other.

    Attributes:
        out: uint8[ROW_BYTES_MAX].
        pair, scale, days, bits: one value each, for the kernels of columns.
        digits: uint8[44]. ends: int64[2]. valid: empty.
    """

    out: Bytes
    pair: npt.NDArray[np.int64]
    scale: npt.NDArray[np.int16]
    word: npt.NDArray[np.int64]
    half: npt.NDArray[np.int32]
    digits: Bytes
    ends: Offsets
    valid: Bytes


def new_scratch() -> Scratch:
    """Return memory for rows."""
    return Scratch(
        np.zeros(ROW_BYTES_MAX, dtype=np.uint8),
        np.zeros(2, dtype=np.int64),
        np.zeros(1, dtype=np.int16),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int32),
        np.zeros(BASE_DIGITS * GROUPS_MAX, dtype=np.uint8),
        np.zeros(2, dtype=np.int64),
        ALL_VALID,
    )


@kernel
def put_row(values: Values, forms: npt.NDArray[np.int64], heap: int, scratch: Scratch, zone: Zone) -> int:
    """Write a DataRow into `out`; return its size, 0 where it does not fit.

    values: int64[n, 4], by NULL, LOW, HIGH and SCALE. forms: int64[n]. heap: the address from which
    offsets of long texts count. zone: of the reader.
    """
    out = scratch.out
    at = ROW_HEAD_BYTES
    for number in range(len(forms)):
        form, low = forms[number], values[number, LOW]
        is_null = values[number, NULL] != 0
        needed = low & LENGTH_MASK if form == RAW and not is_null else VALUE_BYTES_MAX
        if at + LENGTH_BYTES + needed > len(out) or (values[number, SCALE] > SCALE_MAX and not is_null):
            return 0
        start = at + LENGTH_BYTES
        end = start
        if not is_null:
            end = put_value(low, values[number, HIGH], values[number, SCALE], form, start, heap, scratch, zone)
        put_big_endian(out, at, -1 if is_null else end - start, LENGTH_BYTES)
        at = end
    out[0] = ROW_BYTE
    put_big_endian(out, 1, at - 1, LENGTH_BYTES)
    put_big_endian(out, 1 + LENGTH_BYTES, len(forms), 2)
    return at


@kernel
def put_value(low: int, high: int, scale: int, form: int, at: int, heap: int, scratch: Scratch, zone: Zone) -> int:
    """Write one value; return where it ends."""
    out, pair, scales, word, half, digits, ends, valid = scratch
    if form == RAW:
        return put_string(out, at, low, high, heap)
    if form <= BYTES_8:
        return put_big_endian(out, at, low, form)
    if form == DATE_BINARY:
        return put_big_endian(out, at, since_2000(low, EPOCH_2000_DAYS, DATE_INFINITY), BYTES_4)
    if form == TIMESTAMP_BINARY:
        return put_big_endian(out, at, since_2000(low, EPOCH_2000_US, TIMESTAMP_INFINITY), BYTES_8)
    if form == NUMERIC_BINARY:
        return put_numeric(out, at, low, high, scale, digits)
    if form == BOOL:
        out[at] = TRUE_BYTE if low != 0 else FALSE_BYTE
        return at + 1
    rest = out[at:]
    word[0] = low
    if form == INTEGER:
        render_integers(word, valid, rest, ends)
    elif form == FLOAT8:
        render_float8(word, valid, rest, ends)
    elif form in (FLOAT4, FLOAT4_BINARY):
        half.view(np.float32)[0] = np.float32(float_from_bits(unsigned_word(low)))
        if form == FLOAT4_BINARY:
            return put_big_endian(out, at, signed_word(half[0]), BYTES_4)
        render_float4(half, valid, rest, ends)
    elif form == DATE:
        half[0] = low
        render_dates(half, valid, rest, ends)
    elif form == TIMESTAMP:
        render_timestamps(word, valid, rest, ends)
    elif form == ZONED_TIMESTAMP:
        render_zoned_timestamps(word, zone.transitions, zone.offsets, valid, rest, ends)
    else:
        pair[0], pair[1], scales[0] = low, high, scale
        render_numerics(pair, scales, valid, rest, ends)
    end: int = at + ends[1]
    return end


@kernel
def put_string(out: Bytes, at: int, low: int, high: int, heap: int) -> int:
    """Write a string of two words, whose offset counts from the address `heap`; return its end."""
    length: int = low & LENGTH_MASK
    if length > INLINE_BYTES_MAX:
        for index in range(length):
            out[at + index] = load_byte(heap + high + index)
        return at + length
    for index in range(length):
        out[at + index] = (low >> (32 + 8 * index) if index < 4 else high >> (8 * index - 32)) & 0xFF
    return at + length


@kernel
def put_big_endian(out: Bytes, at: int, value: int, size: int) -> int:
    """Write the low bytes of a number; return where they end."""
    for index in range(size):
        out[at + index] = (value >> (8 * (size - 1 - index))) & 0xFF
    return at + size


@kernel
def since_2000(value: int, epoch: int, infinity: int) -> int:
    """Return days or microseconds since 2000; infinite ones are the ends of their integers."""
    if value == infinity:
        return infinity
    return -infinity - 1 if value == -infinity else value - epoch
