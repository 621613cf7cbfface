"""The text of a JSON value: checked as PostgreSQL checks it, with its errors (jsonapi.c), down to
the token and the line.

Enters: a text. Leaves: nothing for json, which keeps its text; the parsed value for jsonb. Python's
own reader reads a valid text; a text that this reader refuses is read again here, for the error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

from sql.errors import SqlError
from sql.values.json_pieces import WINDOW, PieceReader

DEPTH_MAX = 400
CONTEXT_BYTES = 50
SPACES = b" \t\n\r"
WORD = re.compile(rb"[A-Za-z0-9_\x80-\xff]*")
NUMBER = re.compile(
    rb"(?P<whole>0|[1-9][0-9]*)?(?P<fraction>\.[0-9]*)?(?P<exponent>[eE][+-]?[0-9]*)?(?P<rest>[A-Za-z0-9_\x80-\xff]*)"
)
HEX = frozenset(b"0123456789abcdefABCDEF")
ESCAPES = frozenset(b'"\\/bfnrt')
PUNCTUATION = b"{}[],:"

EXPECTED = {
    "end": "Expected end of input, but found {0}.",
    "value": "Expected JSON value, but found {0}.",
    "string": "Expected string, but found {0}.",
    "array next": 'Expected "," or "]", but found {0}.',
    "object start": 'Expected string or "}}", but found {0}.',
    "object label": 'Expected ":", but found {0}.',
    "object next": 'Expected "," or "}}", but found {0}.',
}


def json_check(text: str, position: int | None = None) -> None:
    """Raise 22P02 unless `text` is a JSON value."""
    parsed(text, str, list, position, escapes=False, keeps=False)


def parsed(
    text: str,
    number: Callable[[str], Any],
    pairs: Callable[[list[tuple[str, Any]]], Any],
    position: int | None,
    escapes: bool,
    keeps: bool = True,
) -> Any:
    """Return the value with numbers and objects made by the given functions.

    escapes: strings must be text that can be stored. keeps: whether the value is wanted, not only
    its errors.
    """
    decoder = decoder_of(number, pairs)
    try:
        value = decoder.decode(text) if len(text) <= WINDOW else PieceReader(text, decoder, pairs, keeps).whole()
    except RecursionError:
        raise SqlError("54001", "stack depth limit exceeded", position) from None
    except ValueError:
        Reader(text, position, escapes).whole()
        raise
    if escapes and "\\u" in text:
        Reader(text, position, escapes).whole()
    return value


@lru_cache(maxsize=8)
def decoder_of(number: Callable[[str], Any], pairs: Callable[[list[tuple[str, Any]]], Any]) -> json.JSONDecoder:
    """Return the reader that makes numbers and objects by the given functions."""
    return json.JSONDecoder(parse_int=number, parse_float=number, object_pairs_hook=pairs, parse_constant=refuse)


def refuse(word: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python's reader takes."""
    raise ValueError(word)


