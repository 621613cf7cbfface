"""Another form of types in whatever is made of bound trees.

Enters: descriptions, trees, tuples of them. Leaves: the same with other types; an unchanged part is
the same object. Must not know which types change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from sql.types.datatypes import SqlType

Part = TypeVar("Part")


def retyped(part: Part, change: Callable[[SqlType], SqlType]) -> Part:
    """Return a dataclass, or a tuple of dataclasses, with `change` of every type in it."""
    found: Any = part
    if isinstance(part, SqlType):
        found = change(part)
    elif isinstance(part, tuple):
        items = tuple(retyped(item, change) for item in part)
        found = part if all(new is old for new, old in zip(items, part, strict=True)) else items
    elif is_dataclass(part) and not isinstance(part, type):
        known = {one.name: getattr(part, one.name) for one in fields(part)}
        changed = {name: new for name, old in known.items() if (new := retyped(old, change)) is not old}
        found = replace(part, **changed) if changed else part
    return found  # type: ignore[no-any-return]  # of the class of `part`
