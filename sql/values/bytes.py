"""PostgreSQL's text input and output of bytea and uuid."""

from __future__ import annotations

import re
from binascii import unhexlify

from sql.errors import SqlError
from sql.values.pieces import pieces_of

UUID = re.compile(r"(?:[0-9A-Fa-f]{4}-?){7}[0-9A-Fa-f]{4}")
HEX_SPACES = " \n\t\r"
HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
ESCAPE = re.compile(rb"\\(\\|[0-3][0-7]{2}|)")


def bytea_value(text: str, position: int | None = None) -> bytes:
    r"""Return the bytes of '\x6869', or of 'hi\\\000' in the older escape format."""
    if text.startswith("\\x"):
        return hex_value(text[2:], position)

    def unescaped(match: re.Match[bytes]) -> bytes:
        found = match[1]
        if not found:
            raise SqlError("22P02", "invalid input syntax for type bytea", position)
        return found if found == b"\\" else bytes([int(found, 8)])

    return ESCAPE.sub(unescaped, text.encode()) if "\\" in text else text.encode()


def hex_value(digits: str, position: int | None) -> bytes:
    try:
        return b"".join([unhexlify(piece) for piece in pieces_of(digits)])
    except ValueError:
        pass
    out = bytearray()
    place = 0
    while place < len(digits):
        if digits[place] in HEX_SPACES:
            place += 1
            continue
        for digit in digits[place : place + 2]:
            if digit not in HEX_DIGITS:
                raise SqlError("22023", f'invalid hexadecimal digit: "{digit}"', position)
        if place + 1 == len(digits):
            raise SqlError("22023", "invalid hexadecimal data: odd number of digits", position)
        out.append(int(digits[place : place + 2], 16))
        place += 2
    return bytes(out)


def bytea_text(value: bytes) -> str:
    """Return the text with bytea_output hex."""
    return "\\x" + hexadecimal(value)


def hexadecimal(value: bytes) -> str:
    """Return bytes as digits."""
    return "".join([piece.hex() for piece in pieces_of(value)])


def uuid_value(text: str, position: int | None = None) -> str:
    """Return the uuid as PostgreSQL prints it."""
    inner = text[1:-1] if text.startswith("{") and text.endswith("}") else text
    if UUID.fullmatch(inner) is None:
        raise SqlError("22P02", f'invalid input syntax for type uuid: "{text}"', position)
    return uuid_text(inner.replace("-", "").lower())


def uuid_text(digits: str) -> str:
    """Return 32 hexadecimal digits with their hyphens."""
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
