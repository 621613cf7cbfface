"""Calendar functions of timestamps with time zone: microseconds UTC since 1970 and a zone's arrays
(see time_zones.py), for kernels.

They work on the local time as the functions of calendar.py do, and go back to UTC where PostgreSQL
does. Failures are error codes.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import OK
from ringbuffer.scalar.calendars.calendar import (
    TIMESTAMP_INFINITY,
    check_timestamp,
    date_to_timestamp,
    is_infinite_timestamp,
    timestamp_to_date,
)
from ringbuffer.scalar.calendars.time_zones import Offsets, Transitions, local_to_utc, utc_to_local


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
def compared_zoned_midnight(days: int, transitions: Transitions, offsets: Offsets) -> int:
    """Return the UTC time of a date's local midnight.

    Where that is no timestamp it is before or after all times that are not infinite.
    """
    us, error = date_to_timestamptz(days, transitions, offsets)
    if error == OK:
        return us
    return TIMESTAMP_INFINITY - 1 if days > 0 else 1 - TIMESTAMP_INFINITY
