"""The interval of sums and their average agree with plain Python, whose oracle is PostgreSQL."""

from __future__ import annotations

import ctypes
import random
import struct

import pytest

from ringbuffer.memory.error_codes import INTERVAL_RANGE, OK, SCRATCH_FULL
from ringbuffer.scalar.texts.intervals import (
    interval_average,
    interval_days,
    interval_micros,
    interval_months,
    interval_total,
)
from ringbuffer.scalar.texts.text_functions import ScratchHeap
from sql.errors import SqlError
from sql.times.interval_values import divide

MONTHS = (0, 1, -1, 7, 2**31 - 1, -(2**31))
DAYS = (0, 1, -1, 29, 400, 2**31 - 1)
MICROS = (0, 1, -1, 86_400_000_000, 86_399_999_999, -3_600_000_001, 2**63 - 1, -(2**63))


def parts_of(words: tuple[int, int, int, int]) -> tuple[int, int, int]:
    """Return months, days and microseconds of an interval."""
    w0, w1, heap, error = words
    assert error == OK and w0 & 0xFFFFFFFF == 16
    parts: tuple[int, int, int] = struct.unpack("<iiq", ctypes.string_at(heap + w1, 16))
    assert (interval_months(w0, w1, heap), interval_days(w0, w1, heap), interval_micros(w0, w1, heap)) == parts
    return parts


def test_totals_and_averages() -> None:
    rng = random.Random(1)
    scratch = ScratchHeap(64)
    for _ in range(3000):
        micros = min(max(rng.choice(MICROS) + rng.choice((0, 12345, -777)), -(2**63)), 2**63 - 1)
        value = (rng.choice(MONTHS), rng.choice(DAYS), micros)
        sums = (*value[:2], micros, micros >> 63, 0)
        count = rng.choice((1, 2, 3, 7, 30, 1000))
        scratch.clear()
        assert parts_of(interval_total(*sums, scratch.words)) == value
        scratch.clear()
        average = interval_average(*sums, count, scratch.words)
        try:
            expected = divide(value, float(count))
        except SqlError:
            assert average[3] == INTERVAL_RANGE
        else:
            assert parts_of(average) == expected, (value, count)


@pytest.mark.parametrize(("months", "days", "high"), [(2**31, 0, 0), (0, -(2**31) - 1, 0), (0, 0, 1)])
def test_what_no_interval_holds(months: int, days: int, high: int) -> None:
    scratch = ScratchHeap(64)
    assert interval_total(months, days, 0, high, 0, scratch.words)[3] == INTERVAL_RANGE
    assert interval_average(months, days, 0, high, 0, 2, scratch.words)[3] == INTERVAL_RANGE


def test_a_small_scratch_heap_says_what_it_needs() -> None:
    scratch = ScratchHeap(8)
    assert interval_total(1, 2, 3, 0, 0, scratch.words)[3] == SCRATCH_FULL
    scratch.grow()
    assert parts_of(interval_total(1, 2, 3, 0, 0, scratch.words)) == (1, 2, 3)
