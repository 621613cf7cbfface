"""Values as JSON, as PostgreSQL's to_json and its relatives write them (json.c).

Texts are in quotes, numbers bare, times as in ISO 8601. Enters: values as their output functions
print them, and JSON texts. Leaves: JSON texts. Must not know types.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sql.errors import SqlError
from sql.values.jsonb_text import string_text

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
TIME = re.compile(r"(?P<date>[0-9]+-[0-9]{2}-[0-9]{2}) (?P<time>[0-9:.]+)(?P<zone>[+-][0-9:]+)?(?P<era> BC)?")
HOURS_BYTES = len("+00")


def json_number(text: str) -> str:
    """Return the text of a number; NaN and the infinities, which JSON does not have, are
    strings.
    """
    return text if NUMBER.fullmatch(text) else string_text(text)


def json_time(text: str) -> str:
    """Return a date or a timestamp, printed in the style ISO, as XML Schema writes it.

    A T stands before the time, and the zone has its minutes.
    """
    found = TIME.fullmatch(text)
    if found is None:
        return string_text(text)
    zone = found["zone"] or ""
    minutes = ":00" if len(zone) == HOURS_BYTES else ""
    return string_text(f"{found['date']}T{found['time']}{zone}{minutes}{found['era'] or ''}")


def json_array_text(items: Sequence[str | None], separator: str) -> str:
    """Return an array of JSON values; None is null."""
    return f"[{separator.join(map(_value, items))}]"


def json_elements_text(items: Sequence[str | None]) -> str:
    """Return the array of json_agg from JSON values that have items themselves: each begins a line,
    but the first one and null.
    """
    parts = (", null" if item is None else f", \n {item}" for item in items[1:])
    return f"[{_value(items[0])}{''.join(parts)}]"


def json_record_text(names: Sequence[str], values: Sequence[str | None], separator: str) -> str:
    """Return a row as an object, its names already in quotes."""
    members = (f"{name}:{_value(value)}" for name, value in zip(names, values, strict=True))
    return f"{{{separator.join(members)}}}"


def json_object_text(keys: Sequence[str | None], values: Sequence[str | None], function: str) -> str:
    """Return the object of json_build_object or jsonb_build_object (`function`), with keys that are
    already in quotes.

    Raises 22023 for a key NULL.
    """
    if None in keys:
        number = 2 * list(keys).index(None) + 1
        if function.startswith("jsonb"):
            raise SqlError("22023", f"argument {number}: key must not be null")
        raise SqlError("22023", f"argument {number} cannot be null", hint="Object keys should be text.")
    return f"{{{_members(keys, values)}}}"


def json_members_text(keys: Sequence[str | None], values: Sequence[str | None]) -> str:
    """Return the object of json_object_agg from values and keys that are already in quotes.

    Raises 22023 for a key NULL.
    """
    if None in keys:
        raise SqlError("22023", "field name must not be null")
    return f"{{ {_members(keys, values)} }}"


def _members(keys: Sequence[str | None], values: Sequence[str | None]) -> str:
    return ", ".join(f"{key} : {_value(value)}" for key, value in zip(keys, values, strict=True))


def _value(text: str | None) -> str:
    return "null" if text is None else text
