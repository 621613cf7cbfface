"""The functions to_date and to_timestamp: texts read by PostgreSQL's template patterns
(formatting.c) in the C locale, to microseconds.

The microseconds count from 1970. A pattern that is not here is 0A000. Raises 22007 and 22008 for
texts that do not fit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ringbuffer.scalar.calendars.calendar import JULIAN_EPOCH_DAYS
from ringbuffer.scalar.texts.format_time import DAYS, MONTHS
from sql.errors import SqlError, not_supported
from sql.times.civil import (
    DATE_DAYS_END,
    DATE_DAYS_MIN,
    DAY_US,
    SECOND_US,
    days_from_civil,
    days_in_month,
    local_to_utc_us,
)
from sql.times.datetime_input import ZONE_HOURS_MAX
from sql.times.interval_shift import check_range
from sql.times.templates import Item, items_of


@dataclass
class Reading:
    """The values that have been read from a text so far."""

    values: dict[str, int] = field(default_factory=dict)
    is_pm: bool | None = None
    before_christ: bool = False
    twelve_hours: bool = False
    offset_s: int | None = None


NO_MATCH = "The given value did not match any of the allowed values for this field."
READ_WIDTHS = {
    **dict.fromkeys(("HH24", "HH12", "HH", "MI", "SS", "MM", "DD", "YY"), 2),
    "YYYY": 4, "YYY": 3, "Y": 1, "MS": 3, "US": 6, "DDD": 3, "J": 7, "SSSS": 5, "SSSSS": 5, "Y,YYY": 5, "TZH": 2, "TZM": 2,
    **{f"FF{digits}": digits for digits in range(1, 7)},
}  # fmt: skip


def read_date(text: str, template: str) -> int:
    """Return to_date(text, template) in days."""
    days = read(text, template)[0] // DAY_US
    if not DATE_DAYS_MIN <= days < DATE_DAYS_END:
        raise SqlError("22008", f'date out of range: "{text}"')
    return days


def read_timestamp(text: str, template: str, zone: str) -> int:
    """Return to_timestamp(text, template) as clocks in `zone` read it."""
    micros, offset_s = read(text, template)
    us = local_to_utc_us(micros, zone) if offset_s is None else micros - offset_s * SECOND_US
    return check_range(us)


def read(text: str, template: str) -> tuple[int, int | None]:
    """Return the local time of a text, and its offset if it has one."""
    found = Reading()
    items = items_of(template)
    place = 0
    for index, item in enumerate(items):
        if not item.name:
            place = past_literal(item.text, text, place)
            continue
        place = past_blanks(text, place)
        following = items[index + 1] if index + 1 < len(items) else None
        adjacent = following is not None and bool(following.name)
        place = read_item(item, text, place, adjacent, found)
    return local_time(found, text), found.offset_s


def past_blanks(text: str, place: int) -> int:
    while text[place : place + 1].isspace():
        place += 1
    return place


def past_literal(literal: str, text: str, place: int) -> int:
    """Step over the text for a separator of the template: a blank or a separator matches any of
    them, or nothing.
    """
    for character in literal:
        if character.isspace() or not character.isalnum():
            place = past_blanks(text, place)
            following = text[place : place + 1]
            is_separator = following != "" and not following.isalnum() and following not in "+-"
            if is_separator or (following and following == character):
                place += 1
        elif place < len(text):
            place += 1
    return place


def read_item(item: Item, text: str, place: int, adjacent: bool, found: Reading) -> int:
    """Read the value of one pattern."""
    name = item.name.upper()
    if name in ("MONTH", "MON", "DAY", "DY"):
        return read_name(item.name, text, place, found)
    if name.replace(".", "") in ("AM", "PM", "BC", "AD"):
        word = text[place : place + len(name)]
        if word.upper().replace(".", "") not in ("AM", "PM", "BC", "AD"):
            raise bad_value(word, item.name, NO_MATCH)
        if word.upper()[0] in "AP" and name.replace(".", "") in ("AM", "PM"):
            found.is_pm, found.twelve_hours = word.upper()[0] == "P", True
        else:
            found.before_christ = word.upper()[0] == "B"
        return place + len(name)
    if name not in READ_WIDTHS:
        raise not_supported(f"the pattern {item.name} when a time is read")
    width = READ_WIDTHS[name] if adjacent or name in ("MS", "US", "YYY", "YY", "Y") or name.startswith("FF") else 20
    match = re.compile(rf"[+-]?\d{{1,{width}}}").match(text, place)
    if name == "Y,YYY":
        match = re.compile(r"\d+,\d{3}").match(text, place)
    if match is None:
        if place >= len(text):
            return place
        raise bad_value(text[place : place + READ_WIDTHS[name]], item.name)
    keep(name, match[0].replace(",", ""), found)
    return match.end()


def bad_value(word: str, pattern: str, detail: str = "Value must be an integer.") -> SqlError:
    return SqlError("22007", f'invalid value "{word}" for "{pattern}"', detail=detail)


def read_name(pattern: str, text: str, place: int, found: Reading) -> int:
    name = pattern.upper()
    names, key = (MONTHS, "MM") if name in ("MONTH", "MON") else (DAYS, "")
    for number, full in enumerate(names, 1):
        short = full if name in ("MONTH", "DAY") else full[:3]
        if text[place : place + len(short)].lower() == short.lower():
            if key:
                found.values[key] = number
            return place + len(short)
    word = re.compile(r"\S*").match(text, place)
    raise bad_value(word[0] if word else "", pattern, NO_MATCH)


def keep(name: str, digits: str, found: Reading) -> None:
    """Note a number under the field that it sets."""
    value = int(digits)
    if name in ("MS", "US") or name.startswith("FF"):
        width = 3 if name == "MS" else 6 if name == "US" else int(name[2])
        found.values["US"] = found.values.get("US", 0) + value * 10 ** (
            6 - max(width if name == "US" else len(digits), len(digits))
        )
    elif name in ("HH12", "HH"):
        found.twelve_hours = True
        found.values["HH24"] = value
        if not 1 <= value <= 12:
            message = f'hour "{value}" is invalid for the 12-hour clock'
            raise SqlError("22007", message, hint="Use the 24-hour clock, or give an hour between 1 and 12.")
    elif name in ("YYYY", "Y,YYY"):
        found.values["YYYY"] = value
    elif name in ("YYY", "YY", "Y"):
        found.values["YYYY"] = near_2020(value, len(digits))
    elif name == "SSSSS":
        found.values["SSSS"] = value
    elif name == "TZH":
        found.offset_s = value * 3600
        found.values[name] = abs(value)
    elif name == "TZM":
        found.offset_s = (found.offset_s or 0) + value * 60 * (-1 if (found.offset_s or 0) < 0 else 1)
        found.values[name] = value
    else:
        found.values[name] = value


def near_2020(value: int, digits: int) -> int:
    """Return the year nearest to 2020 (adjust_partial_year_to_2020)."""
    if digits >= 4:
        return value
    if value < 70:
        return value + 2000
    if value < 100:
        return value + 1900
    return value + (2000 if value < 520 else 1000)


def local_time(found: Reading, text: str) -> int:
    """Return the local time of the fields."""
    values = found.values
    year, month, day = values.get("YYYY", 0), values.get("MM", 1), values.get("DD", 1)
    if found.before_christ:
        year = 1 - year if year > 0 else year
    elif year < 0:
        year += 1
    elif "YYYY" not in values or year == 0:
        year = 0
    hour = values.get("HH24", 0)
    if found.twelve_hours:
        if found.is_pm and hour < 12:
            hour += 12
        elif found.is_pm is False and hour == 12:
            hour = 0
    minute, second = values.get("MI", 0), values.get("SS", 0)
    if "J" in values:
        days = values["J"] - JULIAN_EPOCH_DAYS
    else:
        if "DDD" in values:
            month, day = 1, 1
        if not 1 <= month <= 12 or not 1 <= day <= days_in_month(year, month):
            raise SqlError("22008", f'date/time field value out of range: "{text}"')
        days = days_from_civil(year, month, day) + (values["DDD"] - 1 if "DDD" in values else 0)
    if hour > 23 or minute > 59 or second > 59 or values.get("SSSS", 0) >= 86_400:
        raise SqlError("22008", f'date/time field value out of range: "{text}"')
    if values.get("TZH", 0) > ZONE_HOURS_MAX or values.get("TZM", 0) > 59:
        raise SqlError("22009", f'time zone displacement out of range: "{text}"')
    seconds = values["SSSS"] if "SSSS" in values else (hour * 60 + minute) * 60 + second
    return days * DAY_US + seconds * SECOND_US + values.get("US", 0)
