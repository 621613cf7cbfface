"""The tables of casts of both engines: (form, target family) -> text with PostgreSQL's meaning.

A missing entry is 0A000. Spark runs in ANSI mode, and cuts a decimal that is cast to an integer.
"""

from __future__ import annotations

from sql.emit.expressions import cast_table
from sql.functions.casts import SHARED_CASTS, plain, to_text
from sql.functions.enums import ENUM_CASTS, SHARED_ENUM_CASTS
from sql.functions.printing import Printer
from sql.functions.records import RECORD_CASTS
from sql.functions.type_casts import SHARED_TYPE_CASTS, TYPE_CASTS
from sql.tree.expressions import Cast


def _round_float(printer: Printer, node: Cast, text: str) -> str:
    return plain(printer, node, f"rint({text})")


def _round_numeric(printer: Printer, node: Cast, text: str) -> str:
    whole = node.operand.type.display_scale == 0
    return plain(printer, node, text if whole else f"CAST({text} AS DECIMAL(38,0))")


DUCKDB_CASTS = cast_table(
    {
        **SHARED_CASTS,
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
        **{key: rule for key, rule in SHARED_CASTS.items() if not key.startswith(("text > date", "text > timestamp"))},
        **SHARED_TYPE_CASTS,
        **SHARED_ENUM_CASTS,
        "float4 float8 > int2 int4 int8": _round_float,
        "numeric > int2 int4 int8": _round_numeric,
        "bool int2 int4 int8 numeric > text": to_text("CAST({0} AS STRING)"),
    }
)
