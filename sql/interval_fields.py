"""Fields and truncation of intervals and times of day, and timestamps moved by an interval, as PostgreSQL counts them.

Seconds and their parts are counted in microseconds here; the caller knows how many digits that makes.
"""

from __future__ import annotations

from sql.civil import (
    DAY_US,
    TIMESTAMP_US_END,
    TIMESTAMP_US_MIN,
    add_months,
    local_to_utc_us,
    utc_offset_us,
)
from sql.errors import SqlError
from sql.interval_values import HOUR_US, MINUTE_US, SECOND_US, Interval, truncated

YEAR_UNITS = {"year": 1, "decade": 10, "century": 100, "millennium": 1000}
CLOCK_UNITS = {"hour": HOUR_US, "minute": MINUTE_US, "second": SECOND_US, "milliseconds": 1000, "microseconds": 1}
SECOND_FIELDS = frozenset({"second", "milliseconds", "microseconds"})
INTERVAL_FIELDS = frozenset({*YEAR_UNITS, *CLOCK_UNITS, "quarter", "month", "day", "epoch"})
TIME_FIELDS = frozenset({*CLOCK_UNITS, "epoch"})
# An interval's year has 365.25 days in EXTRACT(EPOCH).
QUARTERS_OF_DAY = {"year": 1461, "month": 120, "day": 4}


def interval_part(field: str, value: Interval) -> int:
    """Return a field; of the seconds, microseconds within the minute."""
    months, days, micros = value
    years = truncated(months, 12)
    if field in YEAR_UNITS:
        return truncated(years, YEAR_UNITS[field])
    month = months - 12 * years
    match field:
        case "quarter":
            return truncated(month, 3) + 1
        case "month":
            return month
        case "day":
            return days
    return clock_part(field, micros)


def clock_part(field: str, micros: int) -> int:
    if field == "hour":
        return truncated(micros, HOUR_US)
    micros -= truncated(micros, HOUR_US) * HOUR_US
    if field == "minute":
        return truncated(micros, MINUTE_US)
    return micros - truncated(micros, MINUTE_US) * MINUTE_US


def time_part(field: str, micros: int) -> int:
    """Return a field of a time of day; of the seconds, microseconds within the minute; of the epoch, all microseconds."""
    return micros if field == "epoch" else clock_part(field, micros)


def interval_epoch(value: Interval) -> int:
    """Return EXTRACT(EPOCH) in microseconds."""
    months, days, micros = value
    years = truncated(months, 12)
    quarters = QUARTERS_OF_DAY["year"] * years + QUARTERS_OF_DAY["month"] * (months - 12 * years)
    return (quarters + QUARTERS_OF_DAY["day"] * days) * (DAY_US // 4) + micros


def interval_epoch_float(value: Interval) -> float:
    """Return date_part('epoch'), in PostgreSQL's steps of float arithmetic."""
    months, days, micros = value
    years = truncated(months, 12)
    return micros / 1e6 + 365.25 * 86_400 * years + 30.0 * 86_400 * (months - 12 * years) + 86_400.0 * days


def interval_trunc(unit: str, value: Interval) -> Interval:
    """Return date_trunc(unit, value)."""
    months, days, micros = value
    if unit in YEAR_UNITS:
        size = 12 * YEAR_UNITS[unit]
        return truncated(months, size) * size, 0, 0
    if unit in ("quarter", "month"):
        size = 3 if unit == "quarter" else 1
        return truncated(months, size) * size, 0, 0
    if unit == "day":
        return months, days, 0
    return months, days, truncated(micros, CLOCK_UNITS[unit]) * CLOCK_UNITS[unit]


def shifted_us(micros: int, value: Interval, zone: str) -> int:
    """Return a timestamp moved by an interval: months and days on the clock of `zone` ('': none), then the exact time."""
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
