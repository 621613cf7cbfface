"""Timestamps that intervals move, with and without a time zone, and their bins, for kernels.

Failures are error codes.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import BIN_ORIGIN, INTERVAL_RANGE, OK, TIMESTAMP_RANGE
from ringbuffer.scalar.calendars.calendar import (
    DAY_US,
    check_timestamp,
    civil_from_days,
    day_start,
    days_from_civil,
    days_of_month,
    is_infinite_timestamp,
)
from ringbuffer.scalar.calendars.time_zones import Offsets, Transitions, local_to_utc, utc_to_local
from ringbuffer.scalar.numbers.arithmetic import add_int64, subtract_int64


@kernel
def date_bin_us(width: int, us: int, origin: int) -> tuple[int, int]:
    """Return (start of the bin that holds the timestamp, error).

    Bins are `width` > 0 microseconds wide, and one begins at `origin`.
    """
    if is_infinite_timestamp(us):
        return us, OK
    if is_infinite_timestamp(origin):
        return 0, BIN_ORIGIN
    distance, error = subtract_int64(us, origin)
    if error != OK:
        return 0, INTERVAL_RANGE
    start, error = subtract_int64(us, distance % width)
    if error != OK or check_timestamp(start) != OK:
        return 0, TIMESTAMP_RANGE
    return start, OK


@kernel
def add_interval_us(us: int, months: int, days: int, micros: int) -> tuple[int, int]:
    """Return (timestamp + interval, error): months first, cut to the month's end, then days, then
    time.
    """
    error = OK
    if is_infinite_timestamp(us):
        return us, error
    if months != 0:
        us, error = add_months_us(us, months)
    if days != 0 and error == OK:
        us, error = add_days_us(us, days)
    if error == OK:
        us, error = add_int64(us, micros)
    if error != OK or check_timestamp(us) != OK:
        return 0, TIMESTAMP_RANGE
    return us, OK


@kernel
def add_months_us(us: int, months: int) -> tuple[int, int]:
    """Return (timestamp some months later, error); a day that the month lacks becomes its last."""
    whole_days = us // DAY_US
    year, month, day = civil_from_days(whole_days)
    month_number = year * 12 + month - 1 + months
    year = month_number // 12
    month = month_number - year * 12 + 1
    start, error = day_start(days_from_civil(year, month, min(day, days_of_month(year, month))))
    return start + (us - whole_days * DAY_US) if error == OK else 0, error


@kernel
def add_days_us(us: int, days: int) -> tuple[int, int]:
    """Return (timestamp some days later, error)."""
    whole_days = us // DAY_US
    start, error = day_start(whole_days + days)
    return start + (us - whole_days * DAY_US) if error == OK else 0, error


@kernel
def add_interval_zoned(
    us: int, months: int, days: int, micros: int, transitions: Transitions, offsets: Offsets
) -> tuple[int, int]:
    """Return (UTC time + interval, error): months and days each in local time, then the time of day
    in UTC.
    """
    error = OK
    if is_infinite_timestamp(us):
        return us, error
    if months != 0:
        local, error = add_months_us(utc_to_local(us, transitions, offsets), months)
        if error == OK:
            us, error = local_to_utc(local, transitions, offsets)
    if days != 0 and error == OK:
        local, error = add_days_us(utc_to_local(us, transitions, offsets), days)
        if error == OK:
            us, error = local_to_utc(local, transitions, offsets)
    if error == OK:
        us, error = add_int64(us, micros)
    if error != OK or check_timestamp(us) != OK:
        return 0, TIMESTAMP_RANGE
    return us, OK
