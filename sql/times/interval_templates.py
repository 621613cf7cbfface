"""The function to_char of intervals by PostgreSQL's templates (formatting.c).

Enters: an interval and a template. Leaves: a text, NULL for an empty template. Numbers are divided
towards zero, so that all parts of a negative interval have its sign. Raises 22007 for patterns that
only days of a calendar have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import trunc

from sql.errors import SqlError
from sql.times.civil import HOUR_US, MINUTE_US, SECOND_US
from sql.times.interval_values import Interval
from sql.times.templates import Item, items_of

ROMAN = ("XII", "XI", "X", "IX", "VIII", "VII", "VI", "V", "IV", "III", "II", "I")
ENDINGS = {"1": "st", "2": "nd", "3": "rd"}


@dataclass(frozen=True)
class Fields:
    """The fields of an interval: hours may be more than a day has."""

    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: int
    micros: int

    @property
    def days(self) -> int:
        """About how many days the years, months and days are."""
        return (self.year * 12 + self.month) * 30 + self.day


def format_interval(span: Interval, template: str) -> str | None:
    """Return to_char(interval, template)."""
    if not template:
        return None
    months, days, micros = span
    year, month = divided(months, 12)
    hour, rest = divided(micros, HOUR_US)
    minute, rest = divided(rest, MINUTE_US)
    fields = Fields(year, month, days, hour, minute, *divided(rest, SECOND_US))
    return "".join(shown(item, fields) if item.name else item.text for item in items_of(template))


def divided(value: int, unit: int) -> tuple[int, int]:
    """Return the quotient towards zero, and what is left."""
    quotient = abs(value) // unit * (1 if value >= 0 else -1)
    return quotient, value - quotient * unit


def shown(item: Item, fields: Fields) -> str:
    """Return what a pattern shows."""
    name = item.name.upper()
    if name in ("AM", "PM", "A.M.", "P.M."):
        half = "PM" if divided(fields.hour, 24)[1] >= 12 else "AM"
        half = half if "." not in name else f"{half[0]}.{half[1]}."
        return half if item.name.isupper() else half.lower()
    if name == "RM":
        return roman(item, fields)
    if name == "Q" and not fields.month:
        return ""
    if name == "Y,YYY":
        thousands, rest = divided(fields.year, 1000)
        return ordinal(f"{thousands},{rest:03d}", item)
    if name not in NUMBERS:
        hint = "Intervals are not tied to specific calendar dates."
        raise SqlError("22007", "invalid format specification for an interval value", hint=hint)
    width, is_signed, number = NUMBERS[name]
    value = number(fields)
    # The sign of the whole field, which may be lost in a part of it, asks for one more place.
    whole = fields.year if name in YEARS else fields.hour if name in HALF_DAYS else value
    wide = 0 if not item.fill and name not in FRACTIONS else width + (is_signed and whole < 0)
    return ordinal(f"{value:0{wide}d}", item)


def ordinal(digits: str, item: Item) -> str:
    """Return a number with the ending that a pattern asks for."""
    if not item.suffix:
        return digits
    ending = "th" if digits[-2:-1] == "1" else ENDINGS.get(digits[-1], "th")
    return digits + (ending.upper() if item.suffix == "TH" else ending)


def roman(item: Item, fields: Fields) -> str:
    """Return the month in Roman digits: a negative one counts from the end of a year, and whole
    years have the last month.
    """
    if not fields.month and not fields.year:
        return ""
    if fields.month == 0:
        place = 0 if fields.year >= 0 else 11
    else:
        place = 12 - fields.month if fields.month > 0 else -(fields.month + 1)
    text = ROMAN[place] if item.name == "RM" else ROMAN[place].lower()
    return text.ljust(4) if item.fill else text


def julian_day(year: int, month: int, day: int) -> int:
    """Return date2j, which also counts what is no month of a year."""
    year, month = (year + 4800, month + 1) if month > 2 else (year + 4799, month + 13)
    century = trunc(year / 100)
    days = year * 365 - 32167 + trunc(year / 4) - century + trunc(century / 4)
    return days + trunc(7834 * month / 256) + day


def first_week(year: int) -> int:
    """Return the Julian day on which the weeks of a year begin."""
    fourth = julian_day(year, 1, 4)
    return fourth - fourth % 7


def iso_year(fields: Fields) -> int:
    """Return the year to which the week belongs."""
    return _week(fields)[0]


def iso_week(fields: Fields) -> int:
    """Return the week of that year."""
    return _week(fields)[1]


def _week(fields: Fields) -> tuple[int, int]:
    day, year = julian_day(fields.year, fields.month, fields.day), fields.year
    if day < first_week(year):
        year -= 1
    week = trunc((day - first_week(year)) / 7) + 1
    # As PostgreSQL, which looks for the next year after the one that is written.
    following = fields.year + 1
    if week >= 52 and day >= first_week(following):
        return following, trunc((day - first_week(following)) / 7) + 1
    return year, week


def iso_day(fields: Fields) -> int:
    """Return the day of the year to which the week belongs."""
    return julian_day(fields.year, fields.month, fields.day) - first_week(iso_year(fields)) + 1


def half_day(fields: Fields) -> int:
    """Return the hour of a clock with twelve of them."""
    return divided(fields.hour, 12)[1] or 12


def fraction(digits: int) -> Callable[[Fields], int]:
    """Return what reads the first digits of a second's fraction."""
    return lambda fields: divided(fields.micros, 10 ** (6 - digits))[0]


