"""PostgreSQL's text input of date, timestamp and timestamptz: fields by shape, then their meaning.

Enters: a text, the order in which the session writes dates (MDY, DMY or YMD), and the zone of a
timestamptz that is written without one. Leaves: days or microseconds since 1970-01-01. Follows
PostgreSQL's ParseDateTime and DecodeDateTime. Words that depend on the clock ('now', 'today') are
0A000 here: bind makes calls of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sql.errors import SqlError, not_supported
from sql.times.civil import (
    DATE_DAYS_END,
    DATE_DAYS_MIN,
    DATE_INFINITY,
    DAY_US,
    SECOND_US,
    TIMESTAMP_INFINITY,
    TIMESTAMP_US_END,
    TIMESTAMP_US_MIN,
    civil_from_days,
    days_from_civil,
    days_in_month,
    local_to_utc_us,
)
from sql.times.zone_names import ABBREVIATIONS, MOVING, MOVING_HINT, zone_names

ZONE_HOURS_MAX = 15
JULIAN_DIGITS_MAX = 10
# PostgreSQL has room for this many characters, white space not counted.
CHARACTERS_MAX = 256
JULIAN_DAY_MAX = (1 << 31) - 1

ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?")

SHAPES = re.compile(
    r"""
      \s+
    | (?P<time> \d+ : [\d:.]* )
    | (?P<date> \d+ (?: - (?:[A-Za-z]+|\d+) (?: - (?: \d+(?=[Tt]\d) | [A-Za-z\d-]* ) )? | / (?:[A-Za-z]+|\d+) (?: / [A-Za-z\d/]* )?
              | \. (?: \d+ \. [A-Za-z\d.]* | [A-Za-z]+ (?: \. [A-Za-z\d.]* )? ) )
            | [A-Za-z]+ [-/.] \d+ [-/.] \d+ )
    | (?P<number> \d+ (?: \. \d* )? | \.\d+ )
    | (?P<zone> [+-] \s* \d [\d:.]* )
    | (?P<word> [A-Za-z]+ (?: [/_+-] [A-Za-z\d_/+-]* )? )
    | (?P<special> [+-] \s* [A-Za-z]+ )
    | (?P<other> [^A-Za-z\d+-] )
    | (?P<bad> . )
    """,
    re.VERBOSE,
)

MONTHS = {name: number + 1 for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split())}
MONTHS |= {
    name: number + 1
    for number, name in enumerate(
        "january february march april may june july august september october november december".split()
    )
}
MONTHS |= {"sept": 9}
WEEKDAYS = frozenset(
    """
    sun mon tue wed thu fri sat sunday monday tuesday wednesday thursday friday saturday tues wednes thur thurs weds
    """.split()
)
IGNORED = frozenset({"at", "on"})
INFINITE = {"infinity": 1, "-infinity": -1}
CLOCK_WORDS = frozenset({"now", "today", "tomorrow", "yesterday"})
SPECIALS = CLOCK_WORDS | INFINITE.keys() | {"epoch"}


class InvalidTextError(Exception):
    """The text is no date or time (22007)."""


class OutOfRangeError(Exception):
    """A field is outside its range (22008).

    Attributes:
        ambiguous: another DateStyle might read the text.
    """

    def __init__(self, ambiguous: bool = False) -> None:
        super().__init__()
        self.ambiguous = ambiguous


@dataclass
class Fields:
    """The fields that have been read so far.

    Attributes:
        time_us: microseconds of the day.
        offset_s: seconds east of Greenwich.
        order: the meaning of 1/2/3.
        is_dated: of a time of day, a date stands before it.
        day_of_year: instead of month and day, from 1.
        awaits_julian: a J was read, and the number of the day is to come.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    two_digits: bool = False
    text_month: bool = False
    time_us: int | None = None
    has_zone: bool = False
    offset_s: int = 0
    zone: str = ""
    half: str = ""
    before_christ: bool = False
    special: str = ""
    order: str = "MDY"
    is_dated: bool = False
    day_of_year: int = 0
    awaits_julian: bool = False


def date_value(text: str, position: int | None = None, order: str = "MDY") -> int:
    """Return the days since 1970-01-01 that `text` means as a date."""
    iso = ISO.fullmatch(text)
    if iso is not None and iso[4] is None and (days := iso_days(iso)) is not None:
        return days
    found = read(text, "date", position, order)
    if found.special in INFINITE:
        return INFINITE[found.special] * DATE_INFINITY
    days = 0 if found.special == "epoch" else date_of(found, text, "date", position)
    if not DATE_DAYS_MIN <= days < DATE_DAYS_END:
        raise SqlError("22008", f'date out of range: "{text}"', position)
    return days


