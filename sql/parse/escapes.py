"""Backslash escapes of E'...' and U&'...' constants.

Enters: the text between the quotes. Leaves: the characters that the text means.
"""

from __future__ import annotations

import re
from functools import lru_cache
from io import StringIO

from sql import interrupts
from sql.errors import SqlError

SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
ESCAPE = re.compile(
    r"''|\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([uU])|(.))", re.DOTALL
)
# What no character may be that begins the escapes of a U&'...' constant.
NO_ESCAPE_CHARACTERS = frozenset("0123456789abcdefABCDEF+'\" \t\n\r\f\v")


def decode_escapes(body: str, start: int) -> str:
    """Return the characters that E'body' means.

    start: the 0-based place of `body` in the text of the client.
    """
    if "\\" not in body:
        return body.replace("''", "'")
    # \x and octal escapes are bytes of UTF-8, which may only together make a character. They go
    # into one buffer and not into pieces: to join a million pieces would hold up all other
    # sessions.
    decoded = bytearray()
    place, first = 0, 0
    for match in ESCAPE.finditer(body):
        interrupts.check()
        value = int(match[3] or match[4] or "0", 16)
        if first:
            if match.start() > place or not (match[5] or is_second(value)):
                raise unpaired(body, place, start, match if match.start() == place else None)
            decoded += escaped_bytes(match, start + match.start() + 1) if match[5] else joined(first, value).encode()
            first = 0
        elif is_first(value):
            decoded += body[place : match.start()].encode()
            first = value
        else:
            decoded += body[place : match.start()].encode()
            if is_second(value):
                raise unpaired(body, match.start(), start, match)
            decoded += escaped_bytes(match, start + match.start() + 1)
        place = match.end()
    if first:
        raise unpaired(body, place, start, None)
    decoded += body[place:].encode()
    try:
        return check_nul(decoded.decode(), start)
    except UnicodeDecodeError as error:
        wrong = " ".join(f"0x{byte:02x}" for byte in error.object[error.start : error.end])
        raise SqlError("22021", f'invalid byte sequence for encoding "UTF8": {wrong}', position=start + 1) from None


def escaped_bytes(match: re.Match[str], position: int) -> bytes:
    hexadecimal, octal, short, long, broken, other = match.groups()
    if hexadecimal:
        return bytes([int(hexadecimal, 16)])
    if octal:
        return bytes([int(octal, 8) & 0xFF])
    if short or long:
        if not is_code_point(int(short or long, 16)):
            raise SqlError("42601", f'invalid Unicode escape value at or near "{match[0]}"', position)
        return chr(int(short or long, 16)).encode()
    if broken:
        raise SqlError(
            "22025", "invalid Unicode escape", position, hint=r"Unicode escapes must be \uXXXX or \UXXXXXXXX."
        )
    if other:
        return SIMPLE.get(other, other).encode()
    return b"'"


def unpaired(body: str, place: int, start: int, escape: re.Match[str] | None) -> SqlError:
    """Return the error of half a surrogate pair before `place`, where `escape` or another character
    is.
    """
    near = escape[0] if escape is not None and (escape[3] or escape[4]) else (body[place : place + 1] or "'")
    return SqlError("42601", f'invalid Unicode surrogate pair at or near "{near}"', start + place + 1)


@lru_cache(maxsize=16)
def unicode_escapes(character: str) -> re.Pattern[str]:
    """Return the pattern of the escapes that `character` begins."""
    begin = re.escape(character)
    return re.compile(rf"{begin}(?:({begin})|\+([0-9A-Fa-f]{{6}})|([0-9A-Fa-f]{{4}})|(.?))", re.DOTALL)


def decode_unicode_escapes(body: str, start: int, character: str = "\\") -> str:
    """Return the characters that U&'body' UESCAPE 'character' means.

    start: the 0-based place of `body` in the text of the client.
    """
    decoded = StringIO()
    place, first = 0, 0
    for match in unicode_escapes(character).finditer(body):
        interrupts.check()
        doubled, long, short, _ = match.groups()
        position = start + match.start() + 1
        if first and (match.start() > place or doubled):
            raise SqlError("42601", "invalid Unicode surrogate pair", start + place + 1)
        decoded.write(body[place : match.start()])
        place = match.end()
        if doubled:
            decoded.write(character)
            continue
        if not (long or short):
            hint = r"Unicode escapes must be \XXXX or \+XXXXXX."
            raise SqlError("42601", "invalid Unicode escape", position, hint=hint)
        value = int(long or short, 16)
        if not is_code_point(value):
            raise SqlError("42601", "invalid Unicode escape value", position)
        if bool(first) != is_second(value):
            raise SqlError("42601", "invalid Unicode surrogate pair", position)
        if not is_first(value):
            decoded.write(joined(first, value) if first else chr(value))
        first = value if is_first(value) else 0
    if first:
        raise SqlError("42601", "invalid Unicode surrogate pair", start + place + 1)
    decoded.write(body[place:])
    return check_nul(decoded.getvalue(), start)


def is_code_point(value: int) -> bool:
    return 0 < value <= 0x10FFFF


def is_first(value: int) -> bool:
    """Tell whether a value is the first half of a surrogate pair."""
    return 0xD800 <= value <= 0xDBFF


def is_second(value: int) -> bool:
    """Tell whether a value is the second half of a surrogate pair."""
    return 0xDC00 <= value <= 0xDFFF


def joined(first: int, second: int) -> str:
    """Return the character of a surrogate pair."""
    return chr(0x10000 + ((first & 0x3FF) << 10) + (second & 0x3FF))


def check_nul(value: str, start: int) -> str:
    if "\0" in value:
        raise SqlError("22021", 'invalid byte sequence for encoding "UTF8": 0x00', position=start + 1)
    return value
