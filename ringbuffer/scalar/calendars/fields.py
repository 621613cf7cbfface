"""Units and fields of dates and timestamps for kernels: date_trunc, extract, date_part, each with
and without a time zone.

Units and fields come as the integers of `UNIT_CODES` and `FIELD_CODES`. What has a zone works on
the local time, and goes back to UTC where PostgreSQL does. Failures are error codes.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import INFINITE_FIELD, OK
from ringbuffer.scalar.calendars.calendar import (
    DAY_SECONDS,
    DAY_US,
    HOUR_US,
    JULIAN_EPOCH_DAYS,
    MINUTE_US,
    SECOND_US,
    check_timestamp,
    civil_from_days,
    day_start,
    days_from_civil,
    is_infinite_date,
    is_infinite_timestamp,
)
from ringbuffer.scalar.calendars.time_zones import Offsets, Transitions, local_to_utc, zone_offset_us
from ringbuffer.scalar.numbers.arithmetic import numeric_add, numeric_divide, truncate_divide_words

INFINITY = float("inf")
MICROSECONDS, MILLISECONDS, SECOND, MINUTE, HOUR, DAY, WEEK, MONTH, QUARTER, YEAR, DECADE, CENTURY, MILLENNIUM = range(
    13
)
DOW, ISODOW, DOY, ISOYEAR, EPOCH, JULIAN, TIMEZONE, TIMEZONE_HOUR, TIMEZONE_MINUTE = range(13, 22)

UNIT_NAMES: dict[int, tuple[str, ...]] = {
    MICROSECONDS: ("microseconds", "microsecond", "microsecon", "us", "usec", "usecs", "useconds", "usecond"),
    MILLISECONDS: ("milliseconds", "millisecond", "millisecon", "ms", "msec", "msecs", "msecond", "mseconds"),
    SECOND: ("second", "seconds", "s", "sec", "secs"),
    MINUTE: ("minute", "minutes", "m", "min", "mins"),
    HOUR: ("hour", "hours", "h", "hr", "hrs"),
    DAY: ("day", "days", "d"),
    WEEK: ("week", "weeks", "w"),
    MONTH: ("month", "months", "mon", "mons"),
    QUARTER: ("quarter", "qtr"),
    YEAR: ("year", "years", "y", "yr", "yrs"),
    DECADE: ("decade", "decades", "dec", "decs"),
    CENTURY: ("century", "centuries", "c", "cent"),
    MILLENNIUM: ("millennium", "millennia", "mil", "mils"),
}
FIELD_NAMES: dict[int, tuple[str, ...]] = {
    DOW: ("dow",),
    ISODOW: ("isodow",),
    DOY: ("doy",),
    ISOYEAR: ("isoyear",),
    EPOCH: ("epoch",),
    JULIAN: ("julian", "jd", "j"),
    TIMEZONE: ("timezone",),
    TIMEZONE_HOUR: ("timezone_hour", "timezone_h"),
    TIMEZONE_MINUTE: ("timezone_minute", "timezone_m"),
}
# The codes of date_trunc's units, and of the fields of extract and date_part, by the names that
# PostgreSQL takes.
UNIT_CODES: dict[str, int] = {name: code for code, names in UNIT_NAMES.items() for name in names}
FIELD_CODES: dict[str, int] = UNIT_CODES | {name: code for code, names in FIELD_NAMES.items() for name in names}


@kernel
def date_trunc_us(unit: int, us: int) -> tuple[int, int]:
    """Return (start of the unit that holds the timestamp, error); an infinite one stays what it
    is.
    """
    if is_infinite_timestamp(us):
        return us, OK
    if unit <= DAY:
        size = DAY_US
        if unit == HOUR:
            size = HOUR_US
        elif unit == MINUTE:
            size = MINUTE_US
        elif unit == SECOND:
            size = SECOND_US
        elif unit == MILLISECONDS:
            size = 1000
        elif unit == MICROSECONDS:
            size = 1
        return us // size * size, OK
    return day_start(date_trunc_days(unit, us // DAY_US))


@kernel
def date_trunc_days(unit: int, days: int) -> int:
    """Return the first day of the week, month, quarter, year, decade, century or millennium of a
    day.
    """
    if unit == WEEK:
        return days - (days + 3) % 7
    year, month, _ = civil_from_days(days)
    if unit == QUARTER:
        month = (month - 1) // 3 * 3 + 1
    elif unit != MONTH:
        month = 1
        if unit == DECADE:
            year = year // 10 * 10
        elif unit == CENTURY:
            year = (year - 1) // 100 * 100 + 1
        elif unit == MILLENNIUM:
            year = (year - 1) // 1000 * 1000 + 1
    return days_from_civil(year, month, 1)


@kernel
def date_field(field: int, days: int) -> int:
    """Return a field that depends on the day alone, from DAY up, without EPOCH and the zone's."""
    if field == JULIAN:
        return days + JULIAN_EPOCH_DAYS
    if field == DOW:
        return (days + 4) % 7
    if field == ISODOW:
        return (days + 3) % 7 + 1
    if field in (WEEK, ISOYEAR):
        # The Thursday of a week is in the ISO year that the week belongs to.
        thursday = days - (days + 3) % 7 + 3
        year, _, _ = civil_from_days(thursday)
        if field == WEEK:
            return (thursday - days_from_civil(year, 1, 1)) // 7 + 1
        return year if year > 0 else year - 1
    year, month, day = civil_from_days(days)
    if field == DOY:
        return days - days_from_civil(year, 1, 1) + 1
    if field == DAY:
        return day
    if field == MONTH:
        return month
    if field == QUARTER:
        return (month - 1) // 3 + 1
    return year_field(field, year)


