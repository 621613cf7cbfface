"""Comparison of values that are kept as bytes, and are equal though their bytes differ: char(n),
interval and jsonb.

Enter: the words of 16-byte strings, as in `text_values`. The bytes of an interval are months and
days (int32) and microseconds (int64), little endian; those of a jsonb are the text that PostgreSQL
prints. Where two values are equal, their keys are the same words. Must not allocate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import load_byte, load_int32, load_word, signed_word, store_byte
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.memory.error_codes import OK, SCRATCH_FULL
from ringbuffer.scalar.numbers.int128 import int128_add, int128_compare, int128_multiply
from ringbuffer.scalar.texts.text_functions import keep, reserve
from ringbuffer.scalar.texts.text_values import make_text, text_address, text_compare, text_equal

Scratch = npt.NDArray[Any]

INTERVAL_BYTES = 16
MONTH_DAYS = 30
DAY_US = 86_400_000_000
BLANK, QUOTE, BACKSLASH, POINT, ZERO, NINE = 32, 34, 92, 46, 48, 57


@kernel
def blank_trimmed(w0: int, w1: int, heap: int) -> tuple[int, int, int]:
    """Return (w0, w1, heap) of a string without the blanks at its end."""
    length = w0 & LENGTH_MASK
    address = text_address(w0, w1, heap)
    end = length
    while end > 0 and load_byte(address + end - 1) == BLANK:
        end -= 1
    if end == length:
        return w0, w1, heap
    w0, w1 = make_text(address, end)
    return w0, w1, 0


@kernel
def bpchar_equal(a0: int, a1: int, aheap: int, b0: int, b1: int, bheap: int) -> bool:
    """Tell whether two char(n) are equal."""
    a0, a1, aheap = blank_trimmed(a0, a1, aheap)
    b0, b1, bheap = blank_trimmed(b0, b1, bheap)
    return text_equal(a0, a1, aheap, b0, b1, bheap)


@kernel
def bpchar_compare(a0: int, a1: int, aheap: int, b0: int, b1: int, bheap: int) -> int:
    """Return whether a char(n) is below, equal to or above another one: less than 0, 0, or more."""
    a0, a1, aheap = blank_trimmed(a0, a1, aheap)
    b0, b1, bheap = blank_trimmed(b0, b1, bheap)
    return text_compare(a0, a1, aheap, b0, b1, bheap)


@kernel
def interval_span(w0: int, w1: int, heap: int) -> tuple[int, int]:
    """Return (lo, hi) of an interval's microseconds; a month has 30 days, and a day 24 hours."""
    if w0 & LENGTH_MASK != INTERVAL_BYTES:
        return 0, 0
    address = heap + w1
    days = signed_word(load_int32(address)) * MONTH_DAYS + signed_word(load_int32(address + 4))
    micros = load_word(address + 8)
    lo, hi, _ = int128_multiply(days, days >> 63, DAY_US, 0)
    lo, hi, _ = int128_add(lo, hi, micros, micros >> 63)
    return lo, hi


@kernel
def interval_compare(a0: int, a1: int, aheap: int, b0: int, b1: int, bheap: int) -> int:
    """Return whether an interval is below, equal to or above another one."""
    alo, ahi = interval_span(a0, a1, aheap)
    blo, bhi = interval_span(b0, b1, bheap)
    order: int = int128_compare(alo, ahi, blo, bhi)
    return order


@kernel
def jsonb_key(w0: int, w1: int, heap: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of a jsonb whose numbers have no zeros at their ends."""
    length = w0 & LENGTH_MASK
    address = text_address(w0, w1, heap)
    is_plain = True
    for at in range(length):
        is_plain = is_plain and load_byte(address + at) != POINT
    if is_plain:
        return w0, w1, heap, OK
    target = reserve(scratch, length)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    at = used = 0
    in_string = False
    while at < length:
        byte = signed_word(load_byte(address + at))
        if not in_string and (byte == 45 or ZERO <= byte <= NINE):
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
    return keep(scratch, target, used)


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
def jsonb_equal(a0: int, a1: int, aheap: int, b0: int, b1: int, bheap: int) -> bool:
    """Tell whether two jsonb are equal: 1.0 is 1."""
    a_length, b_length = a0 & LENGTH_MASK, b0 & LENGTH_MASK
    a, b = text_address(a0, a1, aheap), text_address(b0, b1, bheap)
    i = j = 0
    in_string = False
    while i < a_length and j < b_length:
        byte = signed_word(load_byte(a + i))
        if not in_string and (byte == 45 or ZERO <= byte <= NINE):
            a_end, a_kept = number_end(a, i, a_length)
            b_end, b_kept = number_end(b, j, b_length)
            if a_kept - i != b_kept - j:
                return False
            for offset in range(a_kept - i):
                if load_byte(a + i + offset) != load_byte(b + j + offset):
                    return False
            i, j = a_end, b_end
            continue
        if byte != signed_word(load_byte(b + j)):
            return False
        if byte == QUOTE:
            in_string = not in_string
        elif byte == BACKSLASH and i + 1 < a_length and j + 1 < b_length:
            if load_byte(a + i + 1) != load_byte(b + j + 1):
                return False
            i += 1
            j += 1
        i += 1
        j += 1
    return i == a_length and j == b_length
