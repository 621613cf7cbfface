"""Functions of texts and JSON that tools use beside the catalog and that no other query has.

And forms of printed casts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.system_catalog.catalog_functions import catalog_function
from sql.errors import SqlError
from sql.values.array_text import array_text

if TYPE_CHECKING:
    from engine.system_catalog.session_context import SessionContext

Texts = list[str | None]
# A part of a name, a point, and the rest.
PART = re.compile(r'\s*("(?:[^"]|"")+"|[^\W\d][\w$]*)\s*(\.?)(.*)', re.DOTALL)


@catalog_function("text bool", "text[]", required=1)
def parse_ident(_: SessionContext, text: str | None, _strict: bool | None) -> list[str] | None:
    """Return the parts of a name. Raises 22023."""
    if text is None:
        return None
    parts: list[str] = []
    rest = text
    while True:
        match = PART.fullmatch(rest)
        if match is None or bool(match[2]) != bool(match[3]):
            raise SqlError("22023", f'string is not a valid identifier: "{text}"')
        word = match[1]
        parts.append(word[1:-1].replace('""', '"') if word.startswith('"') else word.lower())
        if not match[2]:
            return parts
        rest = match[3]


# The functions as which casts and other forms are printed.


@catalog_function("text[]", "text", name="array_out", internal=True)
def _array_out(_: SessionContext, items: Texts | None) -> str | None:
    return None if items is None else array_text(items)


@catalog_function("text[] text[]", "json", name="json_of_row", internal=True)
def _json_of_row(_: SessionContext, names: Texts | None, values: Texts | None) -> str:
    """Return a row, given by the names and the values of its fields as JSON, as an object."""
    pairs = zip(names or [], values or [], strict=True)
    return "{" + ",".join(f"{name}:{'null' if value is None else value}" for name, value in pairs) + "}"
