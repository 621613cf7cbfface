"""Functions of texts, times and JSON that tools use beside the catalog, and what casts and operators are printed as."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from engine.embedded import regular_expressions
from engine.embedded.text_functions import formatted, quote_literal, to_array
from engine.embedded.text_functions import quote_ident as quoted_name
from engine.embedded.time_formats import formatted as formatted_time
from engine.system_catalog.catalog_functions import catalog_function
from sql.array_text import array_text
from sql.errors import SqlError
from sql.literal_output import zoned_text

if TYPE_CHECKING:
    from engine.system_catalog.session_context import SessionContext

Texts = list[str | None]
# A part of a name, a point, and the rest.
PART = re.compile(r'\s*("(?:[^"]|"")+"|[^\W\d][\w$]*)\s*(\.?)(.*)', re.DOTALL)


@catalog_function("text", "text", required=1)
def quote_ident(_: SessionContext, name: str | None) -> str | None:
    """Return a name as SQL needs it."""
    return None if name is None else quoted_name(name)


@catalog_function("text", "text", name="quote_literal")
def _quote_literal(_: SessionContext, text: str | None) -> str | None:
    return None if text is None else quote_literal(text)


@catalog_function("text", "text")
def quote_nullable(_: SessionContext, text: str | None) -> str | None:
    """Return a literal, or NULL as a word."""
    return "NULL" if text is None else quote_literal(text)


@catalog_function("text text text", "text[]", required=2)
def string_to_array(_: SessionContext, text: str | None, separator: str | None, null: str | None) -> Texts | None:
    """Return the parts of a text."""
    return to_array(text, separator, null)


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


@catalog_function("text text text text", "text", required=3)
def regexp_replace(
    _: SessionContext, text: str | None, pattern: str | None, replacement: str | None, letters: str | None
) -> str | None:
    """Return a text with what matches replaced."""
    if text is None or pattern is None or replacement is None:
        return None
    return regular_expressions.replace(text, pattern, replacement, letters or "")


@catalog_function("text text text", "text[]", required=2)
def regexp_match(_: SessionContext, text: str | None, pattern: str | None, letters: str | None) -> Texts | None:
    """Return the parts of the first match."""
    if text is None or pattern is None:
        return None
    found = regular_expressions.first_match(text, pattern, letters or "")
    return None if found is None else list(found)


@catalog_function("text text text", "text[]", required=2)
def regexp_split_to_array(
    _: SessionContext, text: str | None, pattern: str | None, letters: str | None
) -> Texts | None:
    """Return what is between the matches."""
    if text is None or pattern is None:
        return None
    return list(regular_expressions.split(text, pattern, letters or ""))


# What casts, operators and other forms are printed as.


@catalog_function("text text text", "bool", name="matches", internal=True)
def _matches(_: SessionContext, text: str | None, pattern: str | None, letters: str | None) -> bool | None:
    if text is None or pattern is None:
        return None
    return regular_expressions.matches(text, pattern, letters or "")


@catalog_function("text text", "text", name="matching_part", internal=True)
def _matching_part(_: SessionContext, text: str | None, pattern: str | None) -> str | None:
    return None if text is None or pattern is None else regular_expressions.part(text, pattern)


@catalog_function("text[]", "text", name="array_out", internal=True)
def _array_out(_: SessionContext, items: Texts | None) -> str | None:
    return None if items is None else array_text(items)


@catalog_function("text[] text text", "text", name="array_to_string", internal=True)
def _array_to_string(_: SessionContext, items: Texts | None, delimiter: str | None, null: str | None) -> str | None:
    if items is None or delimiter is None:
        return None
    shown = [null if item is None else item for item in items]
    return delimiter.join(item for item in shown if item is not None)


@catalog_function("text[] text", "json", name="json_build_object", internal=True)
def _json_build_object(_: SessionContext, texts: Texts | None, plain: str | None) -> str:
    """Return keys and values as an object. plain: '1' where the text is JSON as it is, '0' where it is to be a string."""
    values = texts or []
    if len(values) % 2:
        raise SqlError(
            "22023",
            "argument list must have even number of elements",
            hint="The arguments of json_build_object() must consist of alternating keys and values.",
        )
    shown = [_json(text, code == "1") for text, code in zip(values, plain or "", strict=True)]
    return "{" + ", ".join(f"{key} : {value}" for key, value in zip(shown[::2], shown[1::2], strict=True)) + "}"


@catalog_function("text[] text", "json", name="json_of_row", internal=True)
def _json_of_row(_: SessionContext, texts: Texts | None, plain: str | None) -> str:
    """Return a row, given as names and values, as an object. plain: one sign for each value, as above."""
    values = texts or []
    pairs = zip(values[::2], values[1::2], plain or "", strict=True)
    return "{" + ",".join(f"{_json(name, False)}:{_json(value, code == '1')}" for name, value, code in pairs) + "}"


def _json(text: str | None, plain: bool) -> str:
    return "null" if text is None else text if plain else json.dumps(text, ensure_ascii=False)


@catalog_function("text text[]", "text", name="format", internal=True)
def _format(_: SessionContext, template: str | None, arguments: Texts | None) -> str | None:
    return None if template is None else formatted(template, arguments or [])


@catalog_function("int8", "text", name="timestamptz_out", internal=True)
def _timestamptz_out(context: SessionContext, micros: int | None) -> str | None:
    return None if micros is None else zoned_text(micros, context.settings.time_zone)


@catalog_function("int8 text text", "text", name="time_to_char", internal=True)
def _time_to_char(context: SessionContext, micros: int | None, kind: str | None, template: str | None) -> str | None:
    if micros is None or template is None:
        return None
    return formatted_time(micros, template, context.settings.time_zone if kind == "timestamptz" else "")
