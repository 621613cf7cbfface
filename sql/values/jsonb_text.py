"""Values of jsonb: a JSON text to the text that PostgreSQL prints for it, and to the key that
orders and groups it.

Keys of objects are ordered by length, then by bytes, and the last of duplicates stays; numbers are
numerics with their digits. Raises SqlError.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from sql.values.json_text import parsed
from sql.values.number_input import unlimited_decimal

ESCAPED = re.compile(r'["\\\x00-\x1f]')
SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class JsonNumber:
    """A number as numeric prints it."""

    def __init__(self, text: str) -> None:
        value = unlimited_decimal(text)
        self.value = value or value.copy_abs()


def jsonb_value(text: str, position: int | None = None) -> str:
    """Return the text that PostgreSQL prints for `text` read as jsonb."""
    out: list[str] = []
    write(parsed(text, JsonNumber, ordered, position, escapes=True), out)
    return "".join(out)


def ordered(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object in jsonb's order."""
    members = dict(pairs)
    return dict(sorted(members.items(), key=lambda member: (len(key := member[0].encode()), key)))


def write(value: Any, out: list[str]) -> None:
    """Append the text of a value."""
    match value:
        case None:
            out.append("null")
        case bool():
            out.append("true" if value else "false")
        case str():
            out.append(string_text(value))
        case JsonNumber():
            out.append(format(value.value, "f"))
        case list():
            out.append("[")
            for index, item in enumerate(value):
                out.append(", " if index else "")
                write(item, out)
            out.append("]")
        case dict():
            out.append("{")
            for index, (key, item) in enumerate(value.items()):
                out.append(", " if index else "")
                out.append(string_text(key) + ": ")
                write(item, out)
            out.append("}")


def string_text(value: str) -> str:
    """Return a JSON string with PostgreSQL's escapes."""
    return '"' + ESCAPED.sub(lambda match: SHORT.get(match[0], f"\\u{ord(match[0]):04x}"), value) + '"'


def jsonb_scalar(text: str) -> Decimal | bool | str | None:
    """Return the number or boolean that a jsonb text is.

    For other values the name of their kind, as casts call it.
    """
    value = parsed(text, JsonNumber, ordered, None, escapes=False)
    match value:
        case None:
            return "null"
        case bool():
            return value
        case JsonNumber():
            return value.value
        case str():
            return "string"
        case list():
            return "array"
    return "object"
