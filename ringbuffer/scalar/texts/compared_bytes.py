"""Comparison of values that are kept as bytes (`ringbuffer.memory.stored_values`), whatever their
type.

Enter: the words of 16-byte strings, as in `text_values`, and a form: what the bytes stand for, or
the elements of a list with `LIST` added. The bytes of an interval are months and days (int32) and
microseconds (int64), little endian, those of a time with zone microseconds and seconds west of
Greenwich; those of a jsonb are the text that PostgreSQL prints. Where two values are equal, their
keys are the same bytes. The order is PostgreSQL's but for jsonb, of which only equality is known.
Must not allocate.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import (
    copy_bytes,
    load_byte,
    load_float32,
    load_float64,
    load_int16,
    load_int32,
    load_word,
    signed_word,
    store_byte,
    store_float32,
    store_float64,
    store_int16,
    store_int32,
    store_word,
)
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.memory.error_codes import SCRATCH_FULL
from ringbuffer.memory.stored_values import stored_numeric
from ringbuffer.scalar.numbers.any_numeric import any_compare
from ringbuffer.scalar.numbers.floats import compare_float64
from ringbuffer.scalar.numbers.int128 import int128_add, int128_compare, int128_multiply
from ringbuffer.scalar.numbers.numeric import numeric_normalise
from ringbuffer.scalar.texts.address_order import address_compare
from ringbuffer.scalar.texts.text_functions import keep, reserve
from ringbuffer.scalar.texts.text_values import compare_bytes, make_text, text_address

Scratch = npt.NDArray[Any]
move_bytes: Any = copy_bytes

INTERVAL_BYTES = 16
NUMERIC_BYTES = 18
LENGTH_BYTES = 4
MONTH_DAYS = 30
DAY_US = 86_400_000_000
SECOND_US = 1_000_000
BLANK, QUOTE, BACKSLASH, POINT, MINUS, ZERO, NINE = 32, 34, 92, 46, 45, 48, 57


class Form(IntEnum):
    """The form of a value, by which its bytes are compared."""

    BYTES = 0
    BOOL = 1
    INT16 = 2
    INT32 = 3
    INT64 = 4
    FLOAT32 = 5
    FLOAT64 = 6
    NUMERIC = 7
    BLANK_PADDED = 8
    INTERVAL = 9
    ZONED_TIME = 10
    JSONB = 11
    ADDRESS = 12


# Added to the form of the elements of a list.
LIST = 16

BOOL, INT16, INT32, INT64 = int(Form.BOOL), int(Form.INT16), int(Form.INT32), int(Form.INT64)
FLOAT32, FLOAT64, NUMERIC = int(Form.FLOAT32), int(Form.FLOAT64), int(Form.NUMERIC)
BLANK_PADDED, INTERVAL, ZONED_TIME = int(Form.BLANK_PADDED), int(Form.INTERVAL), int(Form.ZONED_TIME)
JSONB, ADDRESS = int(Form.JSONB), int(Form.ADDRESS)


@kernel
def stored_compare(form: int, a0: int, a1: int, aheap: int, b0: int, b1: int, bheap: int) -> int:
    """Return whether a value is below, equal to or above another one: less than 0, 0, or more."""
    a, b = text_address(a0, a1, aheap), text_address(b0, b1, bheap)
    a_length, b_length = a0 & LENGTH_MASK, b0 & LENGTH_MASK
    if form < LIST:
        return compare_values(form, a, a_length, b, b_length)
    at = place = 0
    while at < a_length and place < b_length:
        a_size, b_size = signed_word(load_int32(a + at)), signed_word(load_int32(b + place))
        at += LENGTH_BYTES
        place += LENGTH_BYTES
        if a_size < 0 or b_size < 0:
            # NULL equals NULL, and is above everything else.
            if (a_size < 0) != (b_size < 0):
                return 1 if a_size < 0 else -1
            continue
        order = compare_values(form - LIST, a + at, a_size, b + place, b_size)
        if order != 0:
            return order
        at += a_size
        place += b_size
    return (1 if at < a_length else 0) - (1 if place < b_length else 0)


@kernel
def compare_values(form: int, a: int, a_length: int, b: int, b_length: int) -> int:
    """Return the order of two values that are no lists, at two addresses."""
    order = 0
    if form == INT16:
        order = signed_word(load_int16(a)) - signed_word(load_int16(b))
    elif form == INT32:
        order = signed_word(load_int32(a)) - signed_word(load_int32(b))
    elif form == INT64:
        order = compare_words(load_word(a), load_word(b))
    elif form == FLOAT32:
        order = compare_float64(np.float64(load_float32(a)), np.float64(load_float32(b)))
    elif form == FLOAT64:
        order = compare_float64(load_float64(a), load_float64(b))
    elif form == NUMERIC:
        alo, ahi, ascale = numeric_at(a, a_length)
        blo, bhi, bscale = numeric_at(b, b_length)
        order = any_compare(alo, ahi, ascale, blo, bhi, bscale)
    elif form == INTERVAL:
        alo, ahi = span_at(a)
        blo, bhi = span_at(b)
        order = int128_compare(alo, ahi, blo, bhi)
    elif form == ZONED_TIME:
        order = zoned_compare(a, b)
    elif form == ADDRESS:
        order = address_compare(a, a_length, b, b_length)
    elif form == JSONB:
        order = jsonb_compare(a, a_length, b, b_length)
    else:
        if form == BLANK_PADDED:
            a_length, b_length = trimmed_length(a, a_length), trimmed_length(b, b_length)
        order = compare_bytes(a, b, min(a_length, b_length))
        if order == 0:
            order = a_length - b_length
    return order


@kernel
def stored_key(form: int, w0: int, w1: int, heap: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of the bytes that equal values have in common."""
    length = w0 & LENGTH_MASK
    address = text_address(w0, w1, heap)
    # No key is longer than its value, but that of a numeric is written by words.
    target = reserve(scratch, length + NUMERIC_BYTES)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    if form < LIST:
        return keep(scratch, target, write_key(form, address, length, target))
    at = used = 0
    while at < length:
        size = signed_word(load_int32(address + at))
        at += LENGTH_BYTES
        written = -1
        if size >= 0:
            written = write_key(form - LIST, address + at, size, target + used + LENGTH_BYTES)
            at += size
        store_int32(target + used, np.int32(written))
        used += LENGTH_BYTES + max(written, 0)
    return keep(scratch, target, used)


