"""Intervals in ISO 8601's forms: P1Y2M3DT4H5M6S, P0001-02-03T04:05:06, P00010203T040506
(DecodeISO8601Interval).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sql.times.span import BadFormatError, FieldOverflowError, Span

NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
WIDTH = re.compile(r"-?(\d*)")
VALUE_MAX = 1.0e15
DATE_UNITS = {"Y": "year", "M": "month", "W": "week", "D": "day"}
TIME_UNITS = {"H": "hour", "M": "minute", "S": "second"}


@dataclass
class Reader:
    """A reader of the text after P.

    Attributes:
        place: the place that has been reached.
    """

    text: str
    place: int = 0

    @property
    def next(self) -> str:
        """The character at the place, '' at the end."""
        return self.text[self.place : self.place + 1]

    def take(self) -> str:
        """Return the next character and step over it."""
        found = self.next
        self.place += 1
        return found

    def number(self) -> tuple[int, float, int]:
        """Return a number's whole part, its fraction, and how many digits the whole part has."""
        match = NUMBER.match(self.text, self.place)
        if match is None:
            raise BadFormatError
        width = WIDTH.match(self.text, self.place)
        assert width is not None
        self.place = match.end()
        value = float(match[0])
        if abs(value) > VALUE_MAX:
            raise FieldOverflowError
        return int(value), value - int(value), len(width[1])


def read_iso(text: str) -> Span:
    """Return the fields of an ISO 8601 interval."""
    if len(text) < 2 or text[0] != "P":
        raise BadFormatError
    reader, span = Reader(text[1:]), Span()
    in_date, alone = True, True
    while reader.next:
        if reader.next == "T":
            reader.take()
            in_date, alone = False, True
            continue
        whole, fraction, width = reader.number()
        mark = reader.take()
        units = DATE_UNITS if in_date else TIME_UNITS
        if mark in units:
            span.add(units[mark], whole, fraction)
            alone = False
        elif in_date and mark in ("T", "", "-"):
            if width == 8 and alone and mark != "-":
                add_basic_date(span, whole, fraction)
                ended = mark == ""
            else:
                ended = add_extended_date(span, reader, whole, fraction, mark, alone)
            if ended:
                return span
            # A number or 'T' that follows belongs to the time.
            in_date, alone = False, True
        elif not in_date and mark in ("", ":"):
            if width == 6 and alone and mark == "":
                add_basic_time(span, whole, fraction)
            else:
                add_extended_time(span, reader, whole, fraction, mark, alone)
            return span
        else:
            raise BadFormatError
    return span


def add_basic_date(span: Span, whole: int, fraction: float) -> None:
    """Add yyyymmdd."""
    year, rest = divmod(abs(whole), 10_000)
    sign = -1 if whole < 0 else 1
    span.add("year", sign * year, 0.0)
    span.add("month", sign * (rest // 100), 0.0)
    span.add("day", sign * (rest % 100), fraction)


def add_extended_date(span: Span, reader: Reader, whole: int, fraction: float, mark: str, alone: bool) -> bool:
    """Add yyyy[-mm[-dd]]; tell whether the text is at its end."""
    if not alone:
        raise BadFormatError
    span.add("year", whole, fraction)
    for unit in ("month", "day"):
        if mark != "-":
            break
        whole, fraction, _ = reader.number()
        span.add(unit, whole, fraction)
        mark = reader.next
        if mark == "-":
            reader.take()
    if mark not in ("", "T"):
        raise BadFormatError
    return mark == ""


def add_basic_time(span: Span, whole: int, fraction: float) -> None:
    """Add hhmmss; PostgreSQL takes the fraction for microseconds."""
    hour, rest = divmod(abs(whole), 10_000)
    sign = -1 if whole < 0 else 1
    for unit, value in (("hour", hour), ("minute", rest // 100), ("second", rest % 100)):
        span.add(unit, sign * value, 0.0)
    span.add("microsecond", 0, fraction)


def add_extended_time(span: Span, reader: Reader, whole: int, fraction: float, mark: str, alone: bool) -> None:
    """Add hh[:mm[:ss]], which ends the text."""
    if not alone:
        raise BadFormatError
    span.add("hour", whole, fraction)
    for unit in ("minute", "second"):
        if mark == "":
            return
        if mark != ":":
            raise BadFormatError
        whole, fraction, _ = reader.number()
        span.add(unit, whole, fraction)
        mark = reader.take()
    if mark != "":
        raise BadFormatError
