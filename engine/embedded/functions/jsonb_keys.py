"""The bytes that order jsonb values as PostgreSQL does: objects over arrays over booleans over
numbers over strings over null.

Enters: the text of a jsonb. Leaves: a key; equal values have equal keys, and keys compare byte by
byte. The key of an array or object begins with the number of its members; a value that is no
container counts, at the top, as an array of one, below a real one.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sql.values.json_text import parsed
from sql.values.jsonb_text import JsonNumber, ordered

NULL, STRING, NUMBER, BOOLEAN, ARRAY, OBJECT = range(1, 7)
END = b"\0"
EXPONENT_ORIGIN = 1 << 30


def jsonb_key(text: str) -> bytes:
    """Return the key of a jsonb."""
    value = parsed(text, JsonNumber, ordered, None, escapes=False)
    out = bytearray()
    if isinstance(value, dict):
        write(value, out)
        return bytes(out)
    items = value if isinstance(value, list) else [value]
    out += bytes([ARRAY]) + len(items).to_bytes(4, "big") + bytes([isinstance(value, list)])
    for item in items:
        write(item, out)
    return bytes(out)


def write(value: Any, out: bytearray) -> None:
    """Append the key of a value inside."""
    match value:
        case None:
            out.append(NULL)
        case bool():
            out += bytes([BOOLEAN, value])
        case str():
            out.append(STRING)
            out += value.encode() + END
        case JsonNumber():
            out.append(NUMBER)
            out += number_key(value.value)
        case list():
            out.append(ARRAY)
            out += len(value).to_bytes(4, "big")
            for item in value:
                write(item, out)
        case dict():
            out.append(OBJECT)
            out += len(value).to_bytes(4, "big")
            for key, item in value.items():
                write(key, out)
                write(item, out)


def number_key(value: Decimal) -> bytes:
    """Return sign, power of ten and digits; for a negative number all of them are inverted."""
    sign, figures, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, figures)).lstrip("0")
    if not digits:
        return b"\1"
    power = len(digits) + exponent + EXPONENT_ORIGIN
    body = power.to_bytes(4, "big") + digits.rstrip("0").encode() + END
    return b"\0" + bytes(255 - byte for byte in body) if sign else b"\2" + body
