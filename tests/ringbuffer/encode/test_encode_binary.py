"""Binary output against a plain-Python reference; test_encode_text asks PostgreSQL."""

from __future__ import annotations

import random
import struct
from decimal import Decimal

import pyarrow as pa
import pytest

from ringbuffer.encode.binary import binary_column
from tests.ringbuffer.samples import FAMILIES, exact_decimal, random_column, variable_numeric

ROWS = 400
FORMS = {"int2": "!h", "int4": "!i", "int8": "!q", "float4": "!f", "float8": "!d", "bool": "!?"}


def values(column: pa.Array, family: str) -> list[bytes | None]:
    encoded = binary_column(column, family)
    whole = encoded.data.tobytes()
    return [
        whole[encoded.ends[row] : encoded.ends[row + 1]] if len(encoded.valid) == 0 or encoded.valid[row] else None
        for row in range(len(encoded.ends) - 1)
    ]


def plain_numeric(number: Decimal) -> bytes:
    """Return PostgreSQL's binary numeric: base 10,000 digits around the decimal point, without
    zeros at either end.
    """
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    scale = -exponent
    text = "".join(map(str, digits)).rjust(scale + 1, "0")
    whole, fraction = text[: len(text) - scale], text[len(text) - scale :]
    whole = whole.rjust(-(-len(whole) // 4) * 4, "0")
    fraction = fraction.ljust(-(-len(fraction) // 4) * 4, "0")
    groups = [int((whole + fraction)[at : at + 4]) for at in range(0, len(whole + fraction), 4)]
    weight = len(whole) // 4 - 1
    while groups and groups[0] == 0:
        groups.pop(0)
        weight -= 1
    while groups and groups[-1] == 0:
        groups.pop()
    if not groups:
        return struct.pack("!hhHh", 0, 0, 0, scale)
    return struct.pack(f"!hhHh{len(groups)}h", len(groups), weight, 0x4000 if sign else 0, scale, *groups)


def plain_value(value: pa.Scalar, family: str) -> bytes | None:
    if not value.is_valid:
        return None
    match family:
        case "text" | "varchar":
            return str(value.as_py()).encode()
        case "numeric":
            number = value.as_py()
            if isinstance(number, dict):
                number = exact_decimal(int(number["unscaled"]), number["scale"])
            return plain_numeric(number)
        case "date":
            return struct.pack("!i", value.cast(pa.int32()).as_py() - 10_957)
        case "timestamp" | "timestamptz":
            return struct.pack("!q", value.cast(pa.int64()).as_py() - 946_684_800_000_000)
    return struct.pack(FORMS[family], value.as_py())


@pytest.mark.parametrize("family", FAMILIES)
def test_agrees_with_plain_python(family: str) -> None:
    column = random_column(random.Random(family), family, ROWS, extreme=True)
    assert values(column, family) == [plain_value(value, family) for value in column]


def test_variable_numeric_agrees_with_plain_python() -> None:
    column = variable_numeric(random.Random(11), ROWS)
    assert values(column, "numeric") == [plain_value(value, "numeric") for value in column]


@pytest.mark.parametrize(
    ("number", "groups"),
    [
        ("0", (0, 0, 0, 0)),
        ("0.00", (0, 0, 0, 2)),
        ("1", (1, 0, 0, 0, 1)),
        ("-10000.5", (3, 1, 0x4000, 1, 1, 0, 5000)),
        ("0.0001", (1, -1, 0, 4, 1)),
        ("0.00001", (1, -2, 0, 5, 1000)),
        ("120000", (1, 1, 0, 0, 12)),
    ],
)
def test_golden_numerics(number: str, groups: tuple[int, ...]) -> None:
    exact = Decimal(number)
    exponent = exact.as_tuple().exponent
    assert isinstance(exponent, int)
    column = pa.array([exact], pa.decimal128(38, -exponent))
    assert values(column, "numeric") == [struct.pack(f"!hhHh{len(groups) - 4}h", *groups)]
