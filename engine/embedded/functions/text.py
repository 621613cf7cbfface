"""PostgreSQL's text functions on Python values, as functions of the embedded engine.

Strict: callers handle NULL.

Raises SqlError with PostgreSQL's SQLSTATE. Must not know of Arrow or DuckDB.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal

from engine.embedded.value_limits import ITEM_BYTES, VALUES_BYTES_MAX, joined, too_long
from sql.errors import SqlError
from sql.names.keywords import COLUMN_NAME, RESERVED, TYPE_OR_FUNCTION
from sql.values.bytes import hexadecimal
from sql.values.pieces import pieces_of

IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]*")
WORDS = re.compile(r"[A-Za-z0-9]+")
FORMAT_SPECIFIER = re.compile(
    r"%(?:(?P<argument>\d+)\$)?(?P<flags>-*)(?P<width>\d+|\*(?:(?P<from>\d+)\$)?)?(?P<type>.?)", re.DOTALL
)
# Bytes of a line of 76 characters, and of lines that are made at once.
BASE64_LINE = 57
BASE64_PIECE = 16_384 * BASE64_LINE
NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]")
INT4_MAX = 2**31 - 1
QUOTED_KEYWORDS = RESERVED | TYPE_OR_FUNCTION | COLUMN_NAME
CODE_POINT_MAX = 0x10FFFF


def initcap(text: str) -> str:
    """Return the text with every word (of ASCII letters and digits) capitalised."""
    return WORDS.sub(lambda word: word[0][0].upper() + lowered(word[0][1:]), text)


def lowered(text: str) -> str:
    return "".join(chr(ord(letter) + 32) if "A" <= letter <= "Z" else letter for letter in text)


def translate(text: str, source: str, target: str) -> str:
    """Return the text with each character of `source` replaced by the character at the same place
    of `target`, or dropped.
    """
    table: dict[int, str | None] = {}
    for index, character in enumerate(source):
        table.setdefault(ord(character), target[index] if index < len(target) else None)
    return text.translate(table)


def overlay(text: str, replacement: str, start: int, length: int) -> str:
    """Return overlay(text placing replacement from start for length)."""
    if start <= 0:
        raise SqlError("22011", "negative substring length not allowed")
    end = start + length
    if end > INT4_MAX:
        raise SqlError("22003", "integer out of range")
    return text[: start - 1] + replacement + text[max(end, 1) - 1 :]


def overlay_all(text: str, replacement: str, start: int) -> str:
    return overlay(text, replacement, start, len(replacement))


def character(number: int) -> str:
    """Return chr(number)."""
    if number < 0:
        raise SqlError("22023", "character number must be positive")
    if number == 0:
        raise SqlError("54000", "null character not permitted")
    if number > CODE_POINT_MAX:
        raise SqlError("54000", f"requested character too large for encoding: {number}")
    if 0xD800 <= number <= 0xDFFF:
        raise SqlError("54000", f"requested character not valid for encoding: {number}")
    return chr(number)


def quote_ident(name: str) -> str:
    if IDENTIFIER.fullmatch(name) and name not in QUOTED_KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def quote_literal(text: str) -> str:
    pieces = [piece.replace("\\", "\\\\").replace("'", "''") for piece in pieces_of(text)]
    return "".join(["E'" if "\\" in text else "'", *pieces, "'"])


def formatted(template: str, arguments: list[str | None]) -> str:
    """Return format(template, arguments...). Raises 53200 before the text is too long."""
    return joined(_pieces(template, arguments))


def _pieces(template: str, arguments: list[str | None]) -> Iterator[str]:
    place = used = 0
    while True:
        start = template.find("%", place)
        if start < 0:
            yield template[place:]
            return
        yield template[place:start]
        found = FORMAT_SPECIFIER.match(template, start)
        assert found is not None
        place = found.end()
        if found["type"] == "%" and found[0] == "%%":
            yield "%"
            continue
        width, used = _width(found, arguments, used)
        used = int(found["argument"]) if found["argument"] is not None else used + 1
        yield _specified(found, arguments, used, width)


def _width(found: re.Match[str], arguments: list[str | None], used: int) -> tuple[int, int]:
    """Return the width, which an argument may give, and the number of the last argument used."""
    written = found["width"]
    if written is None:
        return 0, used
    if not written.startswith("*"):
        return int(written), used
    used = int(found["from"]) if found["from"] is not None else used + 1
    return int(_argument(arguments, used) or 0), used


def _argument(arguments: list[str | None], number: int) -> str | None:
    if number == 0:
        raise SqlError("22023", "format specifies argument 0, but arguments are numbered from 1")
    if number > len(arguments):
        raise SqlError("22023", "too few arguments for format()")
    return arguments[number - 1]


def _specified(found: re.Match[str], arguments: list[str | None], number: int, width: int) -> str:
    kind = found["type"]
    if not kind:
        hint = 'For a single "%" use "%%".'
        raise SqlError("22023", "unterminated format() type specifier", hint=hint)
    if kind not in "sIL":
        hint = 'For a single "%" use "%%".'
        raise SqlError("22023", f'unrecognized format() type specifier "{kind}"', hint=hint)
    value = _argument(arguments, number)
    if kind == "I":
        if value is None:
            raise SqlError("22004", "null values cannot be formatted as an SQL identifier")
        text = quote_ident(value)
    elif kind == "L":
        text = "NULL" if value is None else quote_literal(value)
    else:
        text = value or ""
    if abs(width) > VALUES_BYTES_MAX:
        raise too_long()
    left = bool(found["flags"]) or width < 0
    return text.ljust(abs(width)) if left else text.rjust(abs(width))


def encode(data: bytes, form: str) -> str:
    """Return binary data as text."""
    match lowered(form):
        case "hex":
            return hexadecimal(data)
        case "base64":
            return "\n".join([_base64_lines(piece) for piece in pieces_of(data, BASE64_PIECE)])
        case "escape":
            return "".join(_escaped(byte) for byte in data)
    raise SqlError("22023", f'unrecognized encoding: "{form}"')


def _base64_lines(data: bytes) -> str:
    return "\n".join([base64.b64encode(line).decode() for line in pieces_of(data, BASE64_LINE)])


def _escaped(byte: int) -> str:
    if byte == 0 or byte >= 128:
        return f"\\{byte:03o}"
    return "\\\\" if byte == 92 else chr(byte)


def decode(text: str, form: str) -> bytes:
    """Return the binary data that a text spells."""
    match lowered(form):
        case "hex":
            return _from_hex(text)
        case "base64":
            return _from_base64(text)
        case "escape":
            return _unescaped(text)
    raise SqlError("22023", f'unrecognized encoding: "{form}"')


def _without_spaces(text: str) -> str:
    return "".join([re.sub(r"[ \n\t\r]", "", piece) for piece in pieces_of(text)])


def _from_hex(text: str) -> bytes:
    digits = _without_spaces(text)
    with suppress(ValueError):
        return b"".join([binascii.unhexlify(piece) for piece in pieces_of(digits)])
    for digit in digits:
        if digit not in "0123456789abcdefABCDEF":
            raise SqlError("22023", f'invalid hexadecimal digit: "{digit}"')
    raise SqlError("22023", "invalid hexadecimal data: odd number of digits")


def _from_base64(text: str) -> bytes:
    packed = _without_spaces(text)
    for piece in pieces_of(packed.rstrip("=")):
        wrong = NOT_BASE64.search(piece)
        if wrong is not None:
            raise SqlError("22023", f'invalid symbol "{wrong[0]}" found while decoding base64 sequence')
    try:
        return b"".join([base64.b64decode(piece, validate=True) for piece in pieces_of(packed)])
    except binascii.Error:
        hint = "Input data is missing padding, is truncated, or is otherwise corrupted."
        raise SqlError("22023", "invalid base64 end sequence", hint=hint) from None


def _unescaped(text: str) -> bytes:
    out = bytearray()
    data = text.encode()
    place = 0
    while place < len(data):
        if data[place] != 92:
            out.append(data[place])
            place += 1
        elif re.fullmatch(rb"[0-3][0-7][0-7]", data[place + 1 : place + 4]):
            out.append(int(data[place + 1 : place + 4], 8))
            place += 4
        elif data[place + 1 : place + 2] == b"\\":
            out.append(92)
            place += 2
        else:
            raise SqlError("22P02", "invalid input syntax for type bytea")
    return bytes(out)


def to_array(text: str | None, separator: str | None, null: str | None) -> list[str | None] | None:
    """Return string_to_array: a NULL separator splits into characters, an empty one does not
    split. Raises 53200 before there are too many parts.
    """
    if text is None:
        return None
    if not text:
        return []
    count = len(text) if separator is None else text.count(separator) if separator else 1
    if len(text) + ITEM_BYTES * count > VALUES_BYTES_MAX:
        raise too_long()
    parts = list(text) if separator is None else text.split(separator) if separator else [text]
    return [None if part == null else part for part in parts]


def unescaped(text: str) -> str:
    r"""Return unistr: the text with \XXXX, \+XXXXXX, \uXXXX and \UXXXXXXXX as the characters of
    these code points.

    Raises 42601, 22023.
    """
    found, high, place = [], 0, 0
    for escape in UNICODE_ESCAPE.finditer(text):
        if high and (escape.start() != place or escape[0] == "\\\\"):
            raise SqlError("42601", "invalid Unicode surrogate pair")
        found.append(text[place : escape.start()])
        place = escape.end()
        if escape[0] == "\\\\":
            found.append("\\")
            continue
        if escape.lastgroup is None:
            raise SqlError("42601", "invalid Unicode escape", hint=ESCAPES_HINT)
        code = int(escape[escape.lastgroup], 16)
        if code == 0 or code > 0x10FFFF:
            raise SqlError("22023", f"invalid Unicode code point: {code:04X}")
        if (0xDC00 <= code < 0xE000) != bool(high):
            raise SqlError("42601", "invalid Unicode surrogate pair")
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        found.append(chr(((high - 0xD800) << 10) + code - 0xDC00 + 0x10000 if high else code))
        high = 0
    if high:
        raise SqlError("42601", "invalid Unicode surrogate pair")
    return "".join([*found, text[place:]])


UNICODE_ESCAPE = re.compile(
    r"\\(?:(?P<a>[0-9a-fA-F]{4})|\+(?P<b>[0-9a-fA-F]{6})|u(?P<c>[0-9a-fA-F]{4})|U(?P<d>[0-9a-fA-F]{8})|\\|)"
)
ESCAPES_HINT = r"Unicode escapes must be \XXXX, \+XXXXXX, \uXXXX, or \UXXXXXXXX."


def normal_form(written: str) -> Literal["NFC", "NFD", "NFKC", "NFKD"]:
    """Return the name of a normal form in capitals. Raises 22023."""
    form = written.upper()
    if form not in ("NFC", "NFD", "NFKC", "NFKD"):
        raise SqlError("22023", f"invalid normalization form: {written}")
    return form  # type: ignore[return-value]  # mypy does not see it


def is_normalized(text: str, form: str) -> bool:
    """Return is_normalized. Raises 22023."""
    return unicodedata.is_normalized(normal_form(form), text)


def normalized(text: str, form: str) -> str:
    """Return normalize(text, form). Raises 22023."""
    return unicodedata.normalize(normal_form(form), text)