def timestamp_value(text: str, zone: str, position: int | None = None, order: str = "MDY") -> int:
    """Return the microseconds since 1970-01-01 that `text` means.

    zone: '' for a timestamp without time zone.
    """
    iso = ISO.fullmatch(text)
    if iso is not None and (days := iso_days(iso)) is not None and (clock := iso_time(iso)) is not None:
        local = days * DAY_US + clock
        return local_to_utc_us(local, zone) if zone else local
    kind = "timestamp with time zone" if zone else "timestamp"
    found = read(text, kind, position, order)
    if found.special in INFINITE:
        return INFINITE[found.special] * TIMESTAMP_INFINITY
    if found.special == "epoch":
        return 0
    local = date_of(found, text, kind, position) * DAY_US + (found.time_us or 0)
    if not TIMESTAMP_US_MIN - DAY_US <= local < TIMESTAMP_US_END + DAY_US:
        raise SqlError("22008", f'timestamp out of range: "{text}"', position)
    if zone:
        if found.has_zone and not found.zone:
            local -= found.offset_s * SECOND_US
        else:
            local = local_to_utc_us(local, found.zone or zone)
    if not TIMESTAMP_US_MIN <= local < TIMESTAMP_US_END:
        raise SqlError("22008", f'timestamp out of range: "{text}"', position)
    return local


def iso_days(match: re.Match[str]) -> int | None:
    """Return the days of an ISO date, None when a field is out of range."""
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    if year < 1 or not 1 <= month <= 12 or not 1 <= day <= days_in_month(year, month):
        return None
    return days_from_civil(year, month, day)


def iso_time(match: re.Match[str]) -> int | None:
    if match[4] is None:
        return 0
    hour, minute, second = int(match[4]), int(match[5]), int(match[6])
    if hour > 23 or minute > 59 or second > 59:
        return None
    return ((hour * 60 + minute) * 60 + second) * SECOND_US + int((match[7] or "").ljust(6, "0"))


def read(text: str, kind: str, position: int | None, order: str) -> Fields:
    """Return the fields of `text`, or raise PostgreSQL's error."""
    try:
        return read_fields(text, position, order)
    except InvalidTextError:
        raise SqlError("22007", f'invalid input syntax for type {kind}: "{text}"', position) from None
    except OutOfRangeError as error:
        raise out_of_range(text, position, error.ambiguous) from None


def out_of_range(text: str, position: int | None, ambiguous: bool = False) -> SqlError:
    hint = 'Perhaps you need a different "datestyle" setting.' if ambiguous else None
    return SqlError("22008", f'date/time field value out of range: "{text}"', position, hint=hint)


def date_of(found: Fields, text: str, kind: str, position: int | None) -> int:
    """Return the days since 1970-01-01 of the date in `found`."""
    try:
        return checked_date(found)
    except InvalidTextError:
        raise SqlError("22007", f'invalid input syntax for type {kind}: "{text}"', position) from None
    except OutOfRangeError as error:
        raise out_of_range(text, position, error.ambiguous) from None


def checked_date(found: Fields) -> int:
    year, month, day = found.year, found.month, found.day
    if year is None or month is None or day is None:
        raise InvalidTextError
    if found.before_christ:
        if year == 0:
            raise OutOfRangeError
        year = 1 - year
    elif found.two_digits:
        year += 2000 if year < 70 else 1900 if year < 100 else 0
    elif year == 0:
        raise OutOfRangeError
    if found.day_of_year:
        return days_from_civil(year, 1, 1) + found.day_of_year - 1
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        raise OutOfRangeError(ambiguous=True)
    if day > days_in_month(year, month):
        raise OutOfRangeError
    return days_from_civil(year, month, day)


def is_too_long(text: str) -> bool:
    """Tell whether PostgreSQL has no room for the fields of a date, a time or an interval."""
    return len(text) > CHARACTERS_MAX and len("".join(text.split())) > CHARACTERS_MAX


