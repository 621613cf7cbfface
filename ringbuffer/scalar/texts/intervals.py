"""Intervals in kernels: their parts, and what sums of the parts make.

Enter: the words of 16-byte strings, as in `text_values`, whose bytes are months and days (int32)
and microseconds (int64), little endian; sums as integers of 64 or 128 bits. Leave: words of new
strings in a scratch heap, and an error code. Must not allocate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import load_int32, load_word, signed_word, store_int32, store_word
from ringbuffer.memory.error_codes import INTERVAL_RANGE, SCRATCH_FULL
from ringbuffer.scalar.texts.text_functions import keep, reserve

Scratch = npt.NDArray[Any]

INTERVAL_BYTES = 16
MONTH_DAYS = 30.0
DAY_S = 86_400.0
SECOND_US = 1e6
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_END = 2.0**63


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
    if hi != lo >> 63 or not INT32_MIN <= months <= INT32_MAX or not INT32_MIN <= days <= INT32_MAX:
        return 0, 0, 0, INTERVAL_RANGE
    target = reserve(scratch, INTERVAL_BYTES)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    store_int32(target, np.int32(months))
    store_int32(target + 4, np.int32(days))
    store_word(target + 8, lo)
    return keep(scratch, target, INTERVAL_BYTES)


@kernel
def interval_average(
    months: int, days: int, lo: int, hi: int, scale: int, count: int, scratch: Scratch
) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of the interval with these parts, divided by a count.

    Fractions of months become days and those of days time, in PostgreSQL's steps of float
    arithmetic (interval_div).
    """
    if hi != lo >> 63 or not INT32_MIN <= months <= INT32_MAX or not INT32_MIN <= days <= INT32_MAX:
        return 0, 0, 0, INTERVAL_RANGE
    divisor = np.float64(count)
    months_share, days_share = np.float64(months) / divisor, np.float64(days) / divisor
    whole_months, whole_days = signed_word(months_share), signed_word(days_share)
    rest_days = rounded_seconds((months_share - np.float64(whole_months)) * MONTH_DAYS, 1.0)
    more_days = signed_word(rest_days)
    rest = days_share - np.float64(whole_days) + rest_days - np.float64(more_days)
    seconds = rounded_seconds(rest, DAY_S)
    if np.abs(seconds) >= DAY_S:
        carried = signed_word(seconds / DAY_S)
        whole_days += carried
        seconds -= np.float64(carried) * DAY_S
    whole_days += more_days
    micros = np.rint(np.float64(lo) / divisor + seconds * SECOND_US)
    if not -INT64_END <= micros < INT64_END:
        return 0, 0, 0, INTERVAL_RANGE
    whole = signed_word(micros)
    return interval_total(whole_months, whole_days, whole, whole >> 63, 0, scratch)


@kernel
def rounded_seconds(value: float, unit: float) -> float:
    """Return value * unit to the microsecond (TSROUND)."""
    seconds: float = np.rint(value * unit * SECOND_US) / SECOND_US
    return seconds
