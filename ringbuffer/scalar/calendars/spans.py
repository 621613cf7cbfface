"""Intervals in parts, in kernels: what is computed of months, days and microseconds (int64), in
PostgreSQL's steps.

Return months, days, microseconds and an error code. A month counts as 30 days and a day as 24
hours where parts pass on to each other.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import signed_word
from ringbuffer.memory.error_codes import DIVISION_BY_ZERO, INTERVAL_RANGE, INVALID_DATETIME, OK, TIMESTAMP_RANGE
from ringbuffer.scalar.calendars.calendar import (
    DAY_US,
    HOUR_US,
    MINUTE_US,
    civil_from_days,
    days_of_month,
    is_infinite_timestamp,
)
from ringbuffer.scalar.calendars.shifts import date_bin_us
from ringbuffer.scalar.calendars.time_zones import Offsets, Transitions, utc_to_local
from ringbuffer.scalar.numbers.arithmetic import add_int64, subtract_int64

MONTH_DAYS = 30
DAY_S = 86_400.0
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_END = 2.0**63
# Days that 64 bits of microseconds hold.
WHOLE_DAYS = 106_751_991


@kernel
def checked(months: int, days: int, micros: int) -> tuple[int, int, int, int]:
    """Return the interval of these parts, or an error."""
    if not INT32_MIN <= months <= INT32_MAX or not INT32_MIN <= days <= INT32_MAX:
        return 0, 0, 0, INTERVAL_RANGE
    return months, days, micros, OK


@kernel
def truncated(value: int, divisor: int) -> int:
    """Return the quotient rounded towards zero; divisor > 0."""
    quotient = value // divisor
    return quotient + 1 if quotient < 0 and quotient * divisor != value else quotient


@kernel
def interval_total(months: int, days: int, lo: int, hi: int, scale: int) -> tuple[int, int, int, int]:
    """Return the interval with these parts; lo, hi: its microseconds, a number of scale 0."""
    if hi != lo >> 63:
        return 0, 0, 0, INTERVAL_RANGE
    return checked(months, days, lo)


@kernel
def interval_average(months: int, days: int, lo: int, hi: int, scale: int, count: int) -> tuple[int, int, int, int]:
    """Return the interval with these parts, divided by a count."""
    months, days, micros, error = interval_total(months, days, lo, hi, scale)
    return divided(months, days, micros, np.float64(count)) if error == OK else (0, 0, 0, error)


@kernel
def divided(months: int, days: int, micros: int, divisor: float) -> tuple[int, int, int, int]:
    """Return interval / divisor (interval_div)."""
    if divisor == 0.0:
        return 0, 0, 0, DIVISION_BY_ZERO
    return spilled(np.float64(months) / divisor, np.float64(days) / divisor, np.float64(micros) / divisor)


@kernel
def multiplied(months: int, days: int, micros: int, factor: float) -> tuple[int, int, int, int]:
    """Return interval * factor (interval_mul)."""
    return spilled(np.float64(months) * factor, np.float64(days) * factor, np.float64(micros) * factor)


@kernel
def spilled(months: float, days: float, micros: float) -> tuple[int, int, int, int]:
    """Return the interval of these parts: fractions of months become days and those of days time,
    in PostgreSQL's steps of float arithmetic.
    """
    if not INT32_MIN <= months <= INT32_MAX or not INT32_MIN <= days <= INT32_MAX:
        return 0, 0, 0, INTERVAL_RANGE
    whole_months, whole_days = signed_word(months), signed_word(days)
    rest_days = rounded_seconds((months - np.float64(whole_months)) * MONTH_DAYS, 1.0)
    more_days = signed_word(rest_days)
    seconds = rounded_seconds(days - np.float64(whole_days) + rest_days - np.float64(more_days), DAY_S)
    if np.abs(seconds) >= DAY_S:
        carried = signed_word(seconds / DAY_S)
        whole_days += carried
        seconds -= np.float64(carried) * DAY_S
    total = np.rint(micros + seconds * 1e6)
    if not -INT64_END <= total < INT64_END:
        return 0, 0, 0, INTERVAL_RANGE
    return checked(whole_months, whole_days + more_days, signed_word(total))


@kernel
def rounded_seconds(value: float, unit: float) -> float:
    """Return value * unit to the microsecond (TSROUND)."""
    seconds: float = np.rint(value * unit * 1e6) / 1e6
    return seconds


@kernel
def interval_sum(
    months: int, days: int, micros: int, months2: int, days2: int, micros2: int
) -> tuple[int, int, int, int]:
    """Return the sum of two intervals."""
    total, error = add_int64(micros, micros2)
    return checked(months + months2, days + days2, total) if error == OK else (0, 0, 0, INTERVAL_RANGE)


@kernel
def interval_difference(
    months: int, days: int, micros: int, months2: int, days2: int, micros2: int
) -> tuple[int, int, int, int]:
    """Return the difference of two intervals."""
    total, error = subtract_int64(micros, micros2)
    return checked(months - months2, days - days2, total) if error == OK else (0, 0, 0, INTERVAL_RANGE)


@kernel
def negated(months: int, days: int, micros: int) -> tuple[int, int, int, int]:
    """Return -interval."""
    return interval_difference(0, 0, 0, months, days, micros)


@kernel
def carried(larger: int, smaller: int, size: int) -> tuple[int, int]:
    """Return both parts with what is whole of the smaller one in the larger one."""
    whole = truncated(smaller, size)
    return larger + whole, smaller - whole * size


@kernel
def of_one_sign(larger: int, smaller: int, size: int) -> tuple[int, int]:
    """Return both parts with one sign. smaller: less than `size`."""
    if larger > 0 and smaller < 0:
        return larger - 1, smaller + size
    if larger < 0 and smaller > 0:
        return larger + 1, smaller - size
    return larger, smaller


@kernel
def hours_justified(months: int, days: int, micros: int) -> tuple[int, int, int, int]:
    """Return the interval with every 24 hours as a day, and both of one sign (justify_hours)."""
    days, micros = carried(days, micros, DAY_US)
    days, micros = of_one_sign(days, micros, DAY_US)
    return checked(months, days, micros)


@kernel
def days_justified(months: int, days: int, micros: int) -> tuple[int, int, int, int]:
    """Return the interval with every 30 days as a month, and both of one sign (justify_days)."""
    months, days = carried(months, days, MONTH_DAYS)
    months, days = of_one_sign(months, days, MONTH_DAYS)
    return checked(months, days, micros)


@kernel
def justified(months: int, days: int, micros: int) -> tuple[int, int, int, int]:
    """Return the interval with hours as days, days as months, and all parts of one sign."""
    if (days > 0 and micros > 0) or (days < 0 and micros < 0):
        months, days = carried(months, days, MONTH_DAYS)
    days, micros = carried(days, micros, DAY_US)
    months, days = carried(months, days, MONTH_DAYS)
    if months > 0 and (days < 0 or (days == 0 and micros < 0)):
        months, days = months - 1, days + MONTH_DAYS
    elif months < 0 and (days > 0 or (days == 0 and micros > 0)):
        months, days = months + 1, days - MONTH_DAYS
    days, micros = of_one_sign(days, micros, DAY_US)
    return checked(months, days, micros)


@kernel
def interval_made(
    years: int, months: int, weeks: int, days: int, hours: int, minutes: int, seconds: float
) -> tuple[int, int, int, int]:
    """Return make_interval."""
    rest = np.rint(seconds * 1e6)
    if not -INT64_END <= rest < INT64_END:
        return 0, 0, 0, INTERVAL_RANGE
    micros, error = add_int64(hours * HOUR_US + minutes * MINUTE_US, signed_word(rest))
    return checked(years * 12 + months, weeks * 7 + days, micros) if error == OK else (0, 0, 0, INTERVAL_RANGE)


@kernel
def time_span(later: int, earlier: int) -> tuple[int, int, int, int]:
    """Return timestamp - timestamp: whole days and the rest, both of one sign.

    INVALID_DATETIME for an infinite one.
    """
    if is_infinite_timestamp(later) or is_infinite_timestamp(earlier):
        return 0, 0, 0, INVALID_DATETIME
    micros, error = subtract_int64(later, earlier)
    if error != OK:
        return 0, 0, 0, INTERVAL_RANGE
    days = truncated(micros, DAY_US)
    return checked(0, days, micros - days * DAY_US)


@kernel
def age(later: int, earlier: int) -> tuple[int, int, int, int]:
    """Return age(later, earlier): years, months and days as people count them on the calendar
    (timestamp_age).
    """
    if is_infinite_timestamp(later) or is_infinite_timestamp(earlier):
        return 0, 0, 0, TIMESTAMP_RANGE
    first, last = min(later, earlier), max(later, earlier)
    year, month, day = civil_from_days(last // DAY_US)
    year0, month0, day0 = civil_from_days(first // DAY_US)
    micros, days, months = last % DAY_US - first % DAY_US, day - day0, (year - year0) * 12 + month - month0
    if micros < 0:
        micros, days = micros + DAY_US, days - 1
    while days < 0:
        days, months = days + days_of_month(year0, month0), months - 1
    return (months, days, micros, OK) if later >= earlier else (-months, -days, -micros, OK)


@kernel
def age_zoned(later: int, earlier: int, transitions: Transitions, offsets: Offsets) -> tuple[int, int, int, int]:
    """Return age on the clock of a zone."""
    return age(utc_to_local(later, transitions, offsets), utc_to_local(earlier, transitions, offsets))


@kernel
def interval_bin(months: int, days: int, micros: int, us: int, origin: int) -> tuple[int, int]:
    """Return (date_bin, error): INVALID_DATETIME for a width with months or not above zero."""
    if is_infinite_timestamp(us) or is_infinite_timestamp(origin):
        return date_bin_us(1, us, origin)
    if months != 0:
        return 0, INVALID_DATETIME
    width, error = add_int64(days * DAY_US, micros)
    if error != OK or not -WHOLE_DAYS <= days <= WHOLE_DAYS:
        return 0, INTERVAL_RANGE
    return date_bin_us(width, us, origin) if width > 0 else (0, INVALID_DATETIME)
