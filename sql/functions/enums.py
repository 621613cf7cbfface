"""Enums in the engines, where values are the numbers of their labels: casts from and to text, and
functions of a type's labels.

A list of the labels and one of the numbers are constants of the statement. A cast of a text calls a
function of `engine/embedded/functions/type.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from sql.functions.casts import limited
from sql.functions.printing import CastRule, Printer, Rule
from sql.functions.rows import Function
from sql.functions.type_casts import to_padded, to_short
from sql.tree.expressions import Call, Cast, Literal
from sql.types.datatypes import SqlType, array_of
from sql.types.enums import EnumType


def enum_of(kind: SqlType) -> EnumType:
    """Return the enum type that values of `kind` are of."""
    assert kind.enum is not None, kind
    return kind.enum


def _label(printer: Printer, node: Cast, text: str) -> str:
    """Return the label of a number."""
    enum = enum_of(node.operand.type)
    return limited(printer.looked_up(text, [(label.number, label.text) for label in enum.labels]), node)


def _number(printer: Printer, node: Cast, text: str) -> str:
    """Return the number of a label; 22P02 for a text that is no label."""
    enum = enum_of(node.type)
    labels = ", ".join(printer.quoted(label.text) for label in enum.labels)
    numbers = ", ".join(str(label.number) for label in enum.labels)
    known = f"CAST([{numbers}] AS BIGINT[])[list_position(CAST([{labels}] AS VARCHAR[]), {text})]"
    return f"coalesce({known}, enum_unknown({text}, {printer.quoted(enum.shown)}))"


def _end(place: int) -> Rule:
    """Return the first or the last value of the type of the operand."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        labels = enum_of(node.type).labels
        return printer.literal(Literal(labels[place].number if labels else None, node.type))

    return rule


def _range(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return all values of the type, or those between two; a NULL bound is none."""
    kind = array_of(node.arguments[0].type)
    values = printer.literal(Literal(tuple(label.number for label in enum_of(kind).labels), kind))
    if len(texts) == 1:
        return values
    low, high = texts
    inside = f"({low} IS NULL OR value >= {low}) AND ({high} IS NULL OR value <= {high})"
    return f"list_filter({values}, lambda value: {inside})"


ENUM_CASTS: Mapping[str, CastRule] = {
    "enum > text": _label,
    "enum > bpchar": to_padded,
    "text bpchar > enum": _number,
    "enum > name": to_short,
}


FUNCTIONS = (
    Function("enum_first", "enum_first", "enum > enum", strict=False, duckdb=_end(0)),
    Function("enum_last", "enum_last", "enum > enum", strict=False, duckdb=_end(-1)),
    Function("enum_range", "enum_range", "enum > array; enum enum > array", strict=False, duckdb=_range),
)  # fmt: skip