def read_fields(text: str, position: int | None, order: str) -> Fields:
    if is_too_long(text):
        raise InvalidTextError
    found = Fields(order=order)
    for match in SHAPES.finditer(text):
        piece = match[0]
        if found.awaits_julian and match.lastgroup not in (None, "number"):
            raise InvalidTextError
        match match.lastgroup:
            case "time":
                read_time(found, piece)
            case "date":
                read_date(found, piece)
            case "number":
                read_number(found, piece)
            case "zone":
                read_offset(found, piece, text, position)
            case "word":
                read_word(found, piece.lower(), text, position)
            case "special":
                read_word(found, "".join(piece.lower().split()), text, position)
            case "bad":
                raise InvalidTextError
    finish_time(found)
    if found.awaits_julian:
        raise InvalidTextError
    if found.year is None and found.time_us is None and not found.special:
        raise InvalidTextError
    if found.special and found.year is not None:
        checked_date(found)
    return found


def read_time(found: Fields, piece: str) -> None:
    if found.time_us is not None:
        raise InvalidTextError
    parts = piece.split(":")
    if len(parts) == 2 and "." in parts[1]:
        # mm:ss.fff is minutes and seconds in PostgreSQL.
        parts.insert(0, "0")
    if len(parts) > 3 or not all(parts[:2]) or any("." in part for part in parts[:2]):
        raise InvalidTextError
    seconds, _, fraction = (parts[2] if len(parts) == 3 else "0").partition(".")
    found.time_us = time_us(int(parts[0]), int(parts[1]), int(seconds or "0"), fraction)


def time_us(hour: int, minute: int, second: int, fraction: str) -> int:
    """Return the microseconds of the day; PostgreSQL takes second 60 and 24:00:00."""
    if not fraction.isdigit() and fraction:
        raise InvalidTextError
    micros = round(float("0." + (fraction or "0")) * 1e6)
    if hour > 24 or minute > 59 or second > 60:
        raise OutOfRangeError
    total = ((hour * 60 + minute) * 60 + second) * SECOND_US + micros
    if total > DAY_US:
        raise OutOfRangeError
    return total


def finish_time(found: Fields) -> None:
    """Apply AM or PM."""
    if not found.half:
        return
    if found.time_us is None:
        raise InvalidTextError
    hour = found.time_us // (3600 * SECOND_US)
    if hour > 12:
        raise OutOfRangeError
    if found.half == "am" and hour == 12:
        found.time_us -= 12 * 3600 * SECOND_US
    elif found.half == "pm" and hour != 12:
        found.time_us += 12 * 3600 * SECOND_US


def read_date(found: Fields, piece: str) -> None:
    """Read a date whose parts hang together: month names first, then numbers."""
    if found.year is not None or found.special:
        raise InvalidTextError
    parts = re.split(r"[-/.]", piece)
    if not all(parts):
        raise InvalidTextError
    numbers = []
    for part in parts:
        if part.isalpha():
            read_month(found, part.lower())
        elif part.isdigit():
            numbers.append(part)
        else:
            raise InvalidTextError
    for number in numbers:
        place_number(found, number)


def read_month(found: Fields, word: str) -> None:
    month = MONTHS.get(word)
    if month is None or found.text_month:
        raise InvalidTextError
    if found.month is not None:
        # A number before the name was taken for the month, but is the day.
        if found.day is not None:
            raise InvalidTextError
        found.day = found.month
    found.month, found.text_month = month, True


def place_number(found: Fields, digits: str) -> None:
    """Give a number of a date its meaning by the fields that are known (PostgreSQL's
    DecodeNumber).
    """
    value = int(digits) if len(digits) < 10 else 1_000_000_000
    wide = len(digits) >= 3
    have_year, have_month, have_day = found.year is not None, found.month is not None, found.day is not None
    if have_year and have_month and have_day:
        raise InvalidTextError
    if len(digits) == 3 and have_year and not (have_month or have_day) and 1 <= value <= 366:
        found.day_of_year, found.month, found.day = value, 1, 1
    elif not (have_year or have_month or have_day):
        if wide or found.order == "YMD":
            set_year(found, digits, value)
        elif found.order == "DMY":
            found.day = value
        else:
            found.month = value
    elif have_year and not have_month:
        found.month = value
    elif have_month and not have_year and not have_day:
        if found.text_month and (wide or found.order == "YMD"):
            set_year(found, digits, value)
        else:
            found.day = value
    elif have_month and have_year:
        if found.text_month and wide and found.two_digits:
            found.day, found.year = found.year, None
            set_year(found, digits, value)
        else:
            found.day = value
    elif have_day and not have_month:
        found.month = value
    else:
        set_year(found, digits, value)


