"""An interval while it is being read: fields grow number by number, with PostgreSQL's rounding and
limits.

The functions of PostgreSQL are Adjust... in datetime.c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sql.times.civil import DAY_US
from sql.times.interval_values import MONTH_DAYS

MICROSECONDS = {
    "microsecond": 1,
    "millisecond": 1000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
}
DAYS = {"day": 1, "week": 7}
YEARS = {"year": 1, "decade": 10, "century": 100, "millennium": 1000}


class BadFormatError(Exception):
    """The text can't be read."""


class FieldOverflowError(Exception):
    """A number in the text is too large."""


@dataclass
class Span:
    """The fields of an interval that have been read so far.

    Each fits the integer in which PostgreSQL keeps it.
    """

    years: int = 0
    months: int = 0
    days: int = 0
    micros: int = 0

    def add(self, unit: str, whole: int, fraction: float) -> None:
        """Add (whole + fraction) * unit.

        Fractions of years are months, fractions of months and weeks are days, all others are time.
        """
        if unit in MICROSECONDS:
            self.micros = checked(self.micros + whole * MICROSECONDS[unit], 64)
            self.add_micros(fraction, MICROSECONDS[unit])
        elif unit in DAYS:
            self.days = checked(self.days + checked(whole, 32) * DAYS[unit], 32)
            if unit == "day":
                self.add_micros(fraction, DAY_US)
            else:
                self.add_days(fraction, 7)
        elif unit == "month":
            self.months = checked(self.months + checked(whole, 32), 32)
            self.add_days(fraction, MONTH_DAYS)
        elif unit in YEARS:
            self.years = checked(self.years + checked(whole, 32) * YEARS[unit], 32)
            self.months = checked(self.months + round(fraction * YEARS[unit] * 12), 32)
        else:
            raise BadFormatError

    def add_days(self, fraction: float, scale: int) -> None:
        days = int(fraction * scale)
        self.days = checked(self.days + days, 32)
        self.add_micros(fraction * scale - days, DAY_US)

    def add_micros(self, fraction: float, scale: int) -> None:
        exact = fraction * scale
        micros = int(exact)
        rest = exact - micros
        if rest > 0.5:
            micros += 1
        elif rest < -0.5:
            micros -= 1
        self.micros = checked(self.micros + micros, 64)

    def negate(self) -> None:
        """Negate every field."""
        self.years, self.months = checked(-self.years, 32), checked(-self.months, 32)
        self.days, self.micros = checked(-self.days, 32), checked(-self.micros, 64)


def checked(value: int, bits: int) -> int:
    """Return `value`, which must fit a signed integer of `bits`."""
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise FieldOverflowError
    return value


def integer(text: str, bits: int) -> int:
    """Return the number that strtol reads: no digits are 0."""
    digits = text.removeprefix("-").removeprefix("+")
    if digits and not (digits.isascii() and digits.isdecimal()):
        raise BadFormatError
    digits = digits.lstrip("0")
    if len(digits) > 20:
        raise FieldOverflowError
    value = int(digits or "0")
    return checked(-value if text.startswith("-") else value, bits)


def fraction_of(digits: str) -> float:
    """Return 0.digits."""
    if not digits:
        return 0.0
    if not digits.isdecimal() or not digits.isascii():
        raise BadFormatError
    value = float("0." + digits)
    assert math.isfinite(value)
    return value
