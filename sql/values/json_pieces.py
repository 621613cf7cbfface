"""The value of a long JSON text, by Python's reader in pieces: one call for all of it would keep
the interpreter from every other thread.

Enters: a text, and a reader for short ones. Leaves: the value, or ValueError for a text that is
none; what is wrong is found elsewhere (`sql.values.json_text`). The reader is given windows of the
text. What does not end in a window is an array, an object or a string that is gone through part by
part, or broken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from sql import interrupts

# Characters that are read in a millisecond.
WINDOW = 1 << 16
SPACES = re.compile(r"[ \t\n\r]{0,65536}")
PLAIN = re.compile(r'[^"\\\x00-\x1f]{0,65536}')
# The halves of a pair stay together.
ESCAPED = re.compile(
    r'(?:\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]|[^"\\\x00-\x1f]){1,4096}'
)


class PieceReader:
    """A walk over one text. keeps: whether the value is wanted; without it only whether there is
    one.
    """

    def __init__(
        self, text: str, decoder: json.JSONDecoder, pairs: Callable[[list[tuple[str, Any]]], Any], keeps: bool
    ) -> None:
        self._text = text
        self._decoder = decoder
        self._pairs = pairs
        self._keeps = keeps
        self._window = ""
        self._start = 0

    def whole(self) -> Any:
        """Return the value of the whole text. Raises ValueError, and RecursionError for what nests
        too deep.
        """
        value, place = self._value(self._after_spaces(0))
        if self._after_spaces(place) < len(self._text):
            raise ValueError(place)
        return value

    def _value(self, place: int) -> tuple[Any, int]:
        """Return the value at a place, and where it ends."""
        for is_new in (False, True):
            if is_new:
                if place == self._start and self._window:
                    break
                interrupts.check()
                self._start, self._window = place, self._text[place : place + WINDOW]
            if not 0 <= place - self._start < len(self._window):
                continue
            is_last = self._start + len(self._window) == len(self._text)
            try:
                value, end = self._decoder.raw_decode(self._window, place - self._start)
            except ValueError:
                if is_last:
                    raise
                continue
            # What reaches the end of the window may go on, and a number before "e+" as well.
            if is_last or end < len(self._window) - len("e+"):
                return value, self._start + end
        match self._text[place : place + 1]:
            case "[":
                return self._array(place + 1)
            case "{":
                return self._object(place + 1)
            case '"':
                return self._string(place + 1)
        # A number of so many digits, or nothing.
        return self._decoder.raw_decode(self._text, place)

    def _array(self, place: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        place = self._after_spaces(place)
        if self._text[place : place + 1] == "]":
            return items, place + 1
        tried = -1
        while True:
            if self._start != tried:
                place, tried = self._several(place, items), self._start
            value, place = self._value(place)
            if self._keeps:
                items.append(value)
            place = self._after_spaces(place)
            if self._is_next(place, "]"):
                return items, place + 1
            place = self._after_spaces(place + 1)

    def _several(self, place: int, items: list[Any]) -> int:
        """Read items as long as windows have only short ones; return the place of the next one."""
        while self._text[place : place + 1] not in ("[", "{"):
            interrupts.check()
            window = self._text[place : place + WINDOW]
            # If what stands before a comma is a list of values, the comma is between two of them.
            cut = window.rfind(",")
            try:
                found = self._decoder.decode(f"[{window[: max(cut, 0)]}]")
            except ValueError:
                break
            if not found:
                break
            if self._keeps:
                items += found
            place = self._after_spaces(place + cut + 1)
        return place

    def _object(self, place: int) -> tuple[Any, int]:
        members: list[tuple[str, Any]] = []
        place = self._after_spaces(place)
        if self._text[place : place + 1] == "}":
            return self._pairs(members), place + 1
        while True:
            if self._text[place : place + 1] != '"':
                raise ValueError(place)
            name, place = self._value(place)
            place = self._after_spaces(place)
            if self._text[place : place + 1] != ":":
                raise ValueError(place)
            value, place = self._value(self._after_spaces(place + 1))
            if self._keeps:
                members.append((name, value))
            place = self._after_spaces(place)
            if self._is_next(place, "}"):
                return self._pairs(members), place + 1
            place = self._after_spaces(place + 1)

    def _is_next(self, place: int, closing: str) -> bool:
        """Tell whether the closing mark is at a place. Raises ValueError where it is not, nor a
        comma.
        """
        mark = self._text[place : place + 1]
        if mark not in (closing, ",") or not mark:
            raise ValueError(place)
        return mark == closing

    def _string(self, place: int) -> tuple[str, int]:
        parts: list[str] = []
        while True:
            interrupts.check()
            plain = PLAIN.match(self._text, place)
            assert plain is not None
            escaped = ESCAPED.match(self._text, plain.end()) if plain.end() - place < WINDOW else None
            end = plain.end() if escaped is None else escaped.end()
            if end == place:
                if self._text[place : place + 1] != '"':
                    raise ValueError(place)
                return "".join(parts), place + 1
            if self._keeps:
                parts.append(plain[0] if escaped is None else plain[0] + json.loads(f'"{escaped[0]}"'))
            place = end

    def _after_spaces(self, place: int) -> int:
        while True:
            found = SPACES.match(self._text, place)
            assert found is not None
            if found.end() - place < WINDOW:
                return found.end()
            place = found.end()
