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


def long_transaction(text: str, position: int | None = None) -> int:
    """Return the number of a transaction of 64 bits, of which here the highest is 0: else 22003.

    Raises 22P02 for what is no number, which PostgreSQL takes for 0.
    """
    found = DIGITS.fullmatch(text.strip())
    if found is None:
        raise SqlError("22P02", f'invalid input syntax for type xid8: "{text}"', position)
    digits = found[1]
    value = int(digits) if len(digits) < WORD_DIGITS_MAX else -1
    if not 0 <= value < 1 << 63:
        raise SqlError("22003", f'value "{text}" is out of range for type xid8', position)
    return value


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


def identifier_parts(text: str, is_strict: bool) -> list[str]:
    """Return parse_ident: the names of a qualified identifier. Raises 22023."""

    def wrong(detail: str | None = None) -> SqlError:
        return SqlError("22023", f'string is not a valid identifier: "{text}"', detail=detail)

    parts: list[str] = []
    place, after_dot = len(text) - len(text.lstrip(BLANKS)), False
    while True:
        found = NAME_PART.match(text, place)
        if found is None:
            if text[place : place + 1] == '"':
                raise wrong("String has unclosed double quotes.")
            if text[place : place + 1] == ".":
                raise wrong('No valid identifier before ".".')
            raise wrong('No valid identifier after ".".' if after_dot else None)
        if found[0] == '""':
            raise wrong("Quoted identifier must not be empty.")
        parts.append(found[1].replace('""', '"') if found[1] is not None else ascii_lower(found[0]))
        place = found.end()
        place += len(text[place:]) - len(text[place:].lstrip(BLANKS))
        if text[place : place + 1] == ".":
            place, after_dot = place + 1, True
            place += len(text[place:]) - len(text[place:].lstrip(BLANKS))
            continue
        if place < len(text) and is_strict:
            raise wrong()
        return parts


def ascii_lower(text: str) -> str:
    """Return a text with small ASCII letters, as the C locale folds names."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


BLANKS = " \t\n\r\f\v"
NAME_PART = re.compile(r'"((?:[^"]|"")*)"|[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*')
