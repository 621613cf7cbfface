"""Changes of json and jsonb values: ||, -, #-, jsonb_set, jsonb_insert, strip_nulls, pretty.

As PostgreSQL's jsonfuncs.c makes them.

Enters: texts of jsonb, or of json where a name says so. Leaves: texts of the same type. Strict:
callers handle NULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from engine.embedded.functions import json
from engine.embedded.functions.json import as_text, kind, parts
from engine.embedded.value_limits import joined
from sql.errors import SqlError
from sql.values.json_text import parsed
from sql.values.jsonb_text import JsonNumber, ordered, string_text, write

INTEGER = re.compile(r"\s*[+-]?[0-9]+")
INT4_MAX = (1 << 31) - 1
INDENT = "    "
SPACES = " \t\n\r"
# What has no place to change is returned before its path is looked at.
EMPTY = ("[]", "{}")
# What a NULL does to jsonb_set_lax.
TREATMENTS = ("delete_key", "return_target", "use_json_null", "raise_exception")

Path = Sequence[str | None]


def value_of(text: str) -> Any:
    """Return the value that a jsonb's text is."""
    return parsed(text, JsonNumber, dict, None, escapes=False)


def text_of(value: Any) -> str:
    """Return the text of a value, members in jsonb's order."""
    out: list[str] = []
    write(sorted_members(value), out.append)
    return "".join(out)


def is_scalar(value: Any) -> bool:
    """Tell whether a value is neither an object nor an array."""
    return not isinstance(value, dict | list)


def sorted_members(value: Any) -> Any:
    """Return a value with the members of its objects in jsonb's order."""
    if isinstance(value, dict):
        return ordered([(key, sorted_members(item)) for key, item in value.items()])
    return [sorted_members(item) for item in value] if isinstance(value, list) else value


def concatenated(text: str, other: str) -> str:
    """Return jsonb || jsonb: two objects make one, all other values an array."""
    left, right = value_of(text), value_of(other)
    if isinstance(left, dict) and isinstance(right, dict):
        return text_of(left | right)
    return text_of([*(left if isinstance(left, list) else [left]), *(right if isinstance(right, list) else [right])])


def without_name(text: str, name: str) -> str:
    """Return jsonb - name. Raises 22023."""
    return without_names(text, [name])


def without_names(text: str, names: Path) -> str:
    """Return jsonb - text[]: without the members of these names, or the strings of an array.

    Raises 22023.
    """
    value = value_of(text)
    if isinstance(value, dict):
        return text_of({key: item for key, item in value.items() if key not in names})
    if isinstance(value, list):
        return text_of([item for item in value if not (isinstance(item, str) and item in names)])
    raise SqlError("22023", "cannot delete from scalar")


def without_item(text: str, index: int) -> str:
    """Return jsonb - int4: without the item at a place, from the end when negative.

    Raises 22023.
    """
    value = value_of(text)
    if isinstance(value, dict):
        raise SqlError("22023", "cannot delete from object using integer index")
    if not isinstance(value, list):
        raise SqlError("22023", "cannot delete from scalar")
    if -len(value) <= index < len(value):
        del value[index]
    return text_of(value)


def without_path(text: str, path: Path) -> str:
    """Return jsonb #- path. Raises 22023, 22P02."""
    return (
        text if text in EMPTY else _changed(text, path, "delete path in", lambda holder, key, _: _delete(holder, key))
    )


def with_value(text: str, path: Path, new: str, creates: bool) -> str:
    """Return jsonb_set. Raises 22023, 22P02, 22004."""
    if text in EMPTY and not creates:
        return text
    value = value_of(new)

    def put(holder: Any, key: Any, is_there: bool) -> None:
        if is_there or (creates and isinstance(holder, dict)):
            holder[key] = value
        elif creates:
            holder.insert(0 if key < 0 else len(holder), value)

    return _changed(text, path, "set path in", put)


def with_inserted(text: str, path: Path, new: str, is_after: bool) -> str:
    """Return jsonb_insert. Raises 22023, 22P02, 22004."""
    value = value_of(new)

    def put(holder: Any, key: Any, is_there: bool) -> None:
        if isinstance(holder, list):
            place = key + is_after if is_there else 0 if key < 0 else len(holder)
            holder.insert(place, value)
        elif is_there:
            hint = "Try using the function jsonb_set to replace key value."
            raise SqlError("22023", "cannot replace existing key", hint=hint)
        else:
            holder[key] = value

    return _changed(text, path, "set path in", put)