@kernel
def write_key(form: int, address: int, length: int, target: int) -> int:
    """Write the key of a value that is no list to another address, and return its length."""
    if form == FLOAT32:
        single = load_float32(address)
        # The sum of a negative zero and zero is zero.
        store_float32(target, np.float32(np.nan) if np.isnan(single) else single + np.float32(0.0))
        return 4
    if form == FLOAT64:
        number = load_float64(address)
        store_float64(target, np.nan if np.isnan(number) else number + 0.0)
        return 8
    if form == NUMERIC:
        lo, hi, scale = numeric_at(address, length)
        lo, hi, scale = numeric_normalise(lo, hi, scale)
        store_int16(target, np.int16(scale))
        store_word(target + 2, lo)
        store_word(target + 10, hi)
        return numeric_length(lo, hi)
    if form == INTERVAL:
        lo, hi = span_at(address)
        store_word(target, lo)
        store_word(target + 8, hi)
        return INTERVAL_BYTES
    if form == JSONB:
        return write_jsonb_key(address, length, target)
    if form == BLANK_PADDED:
        length = trimmed_length(address, length)
    move_bytes(target, address, length)
    return length


@kernel
def blank_trimmed(w0: int, w1: int, heap: int) -> tuple[int, int, int]:
    """Return (w0, w1, heap) of a string without the blanks at its end."""
    length = w0 & LENGTH_MASK
    address = text_address(w0, w1, heap)
    end = trimmed_length(address, length)
    if end == length:
        return w0, w1, heap
    w0, w1 = make_text(address, end)
    return w0, w1, 0


@kernel
def trimmed_length(address: int, length: int) -> int:
    """Return the length of a string without the blanks at its end."""
    while length > 0 and load_byte(address + length - 1) == BLANK:
        length -= 1
    return length


@kernel
def compare_words(first: int, second: int) -> int:
    """Return -1, 0 or 1."""
    return (1 if first > second else 0) - (1 if first < second else 0)


