"""The proleptic Gregorian calendar of PostgreSQL for kernels: days and civil dates, date_trunc,
extract, date_part, interval addition.

Dates are days, timestamps microseconds since 1970-01-01 00:00, both int64 and without a zone
(time_zones.py has the zoned forms). Years are astronomical inside (0 is 1 BC). Units and fields
come as the integers of `UNIT_CODES` and `FIELD_CODES`. Failures are error codes. Timestamps end
with the year 294246, where 64 bits from 1970 on do; PostgreSQL counts from 2000 and ends with
294276.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import (
    BIN_ORIGIN,
    DATE_OUT_OF_TIMESTAMP,
    DATE_RANGE,
    INFINITE_DATES,
    INFINITE_FIELD,
    INTERVAL_RANGE,
    OK,
    TIMESTAMP_NAN,
    TIMESTAMP_RANGE,
)
from ringbuffer.scalar.numbers.arithmetic import add_int64, subtract_int64
from ringbuffer.scalar.numbers.numeric import numeric_add, numeric_divide

SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US
HOUR_US = 60 * MINUTE_US
DAY_US = 24 * HOUR_US
DAY_SECONDS = 86_400

# Julian day 0 (4714-11-24 BC) is the first date; 5874898-01-01 and 294247-01-01 are the first ones
# beyond the end.
JULIAN_EPOCH_DAYS = 2_440_588
DATE_DAYS_MIN = -JULIAN_EPOCH_DAYS
DATE_DAYS_END = 2_145_042_906
TIMESTAMP_DAYS_END = 106_751_982
TIMESTAMP_US_MIN = DATE_DAYS_MIN * DAY_US
TIMESTAMP_US_END = TIMESTAMP_DAYS_END * DAY_US
# 'infinity'; the negative is '-infinity'.
DATE_INFINITY = 2**31 - 1
TIMESTAMP_INFINITY = 2**63 - 1
EPOCH_2000_DAYS = 10957
EPOCH_2000_US = EPOCH_2000_DAYS * DAY_US
EPOCH_2000_S = EPOCH_2000_DAYS * 86_400
INFINITY = float("inf")

ERA_DAYS = 146_097
ERA_YEARS = 400
MARCH_EPOCH_DAYS = 719_468

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
def days_from_civil(year: int, month: int, day: int) -> int:
    """Return the days since 1970-01-01 of a civil date.

    Months from 1, astronomical years, no checks.
    """
    if month <= 2:
        year -= 1
        month += 12
    era = year // ERA_YEARS
    year_of_era = year - era * ERA_YEARS
    day_of_year = (153 * (month - 3) + 2) // 5 + day - 1
    return era * ERA_DAYS + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - MARCH_EPOCH_DAYS


@kernel
def civil_from_days(days: int) -> tuple[int, int, int]:
    """Return (year, month, day) of the days since 1970-01-01.

    Years start in March inside, so that leap days come last.
    """
    shifted = days + MARCH_EPOCH_DAYS
    era = shifted // ERA_DAYS
    day_of_era = shifted - era * ERA_DAYS
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted_month + 2) // 5 + 1
    month = shifted_month + 3 if shifted_month < 10 else shifted_month - 9
    year = year_of_era + era * ERA_YEARS
    return year + 1 if month <= 2 else year, month, day


@kernel
def days_of_month(year: int, month: int) -> int:
    """Return the number of days of a month, 28 to 31."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % ERA_YEARS == 0) else 28
    return 30 if month == 4 or month == 6 or month == 9 or month == 11 else 31


@kernel
def is_infinite_timestamp(us: int) -> bool:
    """Return whether a timestamp is 'infinity' or '-infinity'."""
    return us == TIMESTAMP_INFINITY or us == -TIMESTAMP_INFINITY


@kernel
def is_infinite_date(days: int) -> bool:
    """Return whether a date is 'infinity' or '-infinity'."""
    return days == DATE_INFINITY or days == -DATE_INFINITY


@kernel
def is_finite_timestamp(us: int) -> bool:
    """Tell whether a timestamp is neither 'infinity' nor '-infinity'."""
    return not is_infinite_timestamp(us)


@kernel
def is_finite_date(days: int) -> bool:
    """Tell whether a date is neither 'infinity' nor '-infinity'."""
    return not is_infinite_date(days)


@kernel
def check_timestamp(us: int) -> int:
    """Return TIMESTAMP_RANGE outside of what a timestamp can hold, else 0."""
    return OK if TIMESTAMP_US_MIN <= us < TIMESTAMP_US_END else TIMESTAMP_RANGE


@kernel
def check_date(days: int) -> int:
    """Return DATE_RANGE outside of what a date can hold, else 0."""
    return OK if DATE_DAYS_MIN <= days < DATE_DAYS_END else DATE_RANGE


@kernel
def date_add_days(days: int, count: int) -> tuple[int, int]:
    """Return (days + count, error); an infinite date stays where it is."""
    if is_infinite_date(days):
        return days, OK
    error = check_date(days + count)
    return days + count if error == OK else 0, error


