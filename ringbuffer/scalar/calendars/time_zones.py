"""Time zones as arrays, and the way between UTC and local time in kernels.

A zone is (transitions int64[n], offsets int32[n]): offsets[i] seconds east of UTC hold from
transitions[i] microseconds UTC on; transitions[0] is the least int64. Rules that go on for ever
repeat after 400 years, so later times are looked up some cycles earlier. Timestamps are
microseconds since 1970, UTC or local as said. Must not read the clock.
"""

from __future__ import annotations

import re
import struct
import zoneinfo
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import OK, TIMESTAMP_RANGE
from ringbuffer.scalar.calendars.calendar import DAY_US, ERA_DAYS, SECOND_US, check_timestamp, is_infinite_timestamp

Transitions = npt.NDArray[np.int64]
Offsets = npt.NDArray[np.int32]


class Zone(NamedTuple):
    """A zone as kernels read it."""

    transitions: Transitions
    offsets: Offsets


# Zones whose rules go on have a table up to LAST_YEAR: files list transitions up to 2037 or so,
# then a cycle of 400 years follows.
LAST_YEAR = 2450
PROBE_DAYS = 28
CYCLE_US = ERA_DAYS * DAY_US
RULES_GO_ON_US = int(datetime(LAST_YEAR - 1, 1, 1, tzinfo=UTC).timestamp()) * SECOND_US
ALWAYS = -(1 << 63)
# The second year that Python has; no zone changed before it.
FIRST_US = int(datetime(2, 1, 1, tzinfo=UTC).timestamp()) * SECOND_US

# A POSIX zone: an abbreviation and the hours west of UTC, as in 'UTC+3', '<+0530>-05:30' and,
# without abbreviation, '-05:30'.
POSIX_ZONE = re.compile(r"(?:<([^<>]*)>|([A-Za-z]*))([+-]?)(\d{1,3})(?::(\d{1,2}))?(?::(\d{1,2}))?")
POSIX_HOURS_MAX = 167

TZIF_HEADER_BYTES = 44


class UnknownZoneError(LookupError):
    """The name is not a time zone."""


@lru_cache(maxsize=1024)
def zone_table(name: str) -> Zone:
    """Return (transitions, offsets) of a zone of the time zone database, in any case, or a fixed
    POSIX one (its sign is west).
    """
    zone = find_zone(name)
    if isinstance(zone, int):
        changes = [(ALWAYS, zone)]
    else:
        changes, rules_go_on = read_transitions(zone.key)
        if rules_go_on:
            changes += probe_transitions(zone, changes[-1])
    kept = [change for i, change in enumerate(changes) if i == 0 or change[1] != changes[i - 1][1]]
    transitions = np.array([us for us, _ in kept], dtype=np.int64)
    offsets = np.array([seconds for _, seconds in kept], dtype=np.int32)
    return Zone(transitions, offsets)


def zone_number(name: str) -> int:
    """Return a name as a number, which can stand in generated code."""
    return int.from_bytes(name.encode(), "big")


