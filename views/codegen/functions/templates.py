"""Templates of times: their patterns become the program that
`ringbuffer.scalar.texts.format_time` runs, in kernels of streams and in the embedded engine.
"""

from __future__ import annotations

from ringbuffer.scalar.calendars.calendar import HOUR_US, MINUTE_US, SECOND_US
from ringbuffer.scalar.calendars.fields import CENTURY, DAY, DOY, ISODOW, ISOYEAR, MONTH, QUARTER, WEEK, YEAR
from ringbuffer.scalar.texts.format_time import (
    BYTE,
    CAPITALS,
    CLOCK,
    DAY_NAME,
    ERA,
    FIELD,
    HALF,
    HALF_CLOCK,
    ISO_DAY,
    JULIAN_DAY,
    MONTH_NAME,
    MONTH_WEEK,
    NAMES_WIDTH,
    ROMAN_MONTH,
    SIGNED_FIELD,
    SMALL,
    THOUSANDS,
    WEEKDAY,
    YEAR_WEEK,
    ZONE_HOUR,
    ZONE_MINUTE,
    ZONE_NAME,
)
from sql.times.templates import Item, items_of
from sql.tree.expressions import Call
from views.codegen.expressions import literal_argument
from views.codegen.writer import KernelWriter
from views.model.refusals import not_in_kernels

Row = tuple[int, int, int, int]
Part = tuple[int, int, int, int, int]

NUMBERS: dict[str, Row] = {
    **{"Y" * digits: (FIELD, YEAR, 10**digits, digits) for digits in (1, 2, 3)},
    **{"I" + "Y" * (digits - 1): (FIELD, ISOYEAR, 10**digits, digits) for digits in (1, 2, 3)},
    "YYYY": (FIELD, YEAR, 0, 4),
    "IYYY": (FIELD, ISOYEAR, 0, 4),
    "CC": (SIGNED_FIELD, CENTURY, 0, 2),
    "Q": (FIELD, QUARTER, 0, 1),
    "MM": (FIELD, MONTH, 0, 2),
    "WW": (YEAR_WEEK, 0, 0, 2),
    "IW": (FIELD, WEEK, 0, 2),
    "W": (MONTH_WEEK, 0, 0, 1),
    "DDD": (FIELD, DOY, 0, 3),
    "IDDD": (ISO_DAY, 0, 0, 3),
    "DD": (FIELD, DAY, 0, 2),
    "D": (WEEKDAY, 0, 0, 1),
    "ID": (FIELD, ISODOW, 0, 1),
    "J": (JULIAN_DAY, 0, 0, 1),
    "HH24": (CLOCK, HOUR_US, 24, 2),
    **dict.fromkeys(("HH", "HH12"), (HALF_CLOCK, 0, 0, 2)),
    "MI": (CLOCK, MINUTE_US, 60, 2),
    "SS": (CLOCK, SECOND_US, 60, 2),
    **dict.fromkeys(("SSSS", "SSSSS"), (CLOCK, SECOND_US, 86_400, 1)),
}
FRACTIONS: dict[str, Row] = {
    "MS": (CLOCK, 1000, 1000, 3),
    "US": (CLOCK, 1, 1_000_000, 6),
    **{f"FF{digits}": (CLOCK, 10 ** (6 - digits), 10**digits, digits) for digits in range(1, 7)},
}
NAMES = {"MONTH": (MONTH_NAME, 0), "MON": (MONTH_NAME, 3), "DAY": (DAY_NAME, 0), "DY": (DAY_NAME, 3)}
PAIRS = {
    **dict.fromkeys(("AM", "PM", "A.M.", "P.M."), HALF),
    **dict.fromkeys(("BC", "AD", "B.C.", "A.D."), ERA),
}
ROMAN_WIDTH = 4


def program_constant(writer: KernelWriter, node: Call, place: int) -> str:
    """Return source text of the program of a constant template."""
    template = str(literal_argument(node, place))
    parts = program_of(template)
    if node.arguments[0].type.family == "timestamptz" and any(part[0] == ZONE_NAME for part in parts):
        raise not_in_kernels(f"the time format '{template}'", node.position)
    made = writer.use("scalar.texts.format_time", "template_program")
    return writer.constant("template", f"{made}({', '.join(map(repr, parts))})")


def program_of(template: str) -> tuple[Part, ...]:
    """Return the parts of a template. Raises 0A000 for modifiers that are not there yet."""
    parts: list[Part] = []
    for item in items_of(template):
        if not item.name:
            parts += [(BYTE, byte, 0, 0, 0) for byte in item.text.encode()]
            continue
        kind, first, second, width = row_of(item)
        if kind == THOUSANDS:
            # The last three digits have the ending.
            parts += [(THOUSANDS, 0, 0, 1, 0), (BYTE, ord(","), 0, 0, 0)]
            kind, first, second, width = NUMBERS["YYY"]
        ending = {"": 0, "TH": CAPITALS}.get(item.suffix, SMALL)
        parts.append((kind, first, second, width, 0 if kind == ZONE_MINUTE else ending))
    return tuple(parts)


def row_of(item: Item) -> Row:
    """Return the kind, the arguments and the width of a pattern."""
    upper = item.name.upper()
    small = int(item.name != upper)
    if upper in PAIRS:
        return PAIRS[upper], small, int("." in upper), 0
    if upper in NAMES:
        kind, letters = NAMES[upper]
        case = CAPITALS if item.name == upper else SMALL if item.name == item.name.lower() else 0
        return kind, letters, case, NAMES_WIDTH if item.fill and letters == 0 else 0
    match upper:
        case "RM":
            return ROMAN_MONTH, 0, SMALL if small else CAPITALS, ROMAN_WIDTH if item.fill else 0
        case "TZ":
            return ZONE_NAME, small, 0, 0
        case "TZH":
            return ZONE_HOUR, 0, 0, 2
        case "OF":
            return ZONE_HOUR, 1, 0, 2 if item.fill else 1
        case "TZM":
            return ZONE_MINUTE, 0, 0, 2
        case "Y,YYY":
            return THOUSANDS, 0, 0, 0
    if upper in FRACTIONS:
        return FRACTIONS[upper]
    kind, first, second, width = NUMBERS[upper]
    return kind, first, second, width if item.fill else 0
