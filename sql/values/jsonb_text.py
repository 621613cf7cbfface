"""Values of jsonb: a JSON text to the text that PostgreSQL prints for it, and to the key that
orders and groups it.

Keys of objects are ordered by length, then by bytes, and the last of duplicates stays; numbers are
numerics with their digits. Raises SqlError.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from io import StringIO
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
    value = parsed(text, JsonNumber, ordered, position, escapes=True)
    out = StringIO()
    write(value, out.write)
    forget(value)
    return out.getvalue()


def forget(value: Any) -> None:
    """Let go of a value part by part: millions of numbers at once would keep the interpreter."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            one = list(one.values())
        while isinstance(one, list) and one:
            part = one.pop()
            if isinstance(part, list | dict):
                waiting.append(part)


def ordered(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object in jsonb's order."""
    members = dict(pairs)
    return dict(sorted(members.items(), key=lambda member: (len(key := member[0].encode()), key)))


def write(value: Any, put: Callable[[str], object]) -> None:
    """Put the text of a value."""
    match value:
        case None:
            put("null")
        case bool():
            put("true" if value else "false")
        case str():
            put(string_text(value))
        case JsonNumber():
            put(format(value.value, "f"))
        case list():
            put("[")
            for index, item in enumerate(value):
                put(", " if index else "")
                write(item, put)
            put("]")
        case dict():
            put("{")
            for index, (key, item) in enumerate(value.items()):
                put(", " if index else "")
                put(string_text(key) + ": ")
                write(item, put)
            put("}")


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