def numbered_zone(number: int) -> tuple[Transitions, Offsets]:
    """Return `zone_table` of the zone with this number."""
    return zone_table(number.to_bytes((number.bit_length() + 7) // 8, "big").decode())


def find_zone(name: str) -> zoneinfo.ZoneInfo | int:
    """Return the zone, or the seconds east of UTC of a fixed one."""
    if name.upper() in {"UTC", "GMT", "Z"}:
        return 0
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        pass
    match = POSIX_ZONE.fullmatch(name)
    if match is not None and int(match[4]) <= POSIX_HOURS_MAX:
        seconds = int(match[4]) * 3600 + int(match[5] or 0) * 60 + int(match[6] or 0)
        return seconds if match[3] == "-" else -seconds
    for known in zoneinfo.available_timezones():
        if known.lower() == name.lower():
            return zoneinfo.ZoneInfo(known)
    raise UnknownZoneError(name)


def zone_abbreviation(us: int, name: str) -> str:
    """Return what the time of a zone is called at an instant, '' where a fixed zone has no name for
    it.
    """
    fixed = POSIX_ZONE.fullmatch(name)
    if fixed is not None:
        return fixed[1] or fixed[2] or ""
    cycles = max(0, (us - RULES_GO_ON_US) // CYCLE_US + 1)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=max(us - cycles * CYCLE_US, FIRST_US))
    return moment.astimezone(zoneinfo.ZoneInfo(name)).tzname() or ""


def read_transitions(key: str) -> tuple[list[tuple[int, int]], bool]:
    """Return ((microseconds, offset seconds) of a zone's TZif file, whether daylight saving goes on
    after the last one).
    """
    data = zone_file(key)
    counts = struct.unpack_from(">6l", data, 20)
    utc_count, standard_count, leap_count, times_count, types_count, characters_count = counts
    start, time_bytes, form = TZIF_HEADER_BYTES, 4, "l"
    if data[4:5] >= b"2":
        first_block_bytes = (
            times_count * 5 + types_count * 6 + characters_count + leap_count * 8 + standard_count + utc_count
        )
        second = TZIF_HEADER_BYTES + first_block_bytes
        utc_count, standard_count, leap_count, times_count, types_count, characters_count = struct.unpack_from(
            ">6l", data, second + 20
        )
        start, time_bytes, form = second + TZIF_HEADER_BYTES, 8, "q"
    times = struct.unpack_from(f">{times_count}{form}", data, start)
    indexes_start = start + times_count * time_bytes
    indexes = data[indexes_start : indexes_start + times_count]
    types_start = indexes_start + times_count
    offsets = [struct.unpack_from(">lBB", data, types_start + 6 * i)[0] for i in range(types_count)]
    changes = [(ALWAYS, offsets[0])]
    # Some files begin with a transition at the big bang, which isn't one.
    changes += [
        (t * SECOND_US, offsets[i]) for t, i in zip(times, indexes, strict=True) if abs(t) < -ALWAYS // SECOND_US
    ]
    footer_start = (
        types_start + types_count * 6 + characters_count + leap_count * (time_bytes + 4) + standard_count + utc_count
    )
    return changes, b"," in data[footer_start:]


def zone_file(key: str) -> bytes:
    """Return the bytes of a zone's file: the system's, or the one of the tzdata package, in the
    order of zoneinfo.
    """
    for folder in zoneinfo.TZPATH:
        path = Path(folder, key)
        if path.is_file():
            return path.read_bytes()
    return resources.files("tzdata").joinpath("zoneinfo", *key.split("/")).read_bytes()


def probe_transitions(zone: zoneinfo.ZoneInfo, last: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the (microseconds, offset seconds) that a zone's rules give after its `last` listed
    transition, up to LAST_YEAR.
    """
    changes: list[tuple[int, int]] = []
    start = datetime.fromtimestamp(max(last[0], 0) // SECOND_US, UTC)
    offset = last[1]
    end = datetime(LAST_YEAR, 1, 1, tzinfo=UTC)
    while start < end:
        following = start + timedelta(days=PROBE_DAYS)
        new_offset = offset_seconds(zone, following)
        if new_offset != offset:
            changes.append((find_transition(zone, start, following) * SECOND_US, new_offset))
            offset = new_offset
        start = following
    return changes


def offset_seconds(zone: zoneinfo.ZoneInfo, moment: datetime) -> int:
    """Return the seconds east of UTC at a moment."""
    offset = moment.astimezone(zone).utcoffset()
    assert offset is not None
    return round(offset.total_seconds())


def find_transition(zone: zoneinfo.ZoneInfo, before: datetime, after: datetime) -> int:
    """Return the first second since 1970 with the offset of `after`."""
    offset = offset_seconds(zone, after)
    low, high = int(before.timestamp()), int(after.timestamp())
    while low + 1 < high:
        middle = (low + high) // 2
        if offset_seconds(zone, datetime.fromtimestamp(middle, UTC)) == offset:
            high = middle
        else:
            low = middle
    return high


@kernel
def utc_to_local(us: int, transitions: Transitions, offsets: Offsets) -> int:
    """Return the local time of a UTC time.

    At the ends it may lie outside of the range of timestamps.
    """
    if is_infinite_timestamp(us):
        return us
    local: int = us + zone_offset_us(us, transitions, offsets)
    return local


@kernel
def zone_offset_us(us: int, transitions: Transitions, offsets: Offsets) -> int:
    """Return the microseconds that the zone is east of UTC at the UTC time `us`."""
    if len(transitions) == 1:
        index = 0
    else:
        index = later_transition(us - cycles_us(us, transitions), transitions) - 1
    offset: int = offsets[index] * SECOND_US
    return offset


@kernel
def cycles_us(us: int, transitions: Transitions) -> int:
    """Return the whole cycles of rules, in microseconds, by which `us` lies beyond the table.

    0 where it does not.
    """
    last: int = transitions[len(transitions) - 1]
    if last < RULES_GO_ON_US or us < last:
        return 0
    return ((us - last) // CYCLE_US + 1) * CYCLE_US


@kernel
def later_transition(us: int, transitions: Transitions) -> int:
    """Return the index of the first transition after `us`, or their number."""
    low, high = 1, len(transitions)
    while low < high:
        middle = (low + high) >> 1
        if us < transitions[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def local_to_utc(us: int, transitions: Transitions, offsets: Offsets) -> tuple[int, int]:
    """Return (UTC time of a local time, error).

    A time that the zone skips counts as before the change, a doubled one as after it.

    As PostgreSQL does it: only the first transition after a day earlier is considered, and at whole
    seconds.
    """
    if is_infinite_timestamp(us):
        return us, OK
    offset = offsets[0] * SECOND_US
    if len(transitions) > 1:
        second = us // SECOND_US * SECOND_US
        shift = cycles_us(us - DAY_US, transitions)
        second -= shift
        index = later_transition(second - DAY_US, transitions)
        offset = offsets[index - 1] * SECOND_US
        if index < len(transitions):
            boundary = transitions[index]
            offset_after = offsets[index] * SECOND_US
            before = second - offset
            after = second - offset_after
            if (before > boundary and after >= boundary) or (
                (before >= boundary or after >= boundary) and before <= after
            ):
                offset = offset_after
    utc = us - offset
    if check_timestamp(us) != OK or check_timestamp(utc) != OK:
        return 0, TIMESTAMP_RANGE
    return utc, OK
