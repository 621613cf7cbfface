"""Casts of values to text in kernels: PostgreSQL's output, written to the scratch heap of
text_functions.py.

Every function returns (w0, w1, heap, error) like those of text_functions.py; short results are
inline. Whole columns for clients are written by encode_text.py, whose parts are used here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import bits_of_float
from ringbuffer.memory.error_codes import OK, SCRATCH_FULL
from ringbuffer.scalar.calendars.calendar import SECOND_US, is_infinite_date, is_infinite_timestamp
from ringbuffer.scalar.calendars.time_zones import Offsets, Transitions, zone_offset_us
from ringbuffer.scalar.numbers.int128 import int128_absolute, signed_word
from ringbuffer.scalar.numbers.numeric import SPECIAL_SCALE
from ringbuffer.scalar.numbers.shortest_float import (
    FLOAT4_FIXED_DIGITS,
    FLOAT8_FIXED_DIGITS,
    FLOAT_BYTES_MAX,
    put_float_bits,
)
from ringbuffer.scalar.texts.put_values import (
    DATE_BYTES_MAX,
    INTEGER_BYTES_MAX,
    NUMERIC_DIGITS_MAX,
    TIMESTAMP_BYTES_MAX,
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
from ringbuffer.scalar.texts.text_functions import Scratch, keep, reserve
from ringbuffer.scalar.texts.text_values import bytes_at

Bytes = npt.NDArray[np.uint8]

# The words of 'true' and 'false': length, four bytes; 'e'.
TRUE_WORD = int.from_bytes(b"\x04\0\0\0true", "little")
FALSE_WORD = int.from_bytes(b"\x05\0\0\0fals", "little")
FALSE_TAIL = ord("e")

U10: Any = np.uint64(10)
SIGN, POINT, ZERO = 45, 46, 48


def real_bits(typing: Any, value: Any) -> Any:
    """Emit the bits of a float32, sign-extended."""

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.sext(builder.bitcast(words[0], ir.IntType(32)), ir.IntType(64))

    return types.int64(types.float32), generate


bits_of_float32: Any = intrinsic(real_bits)
bits_of_float64: Any = bits_of_float


@kernel
def bool_to_text(value: int) -> tuple[int, int, int, int]:
    """Return 'true' or 'false', as a cast does."""
    if value != 0:
        return TRUE_WORD, 0, 0, OK
    return FALSE_WORD, FALSE_TAIL, 0, OK


@kernel
def int64_to_text(value: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return the decimal digits of an integer of any width."""
    target = reserve(scratch, INTEGER_BYTES_MAX)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    end = put_numeric(bytes_at(target, INTEGER_BYTES_MAX), value, value >> 63, 0)
    return keep(scratch, target, end)


@kernel
def numeric_to_text(lo: int, hi: int, scale: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return a decimal with all digits of its scale."""
    bytes_max = max(NUMERIC_DIGITS_MAX, scale + 1) + 2
    target = reserve(scratch, bytes_max)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    out = bytes_at(target, bytes_max)
    end = put_special(out, 0, lo) if scale == SPECIAL_SCALE else put_numeric(out, lo, hi, scale)
    return keep(scratch, target, end)


@kernel
def put_numeric(out: Bytes, lo: int, hi: int, scale: int) -> int:
    """Write sign, digits and point; return where they end."""
    start = 0
    if hi < 0:
        out[0] = SIGN
        start = 1
    magnitude_lo, magnitude_hi = int128_absolute(lo, hi)
    head, rest = split_words(magnitude_lo, magnitude_hi)
    count = word_digits_count(rest) if head == 0 else WORD_DIGITS + word_digits_count(head)
    count = max(count, scale + 1)
    end = start + count + (1 if scale > 0 else 0)
    at = end
    for digit in range(count):
        if digit == scale and scale > 0:
            at -= 1
            out[at] = POINT
        if digit == WORD_DIGITS:
            rest = head
        quotient = rest // U10
        at -= 1
        out[at] = ZERO + (rest - U10 * quotient)
        rest = quotient
    return end


@kernel
def float64_to_text(value: float, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return the shortest digits that read back as the same float8."""
    target = reserve(scratch, FLOAT_BYTES_MAX)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    bits = signed_word(bits_of_float64(value))
    exponent = (bits >> 52) & 0x7FF
    end = put_float_bits(
        bytes_at(target, FLOAT_BYTES_MAX),
        0,
        bits < 0,
        bits & 0xFFFFFFFFFFFFF,
        exponent,
        exponent == 0x7FF,
        52,
        1075,
        FLOAT8_FIXED_DIGITS,
    )
    return keep(scratch, target, end)


@kernel
def float32_to_text(value: float, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return the shortest digits that read back as the same float4."""
    target = reserve(scratch, FLOAT_BYTES_MAX)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    bits = bits_of_float32(value)
    exponent = (bits >> 23) & 0xFF
    end = put_float_bits(
        bytes_at(target, FLOAT_BYTES_MAX),
        0,
        bits < 0,
        bits & 0x7FFFFF,
        exponent,
        exponent == 0xFF,
        23,
        150,
        FLOAT4_FIXED_DIGITS,
    )
    return keep(scratch, target, end)


@kernel
def date_to_text(days: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return a date in ISO form."""
    target = reserve(scratch, DATE_BYTES_MAX)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    out = bytes_at(target, DATE_BYTES_MAX)
    if is_infinite_date(days):
        return keep(scratch, target, put_infinity(out, 0, days > 0))
    end, before_christ = put_date(out, 0, days)
    if before_christ:
        end = put_before_christ(out, end)
    return keep(scratch, target, end)


@kernel
def timestamp_to_text(local_us: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return a timestamp without time zone in ISO form."""
    target = reserve(scratch, TIMESTAMP_BYTES_MAX)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    out = bytes_at(target, TIMESTAMP_BYTES_MAX)
    if is_infinite_timestamp(local_us):
        return keep(scratch, target, put_infinity(out, 0, local_us > 0))
    end, before_christ = put_timestamp(out, 0, local_us)
    if before_christ:
        end = put_before_christ(out, end)
    return keep(scratch, target, end)


@kernel
def timestamptz_to_text(
    us: int, scratch: Scratch, transitions: Transitions, offsets: Offsets
) -> tuple[int, int, int, int]:
    """Return a timestamp with time zone in ISO form: local time and offset."""
    target = reserve(scratch, TIMESTAMP_BYTES_MAX)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    out = bytes_at(target, TIMESTAMP_BYTES_MAX)
    if is_infinite_timestamp(us):
        return keep(scratch, target, put_infinity(out, 0, us > 0))
    offset_us = zone_offset_us(us, transitions, offsets)
    end, before_christ = put_timestamp(out, 0, us + offset_us)
    end = put_offset(out, end, offset_us // SECOND_US)
    if before_christ:
        end = put_before_christ(out, end)
    return keep(scratch, target, end)
