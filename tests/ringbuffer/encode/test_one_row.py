"""One row as a DataRow message: each value as the columns of one value have it."""

from __future__ import annotations

import random
import struct
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from ringbuffer.encode.binary import binary_column
from ringbuffer.encode.one_row import ROW_BYTES_MAX, SCALE_MAX, Form, new_scratch, put_row
from ringbuffer.encode.text import text_column
from ringbuffer.scalar.calendars.calendar import DATE_INFINITY, TIMESTAMP_INFINITY
from ringbuffer.scalar.calendars.time_zones import zone_table

SEED = 31
CASES = 60
ZONE = "Europe/Berlin"
DAYS = (0, -1, 19_782, -719_528, -730_000, 2_932_896, DATE_INFINITY, -DATE_INFINITY)
MOMENTS = (
    0,
    -1,
    1_720_000_000_123_456,
    -62_200_000_000_000_000,
    86_399_999_999,
    TIMESTAMP_INFINITY,
    -TIMESTAMP_INFINITY,
)
INTEGERS = (0, 1, -1, 32_767, -32_768)
FLOATS = (0.0, -0.0, 0.1, -1.5e-7, 1e22, 3.4e38, float("nan"), float("inf"), float("-inf"))
FORMS: dict[str, tuple[pa.DataType, Form, Form, tuple[int, ...]]] = {
    "int2": (pa.int16(), Form.INTEGER, Form.BYTES_2, INTEGERS),
    "int4": (pa.int32(), Form.INTEGER, Form.BYTES_4, (*INTEGERS, -(1 << 31))),
    "int8": (pa.int64(), Form.INTEGER, Form.BYTES_8, (*INTEGERS, -(1 << 63), (1 << 63) - 1)),
    "bool": (pa.bool_(), Form.BOOL, Form.BYTES_1, (0, 1)),
    "date": (pa.date32(), Form.DATE, Form.DATE_BINARY, DAYS),
    "timestamp": (pa.timestamp("us"), Form.TIMESTAMP, Form.TIMESTAMP_BINARY, MOMENTS),
    "timestamptz": (pa.timestamp("us", "UTC"), Form.ZONED_TIMESTAMP, Form.TIMESTAMP_BINARY, MOMENTS),
}


def row_of(values: list[list[int]], forms: list[int], heap: bytes = b"") -> bytes:
    memory, scratch = np.frombuffer(heap or b"\0", dtype=np.uint8), new_scratch()
    given = np.array(values, dtype=np.int64).reshape(-1, 4)
    size = put_row(given, np.array(forms, dtype=np.int64), memory.ctypes.data, scratch, zone_table(ZONE))
    return scratch.out[:size].tobytes()


def fields_of(row: bytes) -> list[bytes | None]:
    kind, size, count = struct.unpack("!cih", row[:7])
    assert kind == b"D" and size == len(row) - 1
    fields: list[bytes | None] = []
    at = 7
    for _ in range(count):
        (length,) = struct.unpack("!i", row[at : at + 4])
        fields.append(None if length < 0 else row[at + 4 : at + 4 + length])
        at += 4 + max(length, 0)
    assert at == len(row)
    return fields


def of_columns(array: pa.Array, family: str) -> list[bytes]:
    made = text_column(array, family, ZONE), binary_column(array, family)
    return [column.data[: column.ends[1]].tobytes() for column in made]


@pytest.mark.parametrize("family", FORMS)
def test_words_are_as_in_columns(family: str) -> None:
    kind, text, binary, values = FORMS[family]
    for value in values:
        stored = pa.array([value], pa.int64() if family == "bool" else f"int{kind.bit_width}")
        array = stored.cast(kind)
        assert fields_of(row_of([[0, value, value >> 63, 0]] * 2, [text, binary])) == of_columns(array, family), value


@pytest.mark.parametrize("family", ["float4", "float8"])
def test_floats_are_as_in_columns(family: str) -> None:
    for value in FLOATS:
        (word,) = struct.unpack("<q", struct.pack("<d", value))
        forms = [Form.FLOAT8, Form.BYTES_8] if family == "float8" else [Form.FLOAT4, Form.FLOAT4_BINARY]
        array = pa.array([value], pa.float64() if family == "float8" else pa.float32())
        found, expected = fields_of(row_of([[0, word, 0, 0]] * 2, [*forms])), of_columns(array, family)
        assert found[0] == expected[0] and (found[1] == expected[1] or value != value), value


def test_numerics_are_as_in_columns() -> None:
    draw = random.Random(SEED)
    for _ in range(CASES):
        number, scale = draw.randrange(-(10 ** draw.randrange(1, 38)), 10 ** draw.randrange(1, 38)), draw.randrange(38)
        array = pa.array([Decimal(f"{number}e-{scale}")], pa.decimal128(38, scale))
        low = (number & (1 << 64) - 1) - ((number & 1 << 63) << 1)
        found = row_of([[0, low, number >> 64, scale]] * 2, [Form.NUMERIC, Form.NUMERIC_BINARY])
        assert fields_of(found) == of_columns(array, "numeric"), (number, scale)
    assert not row_of([[0, 1, 0, SCALE_MAX + 1]], [Form.NUMERIC])


def test_strings_nulls_and_rows_that_do_not_fit() -> None:
    heap = bytes(range(200))
    values, expected = [], []
    for length in (0, 1, 4, 5, 12, 13, 150):
        text = heap[50 : 50 + length]
        padded = text.ljust(12, b"\0")
        low, high = (
            struct.unpack("<qq", struct.pack("<i", length) + padded) if length <= 12 else (length | 77 << 32, 50)
        )
        values += [[0, low, high, 0], [1, low, high, 99]]
        expected += [text, None]
    assert fields_of(row_of(values, [Form.RAW] * len(values), heap)) == expected
    assert fields_of(row_of([], [])) == []
    long = [[0, 150, 0, 0]] * (ROW_BYTES_MAX // 154)
    assert len(fields_of(row_of(long, [Form.RAW] * len(long), heap))) == len(long)
    assert not row_of([*long, long[0]], [Form.RAW] * (len(long) + 1), heap)
