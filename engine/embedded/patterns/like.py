"""LIKE with a pattern that is not a constant, in time linear in the text.

A part between two % is looked for from the left, and its first place is as good as any later one.
Must not know of Arrow or DuckDB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from engine.embedded.stopping import go_on
from sql.errors import SqlError
from sql.patterns.like import like_pattern

# A text is read in pieces; between two pieces a statement may be told to end, and other threads
# have the interpreter.
PIECE_CHARACTERS = 65_536
# Longer patterns are read for each row.
KEPT_CHARACTERS_MAX = 10_000
# What means itself, and what may mean something else.
PIECES = re.compile(rf"[^\\%_]{{1,{PIECE_CHARACTERS}}}|[\\%_]")
# The characters of a part, of which None is any character; a text where there is no None.
Part = str | tuple[str | None, ...]


def like(text: str, pattern: str, escape: str) -> bool:
    """Return text LIKE pattern ESCAPE escape. Raises 22025."""
    go_on()
    parts, is_unended = (parts_of if len(pattern) <= KEPT_CHARACTERS_MAX else parts_of.__wrapped__)(pattern, escape)
    found = is_like(text, parts)
    if found and is_unended:
        raise SqlError("22025", "LIKE pattern must not end with escape character")
    return found


def of_bytes(data: bytes, pattern: bytes) -> bool:
    """Return bytea LIKE pattern, of which each byte is a character. Raises 22025."""
    return like(data.decode("latin1"), pattern.decode("latin1"), "\\")


def is_like(text: str, parts: list[Part]) -> bool:
    """Return whether a text has the parts, in their order, and begins and ends with the outer
    ones.
    """
    first, *others = parts
    if not others:
        return len(text) == len(first) and is_at(text, 0, first)
    last = others.pop()
    place, end = len(first), len(text) - len(last)
    if place > end or not is_at(text, 0, first) or not is_at(text, end, last):
        return False
    for part in others:
        found = find_text(text, part, place, end) if isinstance(part, str) else find(text, part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True


@lru_cache(maxsize=64)
def parts_of(pattern: str, escape: str) -> tuple[list[Part], bool]:
    """Return the parts between the % of a pattern; or, and True, those of the texts that come as
    far as to the escape at its end, where PostgreSQL raises its error.
    """
    parts: list[list[str | None]] = [[]]
    escaped = False
    for found in PIECES.finditer(like_pattern(pattern, escape)):
        piece = found[0]
        if escaped or piece not in ("\\", "%", "_"):
            parts[-1].append(piece)
            escaped = False
        elif piece == "\\":
            escaped = True
        elif piece == "_":
            parts[-1].append(None)
        else:
            go_on()
            parts.append([])
    if escaped:
        known = [place for place, part in enumerate(parts) if any(piece is not None for piece in part)]
        # After % and _ the escape is seen at once, else with a character that it might mean.
        if not any(parts[max(known, default=0) + 1 :]):
            parts[-1].append(None)
            parts.append([])
    return [tuple(characters(part)) if None in part else "".join(map(str, part)) for part in parts], escaped


def characters(part: list[str | None]) -> Iterator[str | None]:
    """Yield the characters of the pieces of a part, None for any."""
    for piece in part:
        yield from (None,) if piece is None else piece


def is_at(text: str, place: int, part: Part) -> bool:
    """Return whether a part is at a place; from there on the text is long enough."""
    if isinstance(part, str):
        return text.startswith(part, place)
    return all(wanted is None or text[place + index] == wanted for index, wanted in enumerate(part))


def find_text(text: str, part: str, start: int, end: int) -> int:
    """Return the first place of a part, -1 if there is none."""
    step = max(PIECE_CHARACTERS, 4 * len(part))
    for place in range(start, max(end - len(part), start) + 1, step):
        go_on()
        found = text.find(part, place, min(end, place + step + len(part) - 1))
        if found >= 0:
            return found
    return -1


def find(text: str, part: tuple[str | None, ...], start: int, end: int) -> int:
    """Return the first place of a part, -1 if there is none.

    Each bit of a number is a place where the part may have begun.
    """
    wild = sum(1 << index for index, wanted in enumerate(part) if wanted is None)
    places: dict[str, int] = {}
    for index, wanted in enumerate(part):
        if wanted is not None:
            places[wanted] = places.get(wanted, wild) | 1 << index
    begun, whole = 0, 1 << len(part) - 1
    for place in range(start, end):
        if place % PIECE_CHARACTERS == 0:
            go_on()
        begun = (begun << 1 | 1) & places.get(text[place], wild)
        if begun & whole:
            return place - len(part) + 1
    return -1
