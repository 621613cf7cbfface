"""Text output: golden values, a plain-Python reference, and PostgreSQL's own output of the same
values.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.rows import encode_data_rows
from ringbuffer.encode.text import text_column
from tests.oracle.postgres import PostgresCluster
from tests.ringbuffer.rows import data_row, messages
from tests.ringbuffer.samples import FAMILIES, arrow_form, plain_text, random_column, variable_numeric

ROWS = 400
ZONES = ("UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns", "Africa/Monrovia", "Pacific/Apia")


def texts(column: pa.Array | pa.ChunkedArray, family: str, zone: str = "UTC") -> list[str | None]:
    encoded = text_column(column, family, zone)
    whole = encoded.data.tobytes()
    return [
        whole[encoded.ends[row] : encoded.ends[row + 1]].decode()
        if len(encoded.valid) == 0 or encoded.valid[row]
        else None
        for row in range(len(encoded.ends) - 1)
    ]


@pytest.mark.parametrize(
    ("family", "value", "text"),
    [
        ("float8", 1e20, "1e+20"),
        ("float8", 1e-5, "1e-05"),
        ("float8", 0.0001, "0.0001"),
        ("float8", 123456789012345.0, "123456789012345"),
        ("float8", 1e15, "1e+15"),
        ("float8", 1234567890123456.0, "1.234567890123456e+15"),
        ("float8", 0.1 + 0.2, "0.30000000000000004"),
        ("float8", 1e23, "9.999999999999999e+22"),
        ("float8", 5e-324, "5e-324"),
        ("float8", 1.7976931348623157e308, "1.7976931348623157e+308"),
        ("float8", -0.0, "-0"),
        ("float8", float("nan"), "NaN"),
        ("float8", float("inf"), "Infinity"),
        ("float8", float("-inf"), "-Infinity"),
        ("float4", 1e5, "100000"),
        ("float4", 1e6, "1e+06"),
        ("float4", 0.1, "0.1"),
        ("float4", 3.4028234663852886e38, "3.4028235e+38"),
        ("float4", 1e-45, "1e-45"),
        ("int8", -(2**63), "-9223372036854775808"),
        ("int2", -32768, "-32768"),
        ("date", 0, "1970-01-01"),
        ("date", -719_163, "0001-12-31 BC"),
        ("date", -2_440_588, "4714-11-24 BC"),
        ("date", 2_932_897, "10000-01-01"),
        ("date", 2_145_042_905, "5874897-12-31"),
        ("timestamp", 1_500_000, "1970-01-01 00:00:01.5"),
        ("timestamp", -1, "1969-12-31 23:59:59.999999"),
        ("timestamp", -62_135_596_800_000_000 - 10, "0001-12-31 23:59:59.99999 BC"),
    ],
)
def test_golden(family: str, value: object, text: str) -> None:
    assert texts(pa.array([value], arrow_form(family)), family) == [text]


@pytest.mark.parametrize(
    ("zone", "seconds", "text"),
    [
        ("Europe/Berlin", 1_711_846_799, "2024-03-31 01:59:59+01"),
        ("Europe/Berlin", 1_711_846_800, "2024-03-31 03:00:00+02"),
        ("Europe/Berlin", 1_729_990_800, "2024-10-27 02:00:00+01"),
        ("Asia/Kolkata", 0, "1970-01-01 05:30:00+05:30"),
        ("America/St_Johns", 0, "1969-12-31 20:30:00-03:30"),
        ("Africa/Monrovia", 0, "1969-12-31 23:15:30-00:44:30"),
        ("UTC", -62_135_596_801, "0001-12-31 23:59:59+00 BC"),
    ],
)
def test_golden_zones(zone: str, seconds: int, text: str) -> None:
    column = pa.array([seconds * 1_000_000], arrow_form("timestamptz"))
    assert texts(column, "timestamptz", zone) == [text]


@pytest.mark.turns(3)
@pytest.mark.parametrize("family", [family for family in FAMILIES if not family.startswith("float")])
@pytest.mark.parametrize("zone", ZONES)
def test_agrees_with_plain_python(family: str, zone: str) -> None:
    source = random.Random(f"{family} {zone}")
    column = random_column(source, family, ROWS)
    assert texts(column, family, zone) == plain_text(column, family, zone)


def test_variable_numeric_agrees_with_plain_python() -> None:
    column = variable_numeric(random.Random(7), ROWS)
    assert texts(column, "numeric") == plain_text(column, "numeric", "UTC")


def test_null_structs_and_null_fields_are_null() -> None:
    form = pa.struct([pa.field("unscaled", pa.decimal128(38, 0)), pa.field("scale", pa.int16())])
    column = pa.array([{"unscaled": 15, "scale": 1}, None, {"unscaled": None, "scale": 0}], form)
    assert texts(column, "numeric") == ["1.5", None, None]


def test_chunks() -> None:
    column = pa.chunked_array([pa.array([1, None]), pa.array([], pa.int64()), pa.array([3])])
    assert texts(column, "int8") == ["1", None, "3"]
    assert texts(pa.chunked_array([], pa.int64()), "int8") == []


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
def test_agrees_with_postgres(postgres: PostgresCluster, zone: str) -> None:
    """PostgreSQL reads our binary rows, prints them, and sends them back in binary: three encoders
    must agree.
    """
    source = random.Random(zone)
    families = [*FAMILIES, "numeric"]
    columns = [random_column(source, family, ROWS, extreme=True) for family in FAMILIES] + [
        variable_numeric(source, ROWS)
    ]
    names = [f"c{index}" for index in range(len(families))]
    binary, _ = encode_data_rows(columns, families, [1] * len(columns), Forms(zone), len(columns[0]))
    text, _ = encode_data_rows(columns, families, [0] * len(columns), Forms(zone), len(columns[0]))
    rows = messages(binary, b"D")
    with postgres.connect() as connection:
        connection.execute("SET TimeZone = '" + zone + "'")
        definitions = ", ".join(f"{name} {family}" for name, family in zip(names, families, strict=True))
        connection.execute(f"CREATE TEMPORARY TABLE sent (id serial, {definitions})")
        with connection.cursor().copy(f"COPY sent ({', '.join(names)}) FROM STDIN (FORMAT binary)") as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8) + b"".join(rows) + b"\xff\xff")
        # A boolean prints as true when it is cast, as t when it is output.
        printed_forms = [
            f"left({name}::text, 1)" if family == "bool" else f"{name}::text"
            for name, family in zip(names, families, strict=True)
        ]
        cursor = connection.cursor()
        cursor.execute("SELECT " + ", ".join(printed_forms) + " FROM sent ORDER BY id")
        printed = [tuple(row) for row in cursor.fetchall()]
        with connection.cursor().copy(
            f"COPY (SELECT {', '.join(names)} FROM sent ORDER BY id) TO STDOUT (FORMAT binary)"
        ) as copy:
            returned = b"".join(bytes(piece) for piece in copy)
    ours = [tuple(None if field is None else field.decode() for field in data_row(row)) for row in messages(text, b"D")]
    assert ours == printed
    assert returned == b"PGCOPY\n\xff\r\n\0" + bytes(8) + b"".join(rows) + b"\xff\xff"
