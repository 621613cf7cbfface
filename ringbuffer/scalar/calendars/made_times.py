"""Dates and times made of their fields, in kernels, and the checks of what arithmetic has made.

Return a word and an error code: INVALID_DATETIME for a field out of its range.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import signed_word
from ringbuffer.memory.error_codes import INVALID_DATETIME, OK
from ringbuffer.scalar.calendars.calendar import (
    DAY_US,
    HOUR_US,
    MINUTE_US,
    check_date,
    check_timestamp,
    day_start,
    days_from_civil,
    days_of_month,
    is_infinite_timestamp,
)


@kernel
def make_date(year: int, month: int, day: int) -> tuple[int, int]:
    """Return (make_date, error); a negative year is one before Christ."""
    if year == 0 or month < 1 or month > 12 or day < 1:
        return 0, INVALID_DATETIME
    astronomical = year + 1 if year < 0 else year
    if day > days_of_month(astronomical, month):
        return 0, INVALID_DATETIME
    days = days_from_civil(astronomical, month, day)
    return days, check_date(days)


@kernel
def make_time(hour: int, minute: int, second: float) -> tuple[int, int]:
    """Return (microseconds since midnight, error)."""
    if hour < 0 or hour > 24 or minute < 0 or minute > 59 or not 0.0 <= second <= 60.0:
        return 0, INVALID_DATETIME
    micros = hour * HOUR_US + minute * MINUTE_US + signed_word(np.rint(second * 1e6))
    return micros, OK if micros <= DAY_US else INVALID_DATETIME


@kernel
def make_timestamp(year: int, month: int, day: int, hour: int, minute: int, second: float) -> tuple[int, int]:
    """Return (make_timestamp, error)."""
    days, error = make_date(year, month, day)
    micros, time_error = make_time(hour, minute, second)
    midnight, range_error = day_start(days)
    if error == OK:
        error = time_error if time_error != OK else range_error
    return (midnight + micros, check_timestamp(midnight + micros)) if error == OK else (0, error)


@kernel
def same_moment(us: int) -> int:
    """Return the microseconds of a timestamp."""
    return us


@kernel
def time_of_day(us: int) -> int:
    """Return the microseconds since midnight of a finite timestamp."""
    return us % DAY_US


@kernel
def checked_moment(us: int) -> tuple[int, int]:
    """Return (timestamp, error): TIMESTAMP_RANGE where there is none, and none is infinite."""
    return us, OK if is_infinite_timestamp(us) else check_timestamp(us)


@kernel
def rounded_moment(us: int, origin: int, unit: int) -> int:
    """Return a timestamp or a time rounded to whole units, half away from `origin`."""
    if is_infinite_timestamp(us):
        return us
    distance = us - origin
    whole = (abs(distance) + unit // 2) // unit * unit
    return origin + (whole if distance >= 0 else -whole)
