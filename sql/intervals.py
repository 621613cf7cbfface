"""Interval constants: '1 day', '2 hours 30 minutes', '1-2', '01:02:03', ISO 8601 not yet. They exist only inside bind.

Enters: the text of the constant and the fields written after it. Leaves: (months, days, microseconds).
"""

from __future__ import annotations

import re
from fractions import Fraction

from sql.errors import SqlError, not_supported

Interval = tuple[int, int, int]

DAY_US = 86_400_000_000
MICROSECONDS = {
    "microsecond": 1, "usec": 1, "us": 1, "usecond": 1, "millisecond": 1000, "msec": 1000, "ms": 1000, "msecond": 1000,
    "second": 1_000_000, "sec": 1_000_000, "s": 1_000_000, "minute": 60_000_000, "min": 60_000_000, "m": 60_000_000,
    "hour": 3_600_000_000, "hr": 3_600_000_000, "h": 3_600_000_000,
}  # fmt: skip
DAYS = {"day": 1, "d": 1, "week": 7, "w": 7}
MONTHS = {
    "month": 1, "mon": 1, "year": 12, "yr": 12, "y": 12, "decade": 120, "dec": 120, "century": 1200, "cent": 1200, "c": 1200,
    "millennium": 12_000, "mil": 12_000, "millennia": 12_000, "centurie": 1200,
}  # fmt: skip

PIECE = re.compile(
    r"""\s* (?: (?P<time> [+-]? \d+ : \d+ (?: : \d+ (?: \.\d*)? )? )
              | (?P<years> [+-]? \d+ - \d+ (?! [\d-] ) )
              | (?P<number> [+-]? (?: \d+ \.? \d* | \.\d+ ) ) \s* (?P<unit> [A-Za-z]+ )?
              | (?P<word> ago\b | @ ) ) \s*""",
    re.VERBOSE | re.IGNORECASE,
)


def interval_value(text: str, fields: str = "", position: int | None = None) -> Interval:
    """Return the interval that `text` means."""
    if text.strip()[:1] in ("P", "p"):
        raise not_supported("an interval in ISO 8601 form", position)
    totals = [Fraction(0), Fraction(0), Fraction(0)]
    place = 0
    ago = False
    pieces = 0
    while place < len(text):
        match = PIECE.match(text, place)
        if match is None:
            raise invalid(text, position)
        place = match.end()
        if match["word"]:
            ago = ago or match["word"].lower() == "ago"
            continue
        pieces += 1
        add_piece(totals, match, fields, text, position)
    if pieces == 0:
        raise invalid(text, position)
    months, days, micros = (round(total) for total in totals)
    if abs(months) >= 1 << 31 or abs(days) >= 1 << 31 or abs(micros) >= 1 << 63:
        raise SqlError("22015", f'interval field value out of range: "{text}"', position)
    return (-months, -days, -micros) if ago else (months, days, micros)


def invalid(text: str, position: int | None) -> SqlError:
    return SqlError("22007", f'invalid input syntax for type interval: "{text}"', position)


def add_piece(totals: list[Fraction], match: re.Match[str], fields: str, text: str, position: int | None) -> None:
    if match["time"]:
        totals[2] += clock(match["time"], fields)
        return
    if match["years"]:
        years, months = match["years"].lstrip("+-").split("-")
        sign = -1 if match["years"].startswith("-") else 1
        totals[0] += sign * (int(years) * 12 + int(months))
        return
    amount = Fraction(match["number"])
    unit = (match["unit"] or bare_unit(match, fields, text, position)).lower()
    add_unit(totals, amount, unit, text, position)


def bare_unit(match: re.Match[str], fields: str, text: str, position: int | None) -> str:
    """Return the unit of a number without one: days before a time of day, else the last field, and only at the end."""
    rest = text[match.end() :]
    following = PIECE.match(rest) if rest else None
    if following is not None and following["time"]:
        return "day"
    if rest.strip() and rest.strip().lower() != "ago":
        raise invalid(text, position)
    return fields.split(" to ")[-1] if fields else "second"


def add_unit(totals: list[Fraction], amount: Fraction, unit: str, text: str, position: int | None) -> None:
    """Add amount * unit; fractions of months become days, fractions of days become time."""
    name = unit if unit in MICROSECONDS or unit in DAYS or unit in MONTHS else unit.removesuffix("s")
    if name in MICROSECONDS:
        totals[2] += amount * MICROSECONDS[name]
        return
    if name in DAYS:
        total = amount * DAYS[name]
        whole = int(total)
        totals[1] += whole
        totals[2] += (total - whole) * DAY_US
        return
    if name not in MONTHS:
        raise invalid(text, position)
    total = amount * MONTHS[name]
    whole = round(total) if MONTHS[name] > 1 else int(total)
    totals[0] += whole
    if MONTHS[name] == 1:
        add_unit(totals, (total - whole) * 30, "day", text, position)


def clock(text: str, fields: str) -> Fraction:
    sign = -1 if text.startswith("-") else 1
    parts = [Fraction(part or "0") for part in text.lstrip("+-").split(":")]
    if len(parts) == 2 and fields == "minute to second":
        parts.insert(0, Fraction(0))
    hours, minutes, seconds = (*parts, Fraction(0))[:3]
    return sign * ((hours * 60 + minutes) * 60 + seconds) * 1_000_000
