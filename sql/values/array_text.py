"""The text form of one-dimensional arrays: '{1,NULL,"a b"}' to the texts of the elements and back.

Follows array_in's state machine and its errors. Arrays of more dimensions, and lower bounds other
than 1, are 0A000.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sql.errors import SqlError, not_supported

SPACES = " \t\n\r\v\f"
DIMENSIONS_MAX = 6
DIMENSION = re.compile(r"\s*\[([+-]?\d+)(?::([+-]?\d+))?\]", re.ASCII)
PLAIN = re.compile(r"[^\s\"\\{},]+", re.ASCII)
SIMPLE = re.compile(r"\{[^\"\\{}\s]*\}", re.ASCII)


class ArrayReader:
    """A reader of the text between the braces.

    Attributes:
        elements: the texts of the elements that have been read, None for NULL.
    """

    def __init__(self, text: str, position: int | None) -> None:
        self.text = text
        self.position = position
        self.elements: list[str | None] = []
        self.depth = 0
        self.depth_max = 0
        # Errors after the dimensions quote the text from the first brace on.
        self.first = 0

    def malformed(self, detail: str) -> SqlError:
        return SqlError("22P02", f'malformed array literal: "{self.text[self.first :]}"', self.position, detail=detail)

    def read(self, place: int) -> int:
        """Read from the first brace on; return the end of the last brace.

        Elements of deeper levels are only checked.
        """
        self.first = place
        state, counts, lasts = "nothing", [1] * DIMENSIONS_MAX, [0] * DIMENSIONS_MAX
        text = self.text
        while True:
            while place < len(text) and text[place] in SPACES:
                place += 1
            if place >= len(text):
                raise self.malformed("Unexpected end of input.")
            mark = text[place]
            if mark == "{":
                state = self.open(state)
                place += 1
            elif mark == "}":
                if state not in ("element", "closed") and not (self.depth == 1 and state == "opened"):
                    raise self.malformed('Unexpected "}" character.')
                state, place = "closed", place + 1
                self.depth -= 1
                if lasts[self.depth] not in (0, counts[self.depth]):
                    detail = "Multidimensional arrays must have sub-arrays with matching dimensions."
                    raise self.malformed(detail)
                lasts[self.depth], counts[self.depth] = counts[self.depth], 1
                if self.depth == 0:
                    return place
            elif mark == ",":
                if state not in ("element", "closed"):
                    raise self.malformed('Unexpected "," character.')
                state = "more levels" if state == "closed" else "more elements"
                counts[self.depth - 1] += 1
                place += 1
            else:
                if state not in ("opened", "more elements"):
                    raise self.malformed('Unexpected "\\" character.' if mark == "\\" else "Unexpected array element.")
                place = self.quoted(place + 1) if mark == '"' else self.bare(place)
                state = "element"

    def open(self, state: str) -> str:
        if state not in ("nothing", "opened", "more levels"):
            raise self.malformed('Unexpected "{" character.')
        if self.depth >= DIMENSIONS_MAX:
            message = f"number of array dimensions ({self.depth + 1}) exceeds the maximum allowed ({DIMENSIONS_MAX})"
            raise SqlError("54000", message, self.position)
        self.depth += 1
        self.depth_max = max(self.depth_max, self.depth)
        return "opened"

    def quoted(self, place: int) -> int:
        """Read up to the closing quote."""
        out: list[str] = []
        text = self.text
        while place < len(text):
            if text[place] == '"':
                self.elements.append("".join(out))
                return place + 1
            if text[place] == "\\":
                place += 1
                if place >= len(text):
                    break
            out.append(text[place])
            place += 1
        raise self.malformed("Unexpected end of input.")

    def bare(self, place: int) -> int:
        """Read an element without quotes, up to a delimiter.

        Blanks at its end do not count, escaped blanks do.
        """
        out: list[str] = []
        kept, escaped = 0, False
        text = self.text
        while place < len(text) and text[place] not in ",}":
            mark = text[place]
            if mark == '"':
                raise self.malformed("Unexpected array element.")
            if mark == "{":
                raise self.malformed('Unexpected "{" character.')
            if mark == "\\":
                place += 1
                if place >= len(text):
                    break
                mark, escaped = text[place], True
                kept = len(out) + 1
            elif mark not in SPACES:
                kept = len(out) + 1
            out.append(mark)
            place += 1
        if place >= len(text):
            raise self.malformed("Unexpected end of input.")
        element = "".join(out[:kept])
        self.elements.append(None if not escaped and element.upper() == "NULL" else element)
        return place


def array_elements(text: str, position: int | None = None) -> list[str | None]:
    """Return the texts of the elements of an array literal, None for NULL."""
    if SIMPLE.fullmatch(text) is not None and ",," not in text and text[1:2] != "," and text[-2:-1] != ",":
        if text == "{}":
            return []
        return [None if part.upper() == "NULL" else part for part in text[1:-1].split(",")]
    reader = ArrayReader(text, position)
    bounds, place = dimensions(reader)
    end = reader.read(place)
    if text[end:].strip(SPACES):
        raise reader.malformed("Junk after closing right brace.")
    if not reader.elements and not bounds:
        return []
    if reader.depth_max > 1 or len(bounds) > 1:
        raise not_supported("an array of more than one dimension", position)
    if bounds:
        lower, upper = bounds[0]
        reader.first = 0
        if upper - lower + 1 != len(reader.elements):
            raise reader.malformed("Specified array dimensions do not match array contents.")
        if lower != 1:
            raise not_supported("an array whose lower bound is not 1", position)
    return reader.elements


def dimensions(reader: ArrayReader) -> tuple[list[tuple[int, int]], int]:
    """Return the bounds that are written before the first brace, and the place of the brace."""
    text, place, found = reader.text, 0, []
    while (match := DIMENSION.match(text, place)) is not None:
        lower, upper = (1, int(match[1])) if match[2] is None else (int(match[1]), int(match[2]))
        if upper < lower:
            raise SqlError("2202E", "upper bound cannot be less than lower bound", reader.position)
        found.append((lower, upper))
        place = match.end()
    rest = text[place:].lstrip(SPACES)
    start = len(text) - len(rest)
    if found:
        if not rest.startswith("="):
            raise reader.malformed('Missing "=" after array dimensions.')
        rest = rest[1:].lstrip(SPACES)
        start = len(text) - len(rest)
        if not rest.startswith("{"):
            raise reader.malformed('Array contents must start with "{".')
    elif rest.startswith("["):
        raise reader.malformed('"[" must introduce explicitly-specified array dimensions.')
    elif not rest.startswith("{"):
        raise reader.malformed('Array value must start with "{" or dimension information.')
    return found, start


def array_text(elements: Sequence[str | None]) -> str:
    """Return the array literal of the elements' texts."""
    return "{" + ",".join("NULL" if element is None else quoted(element) for element in elements) + "}"


def quoted(element: str) -> str:
    """Return an element as array_out prints it: in quotes where a reader needs them."""
    if PLAIN.fullmatch(element) is not None and element.upper() != "NULL":
        return element
    return '"' + element.replace("\\", "\\\\").replace('"', '\\"') + '"'
