"""Rows of pg_timezone_names and pg_timezone_abbrevs: the zones of the system's database, as they
are at a moment.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from sql.times.zone_names import FIXED

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SUMMER = frozenset(
    """
    acdt acsst adt aedt aesst akdt awsst azost bdst brst bst cadt cdt cest cetdst clst edt eest eetdst egst fnst idt mdt mest mesz
    metdst msd ndt nzdt pdt pkst pmdt pyst uyst wadt wdt wetdst wgst yekst chadt fjst
    """.split()
)


def moment(micros: int) -> datetime:
    """Return a time given in microseconds since 1970."""
    return EPOCH + timedelta(microseconds=micros)


def zone_rows(now_us: int) -> list[dict[str, Any]]:
    """Return the rows of pg_timezone_names at a time in microseconds since 1970."""
    rows = []
    for name in sorted(available_timezones()):
        local = moment(now_us).astimezone(ZoneInfo(name))
        rows.append({
            "name": name, "abbrev": local.tzname(), "utc_offset": seconds_of(local.utcoffset() or timedelta(0)),
            "is_dst": bool(local.dst()),
        })  # fmt: skip
    return rows


def abbreviation_rows() -> list[dict[str, Any]]:
    """Return the rows of pg_timezone_abbrevs: abbreviations that always mean one distance from
    UTC.
    """
    rows = []
    for distance, words in FIXED.items():
        hours, minutes = distance[1:].split(":")
        offset = timedelta(hours=int(hours), minutes=int(minutes)) * (-1 if distance[0] == "-" else 1)
        rows += [
            {"abbrev": word.upper(), "utc_offset": seconds_of(offset), "is_dst": word in SUMMER}
            for word in words.split()
        ]
    return sorted(rows, key=lambda row: str(row["abbrev"]))


def seconds_of(offset: timedelta) -> int:
    """Return a distance from UTC in seconds; east is positive."""
    return offset // timedelta(seconds=1)
