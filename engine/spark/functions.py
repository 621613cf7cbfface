"""The names, arities and result types under which `spark_functions.java` is registered in Spark."""

from __future__ import annotations

import json
from typing import Any

from sql.functions.table import JAVA_ROUTINES

NUMERIC = "numeric"
KEY = "key"
_STRUCTS = {
    NUMERIC: [("unscaled", "decimal(38,0)"), ("scale", "short")],
    KEY: [("whole", "decimal(38,0)"), ("high", "decimal(19,0)"), ("low", "decimal(19,0)")],
}

# Spark's JSON names of the types of results, by families.
RESULTS = {
    "bool": "boolean",
    "int2": "short",
    "int4": "integer",
    "int8": "long",
    "float4": "float",
    "float8": "double",
    "numeric": NUMERIC,
    "text": "string",
}

# name -> (number of arguments, result: a Spark type's JSON name or a struct of the table above)
FUNCTIONS: dict[str, tuple[int, str]] = {
    **{routine.name: (len(routine.arguments), RESULTS[routine.result]) for routine in JAVA_ROUTINES},
    "numeric_pack": (2, NUMERIC),
    "numeric_at_scale": (2, "string"),
    "numeric_add": (2, NUMERIC),
    "numeric_subtract": (2, NUMERIC),
    "numeric_multiply": (2, NUMERIC),
    "numeric_divide": (2, NUMERIC),
    "numeric_quotient": (2, NUMERIC),
    "numeric_modulo": (2, NUMERIC),
    "numeric_negate": (1, NUMERIC),
    "numeric_abs": (1, NUMERIC),
    "numeric_round": (2, NUMERIC),
    "numeric_trunc": (2, NUMERIC),
    "numeric_ceil": (1, NUMERIC),
    "numeric_floor": (1, NUMERIC),
    "numeric_sign": (1, NUMERIC),
    "numeric_greatest": (2, NUMERIC),
    "numeric_least": (2, NUMERIC),
    "numeric_key": (1, KEY),
    "numeric_part": (1, KEY),
    "numeric_marks": (1, "long"),
    "numeric_finite": (2, NUMERIC),
    "numeric_scale": (1, "short"),
    "numeric_total": (4, NUMERIC),
    "numeric_variance": (4, NUMERIC),
    "numeric_text": (1, "string"),
    "numeric_from_text": (1, NUMERIC),
    "numeric_from_float8": (1, NUMERIC),
    "numeric_from_float4": (1, NUMERIC),
    "numeric_limited_from_text": (3, NUMERIC),
    "numeric_limited_from_float8": (3, NUMERIC),
    "numeric_limited_from_float4": (3, NUMERIC),
    "float8_add": (2, "double"),
    "float8_subtract": (2, "double"),
    "float8_multiply": (2, "double"),
    "float8_divide": (2, "double"),
    "float8_total": (2, "double"),
    "float8_aggregate": (3, "double"),
    "float8_sqrt": (1, "double"),
    "float8_ln": (1, "double"),
    "float8_exp": (1, "double"),
    "float8_power": (2, "double"),
    "float8_ceil": (1, "double"),
    "float8_floor": (1, "double"),
    "float8_trunc": (1, "double"),
    "float8_sign": (1, "double"),
    "float8_text": (1, "string"),
    "float8_log10": (1, "double"),
    "float4_add": (2, "float"),
    "float4_subtract": (2, "float"),
    "float4_multiply": (2, "float"),
    "float4_divide": (2, "float"),
    "float4_from_float8": (1, "float"),
    "float4_text": (1, "string"),
    "bool_from_text": (1, "boolean"),
    "int2_from_text": (1, "short"),
    "int4_from_text": (1, "integer"),
    "int8_from_text": (1, "long"),
    "float4_from_text": (1, "float"),
    "float8_from_text": (1, "double"),
    "text_substring": (3, "string"),
    "text_repeat": (2, "string"),
    "text_lpad": (3, "string"),
    "text_rpad": (3, "string"),
    "text_limit": (2, "string"),
    "text_like": (3, "boolean"),
    "text_matches": (2, "boolean"),
    "text_overlay": (4, "string"),
    "text_overlay_all": (3, "string"),
    "text_character": (1, "string"),
    "zone_local": (2, "long"),
    "zone_utc": (2, "long"),
    "zone_trunc": (3, "long"),
    "zone_part": (3, "long"),
    "timestamp_trunc": (2, "long"),
    "timestamp_part": (2, "long"),
    "time_part": (2, "double"),
    "infinite_span": (3, "long"),
    "infinite_field": (2, "long"),
    "infinite_part": (1, "double"),
    "date_text": (1, "string"),
    "timestamp_text": (1, "string"),
    "timestamptz_text": (2, "string"),
}


def result_type_json(result: str) -> str:
    """Return Spark's JSON of a result type."""
    fields = _STRUCTS.get(result)
    if fields is None:
        return json.dumps(result)
    described: list[dict[str, Any]] = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in fields
    ]
    return json.dumps({"type": "struct", "fields": described})
