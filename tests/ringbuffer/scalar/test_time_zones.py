"""Zone tables and the way between UTC and local time against zoneinfo; test_golden.py has
PostgreSQL's answers.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from ringbuffer.memory.error_codes import DATE_OUT_OF_TIMESTAMP, OK, TIMESTAMP_RANGE
from ringbuffer.scalar.calendars.calendar import DAY_US, ERA_DAYS, HOUR_US, SECOND_US, TIMESTAMP_US_END
from ringbuffer.scalar.calendars.fields import DAY, FIELD_CODES, HOUR, date_part_zoned, date_trunc_zoned, extract_zoned
from ringbuffer.scalar.calendars.shifts import add_interval_zoned
from ringbuffer.scalar.calendars.time_zones import UnknownZoneError, local_to_utc, utc_to_local, zone_table
from ringbuffer.scalar.calendars.zoned_calendar import date_to_timestamptz, timestamptz_to_date

SEED = 20_261_120
CASES = 3_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZONES = (
    "UTC",
    "America/New_York",
    "Europe/Dublin",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Pacific/Apia",
)


def microseconds(moment: datetime) -> int:
    """Return the microseconds since 1970 of a UTC moment, or of the clock face of a local one."""
    return (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize("name", ZONES)
def test_utc_to_local_is_zoneinfo_s(name: str) -> None:
    chooser = random.Random(SEED)
    table, zone = zone_table(name), ZoneInfo(name)
    for _ in range(CASES):
        moment = EPOCH + timedelta(seconds=chooser.randrange(-5_000_000_000, 15_000_000_000))
        local = moment.astimezone(zone)
        assert utc_to_local(microseconds(moment), *table) == microseconds(local), moment


@pytest.mark.parametrize("name", ZONES)
def test_rules_repeat_after_400_years(name: str) -> None:
    chooser = random.Random(SEED)
    table = zone_table(name)
    for _ in range(CASES):
        us = chooser.randrange(150 * 365 * DAY_US, 500 * 365 * DAY_US)
        offset = utc_to_local(us, *table) - us
        later = us + chooser.randrange(1, 700) * ERA_DAYS * DAY_US
        assert utc_to_local(later, *table) - later == offset


@pytest.mark.parametrize("name", ZONES)
def test_local_to_utc_undoes_it_where_time_is_single(name: str) -> None:
    chooser = random.Random(SEED)
    table, zone = zone_table(name), ZoneInfo(name)
    transitions = [int(us) for us in table[0][1:]] or [0]
    for _ in range(CASES):
        us = chooser.choice(transitions) // SECOND_US * SECOND_US + chooser.randrange(-2 * DAY_US, 2 * DAY_US)
        if not -100 * 365 * DAY_US < us < 300 * 365 * DAY_US:
            continue
        face = (EPOCH + timedelta(microseconds=us)).replace(tzinfo=zone)
        candidates = {face.replace(fold=fold).astimezone(UTC) for fold in (0, 1)}
        utc, error = local_to_utc(us, *table)
        assert error == OK
        assert utc in {microseconds(candidate) for candidate in candidates}, (name, face)


def test_skipped_and_doubled_hours() -> None:
    table = zone_table("America/New_York")
    skipped = microseconds(datetime(2024, 3, 10, 2, 30, tzinfo=UTC))
    doubled = microseconds(datetime(2024, 11, 3, 1, 30, tzinfo=UTC))
    assert local_to_utc(skipped, *table) == (skipped + 5 * HOUR_US, OK)
    assert local_to_utc(doubled, *table) == (doubled + 5 * HOUR_US, OK)
    # Below a day, truncation keeps the offset of the time itself: both half past ones keep their
    # own hour.
    for offset in (4, 5):
        assert date_trunc_zoned(HOUR, doubled + offset * HOUR_US, *table) == (
            doubled - HOUR_US // 2 + offset * HOUR_US,
            OK,
        )
    midnight = doubled - doubled % DAY_US
    assert date_trunc_zoned(DAY, doubled + 5 * HOUR_US, *table) == (midnight + 4 * HOUR_US, OK)


def test_intervals_keep_the_clock_face_and_times_do_not() -> None:
    table = zone_table("America/New_York")
    noon = microseconds(datetime(2024, 3, 9, 17, tzinfo=UTC))
    assert add_interval_zoned(noon, 0, 1, 0, *table) == (noon + DAY_US - HOUR_US, OK)
    assert add_interval_zoned(noon, 0, 0, DAY_US, *table) == (noon + DAY_US, OK)
    assert add_interval_zoned(noon, 1, 0, 0, *table) == (noon + 31 * DAY_US - HOUR_US, OK)
    assert add_interval_zoned(TIMESTAMP_US_END - 1, 0, 0, 1, *table) == (0, TIMESTAMP_RANGE)


def test_fields_of_the_zone() -> None:
    us = microseconds(datetime(2024, 1, 1, tzinfo=UTC))
    expected = {"timezone": -12_600, "timezone_hour": -3, "timezone_minute": -30, "hour": 20}
    for field, value in expected.items():
        assert extract_zoned(FIELD_CODES[field], us, *zone_table("America/St_Johns")) == (value, value >> 63, 0)
        assert date_part_zoned(FIELD_CODES[field], us, *zone_table("America/St_Johns")) == value
    assert extract_zoned(FIELD_CODES["epoch"], us, *zone_table("America/St_Johns"))[0] == us


def test_dates() -> None:
    table = zone_table("Asia/Kolkata")
    assert date_to_timestamptz(1, *table) == (DAY_US - 19_800 * SECOND_US, OK)
    assert timestamptz_to_date(DAY_US - 19_800 * SECOND_US, *table) == (1, OK)
    assert date_to_timestamptz(200_000_000, *table) == (0, DATE_OUT_OF_TIMESTAMP)


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("utc", 0),
        ("+05:30", -19_800),
        ("-08", 28_800),
        ("<+0530>-05:30", 19_800),
        ("UTC+3", -10_800),
        ("asia/kolkata", None),
    ],
)
def test_names(name: str, seconds: int | None) -> None:
    transitions, offsets = zone_table(name)
    assert (len(transitions), list(offsets)) == (1, [seconds]) if seconds is not None else len(transitions) > 1


@pytest.mark.parametrize("name", ["", "Nowhere/City", "../etc/passwd", "Europe", "+200"])
def test_unknown_names(name: str) -> None:
    with pytest.raises(UnknownZoneError):
        zone_table(name)
