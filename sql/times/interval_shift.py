"""The move of timestamps by an interval, as PostgreSQL does it: months and days on a clock, then
the exact time.
"""

from __future__ import annotations

from sql.errors import SqlError
from sql.times.civil import (
    DAY_US,
    TIMESTAMP_US_END,
    TIMESTAMP_US_MIN,
    add_months,
    is_infinite,
    local_to_utc_us,
    utc_offset_us,
)
from sql.times.interval_values import Interval


def shifted_us(micros: int, value: Interval, zone: str) -> int:
    """Return a timestamp moved by an interval: months and days on the clock of `zone` ('': none),
    then the exact time.
    """
    if is_infinite(micros):
        return micros
    months, days, time = value
    if months or days:
        local = micros + utc_offset_us(micros, zone) if zone else micros
        date, clock = divmod(local, DAY_US)
        local = (add_months(date, months) + days) * DAY_US + clock
        check_range(local)
        micros = local_to_utc_us(local, zone) if zone else local
    return check_range(micros + time)


def check_range(micros: int) -> int:
    if not TIMESTAMP_US_MIN <= micros < TIMESTAMP_US_END:
        raise SqlError("22008", "timestamp out of range")
    return micros