class Reader:
    """A reader like PostgreSQL's lexer and recursive descent over UTF-8 bytes, which only looks for
    the first error.
    """

    def __init__(self, text: str, position: int | None, escapes: bool) -> None:
        self.data = text.encode("utf-8", "surrogatepass")
        self.position = position
        self.escapes = escapes
        self.start = self.end = self.line_start = 0
        self.line = 1
        self.kind = ""
        self.depth = 0

    def whole(self) -> None:
        self.advance()
        self.value()
        self.expect("", "end")

    def value(self) -> None:
        """Read one value; its first token has been read."""
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise SqlError("54001", "stack depth limit exceeded", self.position)
        if self.kind == "{":
            self.members()
        elif self.kind == "[":
            self.advance()
            if self.kind != "]":
                self.value()
                while self.kind == ",":
                    self.advance()
                    self.value()
            self.expect("]", "array next")
        elif self.kind in ("string", "number", "word"):
            self.advance()
        else:
            self.unexpected("value")
        self.depth -= 1

    def members(self) -> None:
        self.advance()
        if self.kind == "string":
            self.member()
            while self.kind == ",":
                self.advance()
                self.member()
        elif self.kind != "}":
            self.unexpected("object start")
        self.expect("}", "object next")

    def member(self) -> None:
        if self.kind != "string":
            self.unexpected("string")
        self.advance()
        self.expect(":", "object label")
        self.value()

    def expect(self, kind: str, place: str) -> None:
        if self.kind != kind:
            self.unexpected(place)
        if kind:
            self.advance()

    def unexpected(self, place: str) -> NoReturn:
        if not self.kind:
            self.fail("The input string ended unexpectedly.")
        self.fail(EXPECTED[place].format(f'"{self.token()}"'))

    def token(self) -> str:
        return self.data[self.start : self.end].decode("utf-8", "replace")

    def advance(self) -> None:
        """Read the next token: its kind is its own character, or 'string', 'number', 'word', '' at
        the end.
        """
        data, place = self.data, self.end
        while place < len(data) and data[place] in SPACES:
            if data[place] == 10:
                self.line += 1
                self.line_start = place + 1
            place += 1
        self.start = place
        if place >= len(data):
            self.end, self.kind = place, ""
        elif data[place] in PUNCTUATION:
            self.end, self.kind = place + 1, chr(data[place])
        elif data[place] == ord('"'):
            self.string(place + 1)
            self.kind = "string"
        elif data[place] == ord("-") or chr(data[place]).isdecimal():
            self.number(place + (data[place] == ord("-")))
            self.kind = "number"
        else:
            match = WORD.match(data, place)
            assert match is not None
            self.end = max(match.end(), place + 1)
            if match[0] not in (b"true", b"false", b"null"):
                self.fail(f'Token "{self.token()}" is invalid.')
            self.kind = "word"

    def number(self, place: int) -> None:
        match = NUMBER.match(self.data, place)
        assert match is not None
        self.end = match.end()
        digits_missing = match["fraction"] == b"." or (match["exponent"] or b"0")[-1:] in b"eE+-"
        if match["whole"] is None or digits_missing or match["rest"]:
            self.fail(f'Token "{self.token()}" is invalid.')

    def string(self, place: int) -> None:
        """Read up to the closing quote.

        The local `high` is the first half of a pair of \\u escapes that waits for its second half.
        """
        data, high = self.data, False
        while True:
            if place >= len(data):
                self.invalid_token(place)
            mark = data[place]
            if mark == ord('"'):
                break
            if mark < 32:
                self.end = place
                self.fail(f"Character with value 0x{mark:02x} must be escaped.")
            if mark != ord("\\"):
                self.low_surrogate_missing(high, place)
                place, high = place + 1, False
                continue
            place += 1
            if place >= len(data):
                self.invalid_token(place)
            if data[place] == ord("u"):
                high, place = self.unicode_escape(place + 1, high), place + 5
                continue
            self.low_surrogate_missing(high, place)
            high = False
            if data[place] not in ESCAPES:
                self.start, self.end = place, place + character_bytes(data[place])
                self.fail(f'Escape sequence "\\{self.token()}" is invalid.')
            place += 1
        self.low_surrogate_missing(high, place)
        self.end = place + 1

    def invalid_token(self, place: int) -> NoReturn:
        self.end = place
        self.fail(f'Token "{self.token()}" is invalid.')

    def unicode_escape(self, place: int, high: bool) -> bool:
        """Check four digits and the character that they mean.

        Tell whether they are the first half of a pair.
        """
        for index in range(place, place + 4):
            if index >= len(self.data):
                self.invalid_token(index)
            if self.data[index] not in HEX:
                self.end = index + character_bytes(self.data[index])
                self.fail('"\\u" must be followed by four hexadecimal digits.')
        if not self.escapes:
            return False
        code = int(self.data[place : place + 4], 16)
        self.end = place + 4
        if 0xD800 <= code <= 0xDBFF:
            if high:
                self.fail("Unicode high surrogate must not follow a high surrogate.")
            return True
        if high != (0xDC00 <= code <= 0xDFFF):
            self.fail("Unicode low surrogate must follow a high surrogate.")
        if code == 0:
            self.fail("\\u0000 cannot be converted to text.", "22P05", "unsupported Unicode escape sequence")
        return False

    def low_surrogate_missing(self, high: bool, place: int) -> None:
        if high:
            self.end = place + 1
            self.fail("Unicode low surrogate must follow a high surrogate.")

    def fail(
        self, detail: str, sqlstate: str = "22P02", message: str = "invalid input syntax for type json"
    ) -> NoReturn:
        """Raise the error with PostgreSQL's excerpt of the line up to the token."""
        first = self.line_start
        while self.end - first >= CONTEXT_BYTES:
            first += character_bytes(self.data[first])
        if first - self.line_start <= 3:
            first = self.line_start
        head = "..." if first > self.line_start else ""
        tail = "..." if self.end < len(self.data) and self.data[self.end] not in b"\n\r" and self.kind_is_open() else ""
        excerpt = self.data[first : self.end].decode("utf-8", "replace")
        context = f"JSON data, line {self.line}: {head}{excerpt}{tail}"
        raise SqlError(sqlstate, message, self.position, detail=detail, context=context)

    def kind_is_open(self) -> bool:
        return not (self.kind == "" and self.start >= len(self.data))


def character_bytes(first: int) -> int:
    """Return the length of the UTF-8 character that begins with this byte."""
    return 1 if first < 0xC0 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4
