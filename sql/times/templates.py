"""PostgreSQL's templates of times (formatting.c), as to_char and the like take them, divided into
items.

Enters: a template. Leaves: its patterns, and the text between them. A pattern that is not here is
0A000. Must not know times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from sql.errors import SqlError, not_supported

CAPITALS = (
    "MONTH Y,YYY SSSSS HH24 HH12 YYYY IYYY IDDD A.M. P.M. B.C. A.D. SSSS MON DAY DDD YYY IYY FF1 FF2 FF3 FF4 FF5 FF6 TZH TZM AM PM "
    "BC AD MM DD DY ID IW WW CC YY IY HH MI SS MS US RM TZ OF Y I D W J Q"
).split()
PATTERNS = (*CAPITALS, *(name.lower() for name in CAPITALS), "Month", "Mon", "Day", "Dy")
PATTERN = re.compile("|".join(re.escape(name) for name in sorted(PATTERNS, key=len, reverse=True)))
PREFIXES = frozenset({"FM", "fm", "FX", "fx", "TM", "tm"})
# Names of months and days, which TM does not fill up either.
NAMES = frozenset({"MONTH", "MON", "DAY", "DY"})
# An engine keeps the program of every row's template until a batch of rows is done.
TEMPLATE_MAX = 4000


@dataclass(frozen=True, slots=True)
class Item:
    """A pattern of a template, or text that stands for itself.

    Attributes:
        name: the pattern as it is written, '' for text.
    """

    name: str
    text: str
    fill: bool = True
    suffix: str = ""


@lru_cache(maxsize=256)
def items_of(template: str) -> tuple[Item, ...]:
    """Return the patterns of a template and the texts between them. Raises 0A000, and 54000."""
    if len(template) > TEMPLATE_MAX:
        raise SqlError("54000", f"time format has more than {TEMPLATE_MAX} characters")
    found: list[Item] = []
    place = 0
    while place < len(template):
        prefix = template[place : place + 2] if template[place : place + 2] in PREFIXES else ""
        if prefix.upper() == "FX":
            raise not_supported("the modifier FX of a time format")
        place += len(prefix)
        match = PATTERN.match(template, place)
        if match is not None:
            fill = prefix.upper() != "FM" and not (prefix.upper() == "TM" and match[0].upper() in NAMES)
            place = match.end()
            suffix = template[place : place + 2] if template[place : place + 2] in ("TH", "th") else ""
            place += len(suffix)
            found.append(Item(match[0], "", fill, suffix))
            continue
        text, place = literal_text(template, place)
        found.append(Item("", text))
    return tuple(found)


def literal_text(template: str, place: int) -> tuple[str, int]:
    """Return the character that stands for itself, or a quoted text, and the place after it."""
    character = template[place : place + 1]
    if character == '"':
        end = template.find('"', place + 1)
        inner = template[place + 1 :] if end < 0 else template[place + 1 : end]
        return inner, len(template) if end < 0 else end + 1
    if character == "\\" and template[place + 1 : place + 2] == '"':
        return '"', place + 2
    return character, place + 1