@kernel
def date_subtract_days(days: int, count: int) -> tuple[int, int]:
    """Return (days - count, error)."""
    return date_add_days(days, -count)


@kernel
def date_difference(later: int, earlier: int) -> tuple[int, int]:
    """Return (days between two dates, error)."""
    if is_infinite_date(later) or is_infinite_date(earlier):
        return 0, INFINITE_DATES
    return later - earlier, OK


@kernel
def finite_date(days: int) -> tuple[int, int]:
    """Return (days, INFINITE_FIELD where they are infinite): a numeric of its fields is not."""
    return days, INFINITE_FIELD if is_infinite_date(days) else OK


@kernel
def finite_timestamp(us: int) -> tuple[int, int]:
    """Return (us, INFINITE_FIELD where it is infinite)."""
    return us, INFINITE_FIELD if is_infinite_timestamp(us) else OK


@kernel
def day_start(days: int) -> tuple[int, int]:
    """Return (microseconds of midnight, error)."""
    if days < DATE_DAYS_MIN or days >= TIMESTAMP_DAYS_END:
        return 0, TIMESTAMP_RANGE
    return days * DAY_US, OK


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
def date_bin_us(width: int, us: int, origin: int) -> tuple[int, int]:
    """Return (start of the bin that holds the timestamp, error).

    Bins are `width` > 0 microseconds wide, and one begins at `origin`.
    """
    if is_infinite_timestamp(us):
        return us, OK
    if is_infinite_timestamp(origin):
        return 0, BIN_ORIGIN
    distance, error = subtract_int64(us, origin)
    if error != OK:
        return 0, INTERVAL_RANGE
    start, error = subtract_int64(us, distance % width)
    if error != OK or check_timestamp(start) != OK:
        return 0, TIMESTAMP_RANGE
    return start, OK


@kernel
def timestamp_from_epoch(seconds: float) -> tuple[int, int]:
    """Return (to_timestamp(seconds since 1970), error).

    Rounded to even as seconds since 2000, as float8_timestamptz does.
    """
    if seconds != seconds:
        return 0, TIMESTAMP_NAN
    if seconds == np.inf:
        return TIMESTAMP_INFINITY, OK
    if seconds == -np.inf:
        return -TIMESTAMP_INFINITY, OK
    if not TIMESTAMP_US_MIN / 1e6 <= seconds < TIMESTAMP_US_END / 1e6:
        return 0, TIMESTAMP_RANGE
    us = int(np.rint((seconds - EPOCH_2000_S) * 1e6)) + EPOCH_2000_S * 1_000_000
    error = check_timestamp(us)
    return us if error == OK else 0, error


@kernel
def add_interval_us(us: int, months: int, days: int, micros: int) -> tuple[int, int]:
    """Return (timestamp + interval, error): months first, cut to the month's end, then days, then
    time.
    """
    error = OK
    if is_infinite_timestamp(us):
        return us, error
    if months != 0:
        us, error = add_months_us(us, months)
    if days != 0 and error == OK:
        us, error = add_days_us(us, days)
    if error == OK:
        us, error = add_int64(us, micros)
    if error != OK or check_timestamp(us) != OK:
        return 0, TIMESTAMP_RANGE
    return us, OK


@kernel
def add_months_us(us: int, months: int) -> tuple[int, int]:
    """Return (timestamp some months later, error); a day that the month lacks becomes its last."""
    whole_days = us // DAY_US
    year, month, day = civil_from_days(whole_days)
    month_number = year * 12 + month - 1 + months
    year = month_number // 12
    month = month_number - year * 12 + 1
    start, error = day_start(days_from_civil(year, month, min(day, days_of_month(year, month))))
    return start + (us - whole_days * DAY_US) if error == OK else 0, error


@kernel
def add_days_us(us: int, days: int) -> tuple[int, int]:
    """Return (timestamp some days later, error)."""
    whole_days = us // DAY_US
    start, error = day_start(whole_days + days)
    return start + (us - whole_days * DAY_US) if error == OK else 0, error


@kernel
def date_field(field: int, days: int) -> int:
    """Return a field that depends on the day alone, from DAY up, without EPOCH, JULIAN and the
    zone's.
    """
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
    elif field == JULIAN:
        value = days + JULIAN_EPOCH_DAYS
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
def date_to_timestamp(days: int) -> tuple[int, int]:
    """Return (microseconds of midnight, error): dates reach further than timestamps."""
    if is_infinite_date(days):
        return (TIMESTAMP_INFINITY if days > 0 else -TIMESTAMP_INFINITY), OK
    if days >= TIMESTAMP_DAYS_END:
        return 0, DATE_OUT_OF_TIMESTAMP
    return days * DAY_US, OK


@kernel
def timestamp_to_date(us: int) -> int:
    """Return the day that holds a local timestamp."""
    if is_infinite_timestamp(us):
        return DATE_INFINITY if us > 0 else -DATE_INFINITY
    return us // DAY_US
