"""Text output in the forms that a session may ask for beside the usual ones: IntervalStyle,
bytea_output, extra_float_digits, DateStyle.

Enters: Arrow arrays in the forms of views. Leaves: EncodedColumn. Few sessions ask for them,
so each different value is made in Python, once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ringbuffer.encode.date_styles import styled_dates
from ringbuffer.encode.encoded_column import EncodedColumn, string_column
from ringbuffer.scalar.calendars.calendar import HOUR_US, MINUTE_US, SECOND_US

MONTHS_OF_YEAR = 12
# The digits that a float surely holds; extra_float_digits counts from there.
SURE_DIGITS = {"float4": 6, "float8": 15}
PRINTABLE = range(0x20, 0x7F)
BACKSLASH = 0x5C


class Forms(NamedTuple):
    """How a session wants values as text.

    Attributes:
        zone: its TimeZone.
        float_digits: extra_float_digits, above 0 the shortest exact form.
    """

    zone: str
    interval_style: str = "postgres"
    bytea_output: str = "hex"
    float_digits: int = 1
    date_style: str = "ISO, MDY"


def other_text(array: pa.Array, family: str, forms: Forms) -> EncodedColumn | None:
    """Return the text of each value where the session wants another form than the usual one, else
    None.
    """
    match family:
        case "interval" if forms.interval_style != "postgres":
            return _texts(array, INTERVAL_FORMS[forms.interval_style])
        case "bytea" if forms.bytea_output == "escape":
            return _texts(array, escaped_bytes)
        case "float4" | "float8" if forms.float_digits <= 0:
            digits = max(SURE_DIGITS[family] + forms.float_digits, 1)
            return _texts(array, lambda value: short_float(value, digits))
        case "date" | "timestamp" | "timestamptz" if not forms.date_style.startswith("ISO"):
            return styled_dates(array, family, forms.zone, forms.date_style)
    return None


def _texts(array: pa.Array, form: Callable[[Any], str]) -> EncodedColumn:
    if pa.types.is_struct(array.type):
        values = array.to_pylist()
        return string_column(pa.array([None if value is None else form(value) for value in values], pa.string()))
    encoded = pc.dictionary_encode(array)
    texts = pa.array([form(value) for value in encoded.dictionary.to_pylist()], pa.string())
    return string_column(texts.take(encoded.indices))


def escaped_bytes(value: bytes) -> str:
    """Return bytes as characters, those that are none as a backslash and three octal digits."""
    pieces = []
    for byte in value:
        if byte == BACKSLASH:
            pieces.append("\\\\")
        else:
            pieces.append(chr(byte) if byte in PRINTABLE else f"\\{byte:03o}")
    return "".join(pieces)


def short_float(value: float, digits: int) -> str:
    """Return C's %.*g."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return f"{value:.{digits}g}"


def fields_of(value: dict[str, int]) -> tuple[int, int, int, int, int, int]:
    """Return years, months, days, hours, minutes and microseconds of the minute.

    Those of one part have one sign.
    """
    months, micros = value["months"], value["micros"]
    sign, size = (-1 if micros < 0 else 1), abs(micros)
    years = abs(months) // MONTHS_OF_YEAR * (-1 if months < 0 else 1)
    clock = (size // HOUR_US, size // MINUTE_US % 60, size % MINUTE_US)
    hours, minutes, rest = (sign * part for part in clock)
    return years, months - years * MONTHS_OF_YEAR, value["days"], hours, minutes, rest


def seconds_text(micros: int) -> str:
    """Return the size of a number of microseconds in seconds."""
    whole, fraction = divmod(abs(micros), SECOND_US)
    return f"{whole}.{fraction:06d}".rstrip("0") if fraction else str(whole)


def verbose_interval(value: dict[str, int]) -> str:
    """Return an interval in IntervalStyle postgres_verbose: the first part that is not 0 decides
    whether all of it was ago.
    """
    parts = fields_of(value)
    ago = next((part < 0 for part in parts if part), False)
    words = ["@"]
    for part, unit in zip(parts[:-1], ("year", "mon", "day", "hour", "min"), strict=True):
        if part:
            number = -part if ago else part
            words.append(f"{number} {unit}{'' if number == 1 else 's'}")
    micros = -parts[-1] if ago else parts[-1]
    if micros:
        plural = "" if abs(micros) == SECOND_US else "s"
        words.append(f"{'-' if micros < 0 else ''}{seconds_text(micros)} sec{plural}")
    if not any(parts):
        words.append("0")
    return " ".join([*words, "ago"] if ago else words)


def iso_interval(value: dict[str, int]) -> str:
    """Return an interval in IntervalStyle iso_8601."""
    *parts, micros = fields_of(value)
    date, clock = (
        "".join(f"{part}{unit}" for part, unit in zip(some, units, strict=True) if part)
        for some, units in ((parts[:3], "YMD"), (parts[3:], "HM"))
    )
    if micros:
        clock += f"{'-' if micros < 0 else ''}{seconds_text(micros)}S"
    if not date and not clock:
        return "PT0S"
    return f"P{date}T{clock}" if clock else f"P{date}"


def sql_interval(value: dict[str, int]) -> str:
    """Return an interval in IntervalStyle sql_standard.

    One that the standard has no form for, with a sign before each part.
    """
    parts = fields_of(value)
    years, months, days, hours, minutes, micros = (abs(part) for part in parts)
    clock = f"{hours}:{minutes:02d}:{'0' if micros < 10 * SECOND_US else ''}{seconds_text(micros)}"
    if not any(parts):
        return "0"
    has_both = any(parts[:2]) and any(parts[2:])
    if has_both or (min(parts) < 0 < max(parts)):
        signs = ["-" if min(some) < 0 else "+" for some in (parts[:2], parts[2:3], parts[3:])]
        return f"{signs[0]}{years}-{months} {signs[1]}{days} {signs[2]}{clock}"
    sign = "-" if min(parts) < 0 else ""
    if years or months:
        return f"{sign}{years}-{months}"
    return f"{sign}{days} {clock}" if days else f"{sign}{clock}"


INTERVAL_FORMS: dict[str, Callable[[dict[str, int]], str]] = {
    "postgres_verbose": verbose_interval,
    "iso_8601": iso_interval,
    "sql_standard": sql_interval,
}
