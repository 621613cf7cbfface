"""Intervals as values, (months, days, microseconds): text, declared limits, comparison and
arithmetic of PostgreSQL.

Strict in NULL. Raises SqlError (22008). A month counts as 30 days and a day as 24 hours where
values are compared or divided.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from sql.errors import SqlError, not_supported
from sql.times.civil import DAY_US, HOUR_US, MINUTE_US, SECOND_US
from sql.times.zone_names import POSIX_HOURS_MAX, fixed_zone

Interval = tuple[int, int, int]

MONTH_DAYS = 30
# Microseconds of one unit of the last digit, by the digits of a second.
UNITS_US = (1_000_000, 100_000, 10_000, 1_000, 100, 10, 1)
CLOCK_UNITS = {"hour": HOUR_US, "minute": MINUTE_US}


def interval_text(value: Interval) -> str:
    """Return the text in IntervalStyle postgres."""
    months, days, micros = value
    years = truncated(months, 12)
    parts: list[str] = []
    negative = False
    for amount, unit in ((years, "year"), (months - 12 * years, "mon"), (days, "day")):
        if amount:
            sign = "+" if negative and amount > 0 else ""
            parts.append(f"{sign}{amount} {unit}{'' if amount == 1 else 's'}")
            negative = amount < 0
    if micros or not parts:
        sign = "-" if micros < 0 else "+" if negative else ""
        seconds, fraction = divmod(abs(micros), SECOND_US)
        clock = f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        parts.append(clock + (f".{fraction:06d}".rstrip("0") if fraction else ""))
    return " ".join(parts)


def bin_width_us(stride: Interval, position: int | None = None) -> int:
    """Return the microseconds of date_bin's stride.

    position: the place of the stride, if known. Raises SqlError 0A000 for months, 22008 for a
    stride that is not above zero.
    """
    months, days, micros = stride
    if months:
        raise SqlError("0A000", "timestamps cannot be binned into intervals containing months or years", position)
    width = days * DAY_US + micros
    if not -(1 << 63) <= width < 1 << 63:
        raise out_of_range()
    if width <= 0:
        raise SqlError("22008", "stride must be greater than zero", position)
    return width


def truncated(value: int, divisor: int) -> int:
    """Return the quotient rounded towards zero."""
    return value // divisor if value >= 0 else -(-value // divisor)


def within(value: Interval, fields: str, digits: int | None) -> Interval:
    """Return `value` cut to the fields and digits of a declared interval type
    (AdjustIntervalForTypmod).
    """
    months, days, micros = value
    last = fields.split(" to ")[-1]
    if last in ("year", "month"):
        return (truncated(months, 12) * 12 if last == "year" else months), 0, 0
    if last == "day":
        return months, days, 0
    if last in CLOCK_UNITS:
        return months, days, truncated(micros, CLOCK_UNITS[last]) * CLOCK_UNITS[last]
    return value if digits is None or digits >= 6 else (months, days, rounded(micros, digits))


def rounded(micros: int, digits: int) -> int:
    """Return microseconds rounded, half away from zero, to `digits` digits of a second."""
    unit = UNITS_US[digits]
    magnitude = (abs(micros) + unit // 2) // unit * unit
    if magnitude >= 1 << 63:
        raise out_of_range()
    return magnitude if micros >= 0 else -magnitude


def out_of_range() -> SqlError:
    return SqlError("22008", "interval out of range")


def checked(months: int, days: int, micros: int) -> Interval:
    """Return the value, or raise 22008."""
    if not (-(1 << 31) <= months < 1 << 31 and -(1 << 31) <= days < 1 << 31 and -(1 << 63) <= micros < 1 << 63):
        raise out_of_range()
    return months, days, micros


def span_us(value: Interval) -> int:
    """Return the key by which intervals compare: microseconds, with months of 30 days."""
    months, days, micros = value
    return (months * MONTH_DAYS + days) * DAY_US + micros


def add(left: Interval, right: Interval) -> Interval:
    return checked(left[0] + right[0], left[1] + right[1], left[2] + right[2])


def subtract(left: Interval, right: Interval) -> Interval:
    return checked(left[0] - right[0], left[1] - right[1], left[2] - right[2])


def negate(value: Interval) -> Interval:
    return checked(-value[0], -value[1], -value[2])


def multiply(value: Interval, factor: float) -> Interval:
    """Return value * factor: fractions of months become days, fractions of days time
    (interval_mul).
    """
    return spilled(value, lambda part: part * factor)


def divide(value: Interval, divisor: float) -> Interval:
    """Return value / divisor (interval_div)."""
    if divisor == 0:
        raise SqlError("22012", "division by zero")
    return spilled(value, lambda part: part / divisor)


def spilled(value: Interval, scale: Callable[[float], float]) -> Interval:
    """Return the scaled value with its fractions passed down, in PostgreSQL's steps of float
    arithmetic.
    """
    months, days = (scale(float(part)) for part in value[:2])
    if not (in_int4(months) and in_int4(days)):
        raise out_of_range()
    whole_months, whole_days = int(months), int(days)
    rest_days = rounded_seconds((months - whole_months) * MONTH_DAYS, 1.0)
    seconds = rounded_seconds(days - whole_days + rest_days - int(rest_days), 86_400.0)
    if abs(seconds) >= 86_400:
        whole_days += int(seconds / 86_400)
        seconds -= int(seconds / 86_400) * 86_400
    whole_days += int(rest_days)
    micros = scale(float(value[2])) + seconds * 1e6
    if not -(2.0**63) <= micros < 2.0**63:
        raise out_of_range()
    return checked(whole_months, whole_days, round(micros))


def rounded_seconds(value: float, unit: float) -> float:
    """Return value * unit to the microsecond (TSROUND)."""
    return round(value * unit * 1e6) / 1e6


def in_int4(value: float) -> bool:
    return not math.isnan(value) and -(2.0**31) <= value <= 2.0**31 - 1


def zone_seconds(span: Interval) -> int:
    """Return the seconds east of UTC that an interval means after AT TIME ZONE. Raises 22023 for
    one with months or days.
    """
    months, days, micros = span
    if months or days:
        text = interval_text(span)
        raise SqlError("22023", f'interval time zone "{text}" must not include months or days')
    return int(micros / SECOND_US)


def zone_of_interval(span: Interval) -> str:
    """Return the name of the zone that an interval means after AT TIME ZONE. Raises 22023, and
    0A000 for one that no name has.
    """
    seconds = zone_seconds(span)
    if abs(seconds) >= (POSIX_HOURS_MAX + 1) * 3600:
        raise not_supported(f"a time zone of {interval_text(span)}")
    return fixed_zone(seconds)
