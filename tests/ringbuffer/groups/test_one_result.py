"""The results of one group, against Python's own numbers."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from ringbuffer.groups.one_result import ALWAYS, COUNTED, HIGH, LOW, NULL, SHOWN_SCALE, VALUE_WORDS, Source, row_results
from ringbuffer.memory.error_codes import BIGINT_RANGE, FLOAT_OVERFLOW, NUMERIC_DIGITS, OK

SEED = 31
CASES = 200
MASK_AT, SEEN_AT, AT = 0, 1, 2
WORD = (1 << 64) - 1


def signed(word: int) -> int:
    return (word & WORD) - ((word & 1 << 63) << 1)


def read(words: list[int], *place: int) -> tuple[int, list[int]]:
    """Return the error code and the words of one result of a row."""
    values = np.full((1, VALUE_WORDS), 7, dtype=np.int64)
    row = np.array([signed(word) for word in words], dtype=np.int64)
    return row_results(row, np.array([place], dtype=np.int64), values), values[0].tolist()


def number_of(values: list[int]) -> int:
    return values[HIGH] << 64 | values[LOW] & WORD


def bits(value: float) -> int:
    (word,) = struct.unpack("<q", struct.pack("<d", value))
    assert isinstance(word, int)
    return word


@pytest.mark.parametrize(
    ("mask", "seen", "place", "is_null"),
    [
        (0b100, 0, (MASK_AT, 2), True), (0b011, 0, (MASK_AT, 2), False), (1 << 63, 0, (MASK_AT, 63), True),
        (0, 0, (SEEN_AT, COUNTED), True), (0, 9, (SEEN_AT, COUNTED), False), (0, 0, (SEEN_AT, ALWAYS), False),
    ],
)  # fmt: skip
def test_what_tells_that_there_is_a_value(mask: int, seen: int, place: tuple[int, int], is_null: bool) -> None:
    error, values = read([mask, seen, -5, 0], Source.WORD, AT, *place, 0)
    assert error == OK and bool(values[NULL]) == is_null
    assert values[LOW] == (7 if is_null else -5)


@pytest.mark.parametrize("bits_count", [3, 40, 63, 64, 100, 126, 127])
def test_sums_are_those_of_python_or_out_of_range(bits_count: int) -> None:
    draw = random.Random(SEED + bits_count)
    for _ in range(CASES):
        total, scale, count = (
            draw.randrange(-(1 << bits_count), 1 << bits_count),
            draw.randrange(12),
            draw.randrange(1, 9),
        )
        row = [0, count, total, total >> 64, int(draw.random() < 0.1), 0]
        wide, place = row[4], (AT, SEEN_AT, COUNTED, scale)
        error, values = read(row, Source.BIGINT_SUM, *place)
        assert error == (OK if not wide and -(1 << 63) <= total < 1 << 63 else BIGINT_RANGE), total
        assert error or values[LOW] == total
        error, values = read(row, Source.DECIMAL_SUM, *place)
        assert error == (OK if not wide and abs(total) < 10**38 else NUMERIC_DIGITS), total
        assert error or (number_of(values), values[SHOWN_SCALE]) == (total, scale)
        error, values = read(row, Source.DECIMAL_AVERAGE, *place)
        if error == OK:
            # Rounded half away from zero, as PostgreSQL does.
            digits = 10 ** (values[SHOWN_SCALE] - scale)
            rounded = (2 * abs(total) * digits + count) // (2 * count)
            assert not wide and abs(number_of(values)) == rounded and values[SHOWN_SCALE] >= 16 - len(str(abs(total)))
            assert rounded == 0 or (number_of(values) < 0) == (total < 0)
        else:
            assert wide or bits_count > 63


def test_pairs_zeros_and_floats() -> None:
    assert read([0, 1, 5, -1, 3], Source.PAIR, AT, SEEN_AT, COUNTED, 2) == (OK, [0, 5, -1, 2])
    assert read([0, 1, 5, -1, 3], Source.SCALED_PAIR, AT, SEEN_AT, COUNTED, 0) == (OK, [0, 5, -1, 3])
    assert [read([0, 1, word], Source.IS_ZERO, AT, SEEN_AT, COUNTED, 0)[1][LOW] for word in (0, 4)] == [1, 0]
    for value in (0.0, -0.0, 0.1, -1e300, float("inf"), float("-inf")):
        row = [0, 3, bits(value), 0, 0]
        assert read(row, Source.FLOAT_SUM, AT, SEEN_AT, COUNTED, 0)[1][LOW] == bits(value)
        assert read(row, Source.FLOAT_AVERAGE, AT, SEEN_AT, COUNTED, 0)[1][LOW] == bits(value / 3)
    assert read([0, 3, 0, 1, 0], Source.FLOAT_SUM, AT, SEEN_AT, COUNTED, 0)[0] == FLOAT_OVERFLOW
    assert read([0, 3, 0, 0, 1], Source.FLOAT_AVERAGE, AT, SEEN_AT, COUNTED, 0)[0] == FLOAT_OVERFLOW
