"""Values of the catalog's own types: oid, name and "char", as PostgreSQL reads them.

An oid is an unsigned word; a name is cut at 63 bytes; a "char" is one byte: here the character of
that number, or the empty text for 0.
"""

from __future__ import annotations

import re

from sql.errors import SqlError

OID_BITS = 32
OID_END = 1 << OID_BITS
NAME_BYTES_MAX = 63
ASCII_END = 128
# The numbers that C's strtoul takes with base 10: strtoul also reads a sign.
DIGITS = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)[ \t\n\v\f\r]*")
OCTAL = re.compile(r"\\[0-7]{3}")
WORD_DIGITS_MAX = 40
WORD_END = 1 << 64


def oid_value(text: str, position: int | None = None) -> int:
    """Return an oid; -1 is the largest one. Raises 22P02 and 22003."""
    found = DIGITS.match(text)
    if found is None:
        raise SqlError("22P02", f'invalid input syntax for type oid: "{text}"', position)
    digits = found[1]
    value = int(digits) if len(digits.lstrip("+-0")) < WORD_DIGITS_MAX else WORD_END
    # A machine word is read first; of a number that fits, the upper half must be an extension of
    # the lower one.
    if abs(value) < WORD_END and found.end() < len(text):
        raise SqlError("22P02", f'invalid input syntax for type oid: "{text}"', position)
    if not -(OID_END >> 1) <= value < OID_END:
        raise SqlError("22003", f'value "{text}" is out of range for type oid', position)
    return value % OID_END


def name_value(text: str) -> str:
    """Return a name: as many whole characters as 63 bytes hold."""
    data = text.encode()
    return text if len(data) <= NAME_BYTES_MAX else data[:NAME_BYTES_MAX].decode(errors="ignore")


def received_name(text: str) -> str:
    """Return a name in binary form, which is not cut. Raises 42622."""
    if len(text.encode()) > NAME_BYTES_MAX:
        raise SqlError(
            "42622", "identifier too long", detail=f"Identifier must be less than {NAME_BYTES_MAX + 1} characters."
        )
    return text


def char_value(text: str) -> str:
    """Return a "char": the first byte of a text, or the byte of \\377 in it."""
    if OCTAL.fullmatch(text):
        return received_char(int(text[1:], 8) % 256)
    return received_char(text.encode()[0]) if text else ""


def received_char(byte: int) -> str:
    """Return the "char" of a byte."""
    return chr(byte) if byte else ""


def char_text(value: str) -> str:
    """Return a "char" as PostgreSQL prints it: a byte that is not ASCII in octal digits."""
    return f"\\{ord(value):03o}" if value and ord(value) >= ASCII_END else value
