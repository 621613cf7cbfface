"""Backslash escapes of E'...' and U&'...' constants. Enters: the text between the quotes. Leaves: the characters meant."""

from __future__ import annotations

import re

from sql import interrupts
from sql.errors import SqlError

SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
ESCAPE = re.compile(
    r"''|\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([uU])|(.))", re.DOTALL
)
UNICODE_ESCAPE = re.compile(r"\\(?:(\\)|\+([0-9A-Fa-f]{6})|([0-9A-Fa-f]{4})|(.?))", re.DOTALL)


def decode_escapes(body: str, start: int) -> str:
    """Return what E'body' means; `start` is the 0-based place of `body` in the text."""
    if "\\" not in body:
        return body.replace("''", "'")
    # \x and octal escapes are bytes of UTF-8, which may only together make a character.
    pieces: list[bytes] = []
    place = 0
    for match in ESCAPE.finditer(body):
        interrupts.check()
        pieces.append(body[place : match.start()].encode())
        pieces.append(escaped_bytes(match, start + match.start() + 1))
        place = match.end()
    pieces.append(body[place:].encode())
    try:
        decoded = b"".join(pieces).decode()
    except UnicodeDecodeError as error:
        wrong = " ".join(f"0x{byte:02x}" for byte in error.object[error.start : error.end])
        raise SqlError("22021", f'invalid byte sequence for encoding "UTF8": {wrong}', position=start + 1) from None
    return check_nul(decoded, start)


def escaped_bytes(match: re.Match[str], position: int) -> bytes:
    hexadecimal, octal, short, long, broken, other = match.groups()
    if hexadecimal:
        return bytes([int(hexadecimal, 16)])
    if octal:
        return bytes([int(octal, 8) & 0xFF])
    if short or long:
        return code_point(int(short or long, 16), position).encode()
    if broken:
        raise SqlError(
            "22025", "invalid Unicode escape", position, hint=r"Unicode escapes must be \uXXXX or \UXXXXXXXX."
        )
    if other:
        return SIMPLE.get(other, other).encode()
    return b"'"


def decode_unicode_escapes(body: str, start: int) -> str:
    """Return what U&'body' means."""

    def replace(match: re.Match[str]) -> str:
        interrupts.check()
        backslash, long, short, _ = match.groups()
        if backslash:
            return "\\"
        if not (long or short):
            hint = r"Unicode escapes must be \XXXX or \+XXXXXX."
            raise SqlError("42601", "invalid Unicode escape", start + match.start() + 1, hint=hint)
        return code_point(int(long or short, 16), start + match.start() + 1)

    return check_nul(UNICODE_ESCAPE.sub(replace, body), start)


def code_point(value: int, position: int) -> str:
    if value > 0x10FFFF or value == 0 or 0xD800 <= value <= 0xDFFF:
        raise SqlError("42601", "invalid Unicode escape value", position)
    return chr(value)


def check_nul(value: str, start: int) -> str:
    if "\0" in value:
        raise SqlError("22021", 'invalid byte sequence for encoding "UTF8": 0x00', position=start + 1)
    return value
