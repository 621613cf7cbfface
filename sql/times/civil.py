"""Days, microseconds and civil dates in the proleptic Gregorian calendar, with PostgreSQL's ranges.

All are plain integers; there is no time of day. Years are astronomical (0 is 1 BC). Zone offsets
come from the system's zone files through zoneinfo.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from sql.times.zone_names import fixed_seconds

SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US
HOUR_US = 60 * MINUTE_US
DAY_US = 24 * HOUR_US
# PostgreSQL counts from 2000 on.
EPOCH_2000_DAYS = 10_957
EPOCH_2000_US = EPOCH_2000_DAYS * DAY_US
CYCLE_DAYS = 146_097  # of 400 years
# Both begin with 4714-11-24 BC (Julian day 0). Dates go up to 5874897-12-31 as PostgreSQL's do;
# timestamps up to 294246-12-31, for which 64 bits from 1970 on suffice. PostgreSQL counts from 2000
# on, and has 30 years more.
DATE_DAYS_MIN = -2_440_588
MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def days_from_civil(year: int, month: int, day: int) -> int:
    """Return days since 1970-01-01."""
    year -= month <= 2
    era = year // 400
    year_of_era = year - era * 400
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * CYCLE_DAYS + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Return (year, month, day) of the day `days` after 1970-01-01."""
    days += 719_468
    era = days // CYCLE_DAYS
    day_of_era = days - era * CYCLE_DAYS
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + (3 if shifted < 10 else -9)
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def days_in_month(year: int, month: int) -> int:
    """Return the number of days of a month."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else MONTH_DAYS[month - 1]


def add_months(days: int, months: int) -> int:
    """Return the day `months` later; the last day of the month if the month is shorter."""
    year, month, day = civil_from_days(days)
    year, month0 = divmod(year * 12 + month - 1 + months, 12)
    return days_from_civil(year, month0 + 1, min(day, days_in_month(year, month0 + 1)))


# 'infinity'; the negative is '-infinity'. Both are beyond every range, and compare as they should.
DATE_INFINITY = (1 << 31) - 1
TIMESTAMP_INFINITY = (1 << 63) - 1
TIMESTAMP_US_MIN = DATE_DAYS_MIN * DAY_US
TIMESTAMP_US_END = days_from_civil(294_247, 1, 1) * DAY_US
DATE_DAYS_END = days_from_civil(5_874_898, 1, 1)


def is_infinite(microseconds: int) -> bool:
    """Tell whether a timestamp is 'infinity' or '-infinity'."""
    return abs(microseconds) == TIMESTAMP_INFINITY


@lru_cache(maxsize=64)
def zone_info(zone: str) -> ZoneInfo:
    """Return the zone called `zone`.

    Raises KeyError (ZoneInfoNotFoundError) or ValueError when there is no such zone.
    """
    return ZoneInfo(zone)


def to_datetime(microseconds: int) -> datetime:
    """Return a datetime with the fields of `microseconds`.

    Years that Python lacks are moved by whole cycles of 400 years.
    """
    days, rest = divmod(microseconds, DAY_US)
    year = civil_from_days(days)[0]
    if not 2 <= year <= 9998:
        target = 400 + year % 400 if year < 2 else 9200 + year % 400
        days += (target - year) // 400 * CYCLE_DAYS
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=days, microseconds=rest)


def utc_offset_us(utc_us: int, zone: str) -> int:
    """Return local time minus UTC at the instant `utc_us`."""
    fixed = fixed_seconds(zone)
    if fixed is not None:
        return fixed * 1_000_000
    moment = to_datetime(utc_us).astimezone(zone_info(zone))
    offset = moment.utcoffset()
    assert offset is not None
    return round(offset.total_seconds()) * 1_000_000


def local_to_utc_us(local_us: int, zone: str) -> int:
    """Return the instant of a local time.

    Of two readings PostgreSQL takes the smaller offset: before a gap, after an overlap.
    """
    fixed = fixed_seconds(zone)
    if fixed is not None:
        return local_us - fixed * 1_000_000
    local = to_datetime(local_us).replace(tzinfo=zone_info(zone))
    offsets = [local.replace(fold=fold).utcoffset() for fold in (0, 1)]
    smaller = min(offset for offset in offsets if offset is not None)
    return local_us - round(smaller.total_seconds()) * 1_000_000


def date_us(days: int) -> int:
    """Return the microseconds since 1970 of a day's midnight."""
    if abs(days) == DATE_INFINITY:
        return TIMESTAMP_INFINITY if days > 0 else -TIMESTAMP_INFINITY
    return days * DAY_US