@kernel
def numeric_at(address: int, length: int) -> tuple[int, int, int]:
    """Return (lo, hi, scale) of a numeric."""
    w0, w1 = make_text(address, length)
    return stored_numeric(w0, w1, 0)


@kernel
def numeric_length(lo: int, hi: int) -> int:
    """Return the bytes that hold a scale and a number in two's complement."""
    size, word = (1, lo) if hi == lo >> 63 else (9, hi)
    while not -128 <= word <= 127:
        word >>= 8
        size += 1
    return 2 + size


@kernel
def interval_span(w0: int, w1: int, heap: int) -> tuple[int, int]:
    """Return (lo, hi) of an interval's microseconds; a month has 30 days, and a day 24 hours."""
    if w0 & LENGTH_MASK != INTERVAL_BYTES:
        return 0, 0
    return span_at(heap + w1)


@kernel
def span_at(address: int) -> tuple[int, int]:
    """Return (lo, hi) of the microseconds of an interval at an address."""
    days = signed_word(load_int32(address)) * MONTH_DAYS + signed_word(load_int32(address + 4))
    micros = load_word(address + 8)
    lo, hi, _ = int128_multiply(days, days >> 63, DAY_US, 0)
    lo, hi, _ = int128_add(lo, hi, micros, micros >> 63)
    return lo, hi


@kernel
def zoned_compare(a: int, b: int) -> int:
    """Return the order of times with zone: by the time in UTC, then by the zone."""
    a_west, b_west = signed_word(load_int32(a + 8)), signed_word(load_int32(b + 8))
    order = compare_words(load_word(a) + a_west * SECOND_US, load_word(b) + b_west * SECOND_US)
    return order if order != 0 else compare_words(a_west, b_west)


@kernel
def write_jsonb_key(address: int, length: int, target: int) -> int:
    """Write a jsonb whose numbers have no zeros at their ends, and return its length."""
    at = used = 0
    in_string = False
    while at < length:
        byte = signed_word(load_byte(address + at))
        if not in_string and (byte == MINUS or ZERO <= byte <= NINE):
            end, kept = number_end(address, at, length)
            for place in range(at, kept):
                store_byte(target + used, load_byte(address + place))
                used += 1
            at = end
            continue
        if byte == QUOTE:
            in_string = not in_string
        elif byte == BACKSLASH and at + 1 < length:
            # An escape stands in strings only.
            store_byte(target + used, np.uint8(byte))
            used += 1
            at += 1
        store_byte(target + used, load_byte(address + at))
        used += 1
        at += 1
    return used


@kernel
def number_end(address: int, at: int, length: int) -> tuple[int, int]:
    """Return where a number ends, and where its zeros after the last digit of a fraction begin."""
    point = -1
    end = at + 1
    while end < length:
        byte = load_byte(address + end)
        if byte == POINT:
            point = end
        elif byte < ZERO or byte > NINE:
            break
        end += 1
    kept = end
    if point >= 0:
        while kept > point + 1 and load_byte(address + kept - 1) == ZERO:
            kept -= 1
        if kept == point + 1:
            kept = point
    return end, kept


@kernel
def jsonb_compare(a: int, a_length: int, b: int, b_length: int) -> int:
    """Return 0 where two jsonb are equal, as 1.0 and 1 are; 1 where they are not."""
    i = j = 0
    in_string = False
    while i < a_length and j < b_length:
        byte = signed_word(load_byte(a + i))
        if not in_string and (byte == MINUS or ZERO <= byte <= NINE):
            a_end, a_kept = number_end(a, i, a_length)
            b_end, b_kept = number_end(b, j, b_length)
            if a_kept - i != b_kept - j or compare_bytes(a + i, b + j, a_kept - i) != 0:
                return 1
            i, j = a_end, b_end
            continue
        if byte != signed_word(load_byte(b + j)):
            return 1
        if byte == QUOTE:
            in_string = not in_string
        elif byte == BACKSLASH and i + 1 < a_length and j + 1 < b_length:
            if load_byte(a + i + 1) != load_byte(b + j + 1):
                return 1
            i += 1
            j += 1
        i += 1
        j += 1
    return 0 if i == a_length and j == b_length else 1
