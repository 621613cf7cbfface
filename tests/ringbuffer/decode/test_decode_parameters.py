"""Bind parameters in both forms against the values they were made of, PostgreSQL's numeric in base
10000, and malformed ones.
"""

from __future__ import annotations

import random
import struct
from decimal import ROUND_HALF_UP, Decimal, localcontext

import numpy as np
import pytest

from ringbuffer.decode.parameters import decode_parameters
from ringbuffer.memory import error_codes as codes
from ringbuffer.memory.columns import ColumnLayout, Layout, PhysicalType
from ringbuffer.memory.error_codes import RowError
from tests.ringbuffer.plain_rows import Row, plain_rows

P = PhysicalType
LAYOUT: Layout = tuple(ColumnLayout(physical, physical, 38, 6) for physical in P)
EPOCH_DAYS = 10_957
FORMATS = {P.INT16: "!h", P.INT32: "!i", P.INT64: "!q", P.FLOAT32: "!f", P.FLOAT64: "!d", P.BOOL: "!?"}


def block(*values: bytes | None) -> bytes:
    return b"".join(
        struct.pack("!i", -1) if value is None else struct.pack("!i", len(value)) + value for value in values
    )


def binary_numeric(value: Decimal) -> bytes:
    """Return numeric_send's form."""
    exponent = int(value.as_tuple().exponent)
    scale = max(0, -exponent)
    digits = f"{abs(value):f}"
    whole, _, part = digits.partition(".")
    whole = whole.rjust(-(-len(whole) // 4) * 4, "0")
    part = part.ljust(-(-len(part) // 4) * 4, "0")
    groups = [int((whole + part)[at : at + 4]) for at in range(0, len(whole + part), 4)]
    weight = len(whole) // 4 - 1
    while groups and groups[0] == 0:
        groups.pop(0)
        weight -= 1
    while groups and groups[-1] == 0:
        groups.pop()
    sign = 0x4000 if value < 0 else 0
    return struct.pack(f"!hhHH{len(groups)}h", len(groups), weight if groups else 0, sign, scale, *groups)


def random_value(rng: random.Random, physical: PhysicalType) -> tuple[object, str, bytes]:
    """Return (value in the column, text form, binary form)."""
    match physical:
        case P.BOOL:
            value = rng.random() < 0.5
            return value, str(value), struct.pack("!?", value)
        case P.FLOAT32 | P.FLOAT64:
            number = float(np.float32(rng.uniform(-1e9, 1e9)))
            return number, repr(number), struct.pack(FORMATS[physical], number)
        case P.TEXT:
            text = "".join(rng.choice("aé€😀") for _ in range(rng.choice((0, 1, 3, 12, 13, 50))))
            return text, text, text.encode()
        case P.NUMERIC:
            whole = rng.randrange(10 ** rng.randrange(1, 31))
            part = f"{rng.randrange(10**9):0{rng.randrange(9, 20)}d}"
            number_text = f"{rng.choice(('', '-'))}{whole}.{part}"
            with localcontext() as context:
                context.prec = 100
                exact = Decimal(number_text)
                return int(exact.scaleb(6).to_integral_value(ROUND_HALF_UP)), number_text, binary_numeric(exact)
        case P.DATE:
            days = rng.randrange(-100_000, 100_000)
            return days, str(np.datetime64(days, "D")), struct.pack("!i", days - EPOCH_DAYS)
        case P.TIMESTAMP:
            us = rng.randrange(-(10**15), 10**15)
            return us, str(np.datetime64(us, "us")), struct.pack("!q", us - EPOCH_DAYS * 86_400_000_000)
        case _:
            bits = {P.INT16: 16, P.INT32: 32, P.INT64: 64}[physical]
            integer = rng.randrange(-(2 ** (bits - 1)), 2 ** (bits - 1))
            return integer, str(integer), struct.pack(FORMATS[physical], integer)


@pytest.mark.parametrize("seed", range(8))
def test_both_forms(seed: int) -> None:
    rng = random.Random(seed)
    for rows_count in (1, 1, 3, 200):
        formats = np.array([rng.randrange(2) for _ in LAYOUT], dtype=np.int8)
        data = b"Bind"
        starts = []
        rows: list[Row] = []
        for _ in range(rows_count):
            starts.append(len(data))
            row, parameters = [], []
            for column, binary in zip(LAYOUT, formats, strict=True):
                value, text, content = random_value(rng, column.physical)
                null = rng.random() < 0.1
                row.append(None if null else value)
                parameters.append(None if null else content if binary else text.encode())
            rows.append(tuple(row))
            data += block(*parameters) + b"more"
        morsel = decode_parameters(data, np.array(starts, dtype=np.int64), formats, LAYOUT)
        assert plain_rows(morsel, LAYOUT) == rows


def one(physical: PhysicalType, content: bytes | None, binary: bool, **limits: int) -> Row:
    layout = (
        ColumnLayout("a", physical, limits.get("precision", 10), limits.get("scale", 2), limits.get("length_max")),
    )
    data = block(content)
    morsel = decode_parameters(memoryview(data), np.zeros(1, dtype=np.int64), np.array([binary], dtype=np.int8), layout)
    return plain_rows(morsel, layout)[0]


@pytest.mark.parametrize(
    ("physical", "content", "binary", "code"),
    [
        (P.INT32, b"12x", False, codes.INVALID_TEXT),
        (P.INT32, b"\0\0\0", True, codes.BINARY_FORMAT),
        (P.INT16, b"\0\0\0\0", True, codes.BINARY_FORMAT),
        (P.BOOL, b"", True, codes.BINARY_FORMAT),
        (P.TEXT, b"\xff", True, codes.INVALID_ENCODING),
        (P.TEXT, b"a\0", False, codes.NUL_CHARACTER),
        (P.NUMERIC, b"\0", True, codes.BINARY_FORMAT),
        (P.NUMERIC, struct.pack("!hhHHh", 1, 0, 0, 0, 10_000), True, codes.BINARY_FORMAT),
        (P.NUMERIC, struct.pack("!hhHH", 1, 0, 0, 0), True, codes.BINARY_FORMAT),
        (P.NUMERIC, struct.pack("!hhHH", 0, 0, 0x1000, 0), True, codes.BINARY_FORMAT),
        (P.NUMERIC, struct.pack("!hhHH", 0, 0, 0xC000, 0), True, codes.NUMERIC_SPECIAL),
        (P.NUMERIC, struct.pack("!hhHH", 0, 0, 0xD000, 32), True, codes.NUMERIC_FIELD_OVERFLOW),
        (P.NUMERIC, struct.pack("!hhHH", 0, 0, 0xF000, 32), True, codes.NUMERIC_FIELD_OVERFLOW),
        (P.NUMERIC, struct.pack("!hhHH", 0, 0, 0xE000, 0), True, codes.BINARY_FORMAT),
        (P.NUMERIC, struct.pack("!hhHHh", 1, 2, 0, 0, 1), True, codes.NUMERIC_FIELD_OVERFLOW),
        (P.DATE, struct.pack("!i", 2**31 - 2), True, codes.DATE_RANGE),
        (P.TIMESTAMP, struct.pack("!q", -(2**63) + 1), True, codes.TIMESTAMP_RANGE),
        (P.DATE, b"tomorrow", False, codes.INVALID_DATETIME),
    ],
)
def test_bad_values(physical: PhysicalType, content: bytes, binary: bool, code: int) -> None:
    with pytest.raises(RowError) as caught:
        one(physical, content, binary)
    assert (caught.value.code, caught.value.row, caught.value.column) == (code, 0, 0)


def test_limits() -> None:
    assert one(P.TEXT, b"ab   ", True, length_max=3) == ("ab ",)
    with pytest.raises(RowError):
        one(P.TEXT, b"abcd", True, length_max=3)
    # Digits that the written scale hides do not count: 1.99 with scale 1 is 1.9.
    assert one(P.NUMERIC, struct.pack("!hhHHhh", 2, 0, 0, 1, 1, 9900), True) == (190,)
    with pytest.raises(RowError):
        decode_parameters(
            b"\0\0\0\5abc", np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int8), (ColumnLayout("a", P.TEXT),)
        )
