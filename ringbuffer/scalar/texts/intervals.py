"""Intervals in kernels: their parts, and what sums of the parts make.

Enter: the words of 16-byte strings, as in `text_values`, whose bytes are months and days (int32)
and microseconds (int64), little endian; sums as integers of 64 or 128 bits. Leave: words of new
strings in a scratch heap, and an error code. Must not allocate.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import load_int32, load_word, signed_word, store_int32, store_word
from ringbuffer.memory.error_codes import OK, SCRATCH_FULL
from ringbuffer.scalar.calendars.spans import interval_average as average_of
from ringbuffer.scalar.calendars.spans import interval_total as total_of
from ringbuffer.scalar.texts.text_functions import Scratch, keep, reserve

INTERVAL_BYTES = 16


@kernel
def interval_months(w0: int, w1: int, heap: int) -> int:
    """Return the months of an interval."""
    months: int = signed_word(load_int32(heap + w1))
    return months


@kernel
def interval_days(w0: int, w1: int, heap: int) -> int:
    """Return the days of an interval."""
    days: int = signed_word(load_int32(heap + w1 + 4))
    return days


@kernel
def interval_micros(w0: int, w1: int, heap: int) -> int:
    """Return the microseconds of an interval."""
    micros: int = load_word(heap + w1 + 8)
    return micros


@kernel
def interval_total(months: int, days: int, lo: int, hi: int, scale: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of the interval with these parts.

    lo, hi: its microseconds, a number of scale 0.
    """
    months, days, micros, error = total_of(months, days, lo, hi, scale)
    return kept(months, days, micros, error, scratch)


@kernel
def interval_average(
    months: int, days: int, lo: int, hi: int, scale: int, count: int, scratch: Scratch
) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of the interval with these parts, divided by a count."""
    months, days, micros, error = average_of(months, days, lo, hi, scale, count)
    return kept(months, days, micros, error, scratch)


@kernel
def kept(months: int, days: int, micros: int, error: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of an interval in parts."""
    if error != OK:
        return 0, 0, 0, error
    target = reserve(scratch, INTERVAL_BYTES)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    store_int32(target, np.int32(months))
    store_int32(target + 4, np.int32(days))
    store_word(target + 8, micros)
    return keep(scratch, target, INTERVAL_BYTES)
