"""PostgreSQL's time with time zone: its text input and output, its order, and its move by an
interval.

A value is (microseconds since midnight, seconds west of Greenwich), as PostgreSQL keeps it. A text
without a zone has the session's, which is known without the date only where the zone has no
daylight saving time; elsewhere it is 0A000.
"""

from __future__ import annotations

from functools import lru_cache

from sql.errors import SqlError, not_supported
from sql.times.civil import DAY_US, SECOND_US, days_from_civil, is_infinite, local_to_utc_us, utc_offset_us
from sql.times.datetime_input import InvalidTextError, OutOfRangeError, checked_date, out_of_range
from sql.times.interval_values import Interval
from sql.times.time_input import read_fields, rounded, time_text

ZonedTime = tuple[int, int]

# Zones whose distance from UTC does not change in these years are taken for fixed.
YEARS = range(2020, 2038)
ZONE_S_END = 16 * 3600


def zoned_time_value(text: str, zone: str, position: int | None = None, order: str = "MDY") -> ZonedTime:
    """Return the time with time zone that `text` means in a session whose TimeZone is `zone`.

    Raises 22007, 22008 and 22009.
    """
    try:
        found = read_fields(text, position, order)
        dated = found.is_dated
        local_us = checked_date(found) * DAY_US + (found.time_us or 0)
    except InvalidTextError:
        message = f'invalid input syntax for type time with time zone: "{text}"'
        raise SqlError("22007", message, position) from None
    except OutOfRangeError as error:
        raise out_of_range(text, position, error.ambiguous) from None
    assert found.time_us is not None
    if found.has_zone and not found.zone:
        return found.time_us, -found.offset_s
    if dated:
        return found.time_us, (local_to_utc_us(local_us, found.zone or zone) - local_us) // SECOND_US
    return found.time_us, fixed_west_s(zone, position)


@lru_cache(maxsize=64)
def fixed_west_s(zone: str, position: int | None = None) -> int:
    """Return the seconds west of Greenwich of a zone that has no daylight saving time.

    Raises 0A000.
    """
    moments = (days_from_civil(year, month, 1) * DAY_US for year in YEARS for month in (1, 4, 7, 10))
    offsets = {utc_offset_us(moment, zone) for moment in moments}
    if len(offsets) > 1:
        hint = "Write the distance from UTC behind the time."
        raise not_supported(f"a time with time zone of which only the zone {zone} is known", position, hint=hint)
    return -offsets.pop() // SECOND_US


def zoned_time_of(us: int, zone: str) -> ZonedTime | None:
    """Return the time of clocks in `zone` at an instant, microseconds since 1970.

    None at an infinite one.
    """
    if is_infinite(us):
        return None
    offset_us = utc_offset_us(us, zone)
    return (us + offset_us) % DAY_US, -offset_us // SECOND_US


def zoned_time_text(value: ZonedTime) -> str:
    """Return hh:mm:ss[.ffffff]+hh[:mm[:ss]]."""
    micros, west_s = value
    total = abs(west_s)
    text = f"{time_text(micros)}{'-' if west_s > 0 else '+'}{total // 3600:02d}"
    if total % 3600:
        text += f":{total // 60 % 60:02d}"
    return text + f":{total % 60:02d}" if total % 60 else text


def zoned_time_key(value: ZonedTime) -> ZonedTime:
    """Return the key by which values compare: the time in UTC, then the zone."""
    micros, west_s = value
    return micros + west_s * SECOND_US, west_s


def zoned_time_rounded(value: ZonedTime, digits: int) -> ZonedTime:
    """Return a value with so many digits of a second."""
    return rounded(value[0], digits), value[1]


def zoned_time_moved(value: ZonedTime, span: Interval, sign: int) -> ZonedTime:
    """Return value + span or value - span (sign -1); days and months do not move a clock."""
    return (value[0] + sign * span[2]) % DAY_US, value[1]
