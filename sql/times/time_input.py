"""PostgreSQL's text input of a time of day, as DecodeTimeOnly reads it, and its text output.

Enters: a text. Leaves: microseconds since midnight, up to 24:00:00 itself. A date or a zone beside
the time is read and left out.
"""

from __future__ import annotations

import re

from sql.errors import SqlError, not_supported
from sql.times.civil import SECOND_US
from sql.times.datetime_input import (
    SHAPES,
    SPECIALS,
    Fields,
    InvalidTextError,
    OutOfRangeError,
    checked_date,
    finish_time,
    is_too_long,
    out_of_range,
    read_date,
    read_number,
    read_offset,
    read_time,
    read_word,
)
from sql.times.interval_values import UNITS_US

ISO = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,6}))?)?")


def time_value(text: str, position: int | None = None, order: str = "MDY") -> int:
    """Return the microseconds since midnight that `text` means."""
    iso = ISO.fullmatch(text)
    if iso is not None:
        seconds = (int(iso[1]) * 60 + int(iso[2])) * 60 + int(iso[3] or 0)
        return seconds * SECOND_US + int((iso[4] or "").ljust(6, "0"))
    try:
        found = read_fields(text, position, order)
        checked_date(found)
    except InvalidTextError:
        raise SqlError("22007", f'invalid input syntax for type time: "{text}"', position) from None
    except OutOfRangeError as error:
        raise out_of_range(text, position, error.ambiguous) from None
    assert found.time_us is not None
    return found.time_us


def read_fields(text: str, position: int | None, order: str) -> Fields:
    if is_too_long(text):
        raise InvalidTextError
    # A number that stands alone is a time of day, as after a date.
    found = Fields(year=2000, month=1, day=1, order=order)
    date: tuple[int | None, int | None, int | None] = (2000, 1, 1)
    pieces = [match for match in SHAPES.finditer(text) if match.lastgroup is not None]
    for index, match in enumerate(pieces):
        piece = match[0]
        match match.lastgroup:
            case "time":
                read_time(found, piece)
            case "date":
                if index != 0 or len(pieces) < 2 or pieces[1].lastgroup != "time":
                    raise InvalidTextError
                found.year = found.month = found.day = None
                read_date(found, piece)
                date = found.year, found.month, found.day
                found.year, found.month, found.day = 2000, 1, 1
            case "number":
                read_number(found, piece)
            case "zone":
                read_offset(found, piece, text, position)
            case "word":
                read_time_word(found, piece.lower(), text, position)
            case "special" | "bad":
                raise InvalidTextError
    finish_time(found)
    found.is_dated = bool(pieces) and pieces[0].lastgroup == "date"
    if found.time_us is None or (found.zone and not found.is_dated):
        raise InvalidTextError
    found.year, found.month, found.day = date
    return found


def read_time_word(found: Fields, word: str, text: str, position: int | None) -> None:
    if word == "allballs":
        found.time_us, found.has_zone = 0, True
    elif word == "now":
        raise not_supported("the time 'now'", position)
    elif word in SPECIALS or word in ("bc", "ad"):
        raise InvalidTextError
    elif word != "t":
        read_word(found, word, text, position)


def time_text(micros: int) -> str:
    """Return hh:mm:ss[.ffffff]."""
    seconds, fraction = divmod(micros, SECOND_US)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return text + f".{fraction:06d}".rstrip("0") if fraction else text


def rounded(micros: int, digits: int) -> int:
    """Return microseconds since a midnight rounded, half away from zero, to `digits` digits of a
    second.
    """
    unit = UNITS_US[digits]
    magnitude = (abs(micros) + unit // 2) // unit * unit
    return magnitude if micros >= 0 else -magnitude
