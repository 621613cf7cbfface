"""Calendar kernels against datetime, and against Python's integers in the years that datetime
lacks.
"""

from __future__ import annotations

import math
import random
from calendar import monthrange
from datetime import UTC, datetime, timedelta

from ringbuffer.memory.error_codes import BIN_ORIGIN, DATE_RANGE, INTERVAL_RANGE, OK, TIMESTAMP_NAN, TIMESTAMP_RANGE
from ringbuffer.scalar.calendars import calendar, fields, shifts
from ringbuffer.scalar.calendars.calendar import DAY_US
from ringbuffer.scalar.calendars.fields import FIELD_CODES, UNIT_CODES
from tests.ringbuffer.kernel_values import civil_of, days_of

SEED = 20_261_120
CASES = 5_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def moments(chooser: random.Random) -> datetime:
    return datetime(1, 1, 1, tzinfo=UTC) + timedelta(
        days=chooser.randrange(3_652_000), microseconds=chooser.randrange(DAY_US)
    )


def test_days_and_civil_dates() -> None:
    chooser = random.Random(SEED)
    numbers = [
        calendar.DATE_DAYS_MIN,
        calendar.DATE_DAYS_END - 1,
        0,
        -1,
        *(-719_468 + step for step in range(-800, 800)),
    ]
    numbers += [chooser.randrange(calendar.DATE_DAYS_MIN, calendar.DATE_DAYS_END) for _ in range(CASES)]
    for number in numbers:
        civil = calendar.civil_from_days(number)
        assert civil == civil_of(number)
        assert calendar.days_from_civil(*civil) == number
    assert calendar.civil_from_days(calendar.DATE_DAYS_MIN) == (-4713, 11, 24)
    assert calendar.civil_from_days(calendar.DATE_DAYS_END) == (5_874_898, 1, 1)
    assert calendar.civil_from_days(calendar.TIMESTAMP_DAYS_END) == (294_247, 1, 1)
    for year in (1900, 2000, 2023, 2024, -4, 0):
        expected = [monthrange(year % 400 + 400, month)[1] for month in range(1, 13)]
        assert [calendar.days_of_month(year, month) for month in range(1, 13)] == expected


