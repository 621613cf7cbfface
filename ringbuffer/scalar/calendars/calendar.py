"""The proleptic Gregorian calendar of PostgreSQL for kernels: days and civil dates, their
ranges, differences and conversions.

Dates are days, timestamps microseconds since 1970-01-01 00:00, both int64 and without a zone
(time_zones.py has the zoned forms). Years are astronomical inside (0 is 1 BC). Failures are error
codes. Timestamps end with the year 294246, where 64 bits from 1970 on do; PostgreSQL counts from
2000 and ends with 294276.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import (
    DATE_OUT_OF_TIMESTAMP,
    DATE_RANGE,
    INFINITE_DATES,
    OK,
    TIMESTAMP_NAN,
    TIMESTAMP_RANGE,
)

SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US
HOUR_US = 60 * MINUTE_US
DAY_US = 24 * HOUR_US
DAY_SECONDS = 86_400

# Julian day 0 (4714-11-24 BC) is the first date; 5874898-01-01 and 294247-01-01 are the first ones
# beyond the end.
JULIAN_EPOCH_DAYS = 2_440_588
DATE_DAYS_MIN = -JULIAN_EPOCH_DAYS
DATE_DAYS_END = 2_145_042_906
TIMESTAMP_DAYS_END = 106_751_982
TIMESTAMP_US_MIN = DATE_DAYS_MIN * DAY_US
TIMESTAMP_US_END = TIMESTAMP_DAYS_END * DAY_US
# 'infinity'; the negative is '-infinity'.
DATE_INFINITY = 2**31 - 1
TIMESTAMP_INFINITY = 2**63 - 1
EPOCH_2000_DAYS = 10957
EPOCH_2000_US = EPOCH_2000_DAYS * DAY_US
EPOCH_2000_S = EPOCH_2000_DAYS * 86_400

ERA_DAYS = 146_097
ERA_YEARS = 400
MARCH_EPOCH_DAYS = 719_468


@kernel
def days_from_civil(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01 of a civil date.

    Months from 1, astronomical years, no checks.
    """
    if month <= 2:
        year -= 1
        month += 12
    era = year // ERA_YEARS
    year_of_era = year - era * ERA_YEARS
    day_of_year = (153 * (month - 3) + 2) // 5 + day - 1
    return era * ERA_DAYS + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - MARCH_EPOCH_DAYS


@kernel
def civil_from_days(days: int) -> tuple[int, int, int]:
    """Return (year, month, day) of the days since 1970-01-01.

    Years start in March inside, so that leap days come last.
    """
    shifted = days + MARCH_EPOCH_DAYS
    era = shifted // ERA_DAYS
    day_of_era = shifted - era * ERA_DAYS
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted_month + 2) // 5 + 1
    month = shifted_month + 3 if shifted_month < 10 else shifted_month - 9
    year = year_of_era + era * ERA_YEARS
    return year + 1 if month <= 2 else year, month, day


@kernel
def days_of_month(year: int, month: int) -> int:
    """Return the number of days of a month, 28 to 31."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % ERA_YEARS == 0) else 28
    return 30 if month == 4 or month == 6 or month == 9 or month == 11 else 31


@kernel
def is_infinite_timestamp(us: int) -> bool:
    """Return whether a timestamp is 'infinity' or '-infinity'."""
    return us == TIMESTAMP_INFINITY or us == -TIMESTAMP_INFINITY


@kernel
def is_infinite_date(days: int) -> bool:
    """Return whether a date is 'infinity' or '-infinity'."""
    return days == DATE_INFINITY or days == -DATE_INFINITY


@kernel
def is_finite_timestamp(us: int) -> bool:
    """Tell whether a timestamp is neither 'infinity' nor '-infinity'."""
    return not is_infinite_timestamp(us)


@kernel
def is_finite_date(days: int) -> bool:
    """Tell whether a date is neither 'infinity' nor '-infinity'."""
    return not is_infinite_date(days)


@kernel
def check_timestamp(us: int) -> int:
    """Return TIMESTAMP_RANGE outside of what a timestamp can hold, else 0."""
    return OK if TIMESTAMP_US_MIN <= us < TIMESTAMP_US_END else TIMESTAMP_RANGE


@kernel
def check_date(days: int) -> int:
    """Return DATE_RANGE outside of what a date can hold, else 0."""
    return OK if DATE_DAYS_MIN <= days < DATE_DAYS_END else DATE_RANGE


@kernel
def date_add_days(days: int, count: int) -> tuple[int, int]:
    """Return (days + count, error); an infinite date stays where it is."""
    if is_infinite_date(days):
        return days, OK
    error = check_date(days + count)
    return days + count if error == OK else 0, error


@kernel
def date_subtract_days(days: int, count: int) -> tuple[int, int]:
    """Return (days - count, error)."""
    return date_add_days(days, -count)


@kernel
def date_difference(later: int, earlier: int) -> tuple[int, int]:
    """Return (days between two dates, error)."""
    if is_infinite_date(later) or is_infinite_date(earlier):
        return 0, INFINITE_DATES
    return later - earlier, OK


@kernel
def day_start(days: int) -> tuple[int, int]:
    """Return (microseconds of midnight, error)."""
    if days < DATE_DAYS_MIN or days >= TIMESTAMP_DAYS_END:
        return 0, TIMESTAMP_RANGE
    return days * DAY_US, OK


@kernel
def timestamp_from_epoch(seconds: float) -> tuple[int, int]:
    """Return (to_timestamp(seconds since 1970), error).

    Rounded to even as seconds since 2000, as float8_timestamptz does.
    """
    if seconds != seconds:
        return 0, TIMESTAMP_NAN
    if seconds == np.inf:
        return TIMESTAMP_INFINITY, OK
    if seconds == -np.inf:
        return -TIMESTAMP_INFINITY, OK
    if not TIMESTAMP_US_MIN / 1e6 <= seconds < TIMESTAMP_US_END / 1e6:
        return 0, TIMESTAMP_RANGE
    us = int(np.rint((seconds - EPOCH_2000_S) * 1e6)) + EPOCH_2000_S * 1_000_000
    error = check_timestamp(us)
    return us if error == OK else 0, error


@kernel
def date_to_timestamp(days: int) -> tuple[int, int]:
    """Return (microseconds of midnight, error): dates reach further than timestamps."""
    if is_infinite_date(days):
        return (TIMESTAMP_INFINITY if days > 0 else -TIMESTAMP_INFINITY), OK
    if days >= TIMESTAMP_DAYS_END:
        return 0, DATE_OUT_OF_TIMESTAMP
    return days * DAY_US, OK


@kernel
def compared_midnight(days: int) -> int:
    """Return the midnight of a date, and after all times but infinity where it is no timestamp."""
    us, error = date_to_timestamp(days)
    return us if error == OK else TIMESTAMP_INFINITY - 1


@kernel
def timestamp_to_date(us: int) -> int:
    """Return the day that holds a local timestamp."""
    if is_infinite_timestamp(us):
        return DATE_INFINITY if us > 0 else -DATE_INFINITY
    return us // DAY_US