@kernel
def year_field(field: int, year: int) -> int:
    """Return YEAR, DECADE, CENTURY or MILLENNIUM of an astronomical year.

    There is no year, century or millennium 0.
    """
    if field == DECADE:
        return year // 10
    size = 1
    if field == CENTURY:
        size = 100
    elif field == MILLENNIUM:
        size = 1000
    if year > 0:
        return (year + size - 1) // size
    return -((size - year) // size)


@kernel
def extract_date(field: int, days: int) -> tuple[int, int, int]:
    """Return the numeric (lo, hi, scale 0) of a date's field."""
    value = 0
    if field == EPOCH:
        value = days * DAY_SECONDS
    elif field >= DAY:
        value = date_field(field, days)
    return value, value >> 63, 0


@kernel
def extract_timestamp(field: int, us: int) -> tuple[int, int, int]:
    """Return the numeric (lo, hi, scale) of a timestamp's field: scale 6 of SECOND and EPOCH, 3 of
    MILLISECONDS, own of JULIAN, else 0.
    """
    if field == EPOCH:
        return us, us >> 63, 6
    days = us // DAY_US
    time = us - days * DAY_US
    if field == JULIAN:
        lo, hi, scale, _ = numeric_divide(time, 0, 0, DAY_US, 0, 0)
        lo, hi, scale, _ = numeric_add(lo, hi, scale, days + JULIAN_EPOCH_DAYS, 0, 0)
        return lo, hi, scale
    if field <= SECOND:
        return time % MINUTE_US, 0, 6 if field == SECOND else 3 if field == MILLISECONDS else 0
    value = 0
    if field == HOUR:
        value = time // HOUR_US
    elif field == MINUTE:
        value = time // MINUTE_US % 60
    else:
        value = date_field(field, days)
    return value, value >> 63, 0


@kernel
def date_part_timestamp(field: int, us: int) -> float:
    """Return date_part of a timestamp, in double arithmetic as PostgreSQL does it.

    A date's is that of its midnight.

    Of an infinite one, which has no other fields than those that grow with it: infinity.
    """
    if is_infinite_timestamp(us):
        return INFINITY if us > 0 else -INFINITY
    if field == EPOCH:
        return us / 1e6
    days = us // DAY_US
    time = us - days * DAY_US
    if field == JULIAN:
        seconds = time // SECOND_US
        return float(days + JULIAN_EPOCH_DAYS) + (seconds + (time - seconds * SECOND_US) / 1e6) / 86400.0
    if field > SECOND:
        value, _, _ = extract_timestamp(field, us)
        return float(value)
    time %= MINUTE_US
    if field == SECOND:
        return time // SECOND_US + time % SECOND_US / 1e6
    if field == MILLISECONDS:
        return time // SECOND_US * 1000.0 + time % SECOND_US / 1000.0
    return float(time)


@kernel
def day_field(field: int, us: int) -> int:
    """Return a field of the day of a finite timestamp."""
    value, _, _ = extract_date(field, us // DAY_US)
    return value


@kernel
def seconds_part(field: int, us: int) -> float:
    """Return EPOCH, SECOND, MILLISECONDS or MICROSECONDS of all of `us`, as PostgreSQL adds the
    whole and the fraction of doubles.
    """
    if field == EPOCH:
        return us / 1e6
    seconds = us // SECOND_US
    fraction = us - seconds * SECOND_US
    if field == SECOND:
        return seconds + fraction / 1e6
    return seconds * 1e3 + fraction / 1e3 if field == MILLISECONDS else float(us)


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
def grows(field: int) -> bool:
    """Tell whether a field of an infinite time is infinite; all others are NULL."""
    return YEAR <= field <= MILLENNIUM or ISOYEAR <= field <= JULIAN


@kernel
def date_lacks(field: int, days: int) -> bool:
    """Tell whether a date has no such field."""
    return is_infinite_date(days) and not grows(field)


@kernel
def timestamp_lacks(field: int, us: int) -> bool:
    """Tell whether a timestamp has no such field."""
    return is_infinite_timestamp(us) and not grows(field)


@kernel
def field_of_date(field: int, days: int) -> tuple[int, int, int, int]:
    """Return the numeric (lo, hi, scale, error) of a date's field: none is infinite."""
    if is_infinite_date(days):
        return 0, 0, 0, INFINITE_FIELD
    lo, hi, scale = extract_date(field, days)
    return lo, hi, scale, OK


@kernel
def field_of_timestamp(field: int, us: int) -> tuple[int, int, int, int]:
    """Return the numeric (lo, hi, scale, error) of a timestamp's field."""
    if is_infinite_timestamp(us):
        return 0, 0, 0, INFINITE_FIELD
    lo, hi, scale = extract_timestamp(field, us)
    return lo, hi, scale, OK


@kernel
def field_of_timestamptz(field: int, us: int, transitions: Transitions, offsets: Offsets) -> tuple[int, int, int, int]:
    """Return the numeric (lo, hi, scale, error) of a field of the local time."""
    if is_infinite_timestamp(us):
        return 0, 0, 0, INFINITE_FIELD
    lo, hi, scale = extract_zoned(field, us, transitions, offsets)
    return lo, hi, scale, OK
