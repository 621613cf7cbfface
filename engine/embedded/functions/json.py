"""The operators and functions of json and jsonb: ->, ->>, #>, #>>, @>, ?, typeof, array_length.

A json value is its text as it was written, a jsonb value is PostgreSQL's print of it. Strict:
callers handle NULL. A missing member is NULL.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, cast

from sql.errors import SqlError
from sql.values.json_text import Reader, json_check, refuse
from sql.values.jsonb_text import string_text

DECODER = json.JSONDecoder(strict=False)
# Makes texts of numbers, as they are written.
QUICK = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=refuse)
MISREAD = object()
# Of longer texts, a window at a time is better read.
QUICK_CHARACTERS_MAX = 1 << 16
INDEX = re.compile(r"\s*[+-]?\d{1,9}")


def check_escapes(text: str) -> None:
    """Check that the strings of a json are texts: its input takes Unicode escapes that are none.

    Raises 22P05 and 22P02.
    """
    if "\\u" in text:
        Reader(text, None, escapes=True).whole()


def end_of_space(text: str, place: int) -> int:
    while text[place : place + 1] in (" ", "\t", "\n", "\r") and place < len(text):
        place += 1
    return place


def value_end(text: str, place: int) -> int:
    """Return the end of the value that begins at `place`."""
    return DECODER.raw_decode(text, place)[1]


def parts(text: str) -> list[tuple[str, str]] | list[str] | None:
    """Return the members of an object or the items of an array, each as it is written.

    None for a scalar.
    """
    place = end_of_space(text, 0)
    opening = text[place : place + 1]
    if opening not in ("{", "["):
        return None
    members: list[tuple[str, str]] = []
    items: list[str] = []
    place = end_of_space(text, place + 1)
    while text[place] not in "}]":
        key = ""
        if opening == "{":
            key, place = DECODER.raw_decode(text, place)
            place = end_of_space(text, end_of_space(text, place) + 1)
        end = value_end(text, place)
        members.append((key, text[place:end]))
        items.append(text[place:end])
        place = end_of_space(text, end)
        if text[place] == ",":
            place = end_of_space(text, place + 1)
    return members if opening == "{" else items


def field(text: str, key: str) -> str | None:
    """Return value -> key; of several members of one name the last."""
    check_escapes(text)
    if text[end_of_space(text, 0)] != "{":
        return None
    return next((value for name, value in reversed(cast("list[tuple[str, str]]", parts(text))) if name == key), None)


def item(text: str, index: int) -> str | None:
    """Return value -> index, from the end when negative."""
    check_escapes(text)
    if text[end_of_space(text, 0)] != "[":
        return None
    items = cast("list[str]", parts(text))
    return items[index] if -len(items) <= index < len(items) else None


def field_text(text: str, key: str) -> str | None:
    """Return value ->> key."""
    return read_field_text(text, key, is_checked=True)


def read_field_text(text: str, key: str, is_checked: bool = False) -> str | None:
    """Return text::json ->> key: a valid text is read once. Raises as the input of json does."""
    value: Any = MISREAD
    if len(text) <= QUICK_CHARACTERS_MAX and "\\u" not in text:
        with suppress(ValueError, RecursionError):
            value = QUICK.decode(text)
    if value is not MISREAD:
        found = value.get(key) if isinstance(value, dict) else None
        if found is None or isinstance(found, str):
            return found
        if isinstance(found, bool):
            return "true" if found else "false"
    elif not is_checked:
        json_check(text)
    # An object or an array is shown as it is written.
    return as_text(field(text, key))


def item_text(text: str, index: int) -> str | None:
    """Return value ->> index."""
    return as_text(item(text, index))


def item_or_scalar(text: str, index: int) -> str | None:
    """Return jsonb -> index: PostgreSQL keeps a scalar as an array of one item, and answers with
    that item.
    """
    return text if kind(text) not in ("array", "object") and index in (0, -1) else item(text, index)


def item_or_scalar_text(text: str, index: int) -> str | None:
    """Return jsonb ->> index."""
    return as_text(item_or_scalar(text, index))


def as_text(value: str | None) -> str | None:
    """Return the text that ->> gives for a value: strings without their quotes, null as NULL."""
    if value is None or value == "null":
        return None
    if value.startswith('"'):
        check_escapes(value)
        return str(DECODER.decode(value))
    return value


def path(text: str, steps: list[str | None]) -> str | None:
    """Return value #> steps."""
    check_escapes(text)
    found: str | None = text.strip(" \t\n\r")
    for step in steps:
        if found is None or step is None:
            return None
        if found.startswith("{"):
            found = field(found, step)
        elif found.startswith("[") and INDEX.fullmatch(step):
            found = item(found, int(step))
        else:
            return None
    return found


def path_text(text: str, steps: list[str | None]) -> str | None:
    """Return value #>> steps."""
    return as_text(path(text, steps))


def kind(text: str) -> str:
    """Return json_typeof."""
    first = text.lstrip(" \t\n\r")[0]
    return {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}.get(
        first, "number"
    )


def array_length(text: str) -> int:
    """Return json_array_length."""
    found = kind(text)
    if found != "array":
        what = "a non-array" if found == "object" else "a scalar"
        raise SqlError("22023", f"cannot get array length of {what}")
    return len(parts(text) or ())


def contains(text: str, other: str) -> bool:
    """Return jsonb @> jsonb."""
    return within(json.loads(text, parse_float=Decimal), json.loads(other, parse_float=Decimal), True)


def within(value: Any, other: Any, is_top: bool = False) -> bool:
    """Tell whether `value` has all that `other` has: members by name, items anywhere.

    At the top an array also has a scalar as an item.
    """
    if isinstance(other, dict):
        return isinstance(value, dict) and all(key in value and within(value[key], item) for key, item in other.items())
    if isinstance(other, list):
        return isinstance(value, list) and all(any(within(item, wanted) for item in value) for wanted in other)
    if isinstance(value, list):
        return is_top and any(within(item, other) for item in value if not isinstance(item, list))
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other) and not isinstance(value, dict)


def names(text: str) -> set[str]:
    """Return the texts that jsonb ? finds: the names of an object's members, an array's strings, a
    string itself.
    """
    value = json.loads(text)
    if isinstance(value, str):
        return {value}
    return {item for item in value if isinstance(item, str)} if isinstance(value, dict | list) else set()


def has(text: str, name: str) -> bool:
    """Return jsonb ? name."""
    return name in names(text)


def has_any(text: str, wanted: Sequence[str | None]) -> bool:
    """Return jsonb ?| names."""
    return not names(text).isdisjoint(wanted)


def has_all(text: str, wanted: Sequence[str | None]) -> bool:
    """Return jsonb ?& names."""
    return names(text).issuperset({*wanted} - {None})


def object_of(names: Sequence[str | None], values: Sequence[str | None]) -> str:
    """Return json_object of two lists. Raises 2202E, 22004."""
    if len(names) != len(values):
        raise SqlError("2202E", "mismatched array dimensions")
    members = (
        f"{string_text(_name(name))} : {'null' if value is None else string_text(value)}"
        for name, value in zip(names, values, strict=True)
    )
    return "{" + ", ".join(members) + "}"


def _name(name: str | None) -> str:
    if name is None:
        raise SqlError("22004", "null value not allowed for object key")
    return name


def object_of_pairs(items: Sequence[str | None]) -> str:
    """Return json_object of names and values in turns. Raises 2202E, 22004."""
    if len(items) % 2:
        raise SqlError("2202E", "array must have even number of elements")
    return object_of(items[::2], items[1::2])
