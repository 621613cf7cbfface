"""Casts between text and values against Python's forms; test_golden.py has PostgreSQL's answers."""

from __future__ import annotations

import random
import struct
from typing import Any

import numpy as np

from ringbuffer.memory.error_codes import DATETIME_OVERFLOW, DATETIME_SPELLING, INVALID_DATETIME, OK, SCRATCH_FULL
from ringbuffer.scalar.calendars.calendar import DATE_DAYS_END, DATE_DAYS_MIN, TIMESTAMP_US_END, TIMESTAMP_US_MIN
from ringbuffer.scalar.calendars.time_zones import zone_table
from ringbuffer.scalar.texts import text_input, text_output
from ringbuffer.scalar.texts.text_functions import ScratchHeap
from tests.ringbuffer.kernel_values import Texts, date_text, numeric_text, text, timestamp_text, words

SEED = 20_261_120
CASES = 3_000


def written(kernel: Any, *arguments: Any) -> str:
    scratch = ScratchHeap()
    w0, w1, heap, error = kernel(*arguments, scratch.words)
    assert error == OK
    return text(w0, w1, heap)


def test_integers_and_decimals() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        integer = chooser.choice(
            [0, -1, (1 << 63) - 1, -(1 << 63), chooser.randrange(-(10**18), 10 ** chooser.randint(1, 18))]
        )
        assert written(text_output.int64_to_text, integer) == str(integer)
        unscaled = chooser.choice((1, -1)) * chooser.randrange(10 ** chooser.randint(0, 38))
        scale = chooser.randint(0, 38)
        assert written(text_output.numeric_to_text, *words(unscaled), scale) == numeric_text(*words(unscaled), scale)
    assert [text(*text_output.bool_to_text(truth)[:3]) for truth in (0, 1)] == ["false", "true"]


def test_dates_and_timestamps() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        day = chooser.randrange(DATE_DAYS_MIN, DATE_DAYS_END)
        assert written(text_output.date_to_text, day) == date_text(day)
        us = chooser.randrange(TIMESTAMP_US_MIN, TIMESTAMP_US_END)
        assert written(text_output.timestamp_to_text, us) == timestamp_text(us)


def test_floats_read_back() -> None:
    chooser, maker = random.Random(SEED), Texts()
    for _ in range(CASES):
        data = chooser.randbytes(8)
        double, real = struct.unpack("<d", data)[0], np.frombuffer(data[:4], dtype=np.float32)[0]
        read, error = text_input.text_to_float64(*maker.words(written(text_output.float64_to_text, double)))
        assert error == OK
        assert read == double or np.isnan(double)
        read, error = text_input.text_to_float32(*maker.words(written(text_output.float32_to_text, real)))
        assert error == OK
        assert np.float32(read) == real or np.isnan(real)


def test_times_read_back() -> None:
    chooser, maker, scratch = random.Random(SEED), Texts(), ScratchHeap()
    zone = zone_table("America/St_Johns")
    for _ in range(CASES):
        us = chooser.randrange(-60_000_000_000_000_000, 250_000_000_000_000_000)
        plain = maker.words(written(text_output.timestamp_to_text, us))
        assert text_input.text_to_timestamp(*plain, *zone) == (us, OK)
        if us > 0:
            scratch.clear()
            zoned = text_output.timestamptz_to_text(us, scratch.words, *zone)
            assert text_input.text_to_timestamptz(*zoned[:3], *zone_table("UTC")) == (us, OK)


def test_spellings_that_are_not_iso() -> None:
    maker = Texts()
    cases = {
        "": INVALID_DATETIME,
        "soon": INVALID_DATETIME,
        "2020-02-30": DATETIME_OVERFLOW,
        "2020-01-01 24:60": DATETIME_OVERFLOW,
        "Jan 1 2020": DATETIME_SPELLING,
        "2020-01-01  10:00": DATETIME_SPELLING,
    }
    for spelling, code in cases.items():
        assert text_input.text_to_timestamp(*maker.words(spelling), *zone_table("UTC")) == (0, code), spelling


def test_numbers_that_only_the_c_library_decides() -> None:
    maker = Texts()
    # Half way between two doubles, and a hair above, 40 digits later.
    for spelling in ("9007199254740993", "9007199254740993." + "0" * 40 + "1", "0x1p-3", "1e23", "8.5" + "0" * 2000):
        expected = 0.125 if spelling.startswith("0x") else float(spelling)
        assert text_input.text_to_float64(*maker.words(spelling)) == (expected, OK)


def test_a_full_heap_is_said_so() -> None:
    scratch = ScratchHeap(8)
    assert text_output.int64_to_text(1, scratch.words)[3] == SCRATCH_FULL
    scratch.grow()
    assert text_output.int64_to_text(1, scratch.words)[3] == OK
