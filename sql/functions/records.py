"""Rows as values in DuckDB: structs with the fields f1, f2 and so on.

DuckDB knows no empty struct, so an empty row has a stand-in field.
"""

from __future__ import annotations

from collections.abc import Mapping

from sql.functions.casts import limited
from sql.functions.printing import CastRule, Printer
from sql.functions.rows import OWN_FORMS, Function
from sql.functions.type_casts import output_text, to_padded, to_short
from sql.tree.expressions import Call, Cast, Literal


def _row(printer: Printer, node: Call, texts: list[str]) -> str:
    record = node.type.record
    assert record is not None, node
    items = [
        printer.fit(item, kind) if isinstance(item, Literal) else printer.fit_text(text, item.type, kind)
        for item, text, kind in zip(node.arguments, texts, record.types, strict=True)
    ]
    return f"CAST(row({', '.join(items) or 'NULL'}) AS {printer.type_name(node.type)})"


def _field(printer: Printer, node: Call, texts: list[str]) -> str:
    place = node.arguments[1]
    assert isinstance(place, Literal) and isinstance(place.value, int), place
    return field_text(texts[0], place.value)


def field_text(text: str, place: int) -> str:
    """Return the text that reads a field of a record."""
    return f"struct_extract({text}, 'f{place + 1}')"


def _to_text(printer: Printer, node: Cast, text: str) -> str:
    record = node.operand.type.record
    assert record is not None, node
    fields = (output_text(printer, field_text(text, place), kind, node) for place, kind in enumerate(record.types))
    texts = f"record_text(CAST([{', '.join(fields)}] AS VARCHAR[]))"
    return limited(f"CASE WHEN {text} IS NOT NULL THEN {texts} END", node)


RECORD_CASTS: Mapping[str, CastRule] = {
    "record > text": _to_text,
    "record > bpchar": to_padded,
    "record > name": to_short,
}


FUNCTIONS = (
    Function("field", strict=False, can_fail=False, duckdb=_field),
    Function("row", strict=False, can_fail=False, duckdb=_row, operands=OWN_FORMS),
)  # fmt: skip
