"""Calendar functions of timestamps with time zone: microseconds UTC since 1970 and a zone's arrays
(see time_zones.py), for kernels.

They work on the local time as the functions of calendar.py do, and go back to UTC where PostgreSQL
does. Failures are error codes.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import OK, TIMESTAMP_RANGE
from ringbuffer.scalar.calendars.calendar import (
    DAY,
    EPOCH,
    SECOND_US,
    TIMEZONE,
    TIMEZONE_HOUR,
    TIMEZONE_MINUTE,
    add_days_us,
    add_months_us,
    check_timestamp,
    date_part_timestamp,
    date_to_timestamp,
    date_trunc_us,
    extract_timestamp,
    is_infinite_timestamp,
    timestamp_to_date,
)
from ringbuffer.scalar.calendars.time_zones import Offsets, Transitions, local_to_utc, utc_to_local, zone_offset_us
from ringbuffer.scalar.numbers.arithmetic import add_int64, truncate_divide_words


@kernel
def timestamptz_to_timestamp(us: int, transitions: Transitions, offsets: Offsets) -> tuple[int, int]:
    """Return (local time, error)."""
    if is_infinite_timestamp(us):
        return us, OK
    local = utc_to_local(us, transitions, offsets)
    error = check_timestamp(local)
    return local if error == OK else 0, error


@kernel
def timestamptz_to_date(us: int, transitions: Transitions, offsets: Offsets) -> tuple[int, int]:
    """Return (day of the local time, error)."""
    local, error = timestamptz_to_timestamp(us, transitions, offsets)
    return timestamp_to_date(local), error


@kernel
def date_to_timestamptz(days: int, transitions: Transitions, offsets: Offsets) -> tuple[int, int]:
    """Return (UTC time of the local midnight, error)."""
    local, error = date_to_timestamp(days)
    if error != OK:
        return 0, error
    return local_to_utc(local, transitions, offsets)


@kernel
def date_trunc_zoned(unit: int, us: int, transitions: Transitions, offsets: Offsets) -> tuple[int, int]:
    """Return (UTC start of the local unit, error).

    Below a day the offset of the time itself holds, so a doubled hour stays apart.
    """
    if is_infinite_timestamp(us):
        return us, OK
    offset = zone_offset_us(us, transitions, offsets)
    start, error = date_trunc_us(unit, us + offset)
    if error != OK:
        return 0, error
    if unit >= DAY:
        return local_to_utc(start, transitions, offsets)
    return start - offset, check_timestamp(start - offset)


@kernel
def extract_zoned(field: int, us: int, transitions: Transitions, offsets: Offsets) -> tuple[int, int, int]:
    """Return the numeric (lo, hi, scale) of a field of the local time; EPOCH is that of UTC."""
    if field == EPOCH:
        return extract_timestamp(field, us)
    offset = zone_offset_us(us, transitions, offsets)
    if field >= TIMEZONE:
        value = zone_field(field, offset)
        return value, value >> 63, 0
    return extract_timestamp(field, us + offset)


@kernel
def date_part_zoned(field: int, us: int, transitions: Transitions, offsets: Offsets) -> float:
    """Return date_part of the local time; of an infinite one as date_part_timestamp does."""
    if is_infinite_timestamp(us):
        return date_part_timestamp(field, us)
    if field == EPOCH:
        return date_part_timestamp(field, us)
    offset = zone_offset_us(us, transitions, offsets)
    if field >= TIMEZONE:
        return float(zone_field(field, offset))
    return date_part_timestamp(field, us + offset)


@kernel
def zone_field(field: int, offset_us: int) -> int:
    """Return TIMEZONE (seconds east), TIMEZONE_HOUR or TIMEZONE_MINUTE, which both have the sign of
    the offset.
    """
    seconds = offset_us // SECOND_US
    if field == TIMEZONE_HOUR:
        seconds, _ = truncate_divide_words(seconds, 3600)
    elif field == TIMEZONE_MINUTE:
        minutes, _ = truncate_divide_words(seconds, 60)
        _, seconds = truncate_divide_words(minutes, 60)
    return seconds


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
