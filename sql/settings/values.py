"""The text of a setting's value: checked, brought to the form that is kept, and shown.

Errors are PostgreSQL's 22023.
"""

from __future__ import annotations

import re

from sql.errors import SqlError, not_supported
from sql.parse.lexer import truncate
from sql.settings.table import BATCH, BY_NAME, LEVELS, Setting
from sql.times.civil import SECOND_US
from sql.times.interval_input import interval_value
from sql.times.zone_names import POSIX_RULES, POSIX_ZONE, fixed_seconds, fixed_zone, zone_names
from sql.values.booleans import parse_bool
from sql.values.durations import quantity, real_quantity
from sql.values.encodings import encoding_named, is_known

# Largest first: a value is shown in the largest unit in which it is a whole number.
SIZES = {"TB": 1 << 40, "GB": 1 << 30, "MB": 1 << 20, "kB": 1 << 10, "B": 1}
TIMES = {"d": 86_400_000_000, "h": 3_600_000_000, "min": 60_000_000, "s": 1_000_000, "ms": 1000, "us": 1}
# Units of settings: the units of their values, and how many of the least of these each unit is.
BASES = {
    "B": (SIZES, 1), "kB": (SIZES, 1 << 10), "8kB": (SIZES, 8 << 10), "MB": (SIZES, 1 << 20),
    "ms": (TIMES, 1000), "s": (TIMES, 1_000_000), "min": (TIMES, 60_000_000),
}  # fmt: skip
# The words of a DateStyle; after a word with * any characters may follow.
DATE_STYLES = {"iso": "ISO", "sql": "SQL", "postgres*": "Postgres", "german*": "German"}
DATE_ORDERS = {"ymd": "YMD", "dmy": "DMY", "euro*": "DMY", "mdy": "MDY", "us": "MDY", "noneuro*": "MDY"}
# Of a batch: the number, and the bytes of the producer's name.
BATCH_NUMBER, BATCH_NUMBER_MAX = re.compile(r"[0-9]{1,40}"), (1 << 63) - 1
PRODUCER_BYTES_MAX = 200
# A zone as an interval, or as a number of hours.
HOURS_END = 1000
SPAN = re.compile(r"interval\s*'(.*)'", re.IGNORECASE | re.DOTALL)
HOURS = re.compile(r"\s*+[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d{1,2})?")


def checked_value(setting: Setting, text: str, current: str = "", usual: str = "") -> str:
    """Return the value in the form that is kept; integers are in their base unit, without the unit.

    current: the present value; usual: the value at the start.
    """
    match setting.kind:
        case "bool":
            return bool_value(setting, text)
        case "integer" | "real":
            return number_value(setting, text)
        case "enum":
            return enum_value(setting, text)
        case "timezone":
            return zone_value(setting, text)
        case "datestyle":
            return date_style(setting, text, current or setting.default, usual or setting.default)
        case "encoding":
            return encoding(setting, text)
        case "isolation":
            # A session never gets less than it asks for: at least one snapshot per transaction.
            if text.lower() not in LEVELS:
                raise invalid(setting, text, "Available values: " + ", ".join(LEVELS) + ".")
            return text.lower()
        case "batch":
            return "{}:{}".format(*batch_named(text)) if text else ""
        case "label":
            # PostgreSQL's is a C string in ASCII, as long as a name.
            return "".join(mark if " " <= mark <= "~" else "?" * len(mark.encode()) for mark in truncate(text))
    return text


def invalid(setting: Setting, text: str, hint: str | None = None, detail: str | None = None) -> SqlError:
    return SqlError("22023", f'invalid value for parameter "{setting.name}": "{text}"', hint=hint, detail=detail)


def batch_named(text: str) -> tuple[str, int]:
    """Return producer and number of a batch that is written as producer:number. Raises 22023."""
    producer, _, number = text.rpartition(":")
    if not producer or not BATCH_NUMBER.fullmatch(number) or int(number) > BATCH_NUMBER_MAX:
        raise invalid(
            BY_NAME[BATCH], text, 'A batch is "producer:number", with a number from 0 to 9223372036854775807.'
        )
    if len(producer.encode()) > PRODUCER_BYTES_MAX:
        raise invalid(BY_NAME[BATCH], text, f"The name of a producer has at most {PRODUCER_BYTES_MAX} bytes.")
    return producer, int(number)


def bool_value(setting: Setting, text: str) -> str:
    value = parse_bool(text)
    if value is None:
        raise SqlError("22023", f'parameter "{setting.name}" requires a Boolean value')
    return "on" if value else "off"


def number_value(setting: Setting, text: str) -> str:
    units, base = BASES.get(setting.unit, ({}, 1))
    factors = {unit: size / base for unit, size in units.items()}
    is_real = setting.kind == "real"
    value = real_quantity(text, factors) if is_real else quantity(text, factors)
    if value is None:
        raise invalid(setting, text, unit_hint(units) if units and text.strip()[:1].isdigit() else None)
    shown = f"{value:g}" if is_real else str(value)
    if not setting.minimum <= value <= setting.maximum:
        unit = f" {setting.unit}" if setting.unit else ""
        form = "g" if is_real else ".0f"
        limits = f"({setting.minimum:{form}} .. {setting.maximum:{form}})"
        raise SqlError("22023", f'{shown}{unit} is outside the valid range for parameter "{setting.name}" {limits}')
    return shown


