"""DuckDB's rule tables: (function, operand form) and (form, target family) -> text with
PostgreSQL's meaning.

Each rule was tried against PostgreSQL 15 (tests/engine/tables/test_tables.py). A missing entry is
0A000. Where a function of DuckDB means something else, a function of
`engine/embedded/functions/registration.py` stands in: LPAD with an empty fill, SUBSTRING before the
text, float overflow.
"""

from __future__ import annotations

from sql.emit.expressions import cast_table, rule_table
from sql.emit.rules.array import DUCKDB_ARRAY_RULES
from sql.emit.rules.cast import SHARED_CASTS, plain, to_text
from sql.emit.rules.enum import ENUM_CASTS, ENUM_RULES
from sql.emit.rules.json import JSON_RULES
from sql.emit.rules.long_constants import long_in_list
from sql.emit.rules.math import DUCKDB_MATH_RULES
from sql.emit.rules.numeric import NUMERIC_RULES
from sql.emit.rules.record import RECORD_CASTS, RECORD_RULES
from sql.emit.rules.shared import INTEGERS, SHARED_RULES, divisor_guarded
from sql.emit.rules.text import DUCKDB_TEXT_RULES
from sql.emit.rules.time import DUCKDB_DATE_RULES, TIME_RULES, date_difference
from sql.emit.rules.type import TYPE_RULES
from sql.emit.rules.type_casts import TYPE_CASTS
from sql.errors import not_supported
from sql.functions.printing import Printer
from sql.functions.scalars import ADVISORY_CALLS
from sql.functions.table import DUCKDB_RULES
from sql.tree.expressions import Call, Literal


def _modulo_integer(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"({texts[0]} % {divisor_guarded(texts, node)})"


def _negate_integer(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"subtract({printer.literal(Literal(0, node.type))}, {texts[0]})"


def _of_session(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return a call that the session answers.

    A setval of two arguments has also called the sequence.
    """
    if not node.arguments or node.arguments[0].type.family != "int8":
        raise not_supported(f"{node.function} here", node.position)
    if node.function == "setval" and len(texts) == 3:
        texts = [*texts, "TRUE"]
    return f"session_{node.function}({', '.join(texts)})"


RULES = (
    dict(DUCKDB_RULES)
    | rule_table(SHARED_RULES)
    | rule_table({"in_list": {"any": long_in_list}})
    | rule_table(NUMERIC_RULES)
    | rule_table(TIME_RULES)
    | rule_table(TYPE_RULES)
    | rule_table(DUCKDB_TEXT_RULES)
    | rule_table(DUCKDB_MATH_RULES)
    | rule_table(DUCKDB_ARRAY_RULES)
    | rule_table(DUCKDB_DATE_RULES)
    | rule_table(ENUM_RULES)
    | rule_table(RECORD_RULES)
    | rule_table(JSON_RULES)
    | rule_table(
        {
            # Not as operators: DuckDB's optimizer moves those to the other side of a comparison
            # with a constant, and their overflow is lost.
            "add": {INTEGERS: "add({0}, {1})"},
            "subtract": {INTEGERS: "subtract({0}, {1})"},
            "multiply": {INTEGERS: "multiply({0}, {1})"},
            "negate": {INTEGERS: _negate_integer},
            # Both raise for zero and for min / -1; neither rounds.
            "divide": {INTEGERS: "({0} // {1})"},
            "modulo": {INTEGERS: _modulo_integer},
            "round": {"float8": "round_even({0}, 0)"},
            "trunc": {"float8": "trunc({0})"},
            "ceil": {"float8": "ceil({0})"},
            "floor": {"float8": "floor({0})"},
            "sign": {"float8": "CAST(sign({0}) AS DOUBLE)"},
            "length": {"text": "CAST(length({0}) AS INTEGER)"},
            "octet_length": {"text": "CAST(strlen({0}) AS INTEGER)"},
            "trim_both": {"text": "trim({0}, {1})"},
            "trim_left": {"text": "ltrim({0}, {1})"},
            "trim_right": {"text": "rtrim({0}, {1})"},
            "starts_with": {"text": "starts_with({0}, {1})"},
            # The engine has put the session's number before the arguments.
            "nextval": {"any": _of_session},
            "currval": {"any": _of_session},
            "lastval": {"any": _of_session},
            "setval": {"any": _of_session},
            "pg_sleep": {"any": _of_session},
            "pg_cancel_backend": {"any": _of_session},
            "pg_terminate_backend": {"any": _of_session},
            "set_config": {"any": _of_session},
            "pg_notify": {"any": _of_session},
            **{name: {"any": _of_session} for name in sorted(ADVISORY_CALLS)},
            "date_add_days": {"date": "date_checked({0} + {1})"},
            "date_subtract_days": {"date": "date_checked({0} - {1})"},
            "date_difference": {"date": date_difference("{0} - {1}")},
        }
    )
)

CASTS = cast_table(
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
