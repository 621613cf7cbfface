"""Civil time on microseconds since 1970: PostgreSQL's truncation and fields.

Plain integers in and out.

The functions here are those that the engines' own count otherwise: centuries, years before Christ,
truncation on a zone's clock. Reads no clock.
"""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.times.civil import (
    DAY_US,
    SECOND_US,
    civil_from_days,
    days_from_civil,
    is_infinite,
    local_to_utc_us,
    utc_offset_us,
)

JULIAN_EPOCH_DAY = 2_440_588
SUB_DAY_US = {
    "microseconds": 1,
    "milliseconds": 1_000,
    "second": SECOND_US,
    "minute": 60 * SECOND_US,
    "hour": 3_600 * SECOND_US,
}


def local_us(us: int, zone: str) -> int:
    """Return the time of clocks in `zone` at an instant."""
    return us if is_infinite(us) else us + utc_offset_us(us, zone)


def utc_us(us: int, zone: str) -> int:
    """Return the instant at which clocks in `zone` show a time."""
    return us if is_infinite(us) else local_to_utc_us(us, zone)


def truncated_us(unit: str, us: int) -> int:
    """Return date_trunc(unit, us)."""
    if is_infinite(us):
        return us
    if unit in SUB_DAY_US:
        return us - us % SUB_DAY_US[unit]
    days = us // DAY_US
    if unit == "day":
        return days * DAY_US
    if unit == "week":
        return (days - (days + 3) % 7) * DAY_US
    year, month, _ = civil_from_days(days)
    match unit:
        case "month":
            return days_from_civil(year, month, 1) * DAY_US
        case "quarter":
            return days_from_civil(year, month - (month - 1) % 3, 1) * DAY_US
        case "decade":
            year -= year % 10
        case "century":
            year -= (year - 1) % 100
        case "millennium":
            year -= (year - 1) % 1000
        case _:
            assert unit == "year", unit
    return days_from_civil(year, 1, 1) * DAY_US


def zone_truncated_us(unit: str, us: int, zone: str) -> int:
    """Return date_trunc(unit, us, zone): units below a day keep the offset of the instant
    itself.
    """
    if is_infinite(us):
        return us
    local = local_us(us, zone)
    cut = truncated_us(unit, local)
    return us - (local - cut) if unit in SUB_DAY_US else local_to_utc_us(cut, zone)


def field(name: str, us: int) -> int:
    """Return a field that DuckDB counts otherwise: decade, century, millennium, julian, and a
    date's epoch.

    us: finite.
    """
    if name == "epoch":
        return us // SECOND_US
    if name == "julian":
        return us // DAY_US + JULIAN_EPOCH_DAY
    year = civil_from_days(us // DAY_US)[0]
    if name == "decade":
        return year // 10
    span = {"century": 100, "millennium": 1000}[name]
    return (year + span - 1) // span if year > 0 else -((span - 1 - (year - 1)) // span)


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


def float_field(name: str, us: int) -> float:
    """Return date_part of microseconds: PostgreSQL adds whole and fraction as doubles."""
    seconds, fraction = divmod(us, SECOND_US)
    match name:
        case "epoch":
            return us / 1e6
        case "milliseconds":
            return seconds * 1e3 + fraction / 1e3
        case "second":
            return seconds + fraction / 1e6
    assert name == "microseconds", name
    return float(us)


def zone_field(name: str, us: int, zone: str) -> int | None:
    """Return timezone, timezone_hour or timezone_minute at an instant; an infinite time has
    none.
    """
    if is_infinite(us):
        return None
    seconds = utc_offset_us(us, zone) // SECOND_US
    if name == "timezone":
        return seconds
    size = abs(seconds) // 3600 if name == "timezone_hour" else abs(seconds) // 60 % 60
    return -size if seconds < 0 else size
