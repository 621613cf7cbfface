"""The names, arities and result types under which `spark_functions.java` is registered in Spark."""

from __future__ import annotations

import json
from typing import Any

from sql.functions.table import ROUTINES

NUMERIC = "numeric"
KEY = "key"
_STRUCTS = {
    NUMERIC: [("unscaled", "decimal(38,0)"), ("scale", "short")],
    KEY: [("whole", "decimal(38,0)"), ("high", "decimal(19,0)"), ("low", "decimal(19,0)")],
}

# name -> (number of arguments, result: a Spark type's JSON name or a struct of the table above)
FUNCTIONS: dict[str, tuple[int, str]] = {
    "numeric_pack": (2, NUMERIC),
    **{
        one.name: (len(one.arguments), {"int8": "long", "float8": "double"}.get(one.result, one.result))
        for one in ROUTINES
        if one.in_spark
    },
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
