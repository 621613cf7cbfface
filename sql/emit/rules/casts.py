"""The tables of casts of both engines: (form, target family) -> text with PostgreSQL's meaning.

A missing entry is 0A000; the embedded engine runs what Spark does not have. Spark runs in ANSI
mode, and cuts a decimal that is cast to an integer.
"""

from __future__ import annotations

from sql.emit.expressions import cast_table
from sql.errors import not_supported
from sql.functions.casts import PLAIN_CASTS, USUAL_CASTS, limited, plain, to_numeric, to_text
from sql.functions.enums import ENUM_CASTS
from sql.functions.printing import Printer
from sql.functions.records import RECORD_CASTS
from sql.functions.type_casts import TYPE_CASTS
from sql.tree.expressions import Cast


def _same_text(printer: Printer, node: Cast, text: str) -> str:
    """Return a text that is cut nowhere."""
    if limited(text, node) != text:
        raise not_supported(f"a cast to {node.type.sql_name} in Spark", node.position)
    return text


def _round_numeric(printer: Printer, node: Cast, text: str) -> str:
    whole = node.operand.type.display_scale == 0
    return plain(printer, node, text if whole else f"CAST({text} AS DECIMAL(38,0))")


DUCKDB_CASTS = cast_table(
    {
        **USUAL_CASTS,
        **TYPE_CASTS,
        **ENUM_CASTS,
        **RECORD_CASTS,
        # Rounds half to even from floats and half away from zero from decimals.
        "float4 float8 numeric > int2 int4 int8": plain,
        "bool int2 int4 int8 numeric > text": to_text("CAST({0} AS VARCHAR)"),
    }
)
SPARK_CASTS = cast_table(
    {
        **PLAIN_CASTS,
        "int2 int4 int8 numeric > numeric": to_numeric,
        "numeric > int2 int4 int8": _round_numeric,
        "text > text": _same_text,
        "bpchar > text": lambda printer, node, text: _same_text(printer, node, printer.blank_trimmed(text)),
    }
)
