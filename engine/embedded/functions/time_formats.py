"""to_char of times in the C locale.

Times are microseconds since 1970, templates are those of `sql/times/templates.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ringbuffer.scalar.calendars.time_zones import zone_abbreviation
from ringbuffer.scalar.texts.format_time import DAYS, MONTHS, NAMES_WIDTH
from sql.times.civil import DAY_US, SECOND_US, civil_from_days, days_from_civil, is_infinite, utc_offset_us
from sql.times.templates import Item, items_of
from sql.times.zone_names import fixed_abbreviation, fixed_seconds

ROMAN = "I II III IV V VI VII VIII IX X XI XII".split()
JULIAN_EPOCH_DAY = 2_440_588


def formatted(micros: int, template: str, zone: str = "") -> str | None:
    """Return to_char of a timestamp; an empty template and an infinite time give NULL.

    zone: the session's, for a timestamptz.
    """
    if not template or is_infinite(micros):
        return None
    offset = utc_offset_us(micros, zone) if zone else 0
    parts = Parts(micros + offset, offset // SECOND_US, zone, micros)
    return "".join(item.text if not item.name else printed(item, parts) for item in items_of(template))


@dataclass
class Parts:
    """The fields of a local time."""

    local: int
    offset: int
    zone: str
    instant: int
    year: int = field(init=False)
    month: int = field(init=False)
    day: int = field(init=False)
    days: int = field(init=False)
    micros: int = field(init=False)

    def __post_init__(self) -> None:
        self.days, self.micros = divmod(self.local, DAY_US)
        self.year, self.month, self.day = civil_from_days(self.days)

    @property
    def shown_year(self) -> int:
        """The year as people count: 1 BC comes before 1 AD."""
        return self.year if self.year > 0 else 1 - self.year

    @property
    def weekday(self) -> int:
        return (self.days + 4) % 7

    @property
    def day_of_year(self) -> int:
        return self.days - days_from_civil(self.year, 1, 1) + 1

    @property
    def iso(self) -> tuple[int, int]:
        """The ISO year and week."""
        thursday = self.days - (self.days + 3) % 7 + 3
        year = civil_from_days(thursday)[0]
        return year, (thursday - days_from_civil(year, 1, 1)) // 7 + 1

    @property
    def hour(self) -> int:
        return self.micros // (3600 * SECOND_US)


def printed(item: Item, parts: Parts) -> str:
    """Return the text of one pattern."""
    name = item.name
    upper = name.upper()
    if upper in ("MONTH", "DAY", "MON", "DY"):
        word = MONTHS[parts.month - 1] if upper in ("MONTH", "MON") else DAYS[parts.weekday]
        word = word if upper in ("MONTH", "DAY") else word[:3]
        word = word.upper() if name == upper else word.lower() if name == name.lower() else word
        return word.ljust(NAMES_WIDTH) if item.fill and upper in ("MONTH", "DAY") else word
    if upper in ("AM", "PM", "A.M.", "P.M.", "BC", "AD", "B.C.", "A.D."):
        return era_or_half(name, parts)
    if upper == "RM":
        numeral = ROMAN[parts.month - 1]
        numeral = numeral if name == "RM" else numeral.lower()
        return numeral.ljust(4) if item.fill else numeral
    if upper in ("TZ", "OF", "TZH", "TZM"):
        return zone_text(name, item, parts)
    value, width = number_of(upper, parts)
    if upper == "Y,YYY":
        text = f"{value // 1000},{value % 1000:03d}"
    else:
        is_fraction = upper in ("MS", "US") or upper.startswith("FF")
        filled = f"{value:0{width + (value < 0)}d}"
        text = filled if item.fill or is_fraction else str(value)
    return text + ordinal(text, item.suffix)


def ordinal(text: str, suffix: str) -> str:
    """Return st, nd, rd or th."""
    if not suffix:
        return ""
    last = text[-1]
    teen = len(text) > 1 and text[-2] == "1"
    ending = "th" if teen else {"1": "st", "2": "nd", "3": "rd"}.get(last, "th")
    return ending.upper() if suffix == "TH" else ending


def era_or_half(name: str, parts: Parts) -> str:
    upper = name.upper()
    if upper.replace(".", "") in ("AM", "PM"):
        word = "PM" if parts.hour >= 12 else "AM"
    else:
        word = "AD" if parts.year > 0 else "BC"
    word = f"{word[0]}.{word[1]}." if "." in name else word
    return word if name == upper else word.lower()


def zone_text(name: str, item: Item, parts: Parts) -> str:
    sign, seconds = ("-" if parts.offset < 0 else "+"), abs(parts.offset)
    hours, minutes = seconds // 3600, seconds // 60 % 60
    match name.upper():
        case "TZH":
            return f"{sign}{hours:02d}"
        case "TZM":
            return f"{minutes:02d}"
        case "OF":
            text = f"{sign}{hours:02d}" if item.fill else f"{sign}{hours}"
            return text + (f":{minutes:02d}" if minutes else "")
    if not parts.zone:
        return ""
    is_fixed = fixed_seconds(parts.zone) is not None
    abbreviation = fixed_abbreviation(parts.zone) if is_fixed else zone_abbreviation(parts.instant, parts.zone)
    return abbreviation if name == "TZ" else abbreviation.lower()


def number_of(name: str, parts: Parts) -> tuple[int, int]:
    """Return a number and the digits that it is filled up to."""
    micros = parts.micros % SECOND_US
    seconds = parts.micros // SECOND_US
    year, week = parts.iso
    iso_year = year if year > 0 else 1 - year
    if name.startswith("FF"):
        digits = int(name[2])
        return micros // 10 ** (6 - digits), digits
    values: dict[str, Callable[[], tuple[int, int]]] = {
        "HH24": lambda: (parts.hour, 2),
        "HH12": lambda: (parts.hour % 12 or 12, 2),
        "HH": lambda: (parts.hour % 12 or 12, 2),
        "MI": lambda: (seconds // 60 % 60, 2),
        "SS": lambda: (seconds % 60, 2),
        "MS": lambda: (micros // 1000, 3),
        "US": lambda: (micros, 6),
        "SSSS": lambda: (seconds, 1),
        "SSSSS": lambda: (seconds, 1),
        "Y,YYY": lambda: (parts.shown_year, 4),
        "YYYY": lambda: (parts.shown_year, 4),
        "YYY": lambda: (parts.shown_year % 1000, 3),
        "YY": lambda: (parts.shown_year % 100, 2),
        "Y": lambda: (parts.shown_year % 10, 1),
        "IYYY": lambda: (iso_year, 4),
        "IYY": lambda: (iso_year % 1000, 3),
        "IY": lambda: (iso_year % 100, 2),
        "I": lambda: (iso_year % 10, 1),
        "MM": lambda: (parts.month, 2),
        "DDD": lambda: (parts.day_of_year, 3),
        "IDDD": lambda: ((week - 1) * 7 + (parts.weekday or 7), 3),
        "DD": lambda: (parts.day, 2),
        "D": lambda: (parts.weekday + 1, 1),
        "ID": lambda: (parts.weekday or 7, 1),
        "W": lambda: ((parts.day - 1) // 7 + 1, 1),
        "WW": lambda: ((parts.day_of_year - 1) // 7 + 1, 2),
        "IW": lambda: (week, 2),
        "CC": lambda: (century(parts.year), 2),
        "J": lambda: (parts.days + JULIAN_EPOCH_DAY, 1),
        "Q": lambda: ((parts.month - 1) // 3 + 1, 1),
    }
    return values[name]()


def century(year: int) -> int:
    return (year + 99) // 100 if year > 0 else -((-year) // 100 + 1)
