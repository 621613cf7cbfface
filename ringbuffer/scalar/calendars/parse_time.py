"""Dates and timestamps from ISO text: 2020-01-02, 2020-01-02 03:04[:05[.123456]] with a space or T,
and an offset or Z at the end.

Every other spelling that PostgreSQL takes, and everything that it refuses, is NEEDS_FALLBACK: the
caller's slow parser knows the words and the errors. Enter: `buffer` uint8[n], the field's bytes
[start, end), and the session's zone as a table (an empty one: not known).
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import signed_word
from ringbuffer.memory.error_codes import NEEDS_FALLBACK, OK
from ringbuffer.scalar.calendars.calendar import (
    DATE_INFINITY,
    DAY_US,
    HOUR_US,
    MINUTE_US,
    SECOND_US,
    TIMESTAMP_INFINITY,
    days_from_civil,
    days_of_month,
)
from ringbuffer.scalar.calendars.time_zones import Offsets, Transitions, local_to_utc
from ringbuffer.scalar.numbers.fields import INFINITY, Bytes, is_word, trim

DATE_CHARACTERS = 10
# PostgreSQL's limit is below 16 hours.
OFFSET_HOURS_MAX = 15


@kernel
def parse_date(buffer: Bytes, start: int, end: int) -> tuple[int, int]:
    """Return (days since 1970-01-01, error) of yyyy-mm-dd; an offset may follow, as JDBC writes
    one.
    """
    start, end = trim(buffer, start, end)
    if end - start < DATE_CHARACTERS or (end - start > DATE_CHARACTERS and buffer[start + DATE_CHARACTERS] != 32):
        sign = infinity_sign(buffer, start, end)
        return sign * DATE_INFINITY, OK if sign != 0 else NEEDS_FALLBACK
    if end - start > DATE_CHARACTERS:
        _, error = parse_offset(buffer, start + DATE_CHARACTERS, end)
        if error != OK:
            return 0, error
    return parse_day(buffer, start)


@kernel
def infinity_sign(buffer: Bytes, start: int, end: int) -> int:
    """Return 1 for infinity, -1 for -infinity, else 0."""
    if is_word(buffer, start, end, INFINITY):
        return 1
    return -1 if end > start and buffer[start] == 45 and is_word(buffer, start + 1, end, INFINITY) else 0


@kernel
def parse_timestamp(
    buffer: Bytes, start: int, end: int, zoned: bool, transitions: Transitions, offsets: Offsets
) -> tuple[int, int]:
    """Return (microseconds since 1970-01-01, error), in UTC if `zoned`, else local.

    A local timestamp ignores an offset in the text.
    """
    start, end = trim(buffer, start, end)
    sign = infinity_sign(buffer, start, end)
    if sign != 0:
        return sign * TIMESTAMP_INFINITY, OK
    if end - start < DATE_CHARACTERS:
        return 0, NEEDS_FALLBACK
    days, error = parse_day(buffer, start)
    if error != OK:
        return 0, error
    us = days * DAY_US
    at = start + DATE_CHARACTERS
    if at < end:
        time_us, at, error = parse_time_of_day(buffer, at, end)
        if error != OK:
            return 0, error
        us += time_us
    if at < end:
        offset_us, error = parse_offset(buffer, at, end)
        if error != OK:
            return 0, error
        return (us - offset_us if zoned else us), OK
    if not zoned:
        return us, OK
    if len(transitions) == 0:
        return 0, NEEDS_FALLBACK
    utc, error = local_to_utc(us, transitions, offsets)
    return (utc, OK) if error == OK else (0, NEEDS_FALLBACK)


@kernel
def parse_day(buffer: Bytes, at: int) -> tuple[int, int]:
    """Return (days, error) of the ten bytes yyyy-mm-dd at `at`."""
    century = two_digits(buffer, at)
    years = two_digits(buffer, at + 2)
    month = two_digits(buffer, at + 5)
    day = two_digits(buffer, at + 8)
    year = century * 100 + years
    if century < 0 or years < 0 or year == 0 or buffer[at + 4] != 45 or buffer[at + 7] != 45:
        return 0, NEEDS_FALLBACK
    if month < 1 or month > 12 or day < 1 or day > days_of_month(year, month):
        return 0, NEEDS_FALLBACK
    return days_from_civil(year, month, day), OK


@kernel
def parse_time_of_day(buffer: Bytes, at: int, end: int) -> tuple[int, int, int]:
    """Return (microseconds, end of what was read, error) of [ T]hh:mm[:ss[.f]]."""
    if end - at < 6 or not (buffer[at] == 32 or (buffer[at] | 32) == 116) or buffer[at + 3] != 58:
        return 0, at, NEEDS_FALLBACK
    hour = two_digits(buffer, at + 1)
    minute = two_digits(buffer, at + 4)
    if hour < 0 or hour > 23 or minute < 0 or minute > 59:
        return 0, at, NEEDS_FALLBACK
    us = hour * HOUR_US + minute * MINUTE_US
    at += 6
    if end - at < 3 or buffer[at] != 58:
        return us, at, OK
    second = two_digits(buffer, at + 1)
    if second < 0 or second > 59:
        return 0, at, NEEDS_FALLBACK
    us += second * SECOND_US
    at += 3
    if at < end and buffer[at] == 46:
        at += 1
        unit = SECOND_US
        while at < end and 48 <= buffer[at] <= 57:
            unit //= 10
            if unit == 0:
                return 0, at, NEEDS_FALLBACK
            us += (signed_word(buffer[at]) - 48) * unit
            at += 1
    return us, at, OK


@kernel
def parse_offset(buffer: Bytes, at: int, end: int) -> tuple[int, int]:
    """Return (microseconds east of UTC, error) of Z or ±hh, ±hhmm, ±hh:mm, after at most one
    space.
    """
    if buffer[at] == 32:
        at += 1
    length = end - at
    if length == 1 and (buffer[at] | 32) == 122:
        return 0, OK
    if length != 3 and length != 5 and length != 6:
        return 0, NEEDS_FALLBACK
    hours = two_digits(buffer, at + 1)
    minutes = 0
    if length == 5:
        minutes = two_digits(buffer, at + 3)
    elif length == 6:
        minutes = two_digits(buffer, at + 4) if buffer[at + 3] == 58 else -1
    if hours < 0 or hours > OFFSET_HOURS_MAX or minutes < 0 or minutes > 59:
        return 0, NEEDS_FALLBACK
    offset = hours * HOUR_US + minutes * MINUTE_US
    if buffer[at] == 43:
        return offset, OK
    if buffer[at] == 45:
        return -offset, OK
    return 0, NEEDS_FALLBACK


@kernel
def two_digits(buffer: Bytes, at: int) -> int:
    """Return 0 to 99, or -1 when the two bytes at `at` are not digits."""
    tens = signed_word(buffer[at]) - 48
    ones = signed_word(buffer[at + 1]) - 48
    if tens < 0 or tens > 9 or ones < 0 or ones > 9:
        return -1
    number: int = tens * 10 + ones
    return number
