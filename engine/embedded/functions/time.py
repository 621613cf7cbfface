"""PostgreSQL's functions of times that are no kernels: of several of them with NULLs, of names of
zones, of the clock.

Raises SqlError with PostgreSQL's SQLSTATE. Must not know of Arrow or
DuckDB.
"""

from __future__ import annotations

import re
from typing import TypeVar

from engine.storage.clock import SystemClock
from ringbuffer.scalar.calendars.time_zones import zone_abbreviation
from sql.errors import SqlError, not_supported
from sql.times.datetime_input import ZONE_HOURS_MAX
from sql.times.zone_names import fixed_abbreviation, fixed_seconds, fixed_zone, meant_zone
from sql.times.zoned_time import ZonedTime, zoned_time_key

Time = TypeVar("Time", int, ZonedTime)

NUMERIC_ZONE = re.compile(r"([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")


def overlaps(start: Time | None, end: Time | None, other_start: Time | None, other_end: Time | None) -> bool | None:
    """Return (start, end) OVERLAPS (other_start, other_end): spans without their ends, in either
    order; of what is NULL the answer is NULL where the answer depends on it.
    """
    first, last = in_order(start, end)
    other_first, other_last = in_order(other_start, other_end)
    if first is None or other_first is None:
        return None
    if first < other_first:
        first, last, other_first, other_last = other_first, other_last, first, last
    if first == other_first:
        return None if last is None or other_last is None else True
    if other_last is None:
        return None
    return True if first < other_last else None if last is None else False


def in_order(one: Time | None, other: Time | None) -> tuple[Time | None, Time | None]:
    """Return two times, the earlier one first; one that is NULL is the later one."""
    if one is None or other is None:
        return (other, None) if one is None else (one, None)
    return min(one, other), max(one, other)


def zoned_overlaps(*times: ZonedTime | None) -> bool | None:
    """Return `overlaps` of times with time zone."""
    first, last, other_first, other_last = (None if time is None else zoned_time_key(time) for time in times)
    return overlaps(first, last, other_first, other_last)


def clock_zone(zone: str) -> str:
    """Return the name of the zone that make_timestamptz means."""
    numeric = NUMERIC_ZONE.fullmatch(zone)
    if numeric is None:
        return meant_zone(zone)
    # Here, unlike after AT TIME ZONE, a number counts to the east.
    hours, minutes, seconds = (int(part or 0) for part in numeric.groups()[1:])
    if hours > ZONE_HOURS_MAX or minutes >= 60 or seconds >= 60:
        raise SqlError("22023", f'numeric time zone "{zone}" out of range')
    east_s = (hours * 60 + minutes) * 60 + seconds
    return fixed_zone(-east_s if numeric[1] == "-" else east_s)


def infinite_field(name: str, _: bool) -> int:
    """Raise 0A000 for EXTRACT of a field that is infinite where the time is: no numeric is infinite
    there.
    """
    raise not_supported(f"EXTRACT({name.upper()}) of an infinite time", hint="date_part returns a double precision.")


def zone_name(us: int, zone: str) -> str:
    """Return what the time of a zone is called at an instant."""
    return zone_abbreviation(us, zone) if fixed_seconds(zone) is None else fixed_abbreviation(zone)


def clock_us(_: int) -> int:
    """Return the time of day now."""
    return SystemClock().now_us()
