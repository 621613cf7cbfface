"""Many constants in a row as one text each, which DuckDB reads a hundred times faster than an
expression for each.

Enters: the items of an array, or rows of constants. Leaves: texts for DuckDB, or None where items
are of types whose texts would have to be quoted. Cancel ends the work between two items.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from sql import interrupts
from sql.functions.constants import civil_date, civil_text, decimal_text, unscaled_value
from sql.functions.printing import Printer, keys
from sql.times.civil import DATE_INFINITY, TIMESTAMP_INFINITY
from sql.tree.expressions import Call, Expression, Literal
from sql.tree.relations import Schema
from sql.types.datatypes import LiteralValue, SqlType

Item = TypeVar("Item")

# From this number of items on one text is worth its cost.
LONG_ITEMS = 100
# Fewer items are compared one by one, or looked up in an index.
LONG_IN_ITEMS = 1000
IN_FAMILIES = ("int2", "int4", "int8", "text", "varchar")
CHECKED_EVERY = 256
TEXTS = ("text", "varchar")
# The separators: the first of these that none of the texts has is taken.
SEPARATORS = ("\x1f", "\x1e", "\x1d", "\x1c", ",", ";", "|", "\t", "~", "^")


def constant_columns(printer: Printer, rows: Sequence[Sequence[Expression]], schema: Schema) -> tuple[str, ...] | None:
    """Return the columns of VALUES as items of a SELECT that yields its rows in order.

    None where rows are few or no constants.
    """
    if len(rows) < LONG_ITEMS:
        return None
    found = []
    for index, column in enumerate(schema):
        items: list[LiteralValue] = []
        for row in each(rows):
            item = row[index]
            if not isinstance(item, Literal) or (item.value is not None and item.type.family != column.type.family):
                return None
            items.append(item.value)
        text = long_array(printer, items, column.type)
        if text is None:
            return None
        found.append(f"unnest({text})")
    return tuple(found)


def in_list(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return IN of a list, item by item."""
    texts = keys(printer, node, texts)
    return f"({texts[0]} IN ({', '.join(texts[1:])}))"


def long_in_list(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return IN of a list: many constants are a table, where a subquery can be."""
    wanted, *items = node.arguments
    is_plain = printer.nested is not None and wanted.type.family in IN_FAMILIES
    if is_plain and len(items) >= LONG_IN_ITEMS and all(isinstance(item, Literal) for item in each(items)):
        values = [item.value for item in each(items) if isinstance(item, Literal) and item.value is not None]
        array = long_array(printer, values, wanted.type)
        if array is not None:
            null = (
                "" if len(values) == len(items) else f" UNION ALL SELECT CAST(NULL AS {printer.type_name(wanted.type)})"
            )
            return f"({texts[0]} IN (SELECT unnest({array}){null}))"
    return in_list(printer, node, texts)


def long_array(printer: Printer, items: Sequence[LiteralValue], element: SqlType) -> str | None:
    """Return an array whose items are of the type `element`, or None."""
    name = printer.type_name(element)
    if element.family in TEXTS:
        parted = parted_text(items)
        if parted is None:
            return None
        return f"CAST(string_split({printer.quoted(parted[0])}, {printer.quoted(parted[1])}) AS {name}[])"
    texts = []
    for item in each(items):
        text = unquoted_text(item, element)
        if text is None:
            return None
        texts.append(text)
    return f"CAST('[{','.join(texts)}]' AS {name}[])"


def each(items: Sequence[Item]) -> Iterator[Item]:
    """Yield items of a client, which may be many."""
    for index, item in enumerate(items):
        if not index % CHECKED_EVERY:
            interrupts.check()
        yield item


def parted_text(items: Sequence[LiteralValue]) -> tuple[str, str] | None:
    """Return texts as one text, and the separator between them.

    None where every separator is in one of the texts, or one of them is NULL.
    """
    if None in items:
        return None
    texts = [str(item) for item in each(items)]
    joined = "".join(texts)
    separator = next((mark for mark in SEPARATORS if mark not in joined), None)
    return None if separator is None else (separator.join(texts), separator)


def unquoted_text(item: LiteralValue, kind: SqlType) -> str | None:
    """Return a constant as an item in the text of an array, where it needs no quotes; else None."""
    if item is None:
        return "NULL"
    match kind.family:
        case "int2" | "int4" | "int8" if isinstance(item, int):
            return str(item)
        case "float4" | "float8":
            return repr(item)
        case "numeric":
            unscaled, scale = unscaled_value(item, kind)
            return (
                decimal_text(unscaled, scale)
                if kind.display_scale is not None
                else f"{{unscaled: {unscaled}, scale: {scale}}}"
            )
        case "date" if isinstance(item, int) and abs(item) != DATE_INFINITY:
            return civil_date(item)
        case "timestamp" if isinstance(item, int) and abs(item) != TIMESTAMP_INFINITY:
            return civil_text(item)
    return None
