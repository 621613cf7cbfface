"""Items and members of json and jsonb values as lists, which become rows: array_elements,
object_keys, each.

Enters: a text, and the name of the function for its errors. Leaves: a list of texts. Strict:
callers handle NULL.
"""

from __future__ import annotations

from typing import cast

from engine.embedded.functions.json import as_text, check_escapes, kind, parts
from sql.errors import SqlError


def items(text: str, function: str) -> list[str]:
    """Return the items of an array as they are written. Raises 22023."""
    found = kind(text)
    if found == "array":
        return cast("list[str]", parts(text))
    is_object = found == "object"
    if function.startswith("jsonb"):
        raise SqlError("22023", f"cannot extract elements from {'an object' if is_object else 'a scalar'}")
    raise SqlError("22023", f"cannot call {function} on a {'non-array' if is_object else 'scalar'}")


def members(text: str, function: str) -> list[tuple[str, str]]:
    """Return the names and values of an object, each value as it is written.

    Raises 22023, 22P05 and 22P02.
    """
    found = kind(text)
    if found == "object":
        check_escapes(text)
        return cast("list[tuple[str, str]]", parts(text))
    if function.endswith("_object_keys"):
        raise SqlError("22023", f"cannot call {function} on {'an array' if found == 'array' else 'a scalar'}")
    if function.startswith("jsonb"):
        raise SqlError("22023", f"cannot call {function} on a non-object")
    raise SqlError("22023", f"cannot deconstruct {'an array as an object' if found == 'array' else 'a scalar'}")


def item_texts(text: str, function: str) -> list[str | None]:
    """Return the items of an array as texts. Raises 22023."""
    return [as_text(item) for item in items(text, function)]


def names(text: str, function: str) -> list[str]:
    """Return the names of an object's members. Raises 22023, 22P05 and 22P02."""
    return [key for key, _ in members(text, function)]


def values(text: str, function: str) -> list[str]:
    """Return the values of an object's members as they are written. Raises as `names`."""
    return [value for _, value in members(text, function)]


def value_texts(text: str, function: str) -> list[str | None]:
    """Return the values of an object's members as texts. Raises as `names`."""
    return [as_text(value) for value in values(text, function)]
