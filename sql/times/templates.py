"""PostgreSQL's templates of times (formatting.c), as to_char and the like take them, divided into
items.

Enters: a template. Leaves: its patterns, and the text between them. A pattern that is not here is
0A000. Must not know times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from sql.errors import not_supported

# Longest first; patterns with letters in two cases print as they are written.
PATTERNS = (
    "MONTH Month month YYYY,YYY Y,YYY SSSSS HH24 HH12 YYYY IYYY IDDD A.M. a.m. P.M. p.m. B.C. b.c. A.D. a.d. SSSS MON Mon mon DAY Day "
    "day DDD YYY IYY FF1 FF2 FF3 FF4 FF5 FF6 TZH TZM AM am PM pm BC bc AD ad MM DD DY Dy dy ID IW WW CC YY IY HH MI SS MS US RM rm "
    "TZ tz OF Y I D W J Q"
).split()
PATTERN = re.compile("|".join(re.escape(name) for name in sorted(set(PATTERNS), key=len, reverse=True)), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Item:
    """A pattern of a template, or text that stands for itself.

    Attributes:
        name: '' for text.
    """

    name: str
    text: str
    fill: bool = True
    suffix: str = ""


@lru_cache(maxsize=256)
def items_of(template: str) -> tuple[Item, ...]:
    """Return the patterns of a template and the texts between them."""
    found: list[Item] = []
    place = 0
    while place < len(template):
        start = place
        fill = True
        while template[place : place + 2].upper() in ("FM", "FX", "TM"):
            if template[place : place + 2].upper() == "FX":
                raise not_supported("the modifier FX of a time format")
            fill = fill and template[place : place + 2].upper() != "FM"
            place += 2
        match = PATTERN.match(template, place)
        if match is not None:
            place = match.end()
            suffix = template[place : place + 2] if template[place : place + 2] in ("TH", "th") else ""
            place += len(suffix)
            found.append(Item(canonical(match[0]), match[0], fill, suffix))
            continue
        place = start
        text, place = literal_text(template, place)
        found.append(Item("", text))
    return tuple(found)


def canonical(written: str) -> str:
    """Return the name of a pattern: names of months and days keep their case, all others are in
    capitals.
    """
    upper = written.upper()
    if upper in ("MONTH", "MON", "DAY", "DY"):
        return upper if written == upper else upper.lower() if written == written.lower() else upper.capitalize()
    if upper in ("AM", "PM", "A.M.", "P.M.", "BC", "AD", "B.C.", "A.D.", "RM", "TZ"):
        return upper if written[0] == upper[0] else upper.lower()
    return upper


def literal_text(template: str, place: int) -> tuple[str, int]:
    """Return one character that stands for itself, or a quoted text."""
    character = template[place]
    if character == '"':
        end = template.find('"', place + 1)
        inner = template[place + 1 :] if end < 0 else template[place + 1 : end]
        return inner, len(template) if end < 0 else end + 1
    if character == "\\" and template[place + 1 : place + 2] == '"':
        return '"', place + 2
    return character, place + 1
