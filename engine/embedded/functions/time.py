"""PostgreSQL's functions of dates, times and intervals on integers: microseconds since 1970,
(months, days, microseconds).

Strict: callers handle NULL. Raises SqlError with PostgreSQL's SQLSTATE. Must not know of Arrow or
DuckDB.
"""

from __future__ import annotations

import math
import re
from typing import TypeVar

from engine.storage.clock import SystemClock
from ringbuffer.scalar.calendars.time_zones import zone_abbreviation
from sql.errors import SqlError, not_supported
from sql.times.civil import (
    DATE_DAYS_END,
    DATE_DAYS_MIN,
    DAY_US,
    SECOND_US,
    TIMESTAMP_US_END,
    TIMESTAMP_US_MIN,
    civil_from_days,
    days_from_civil,
    days_in_month,
    is_infinite,
    local_to_utc_us,
    utc_offset_us,
)
from sql.times.datetime_input import ZONE_HOURS_MAX
from sql.times.interval_values import MONTH_DAYS, Interval, bin_width_us, checked, truncated
from sql.times.zone_names import fixed_abbreviation, fixed_seconds, zone_meant
from sql.times.zoned_time import ZonedTime, zoned_time_key

Time = TypeVar("Time", int, ZonedTime)

HOUR_S, MINUTE_S = 3600, 60
NUMERIC_ZONE = re.compile(r"([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")


def age(later: int, earlier: int, zone: str) -> Interval:
    """Return age(later, earlier): years, months and days as people count them on the calendar
    (timestamp_age).
    """
    if is_infinite(later) or is_infinite(earlier):
        raise SqlError("22008", "timestamp out of range")
    if zone:
        later, earlier = (value + utc_offset_us(value, zone) for value in (later, earlier))
    negative = later < earlier
    if negative:
        later, earlier = earlier, later
    (days_later, time_later), (days_earlier, time_earlier) = divmod(later, DAY_US), divmod(earlier, DAY_US)
    year, month, day = civil_from_days(days_later)
    year0, month0, day0 = civil_from_days(days_earlier)
    micros, days, months = time_later - time_earlier, day - day0, (year - year0) * 12 + month - month0
    if micros < 0:
        micros, days = micros + DAY_US, days - 1
    while days < 0:
        days, months = days + days_in_month(year0, month0), months - 1
    return (-months, -days, -micros) if negative else (months, days, micros)


def date_bin(stride: Interval, source: int, origin: int) -> int:
    """Return the start of the bin of width `stride` that holds `source`.

    Bins are counted from `origin`.
    """
    if is_infinite(source):
        return source
    if is_infinite(origin):
        raise SqlError("22008", "origin out of range")
    width, distance = bin_width_us(stride), source - origin
    if not -(1 << 63) <= distance < 1 << 63:
        raise SqlError("22008", "interval out of range")
    start = source - distance % width
    if start < TIMESTAMP_US_MIN:
        raise SqlError("22008", "timestamp out of range")
    return start


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


def justify_hours(value: Interval) -> Interval:
    """Return the interval with every 24 hours as a day."""
    months, days, micros = value
    whole = truncated(micros, DAY_US)
    days, micros = days + whole, micros - whole * DAY_US
    if days > 0 and micros < 0:
        days, micros = days - 1, micros + DAY_US
    elif days < 0 and micros > 0:
        days, micros = days + 1, micros - DAY_US
    return checked(months, days, micros)


def justify_days(value: Interval) -> Interval:
    """Return the interval with every 30 days as a month."""
    months, days, micros = value
    whole = truncated(days, MONTH_DAYS)
    months, days = months + whole, days - whole * MONTH_DAYS
    if months > 0 and days < 0:
        months, days = months - 1, days + MONTH_DAYS
    elif months < 0 and days > 0:
        months, days = months + 1, days - MONTH_DAYS
    return checked(months, days, micros)


def justify_interval(value: Interval) -> Interval:
    """Return the interval with hours as days, days as months, and all parts of one sign."""
    months, days, micros = value
    if (days > 0 and micros > 0) or (days < 0 and micros < 0):
        whole = truncated(days, MONTH_DAYS)
        months, days = months + whole, days - whole * MONTH_DAYS
    whole = truncated(micros, DAY_US)
    days, micros = days + whole, micros - whole * DAY_US
    whole = truncated(days, MONTH_DAYS)
    months, days = months + whole, days - whole * MONTH_DAYS
    if months > 0 and (days < 0 or (days == 0 and micros < 0)):
        months, days = months - 1, days + MONTH_DAYS
    elif months < 0 and (days > 0 or (days == 0 and micros > 0)):
        months, days = months + 1, days - MONTH_DAYS
    if days > 0 and micros < 0:
        days, micros = days - 1, micros + DAY_US
    elif days < 0 and micros > 0:
        days, micros = days + 1, micros - DAY_US
    return checked(months, days, micros)


