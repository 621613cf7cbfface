"""ISO dates and timestamps against datetime; everything else must go to the fallback."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from ringbuffer.decode.slow_fields import NO_ZONE
from ringbuffer.memory import error_codes as codes
from ringbuffer.scalar.calendars.parse_time import parse_date, parse_timestamp
from ringbuffer.scalar.calendars.time_zones import zone_table
from tests.ringbuffer.decode.test_fields import text_bytes

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize("seed", range(2))
def test_dates(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(1000):
        day = date.fromordinal(rng.randrange(1, date.max.toordinal()))
        text = day.isoformat()
        assert parse_date(text_bytes(text), 0, 10) == ((day - date(1970, 1, 1)).days, codes.OK)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2020-1-2",
        "2020-02-30",
        "2020-13-01",
        "0000-01-01",
        "20200102",
        "today",
        "2020/01/02",
        "2020-01-02 BC",
        "x020-01-02",
    ],
)
def test_other_dates_need_the_fallback(text: str) -> None:
    assert parse_date(text_bytes(text), 0, len(text)) == (0, codes.NEEDS_FALLBACK)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"])
def test_timestamps(zone: str) -> None:
    rng = random.Random(zone)
    transitions, offsets = zone_table(zone)
    for _ in range(1500):
        local = datetime(1971, 1, 1) + timedelta(microseconds=rng.randrange(60 * 365 * 86_400_000_000))  # noqa: DTZ001
        digits = rng.choice((None, 0, 1, 3, 6))
        if digits is None:
            local = local.replace(second=0, microsecond=0)
            text = local.strftime("%Y-%m-%d %H:%M")
        else:
            step = 10 ** (6 - digits)
            local = local.replace(microsecond=local.microsecond // step * step)
            text = local.strftime("%Y-%m-%dT%H:%M:%S") + (f".{local.microsecond:06d}"[: digits + 1] if digits else "")
        naive = microseconds(local.replace(tzinfo=UTC))
        assert parse_timestamp(text_bytes(text), 0, len(text), False, transitions, offsets) == (naive, codes.OK), text
        moment = local.replace(tzinfo=ZoneInfo(zone))
        # A skipped or doubled local time is PostgreSQL's choice, which the tests of time_zones
        # hold.
        if moment.astimezone(UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) == local and (
            moment.utcoffset() == moment.replace(fold=1).utcoffset()
        ):
            found = parse_timestamp(text_bytes(text), 0, len(text), True, transitions, offsets)
            assert found == (microseconds(moment), codes.OK), text
        minutes = rng.randrange(-15 * 60, 15 * 60)
        sign = "-" if minutes < 0 else "+"
        hour, minute = divmod(abs(minutes), 60)
        form = rng.choice(("{}{:02d}:{:02d}", "{}{:02d}{:02d}", " {}{:02d}:{:02d}"))
        written = text + form.format(sign, hour, minute)
        moment = local.replace(tzinfo=timezone(timedelta(minutes=minutes)))
        found = parse_timestamp(text_bytes(written), 0, len(written), True, *NO_ZONE)
        assert found == (microseconds(moment), codes.OK), written
        assert parse_timestamp(text_bytes(written), 0, len(written), False, *NO_ZONE) == (naive, codes.OK)


@pytest.mark.parametrize(
    "text",
    ["2020-01-02 24:00:00", "2020-01-02 10:11:60", "2020-01-02 10", "2020-01-02 10:11:12.1234567", "2020-01-02 10:11:12 CET",
     "2020-01-02 10:11:12+16", "2020-01-02 10:11:12+5", "2020-01-02 10:11 PM", "now", "2020-01-02 10:60", "2020-01-02 10:11:12+05:60"],
)  # fmt: skip
def test_other_timestamps_need_the_fallback(text: str) -> None:
    table = zone_table("UTC")
    assert parse_timestamp(text_bytes(text), 0, len(text), True, *table) == (0, codes.NEEDS_FALLBACK)


def test_unknown_zone_needs_the_fallback() -> None:
    text = "2020-01-02 10:11"
    assert parse_timestamp(text_bytes(text), 0, len(text), True, *NO_ZONE) == (0, codes.NEEDS_FALLBACK)
    assert parse_timestamp(text_bytes(text + "Z"), 0, len(text) + 1, True, *NO_ZONE)[1] == codes.OK
    assert parse_timestamp(text_bytes("2020-01-02"), 0, 10, False, *NO_ZONE) == (
        int(np.int64(18263)) * 86_400_000_000,
        codes.OK,
    )