def start_of(unit: str, moment: datetime) -> datetime:
    """date_trunc by datetime."""
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    month = midnight.replace(day=1)
    return {
        "microseconds": moment,
        "milliseconds": moment.replace(microsecond=moment.microsecond // 1000 * 1000),
        "second": moment.replace(microsecond=0),
        "minute": moment.replace(second=0, microsecond=0),
        "hour": moment.replace(minute=0, second=0, microsecond=0),
        "day": midnight,
        "week": midnight - timedelta(days=moment.weekday()),
        "month": month,
        "quarter": month.replace(month=(moment.month - 1) // 3 * 3 + 1),
        "year": month.replace(month=1),
        "decade": month.replace(month=1, year=max(moment.year // 10 * 10, 1)),
        "century": month.replace(month=1, year=(moment.year - 1) // 100 * 100 + 1),
        "millennium": month.replace(month=1, year=(moment.year - 1) // 1000 * 1000 + 1),
    }[unit]


UNITS = tuple(names[0] for names in fields.UNIT_NAMES.values())


def test_date_trunc_is_the_start_of_the_unit() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        moment = moments(chooser)
        unit = chooser.choice(UNITS)
        if moment.year < 10:
            continue
        expected = microseconds(start_of(unit, moment)), OK
        assert fields.date_trunc_us(UNIT_CODES[unit], microseconds(moment)) == expected, (unit, moment)
    first = calendar.TIMESTAMP_US_MIN
    assert fields.date_trunc_us(UNIT_CODES["day"], first) == (first, OK)
    assert fields.date_trunc_us(UNIT_CODES["year"], first) == (0, TIMESTAMP_RANGE)


def fields_of(moment: datetime) -> dict[str, tuple[int, int]]:
    """(unscaled, scale) of extract's fields by datetime."""
    seconds_us = moment.second * 1_000_000 + moment.microsecond
    iso_year, iso_week, iso_day = moment.isocalendar()
    return {
        "microseconds": (seconds_us, 0),
        "milliseconds": (seconds_us, 3),
        "second": (seconds_us, 6),
        "minute": (moment.minute, 0),
        "hour": (moment.hour, 0),
        "day": (moment.day, 0),
        "month": (moment.month, 0),
        "quarter": ((moment.month + 2) // 3, 0),
        "year": (moment.year, 0),
        "decade": (moment.year // 10, 0),
        "century": ((moment.year + 99) // 100, 0),
        "millennium": ((moment.year + 999) // 1000, 0),
        "week": (iso_week, 0),
        "isoyear": (iso_year, 0),
        "isodow": (iso_day, 0),
        "dow": (iso_day % 7, 0),
        "doy": (moment.timetuple().tm_yday, 0),
        "epoch": (microseconds(moment), 6),
    }


def test_fields_of_timestamps_and_dates() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES // 5):
        moment = moments(chooser)
        days = microseconds(moment) // DAY_US
        for field, expected in fields_of(moment).items():
            lo, hi, scale = fields.extract_timestamp(FIELD_CODES[field], microseconds(moment))
            assert ((lo, scale), hi) == (expected, lo >> 63), (field, moment)
            part = fields.date_part_timestamp(FIELD_CODES[field], microseconds(moment))
            assert abs(part - expected[0] / 10.0 ** expected[1]) <= 1e-15 * abs(part)
            if FIELD_CODES[field] >= fields.DAY and field != "epoch":
                assert fields.extract_date(FIELD_CODES[field], days) == (lo, hi, 0)
        assert fields.extract_date(fields.EPOCH, days)[0] == days * 86_400
        assert fields.extract_date(fields.JULIAN, days)[0] == days + 2_440_588


def test_every_alias_names_its_unit() -> None:
    assert UNIT_CODES["usec"] == fields.MICROSECONDS
    assert FIELD_CODES["centuries"] == fields.CENTURY
    assert set(UNIT_CODES) < set(FIELD_CODES)


def later(us: int, months: int, days: int, micros: int) -> tuple[int, int]:
    """add_interval by Python's integers."""
    for step in ("months", "days"):
        day, time = divmod(us, DAY_US)
        if step == "months" and months:
            year, month, day_of_month = civil_of(day)
            year, month = divmod(year * 12 + month - 1 + months, 12)
            last = monthrange(year % 400 + 400, month + 1)[1]
            day = days_of(year, month + 1, min(day_of_month, last))
        elif step == "days" and days:
            day += days
        us = day * DAY_US + time
        if not calendar.TIMESTAMP_US_MIN <= us < calendar.TIMESTAMP_US_END:
            return 0, TIMESTAMP_RANGE
    us += micros
    return (us, OK) if calendar.TIMESTAMP_US_MIN <= us < calendar.TIMESTAMP_US_END else (0, TIMESTAMP_RANGE)


def test_intervals() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        us = chooser.choice(
            [microseconds(moments(chooser)), chooser.randrange(calendar.TIMESTAMP_US_MIN, calendar.TIMESTAMP_US_END)]
        )
        months = chooser.choice([0, chooser.randint(-30, 30), chooser.randint(-60_000, 60_000)])
        days = chooser.choice([0, chooser.randint(-40, 40), chooser.randint(-(1 << 31), (1 << 31) - 1)])
        micros = chooser.choice([0, chooser.randint(-DAY_US, DAY_US), chooser.randint(-(1 << 63), (1 << 63) - 1)])
        assert shifts.add_interval_us(us, months, days, micros) == later(us, months, days, micros)


def test_dates_plus_days() -> None:
    last = calendar.DATE_DAYS_END - 1
    assert calendar.date_add_days(0, 31) == (31, OK)
    assert calendar.date_subtract_days(0, 31) == (-31, OK)
    assert calendar.date_add_days(last, 1) == (0, DATE_RANGE)
    assert calendar.date_add_days(last, 0) == (last, OK)
    assert calendar.date_subtract_days(calendar.DATE_DAYS_MIN, 1) == (0, DATE_RANGE)


def test_bins() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        us, origin = (microseconds(moments(chooser)) for _ in range(2))
        width = chooser.choice([1, 7, 1_000_000, 900_000_000, DAY_US, 10_000 * DAY_US])
        start, error = shifts.date_bin_us(width, us, origin)
        if error == TIMESTAMP_RANGE:
            assert us - width < calendar.TIMESTAMP_US_MIN
            continue
        assert error == OK and start <= us < start + width and (start - origin) % width == 0, (width, us, origin)


def test_edges_of_bins() -> None:
    infinity, least, last = calendar.TIMESTAMP_INFINITY, calendar.TIMESTAMP_US_MIN, calendar.TIMESTAMP_US_END - 1
    assert shifts.date_bin_us(5, infinity, infinity) == (infinity, OK)
    assert shifts.date_bin_us(5, -infinity, 0) == (-infinity, OK)
    assert shifts.date_bin_us(5, 0, infinity) == (0, BIN_ORIGIN)
    assert shifts.date_bin_us(5, last, least) == (0, INTERVAL_RANGE)
    assert shifts.date_bin_us(10, least, least + 1) == (0, TIMESTAMP_RANGE)
    assert shifts.date_bin_us(2**63 - 1, least, 0) == (0, TIMESTAMP_RANGE)


def test_moments_of_seconds() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        seconds = chooser.choice([chooser.uniform(-1e10, 1e11), chooser.randrange(-(10**9), 10**10) / 10**6])
        expected = round((seconds - 946_684_800) * 1e6) + 946_684_800_000_000
        assert calendar.timestamp_from_epoch(float(seconds)) == (expected, OK), seconds
    assert calendar.timestamp_from_epoch(math.nan) == (0, TIMESTAMP_NAN)
    assert calendar.timestamp_from_epoch(math.inf) == (calendar.TIMESTAMP_INFINITY, OK)
    assert calendar.timestamp_from_epoch(-math.inf) == (-calendar.TIMESTAMP_INFINITY, OK)
    assert calendar.timestamp_from_epoch(1e300) == (0, TIMESTAMP_RANGE)
    assert calendar.timestamp_from_epoch(-1e12) == (0, TIMESTAMP_RANGE)