def make_date(year: int, month: int, day: int) -> int:
    """Return make_date as microseconds; a negative year is one before Christ."""
    astronomical = year + 1 if year < 0 else year
    if year == 0 or not 1 <= month <= 12 or not 1 <= day <= days_in_month(astronomical, month):
        raise SqlError("22008", f"date field value out of range: {year}-{month:02d}-{day:02d}")
    days = days_from_civil(astronomical, month, day)
    if not DATE_DAYS_MIN <= days < DATE_DAYS_END:
        raise SqlError("22008", f"date out of range: {year}-{month:02d}-{day:02d}")
    return days * DAY_US


def make_time(hour: int, minute: int, second: float) -> int:
    """Return make_time as microseconds since midnight."""
    bad = hour < 0 or minute < 0 or minute > 59 or math.isnan(second) or second < 0 or second > 60
    micros = 0 if bad else (hour * HOUR_S + minute * MINUTE_S) * SECOND_US + round(second * SECOND_US)
    if bad or micros > DAY_US or hour > 24:
        raise SqlError("22008", f"time field value out of range: {hour}:{minute:02d}:{second_text(second)}")
    return micros


def second_text(second: float) -> str:
    """Return C's %02g."""
    return f"{second:g}".rjust(2, "0")


def make_timestamp(year: int, month: int, day: int, hour: int, minute: int, second: float) -> int:
    """Return make_timestamp."""
    days = make_date(year, month, day)
    micros = days + make_time(hour, minute, second)
    if not TIMESTAMP_US_MIN <= micros < TIMESTAMP_US_END:
        raise SqlError(
            "22008", f"timestamp out of range: {year}-{month:02d}-{day:02d} {hour}:{minute:02d}:{second_text(second)}"
        )
    return micros


def make_timestamptz(year: int, month: int, day: int, hour: int, minute: int, second: float, zone: str) -> int:
    """Return make_timestamptz on the clock of `zone`."""
    local = make_timestamp(year, month, day, hour, minute, second)
    numeric = NUMERIC_ZONE.fullmatch(zone)
    if numeric is not None:
        # Here, unlike after AT TIME ZONE, a number counts to the east.
        hours, minutes, seconds = (int(part or 0) for part in numeric.groups()[1:])
        if hours > ZONE_HOURS_MAX or minutes >= 60 or seconds >= 60:
            raise SqlError("22023", f'numeric time zone "{zone}" out of range')
        east_s = (hours * 60 + minutes) * 60 + seconds
        return local - (-east_s if numeric[1] == "-" else east_s) * SECOND_US
    meant = zone_meant(zone)
    return local - meant * SECOND_US if isinstance(meant, int) else local_to_utc_us(local, meant)


def infinite_span(what: str, left: int, right: int) -> int | None:
    """Raise 22008 for the difference of two times (`what`) of which one is infinite.

    None is returned for others, and never used.
    """
    if is_infinite(left) or is_infinite(right):
        raise SqlError("22008", f"cannot subtract infinite {what}")
    return None


def infinite_part(us: int) -> float:
    """Return date_part of an infinite time for a field that grows with the time."""
    return float("inf") if us > 0 else float("-inf")


def infinite_field(name: str, us: int) -> int | None:
    """Raise 0A000 for EXTRACT of a field that is infinite where the time is: no numeric is infinite
    there.

    None is returned for others, and never used.
    """
    if is_infinite(us):
        raise not_supported(
            f"EXTRACT({name.upper()}) of an infinite time", hint="date_part returns a double precision."
        )
    return None


def make_interval(years: int, months: int, weeks: int, days: int, hours: int, minutes: int, seconds: float) -> Interval:
    """Return make_interval."""
    if math.isinf(seconds) or math.isnan(seconds):
        raise SqlError("22008", "interval out of range")
    micros = (hours * HOUR_S + minutes * MINUTE_S) * SECOND_US + round(seconds * SECOND_US)
    return checked(years * 12 + months, weeks * 7 + days, micros)


def zone_name(us: int, zone: str) -> str:
    """Return what the time of a zone is called at an instant."""
    return zone_abbreviation(us, zone) if fixed_seconds(zone) is None else fixed_abbreviation(zone)


def clock_us(_: int) -> int:
    """Return the time of day now."""
    return SystemClock().now_us()
