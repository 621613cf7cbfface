"""Casts between numbers and between dates and timestamps against Python."""

from __future__ import annotations

import math
import random
import struct
from typing import Any

import numpy as np
import pytest

from ringbuffer.memory.error_codes import (
    BIGINT_RANGE,
    DATE_OUT_OF_TIMESTAMP,
    FLOAT_OVERFLOW,
    FLOAT_UNDERFLOW,
    INTEGER_RANGE,
    OK,
    SMALLINT_RANGE,
)
from ringbuffer.scalar.calendars import calendar
from ringbuffer.scalar.calendars.calendar import DAY_US, TIMESTAMP_DAYS_END
from ringbuffer.scalar.numbers import casts
from tests.ringbuffer.kernel_values import words

SEED = 20_261_120
CASES = 10_000
RANGES = [(16, SMALLINT_RANGE), (32, INTEGER_RANGE), (64, BIGINT_RANGE)]


def floats(chooser: random.Random) -> float:
    number: float = struct.unpack("<d", chooser.randbytes(8))[0]
    border = float(1 << chooser.choice([15, 31, 63]))
    return chooser.choice(
        [number, chooser.randint(-9, 9) + 0.5, border, -border, -border - 0.5, border - 0.5, math.nan]
    )


@pytest.mark.parametrize(("bits", "code"), RANGES)
def test_floats_round_half_to_even(bits: int, code: int) -> None:
    chooser = random.Random(SEED)
    kernel: Any = getattr(casts, f"float_to_int{bits}")
    for _ in range(CASES):
        number = floats(chooser)
        rounded = round(number) if math.isfinite(number) else 1 << 200
        fits = -(1 << (bits - 1)) <= rounded < 1 << (bits - 1)
        assert kernel(number) == ((rounded, OK) if fits else (0, code)), number


@pytest.mark.parametrize(("bits", "code"), RANGES[:2])
def test_decimals_round_half_away_from_zero(bits: int, code: int) -> None:
    chooser = random.Random(SEED)
    kernel: Any = getattr(casts, f"numeric_to_int{bits}")
    for _ in range(CASES):
        tenths = chooser.choice([chooser.randint(-(1 << 35), 1 << 35), chooser.randint(-400_000, 400_000), 10**30])
        magnitude = (abs(tenths) + 5) // 10
        rounded = -magnitude if tenths < 0 else magnitude
        fits = -(1 << (bits - 1)) <= rounded < 1 << (bits - 1)
        assert kernel(*words(tenths), 1) == ((rounded, OK) if fits else (0, code)), tenths


def test_narrow_integers_and_truth() -> None:
    assert casts.int64_to_int16(32767) == (32767, OK)
    assert casts.int64_to_int16(-32769) == (0, SMALLINT_RANGE)
    assert casts.int64_to_int32(-(1 << 31)) == (-(1 << 31), OK)
    assert casts.int64_to_int32(1 << 31) == (0, INTEGER_RANGE)
    assert [casts.int32_to_bool(number) for number in (0, 1, -7)] == [0, 1, 1]


def test_double_to_real() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        number = floats(chooser)
        with np.errstate(all="ignore"):
            narrow = np.float32(number)
        value, error = casts.float64_to_float32(number)
        if np.isinf(narrow) and math.isfinite(number):
            assert error == FLOAT_OVERFLOW
        elif narrow == 0 and number != 0:
            assert error == FLOAT_UNDERFLOW
        else:
            assert error == OK
            assert np.float32(value) == narrow or math.isnan(number)


def test_dates_reach_further_than_timestamps() -> None:
    assert calendar.date_to_timestamp(-1) == (-DAY_US, OK)
    assert calendar.date_to_timestamp(TIMESTAMP_DAYS_END - 1) == ((TIMESTAMP_DAYS_END - 1) * DAY_US, OK)
    assert calendar.date_to_timestamp(TIMESTAMP_DAYS_END) == (0, DATE_OUT_OF_TIMESTAMP)
    assert [calendar.timestamp_to_date(us) for us in (-1, 0, DAY_US - 1, DAY_US)] == [-1, 0, 0, 1]