def _delete(holder: Any, key: Any) -> None:
    if isinstance(holder, dict):
        holder.pop(key, None)
    elif 0 <= key < len(holder):
        del holder[key]


def _changed(text: str, path: Path, doing: str, change: Callable[[Any, Any, bool], None]) -> str:
    """Return a value after `change` of (container at the end of the path, name or place in it,
    whether that is there).

    The place of a missing item is -1 before the first one, and the length after the last.
    """
    value = value_of(text)
    if is_scalar(value):
        raise SqlError("22023", f"cannot {doing} scalar")
    holder = value
    for number, step in enumerate(path, 1):
        if step is None:
            raise SqlError("22004", f"path element at position {number} is null")
        if is_scalar(holder):
            break
        key: Any = step if isinstance(holder, dict) else _place(step, number, len(holder))
        is_there = key in holder if isinstance(holder, dict) else 0 <= key < len(holder)
        if number == len(path):
            change(holder, key, is_there)
        elif not is_there:
            break
        else:
            holder = holder[key]
    return text_of(value)


def _place(step: str, number: int, length: int) -> int:
    if not INTEGER.fullmatch(step) or abs(int(step)) > INT4_MAX:
        raise SqlError("22P02", f'path element at position {number} is not an integer: "{step}"')
    place = int(step)
    return max(place + length, -1) if place < 0 else min(place, length)


def without_nulls(text: str) -> str:
    """Return jsonb_strip_nulls: objects without the members that are null."""
    return text_of(_stripped(value_of(text)))


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _stripped(item) for key, item in value.items() if item is not None}
    return [_stripped(item) for item in value] if isinstance(value, list) else value


def json_without_nulls(text: str) -> str:
    """Return json_strip_nulls, which also writes the remaining members without spaces."""
    match kind(text):
        case "array":
            items = cast("list[str]", parts(text))
            return f"[{','.join(map(json_without_nulls, items))}]"
        case "object":
            members = (member for member in cast("list[tuple[str, str]]", parts(text)) if member[1] != "null")
            return f"{{{','.join(f'{string_text(name)}:{json_without_nulls(value)}' for name, value in members)}}}"
        case "string":
            return string_text(as_text(text.strip(SPACES)) or "")
    return text.strip(SPACES)


def pretty(text: str) -> str:
    """Return jsonb_pretty: each member and each item on a line of its own."""
    return joined(_lines(value_of(text), "\n"))


def _lines(value: Any, line: str) -> Iterator[str]:
    if is_scalar(value):
        yield text_of(value)
        return
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    yield opening
    inner = line + INDENT
    for index, item in enumerate(sorted_members(value)):
        yield "," * (index > 0) + inner
        if isinstance(value, dict):
            yield f"{string_text(item)}: "
            item = value[item]
        yield from _lines(item, inner)
    yield line + closing


def object_of(names: Sequence[str | None], values: Sequence[str | None]) -> str:
    """Return jsonb_object of two lists. Raises 2202E, 22004."""
    return text_of(value_of(json.object_of(names, values)))


def object_of_pairs(items: Sequence[str | None]) -> str:
    """Return jsonb_object of names and values in turns. Raises 2202E, 22004."""
    return text_of(value_of(json.object_of_pairs(items)))


def with_value_or_null(
    text: str | None, path: Path | None, new: str | None, creates: bool | None, treatment: str | None
) -> str | None:
    """Return jsonb_set_lax, which says what a new value of NULL means. Raises 22023, 22004."""
    if text is None or path is None or creates is None:
        return None
    # An unknown treatment of a value that is there does not matter, but that there is none does.
    if treatment not in TREATMENTS and (new is None or treatment is None):
        words = '"delete_key", "return_target", "use_json_null", or "raise_exception"'
        raise SqlError("22023", f"null_value_treatment must be {words}")
    if new is not None or treatment == "use_json_null":
        return with_value(text, path, "null" if new is None else new, creates)
    if treatment == "raise_exception":
        detail = 'Exception was raised because null_value_treatment is "raise_exception".'
        hint = "To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed."
        raise SqlError("22004", "JSON value must not be null", detail=detail, hint=hint)
    return without_path(text, path) if treatment == "delete_key" else text