def last_digits(year: Callable[[Fields], int], digits: int) -> Callable[[Fields], int]:
    """Return what reads the last digits of a year."""
    return lambda fields: divided(year(fields), 10**digits)[1]


def plain_year(fields: Fields) -> int:
    """Return the year."""
    return fields.year


def seconds(fields: Fields) -> int:
    """Return the seconds of the hours, minutes and seconds."""
    return fields.hour * 3600 + fields.minute * 60 + fields.second


# Of which FM takes no digit away.
FRACTIONS = {"MS": 3, "US": 6, **{f"FF{digits}": digits for digits in range(1, 7)}}
HALF_DAYS = frozenset({"HH", "HH12"})
YEARS = frozenset({"YYYY", "YYY", "YY", "IYYY", "IYY", "IY"})
# By pattern: the places of a number, whether a sign has one more, and the number.
NUMBERS: Mapping[str, tuple[int, bool, Callable[[Fields], int]]] = {
    **dict.fromkeys(HALF_DAYS, (2, True, half_day)),
    "HH24": (2, True, lambda fields: fields.hour),
    "MI": (2, True, lambda fields: fields.minute),
    "SS": (2, True, lambda fields: fields.second),
    **{name: (digits, False, fraction(digits)) for name, digits in FRACTIONS.items()},
    **dict.fromkeys(("SSSS", "SSSSS"), (0, False, seconds)),
    "MM": (2, True, lambda fields: fields.month),
    "DDD": (3, False, lambda fields: fields.days),
    "IDDD": (3, False, iso_day),
    "DD": (2, False, lambda fields: fields.day),
    "WW": (2, False, lambda fields: divided(fields.days - 1, 7)[0] + 1),
    "IW": (2, False, iso_week),
    "W": (0, False, lambda fields: divided(fields.day - 1, 7)[0] + 1),
    "Q": (0, False, lambda fields: divided(fields.month - 1, 3)[0] + 1),
    "CC": (2, True, lambda fields: divided(fields.year, 100)[0]),
    "J": (0, False, lambda fields: julian_day(fields.year, fields.month, fields.day)),
    "YYYY": (4, True, plain_year),
    "IYYY": (4, True, iso_year),
    **{"YYY"[:digits]: (digits, digits > 1, last_digits(plain_year, digits)) for digits in range(1, 4)},
    **{"I" + "YY"[: digits - 1]: (digits, digits > 1, last_digits(iso_year, digits)) for digits in range(1, 4)},
}
