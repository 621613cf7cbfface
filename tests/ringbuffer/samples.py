"""Random columns of every type, with extremes and NULLs, and their text in plain Python: the
reference of the encoders.
"""

from __future__ import annotations

import random
import struct
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pyarrow as pa

NULL_SHARE = 0.2
DAY_US = 86_400_000_000
WORDS = (
    "",
    "a",
    "NULL",
    "\\N",
    "\\.",
    "tab\there",
    "new\nline",
    "return\r",
    'quote"d',
    "com,ma",
    "back\\slash",
    "ä€😀",
    "\x01\x08\x0b\x0c\x7f",
    "x" * 300,
)

# Days and microseconds that PostgreSQL takes and Python's datetime too; the rest of the range is
# compared with PostgreSQL alone.
DAYS = (-719_162, 2_932_896)
EXTREME_DAYS = (-2_440_588, 2_145_042_905)
EXTREME_MICROSECONDS = (-2_440_588 * DAY_US, 106_751_981 * DAY_US)


def arrow_form(family: str, scale: int = 0) -> pa.DataType:
    """Return the form of a column in a hand-over."""
    forms = {
        "bool": pa.bool_(),
        "int2": pa.int16(),
        "int4": pa.int32(),
        "int8": pa.int64(),
        "float4": pa.float32(),
        "float8": pa.float64(),
        "numeric": pa.decimal128(38, scale),
        "text": pa.string(),
        "varchar": pa.string(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us"),
        "timestamptz": pa.timestamp("us", tz="UTC"),
    }
    return forms[family]


def exact_decimal(unscaled: int, scale: int) -> Decimal:
    """Return unscaled * 10^-scale; Decimal's own scaleb would round to the 28 digits of its
    context.
    """
    return Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))


FAMILIES = (
    "bool",
    "int2",
    "int4",
    "int8",
    "float4",
    "float8",
    "numeric",
    "text",
    "varchar",
    "date",
    "timestamp",
    "timestamptz",
)


def random_value(source: random.Random, family: str, scale: int = 0, extreme: bool = False) -> object:
    """Return one value in the form that `pa.array` takes, or None."""
    if source.random() < NULL_SHARE:
        return None
    match family:
        case "bool":
            return source.random() < 0.5
        case "int2" | "int4" | "int8":
            bits = {"int2": 16, "int4": 32, "int8": 64}[family]
            low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
            return source.choice([low, high, 0, source.randrange(-100, 100), source.randint(low, high)])
        case "float8":
            random_bits: float = struct.unpack("<d", struct.pack("<Q", source.getrandbits(64)))[0]
            return source.choice(
                [random_bits, source.randrange(-(10**6), 10**6) / 100, 10.0 ** source.randrange(-20, 24), -0.0]
            )
        case "float4":
            single: float = struct.unpack("<f", struct.pack("<I", source.getrandbits(32)))[0]
            return source.choice([single, source.randrange(1000) / 8, -0.0])
        case "numeric":
            digits = source.randrange(1, 39)
            magnitude = source.choice([0, 1, 10 ** (digits - 1), 10**digits - 1, source.randrange(10**digits)])
            return exact_decimal(source.choice([-1, 1]) * magnitude, scale)
        case "date":
            return source.randint(*(EXTREME_DAYS if extreme else DAYS))
        case "timestamp" | "timestamptz":
            low, high = EXTREME_MICROSECONDS if extreme else (DAYS[0] * DAY_US + DAY_US, DAYS[1] * DAY_US - DAY_US)
            moment = source.choice([source.randint(low, high), source.randrange(-(10**15), 4 * 10**15)])
            return moment - moment % source.choice([1, 1000, 10**6, DAY_US])
    return source.choice([*WORDS, "".join(map(chr, source.choices(range(32, 0x250), k=source.randrange(20))))])


def random_column(source: random.Random, family: str, rows_count: int, extreme: bool = False) -> pa.Array:
    """Return a column, sliced out of a longer one so that it has an offset."""
    scale = source.choice([0, 0, 2, 5, 20, 38]) if family == "numeric" else 0
    values = [random_value(source, family, scale, extreme) for _ in range(rows_count + 3)]
    return pa.array(values, arrow_form(family, scale)).slice(3)


def variable_numeric(source: random.Random, rows_count: int) -> pa.Array:
    """Return a numeric column whose scale differs by value."""
    form = pa.struct([pa.field("unscaled", pa.decimal128(38, 0)), pa.field("scale", pa.int16())])
    values = []
    for _ in range(rows_count + 3):
        unscaled = random_value(source, "numeric")
        values.append(None if unscaled is None else {"unscaled": unscaled, "scale": source.randrange(39)})
    return pa.array(values, form).slice(3)


def plain_text(column: pa.Array, family: str, zone: str) -> list[str | None]:
    """Return what PostgreSQL prints, by Python's own means. Floats are only defined as far as
    Python's repr agrees.
    """
    texts: list[str | None] = []
    for index in range(len(column)):
        value = column[index]
        texts.append(_plain(value, family, zone) if value.is_valid else None)
    return texts


def _plain(value: pa.Scalar, family: str, zone: str) -> str:
    match family:
        case "bool":
            return "t" if value.as_py() else "f"
        case "numeric":
            number = value.as_py()
            if isinstance(number, dict):
                number = exact_decimal(int(number["unscaled"]), number["scale"])
            text = f"{number:f}"
            return text.lstrip("-") if number == 0 else text
        case "date":
            return (
                (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=value.cast(pa.int32()).as_py()))
                .strftime("%Y-%m-%d")
                .zfill(10)
            )
        case "timestamp" | "timestamptz":
            return _plain_timestamp(value.cast(pa.int64()).as_py(), zone if family == "timestamptz" else None)
    return str(value.as_py())


def _plain_timestamp(microseconds: int, zone: str | None) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
    local = moment if zone is None else moment.astimezone(ZoneInfo(zone))
    text = f"{local.year:04}-{local.month:02}-{local.day:02} {local.hour:02}:{local.minute:02}:{local.second:02}"
    if local.microsecond:
        text += f".{local.microsecond:06}".rstrip("0")
    if zone is None:
        return text
    offset = local.utcoffset()
    assert offset is not None
    seconds = round(offset.total_seconds())
    sign, seconds = "-" if seconds < 0 else "+", abs(seconds)
    text += f"{sign}{seconds // 3600:02}"
    if seconds % 3600:
        text += f":{seconds // 60 % 60:02}"
    if seconds % 60:
        text += f":{seconds % 60:02}"
    return text
