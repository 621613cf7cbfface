"""Types as format_type prints them: from the OID and the modifier of a column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sql.names.relation_keys import quoted
from sql.types.datatypes import INTERVAL_FIELD_BITS, INTERVAL_FULL_RANGE, SCALARS

SPELLED = {row.oid: row.sql_name for family, row in SCALARS.items() if family != "unknown"} | {
    18: '"char"',
    2276: '"any"',
    1266: "time with time zone",
}
HEADER_BYTES = 4
DIGITS_ANY = 0xFFFF


def type_text(oid: int, modifier: int | None, row_of: Callable[[int], dict[str, Any] | None]) -> str:
    """Return the name of a type with its modifier (None: without one, -1: it has none).

    row_of: rows of pg_type.
    """
    if oid == 0:
        return "-"
    row = row_of(oid)
    if row is None:
        return "???"
    if row["typcategory"] == "A" and row["typelem"] and row["typname"].startswith("_"):
        return type_text(row["typelem"], modifier, row_of) + "[]"
    name = SPELLED.get(oid)
    if name is None:
        return quoted(str(row["typname"]))
    if oid == SCALARS["bpchar"].oid and modifier == -1:
        # 'character' would be character(1).
        return "bpchar"
    if modifier is None or modifier < 0:
        return name
    return with_modifier(oid, name, modifier)


def with_modifier(oid: int, name: str, modifier: int) -> str:
    """Return the name of a type with its modifier."""
    if oid in (SCALARS["varchar"].oid, SCALARS["bpchar"].oid):
        return f"{name}({modifier - HEADER_BYTES})"
    if oid == SCALARS["numeric"].oid:
        digits = modifier - HEADER_BYTES
        return f"{name}({digits >> 16},{digits & 0xFFFF})"
    word, _, rest = name.partition(" ")
    if rest.endswith("time zone"):
        return f"{word}({modifier}) {rest}"
    if oid == SCALARS["interval"].oid:
        return interval_text(name, modifier)
    return name


def interval_text(name: str, modifier: int) -> str:
    """Return interval with its fields and digits."""
    bits, digits = modifier >> 16, modifier & DIGITS_ANY
    if bits != INTERVAL_FULL_RANGE:
        fields = [field for field, bit in INTERVAL_FIELD_BITS.items() if bits & bit]
        name += f" {fields[0]}" + (f" to {fields[-1]}" if len(fields) > 1 else "")
    return name if digits == DIGITS_ANY else f"{name}({digits})"
