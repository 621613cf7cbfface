"""PostgreSQL's text output of a `LiteralValue`: DateStyle ISO, IntervalStyle postgres, bytea_output
hex.

For defaults, EXPLAIN and tests; results have their own encoders.
"""

from __future__ import annotations

import math
import struct
from decimal import Context, Decimal

from sql.times.civil import DATE_INFINITY, DAY_US, civil_from_days, is_infinite, utc_offset_us
from sql.times.interval_values import interval_text
from sql.times.time_input import time_text
from sql.times.zoned_time import zoned_time_text
from sql.types.datatypes import VECTORS, LiteralValue, SqlType
from sql.values.array_text import array_text
from sql.values.bytes import bytea_text
from sql.values.identifiers import char_text

# Enough digits for the sum of any two floats.
EXACT = Context(prec=1200, Emax=999_999, Emin=-999_999)


def output_text(value: LiteralValue, kind: SqlType, zone: str = "UTC") -> str | None:
    """Return the text of `value`, None for NULL."""
    if value is None:
        return None
    if kind.is_array:
        assert isinstance(value, tuple)
        return array_text([output_text(item, kind.element, zone) for item in value])
    if kind.family in VECTORS:
        assert isinstance(value, tuple)
        return " ".join(map(str, value))
    match value:
        case bool():
            return "t" if value else "f"
        case float():
            return float_text(value, kind.family == "float4")
        case Decimal():
            return format(value, "f")
        case str():
            return char_text(value) if kind.family == "char" else value
        case bytes():
            return bytea_text(value)
        case (int(micros), int(west)):
            return zoned_time_text((micros, west))
        case (int(months), int(days), int(micros)):
            return interval_text((months, days, micros))
    assert isinstance(value, int)
    if kind.enum is not None:
        return kind.enum.texts[value]
    match kind.family:
        case "time":
            return time_text(value)
        case "date":
            return date_text(value)
        case "timestamp":
            return timestamp_text(value)
        case "timestamptz":
            return zoned_text(value, zone)
    return str(value)


def float_text(value: float, single: bool) -> str:
    """Return the shortest digits that read back as the same value, in PostgreSQL's layout."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    digits = shortest(value, single)
    sign, exact, exponent = Decimal(digits).as_tuple()
    assert isinstance(exponent, int)
    figures = "".join(map(str, exact)).rstrip("0")
    exponent += len(exact) - len(figures)
    minus = "-" if sign else ""
    if not figures:
        return minus + "0"
    point = len(figures) + exponent
    # PostgreSQL's shortest output turns to exponents below 1e-4 and from 1e15 (1e6 for real) on.
    if point < -3 or point > (6 if single else 15):
        mantissa = figures[0] + ("." + figures[1:] if len(figures) > 1 else "")
        return f"{minus}{mantissa}e{'-' if point < 1 else '+'}{abs(point - 1):02d}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{figures}"
    if point >= len(figures):
        return minus + figures + "0" * (point - len(figures))
    return f"{minus}{figures[:point]}.{figures[point:]}"


def shortest(value: float, single: bool) -> str:
    """Return the fewest digits between the midpoints to the two neighbours.

    PostgreSQL does not take a midpoint itself, which round-half-even would read back as `value`;
    Python's repr does.
    """
    exact = Decimal(value)
    low, high = (EXACT.divide(EXACT.add(exact, near), 2) for near in neighbours(value, single))
    for digits in range(1, 18):
        text = f"{value:.{digits - 1}e}"
        if low < Decimal(text) < high:
            return text
    return repr(value)


def neighbours(value: float, single: bool) -> tuple[Decimal, Decimal]:
    """Return the next smaller and the next larger float.

    Beyond the largest one, the next power of two.
    """
    if not single:
        below, above = math.nextafter(value, -math.inf), math.nextafter(value, math.inf)
        limit = Decimal(2) ** 1024
    else:
        below, above = next_single(value, -1), next_single(value, 1)
        limit = Decimal(2) ** 128
    return (
        -limit if below == -math.inf else Decimal(below),
        limit if above == math.inf else Decimal(above),
    )


def next_single(value: float, direction: int) -> float:
    """Return the float4 next to `value`, upwards (1) or downwards (-1)."""
    bits = int(struct.unpack("<i", struct.pack("<f", value))[0])
    if value == 0.0:
        return direction * 2.0**-149
    step = direction if value > 0 else -direction
    return float(struct.unpack("<f", struct.pack("<i", bits + step))[0])


def infinite_text(value: int) -> str:
    return "infinity" if value > 0 else "-infinity"


def date_text(days: int) -> str:
    if abs(days) == DATE_INFINITY:
        return infinite_text(days)
    year, month, day = civil_from_days(days)
    if year > 0:
        return f"{year:04d}-{month:02d}-{day:02d}"
    return f"{1 - year:04d}-{month:02d}-{day:02d} BC"


def timestamp_text(microseconds: int, zone: str = "") -> str:
    if is_infinite(microseconds):
        return infinite_text(microseconds)
    days, rest = divmod(microseconds, DAY_US)
    seconds, fraction = divmod(rest, 1_000_000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if fraction:
        clock += f".{fraction:06d}".rstrip("0")
    date, _, era = date_text(days).partition(" ")
    return f"{date} {clock}{zone}{' ' + era if era else ''}"


def zoned_text(microseconds: int, zone: str) -> str:
    if is_infinite(microseconds):
        return infinite_text(microseconds)
    offset = utc_offset_us(microseconds, zone)
    total = abs(offset) // 1_000_000
    text = f"{'-' if offset < 0 else '+'}{total // 3600:02d}"
    if total % 3600:
        text += f":{total // 60 % 60:02d}"
    if total % 60:
        text += f":{total % 60:02d}"
    return timestamp_text(microseconds + offset, text)
