"""Spark's rule tables: (function, operand form) and (form, target family) -> text with PostgreSQL's
meaning, for ANSI mode.

Each rule was tried against PostgreSQL 15 (tests/engine/spark/test_upper.py). A missing entry is
0A000. Where a function of Spark means something else, a function of
`engine/spark/spark_functions.java` stands in: CEIL of a double is a bigint, and a decimal is cut
when cast to an integer.
"""

from __future__ import annotations

from sql.emit.expressions import cast_table, rule_table
from sql.emit.rules.arguments import literal_bin_us
from sql.emit.rules.cast import SHARED_CASTS, plain, to_text
from sql.emit.rules.enum import SHARED_ENUM_CASTS
from sql.emit.rules.math import SPARK_MATH_RULES
from sql.emit.rules.numeric import NUMERIC_RULES
from sql.emit.rules.shared import INTEGERS, SHARED_RULES
from sql.emit.rules.text import SPARK_TEXT_RULES
from sql.emit.rules.time import TIME_RULES, date_difference
from sql.emit.rules.type import SPARK_TYPE_RULES
from sql.emit.rules.type_casts import SHARED_TYPE_CASTS
from sql.errors import not_supported
from sql.functions.printing import Printer, Rule
from sql.functions.table import SPARK_RULES
from sql.times.civil import is_infinite
from sql.tree.expressions import Call, Cast, Literal


def _divide_integer(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return DIV, which yields a bigint; the cast back finds min / -1."""
    return f"CAST(({texts[0]} div {texts[1]}) AS {printer.type_name(node.type)})"


def _round_float(printer: Printer, node: Cast, text: str) -> str:
    return plain(printer, node, f"rint({text})")


def _round_numeric(printer: Printer, node: Cast, text: str) -> str:
    whole = node.operand.type.display_scale == 0
    return plain(printer, node, text if whole else f"CAST({text} AS DECIMAL(38,0))")


def _moved_date(sign: str) -> Rule:
    """Return the rule of a moved date: an infinite date stays where it is."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        date, days = texts
        days = f"CASE WHEN {printer.finite(date, node.type)} THEN {days} ELSE {days} * 0 END"
        return f"({date} {sign} {days})"

    return rule


def _date_bin(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return date_bin: strides and origins are constants; an infinite time stays as it is."""
    stride, source, origin = node.arguments
    width = literal_bin_us(stride)
    if not isinstance(origin, Literal) or not isinstance(origin.value, int) or is_infinite(origin.value):
        raise not_supported("an origin that is not a finite constant", node.position)
    micros = printer.micros(texts[1], source.type)
    start = printer.moment(f"({micros} - pmod({micros} - ({origin.value}L), {width}L))", node.type.family)
    return f"CASE WHEN {printer.finite(texts[1], source.type)} THEN {start} ELSE {texts[1]} END"


RULES = (
    dict(SPARK_RULES)
    | rule_table(SHARED_RULES)
    | rule_table(NUMERIC_RULES)
    | rule_table(TIME_RULES)
    | rule_table(SPARK_TYPE_RULES)
    | rule_table(SPARK_TEXT_RULES)
    | rule_table(SPARK_MATH_RULES)
    | rule_table(
        {
            "divide": {INTEGERS: _divide_integer},
            "modulo": {INTEGERS: "({0} % {1})"},
            "round": {"float8": "rint({0})"},
            "trunc": {"float8": "float8_trunc({0})"},
            "ceil": {"float8": "float8_ceil({0})"},
            "floor": {"float8": "float8_floor({0})"},
            "sign": {"float8": "float8_sign({0})"},
            "length": {"text": "char_length({0})"},
            "octet_length": {"text": "octet_length({0})"},
            "trim_both": {"text": "trim(BOTH {1} FROM {0})"},
            "trim_left": {"text": "trim(LEADING {1} FROM {0})"},
            "trim_right": {"text": "trim(TRAILING {1} FROM {0})"},
            "starts_with": {"text": "startswith({0}, {1})"},
            "date_bin": {"interval": _date_bin},
            "date_difference": {"date": date_difference("datediff({0}, {1})")},
            "date_add_days": {"date": _moved_date("+")},
            "date_subtract_days": {"date": _moved_date("-")},
        }
    )
)

CASTS = cast_table(
    {
        **{key: rule for key, rule in SHARED_CASTS.items() if not key.startswith(("text > date", "text > timestamp"))},
        **SHARED_TYPE_CASTS,
        **SHARED_ENUM_CASTS,
        "float4 float8 > int2 int4 int8": _round_float,
        "numeric > int2 int4 int8": _round_numeric,
        "bool int2 int4 int8 numeric > text": to_text("CAST({0} AS STRING)"),
    }
)