def set_year(found: Fields, digits: str, value: int) -> None:
    found.year, found.two_digits = value, len(digits) <= 2


def read_number(found: Fields, piece: str) -> None:
    """Read a number that stands alone: 20200102, 030405, or a part of a date that is written with
    spaces.
    """
    whole, _, fraction = piece.partition(".")
    if piece.endswith(".") or found.special:
        raise InvalidTextError
    if found.awaits_julian:
        read_julian(found, whole, fraction)
        return
    complete = found.year is not None and found.month is not None and found.day is not None
    if complete and found.time_us is None and len(whole) in (4, 6):
        second = int(whole[4:6]) if len(whole) == 6 else 0
        found.time_us = time_us(int(whole[:2]), int(whole[2:4]), second, fraction)
        return
    fresh = found.year is None and found.month is None and found.day is None
    if fraction and whole and fresh:
        # 2020.001 is a date with two parts, the first day of 2020.
        place_number(found, whole)
        place_number(found, fraction)
        if not found.day_of_year:
            raise InvalidTextError
        return
    if "." in piece:
        raise InvalidTextError
    if fresh and len(whole) >= 8:
        found.year, found.month, found.day = int(whole[:-4]), int(whole[-4:-2]), int(whole[-2:])
    elif fresh and len(whole) == 6:
        found.year, found.month, found.day = int(whole[:2]), int(whole[2:4]), int(whole[4:])
        found.two_digits = True
    else:
        place_number(found, whole)


def read_julian(found: Fields, whole: str, fraction: str) -> None:
    """Read the number of a day counted from 4714-11-24 BC; a fraction is the time of that day."""
    found.awaits_julian = False
    if found.year is not None or not whole:
        raise InvalidTextError
    if len(whole) > JULIAN_DIGITS_MAX or int(whole) > JULIAN_DAY_MAX:
        raise OutOfRangeError
    year, found.month, found.day = civil_from_days(int(whole) + DATE_DAYS_MIN)
    found.year, found.before_christ = (1 - year, True) if year < 1 else (year, False)
    if fraction:
        found.time_us = round(float(f"0.{fraction}") * DAY_US)


def read_offset(found: Fields, piece: str, text: str, position: int | None) -> None:
    """Read +hh[:mm[:ss]] or +hhmm[ss]."""
    if found.has_zone:
        raise InvalidTextError
    sign = -1 if piece[0] == "-" else 1
    digits = piece[1:].strip()
    parts = digits.split(":")
    if len(parts) == 1 and len(digits) > 2:
        parts = [digits[:-2], digits[-2:]] if len(digits) <= 4 else [digits[:-4], digits[-4:-2], digits[-2:]]
    if len(parts) > 3 or not all(part.isdigit() for part in parts):
        raise InvalidTextError
    hours, minutes, seconds = (*(int(part) for part in parts), 0, 0)[:3]
    if hours > ZONE_HOURS_MAX or minutes > 59 or seconds > 59:
        raise SqlError("22009", f'time zone displacement out of range: "{text}"', position)
    found.has_zone, found.offset_s = True, sign * ((hours * 60 + minutes) * 60 + seconds)


def read_word(found: Fields, word: str, text: str, position: int | None) -> None:
    if word in CLOCK_WORDS:
        raise not_supported(f"the date or time '{word}'", position)
    if word in SPECIALS:
        if found.special:
            raise InvalidTextError
        found.special = word
    elif word == "allballs":
        if found.time_us is not None or found.has_zone or found.special:
            raise InvalidTextError
        found.time_us, found.has_zone = 0, True
    elif word in ("j", "jd", "julian"):
        found.awaits_julian = True
    elif word in MONTHS:
        read_month(found, word)
    elif word in WEEKDAYS or word in IGNORED:
        return
    elif word in ("am", "pm"):
        found.half = word
    elif word in ("bc", "ad"):
        found.before_christ = word == "bc"
    elif word == "t" and found.day is not None:
        return
    elif word in ABBREVIATIONS:
        if found.has_zone:
            raise InvalidTextError
        found.has_zone, found.offset_s = True, ABBREVIATIONS[word]
    elif word in MOVING:
        raise not_supported(f"the time zone abbreviation '{word}'", position, hint=MOVING_HINT)
    elif word in zone_names() and not found.has_zone:
        found.has_zone, found.zone = True, zone_names()[word]
    elif "/" in word or "_" in word:
        raise SqlError("22023", f'time zone "{word}" not recognized', position)
    else:
        raise InvalidTextError