def unit_hint(units: dict[str, int]) -> str:
    *first, last = (f'"{unit}"' for unit in reversed(units))
    return f"Valid units for this parameter are {', '.join(first)}, and {last}."


# Other words for the values of an enumeration.
ALIASES = {"true": "on", "yes": "on", "1": "on", "false": "off", "no": "off", "0": "off", "debug": "debug2"}
# Values that would have to change what texts mean, with hints.
REFUSED = {("backslash_quote", "off"): "A quote in an escape string may be written as '' as well."}


def enum_value(setting: Setting, text: str) -> str:
    word = text.lower()
    if word not in setting.choices:
        word = ALIASES.get(word, word)
    if (setting.name, word) in REFUSED:
        raise not_supported(f"{setting.name} = {word}", hint=REFUSED[setting.name, word])
    if word in setting.choices:
        return word
    raise invalid(setting, text, f"Available values: {', '.join(setting.choices)}.")


def zone_option(text: str) -> str:
    """Return the zone that an option names, as SET TimeZone takes it. Raises 22023."""
    return zone_value(BY_NAME["timezone"], text)


def zone_value(setting: Setting, text: str) -> str:
    name = zone_names().get(text.strip().lower())
    if name is not None:
        return name
    span = SPAN.fullmatch(text)
    if span is not None or HOURS.fullmatch(text):
        east_s = hours_s(text) if span is None else span_s(setting, text, span[1])
        zone = fixed_zone(east_s) if abs(east_s) < HOURS_END * 3600 else ""
        if fixed_seconds(zone) is None:
            raise invalid(setting, text, detail="UTC timezone offset is out of range.")
        return zone
    seconds = fixed_seconds(text)
    if seconds is not None:
        if seconds % 60:
            detail = "PostgreSQL does not support leap seconds."
            raise SqlError("22023", f'time zone "{text}" appears to use leap seconds', detail=detail)
        return text.upper()
    if POSIX_RULES.fullmatch(text) and not POSIX_ZONE.fullmatch(text):
        raise not_supported(f"the time zone {text}", hint="Use the name of a zone, such as Europe/Berlin.")
    raise invalid(setting, text)


def hours_s(text: str) -> int:
    """Return a number of hours in seconds, at most HOURS_END of them."""
    hours = float(text)
    return int(max(-HOURS_END, min(HOURS_END, hours)) * 3600)


def span_s(setting: Setting, text: str, span: str) -> int:
    """Return the seconds of an interval. Raises 22023 for one with months or days."""
    months, days, micros = interval_value(span.replace("''", "'"))
    for amount, unit in ((months, "months"), (days, "days")):
        if amount:
            raise invalid(setting, text, detail=f"Cannot specify {unit} in time zone interval.")
    return int(micros / SECOND_US)


def date_style(setting: Setting, text: str, current: str, usual: str) -> str:
    """Return the style and the order that `text` names; a part that is not named stays as it is.

    usual: the value that DEFAULT stands for.
    """
    style, order = current.split(", ")
    styles: set[str] = set()
    orders: set[str] = set()
    for word in date_style_words(setting, text):
        if word == "default":
            style, order = (next(iter(styles), usual.split(", ")[0]), next(iter(orders), usual.split(", ")[1]))
        elif (named := named_by(word, DATE_STYLES)) is not None:
            style = named
            styles.add(named)
            if named == "German" and not orders:
                order = "DMY"
        elif (named := named_by(word, DATE_ORDERS)) is not None:
            order = named
            orders.add(named)
        else:
            raise invalid(setting, text, detail=f'Unrecognized key word: "{word}".')
    if len(styles) > 1 or len(orders) > 1:
        raise invalid(setting, text, detail='Conflicting "datestyle" specifications.')
    return f"{style}, {order}"


def date_style_words(setting: Setting, text: str) -> list[str]:
    """Return the words of a list in lower case."""
    words = [word.strip().strip('"').lower() for word in text.split(",")] if text.strip() else []
    if any(len(word.split()) != 1 for word in words):
        raise invalid(setting, text, detail="List syntax is invalid.")
    return words


def named_by(word: str, names: dict[str, str]) -> str | None:
    """Return the value that a word stands for.

    After a name that ends in *, any characters may follow.
    """
    for name, meaning in names.items():
        if word == name or (name.endswith("*") and word.startswith(name[:-1])):
            return meaning
    return None


def encoding(setting: Setting, text: str) -> str:
    found = encoding_named(text)
    if found is not None:
        return found.name
    if is_known(text):
        raise not_supported(f'client_encoding "{text}"', hint="Ask for UTF8, and convert in the client.")
    raise invalid(setting, text)


def shown_value(setting: Setting, value: str) -> str:
    """Return the value as SHOW prints it."""
    if setting.unit and float(value) > 0:
        units, base = BASES[setting.unit]
        number = float(value) * base
        for unit, size in units.items():
            if number % size == 0:
                return f"{number / size:.0f}{unit}"
    return value
