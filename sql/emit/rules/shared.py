"""Rules that both engines print alike: comparison, logic, exact and checked functions that the
runtimes define under one name.

The functions that are called here and not built into an engine (numeric_divide, float8_add,
text_substring, ...) are those of `engine/embedded/functions/registration.py` in DuckDB and of
`engine/SparkFunctions.java` in Spark; both have PostgreSQL's meaning, errors included.
"""

from __future__ import annotations

from collections.abc import Mapping

from sql.emit.expressions import short_circuit
from sql.emit.rules.arguments import RUN, literal_integer, literal_text
from sql.errors import not_supported
from sql.functions.printing import Printer, Rule, form_of
from sql.patterns.like import is_quick, like_pattern, searches
from sql.tree.expressions import Call, Literal
from sql.types.datatypes import scaled_numeric

COMPARABLE = "bool int2 int4 int8 float4 float8 numeric text date timestamp timestamptz time uuid bytea oid char enum"
KEYED = "variable bpchar interval timetz jsonb inet array record"
INT4_MAX = 2**31 - 1
INTEGERS = "int2 int4 int8"
LOWER, UPPER = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _keys(template: str) -> Rule:
    """Return a comparison by the keys of the values."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        return template.format(*keys(printer, node, texts))

    return rule


def keys(printer: Printer, node: Call, texts: list[str]) -> list[str]:
    """Return the texts that compare operands of one type: themselves, or their keys."""
    kind = node.arguments[0].type
    if kind.family == "numeric":
        kind = scaled_numeric(None) if printer.operand_form(node) == "variable" else kind
    return [printer.comparable_text(text, kind) for text in texts]


def in_list(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return IN of a list, item by item."""
    texts = keys(printer, node, texts)
    return f"({texts[0]} IN ({', '.join(texts[1:])}))"


def _coalesce(printer: Printer, node: Call, texts: list[str]) -> str:
    fitted = [printer.fit(argument, node.type) for argument in node.arguments]
    return fitted[0] if len(fitted) == 1 else printer.chosen(f"coalesce({', '.join(fitted)})", node.type)


def _extreme(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return GREATEST or LEAST: NULLs don't count."""
    fitted = [printer.fit(argument, node.type) for argument in node.arguments]
    if len(fitted) == 1:
        return fitted[0]
    if not node.type.has_own_order:
        return printer.chosen(f"{node.function}({', '.join(fitted)})", node.type)
    text = fitted[0]
    if form_of(node.type) != "variable":
        return _extreme_by_key(printer, node, fitted)
    for other in fitted[1:]:
        text = f"numeric_{node.function}({text}, {other})"
    return text


def _extreme_by_key(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return that of two values which has the greater or lesser key."""
    if len(texts) > 2:
        raise not_supported(
            f"{node.function.upper()} of more than two values of type {node.type.sql_name}", node.position
        )
    left, right = (printer.comparable_text(text, node.type) for text in texts)
    sign = ">=" if node.function == "greatest" else "<="
    text = f"CASE WHEN {texts[1]} IS NULL OR {left} {sign} {right} THEN {texts[0]} ELSE {texts[1]} END"
    return printer.chosen(text, node.type)


def _nullif(printer: Printer, node: Call, texts: list[str]) -> str:
    first, second = texts
    kept = printer.fit(node.arguments[0], node.type)
    first, second = keys(printer, node, texts)
    text = f"CASE WHEN {first} = {second} THEN {printer.literal(Literal(None, node.type))} ELSE {kept} END"
    return printer.chosen(text, node.type)


def _negate_integer(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"({printer.literal(Literal(0, node.type))} - {texts[0]})"


def divisor_guarded(texts: list[str], node: Call) -> str:
    """Return the divisor of a remainder, 1 instead of -1: PostgreSQL's min % -1 is 0, not an
    overflow.
    """
    divisor = node.arguments[1]
    if isinstance(divisor, Literal) and divisor.value != -1:
        return texts[1]
    return f"(CASE WHEN {texts[1]} = -1 THEN 1 ELSE {texts[1]} END)"


def _numeric_divide(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"numeric_divide({texts[0]}, {texts[1]})"


def _substring(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return SUBSTRING, which counts from 1 even when it starts before the text."""
    bounds = node.arguments[1:]
    if all(isinstance(bound, Literal) and isinstance(bound.value, int) for bound in bounds):
        start = literal_integer(bounds[0], "a start")
        if len(bounds) == 1:
            return f"substring({texts[0]}, {max(start, 1)})"
        length = literal_integer(bounds[1], "a length")
        if length >= 0:
            end = max(start + length, 1)
            return f"substring({texts[0]}, {max(start, 1)}, {max(end - max(start, 1), 0)})"
    if len(texts) == 2:
        texts = [texts[0], f"CASE WHEN {texts[1]} < 1 THEN 1 ELSE {texts[1]} END", str(INT4_MAX)]
    return f"text_substring({', '.join(texts)})"


def _ascii_case(source: str, target: str) -> Rule:
    """Return LOWER or UPPER in the C locale, which change ASCII letters alone."""
    return f"translate({{0}}, '{source}', '{target}')"


def _like(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return LIKE: with a constant pattern the engine's own.

    The engines read escapes of other patterns each in their own way.
    """
    text, pattern = texts[0], node.arguments[1]
    run = f", {RUN}" if printer.like_is_linear else ""
    escape = literal_text(node.arguments[2], "an escape character") if len(node.arguments) > 2 else "\\"
    if isinstance(pattern, Literal) and isinstance(pattern.value, str):
        written = like_pattern(pattern.value, escape)
        printed, template = printer.quoted(written), f"({{0}} LIKE {{1}} ESCAPE {printer.quoted(chr(92))})"
        if not (is_quick(written) if printer.like_is_linear else searches(written) <= 1):
            template = f"text_like({{0}}, {{1}}, {printer.quoted(chr(92))}{run})"
    else:
        printed, template = texts[1], f"text_like({{0}}, {{1}}, {printer.quoted(escape)}{run})"
    if node.function == "ilike":
        text, printed = (f"translate({part}, '{UPPER}', '{LOWER}')" for part in (text, printed))
    return template.format(text, printed)


SHARED_RULES: Mapping[str, Mapping[str, Rule]] = {
    "eq": {COMPARABLE: "({0} = {1})", KEYED: _keys("({0} = {1})")},
    "ne": {COMPARABLE: "({0} <> {1})", KEYED: _keys("({0} <> {1})")},
    "lt": {COMPARABLE: "({0} < {1})", KEYED: _keys("({0} < {1})")},
    "le": {COMPARABLE: "({0} <= {1})", KEYED: _keys("({0} <= {1})")},
    "gt": {COMPARABLE: "({0} > {1})", KEYED: _keys("({0} > {1})")},
    "ge": {COMPARABLE: "({0} >= {1})", KEYED: _keys("({0} >= {1})")},
    "and": {"bool": short_circuit},
    "or": {"bool": short_circuit},
    "not": {"bool": "(NOT {0})"},
    "is_true": {"bool": "({0} IS TRUE)"},
    "is_not_true": {"bool": "({0} IS NOT TRUE)"},
    "is_false": {"bool": "({0} IS FALSE)"},
    "is_not_false": {"bool": "({0} IS NOT FALSE)"},
    "is_null": {"any": "({0} IS NULL)"},
    "is_not_null": {"any": "({0} IS NOT NULL)"},
    "in_list": {"any": in_list},
    "coalesce": {"any": _coalesce},
    "nullif": {"any": _nullif},
    "greatest": {"any": _extreme},
    "least": {"any": _extreme},
    "add": {
        f"{INTEGERS} numeric": "({0} + {1})",
        "variable": "numeric_add({0}, {1})",
        "float4": "float4_add({0}, {1})",
        "float8": "float8_add({0}, {1})",
    },
    "subtract": {
        f"{INTEGERS} numeric": "({0} - {1})",
        "variable": "numeric_subtract({0}, {1})",
        "float4": "float4_subtract({0}, {1})",
        "float8": "float8_subtract({0}, {1})",
    },
    "multiply": {
        f"{INTEGERS} numeric": "({0} * {1})",
        "variable": "numeric_multiply({0}, {1})",
        "float4": "float4_multiply({0}, {1})",
        "float8": "float8_multiply({0}, {1})",
    },
    "divide": {
        "variable": _numeric_divide,
        "float4": "float4_divide({0}, {1})",
        "float8": "float8_divide({0}, {1})",
    },
    "modulo": {"numeric": "({0} % {1})", "variable": "numeric_modulo({0}, {1})"},
    "negate": {INTEGERS: _negate_integer, "numeric float4 float8": "(-{0})", "variable": "numeric_negate({0})"},
    "abs": {f"{INTEGERS} numeric float4 float8": "abs({0})", "variable": "numeric_abs({0})"},
    "sqrt": {"float8": "float8_sqrt({0})"},
    "power": {"float8": "float8_power({0}, {1})"},
    "ln": {"float8": "float8_ln({0})"},
    "exp": {"float8": "float8_exp({0})"},
    "is_distinct": {
        "any": "({0} IS DISTINCT FROM {1})",
        KEYED: _keys("({0} IS DISTINCT FROM {1})"),
    },
    "is_not_distinct": {
        "any": "({0} IS NOT DISTINCT FROM {1})",
        KEYED: _keys("({0} IS NOT DISTINCT FROM {1})"),
    },
    "lower": {"text": _ascii_case(UPPER, LOWER)},
    "upper": {"text": _ascii_case(LOWER, UPPER)},
    "padded_text": {"bpchar": "{0}"},
    "like": {"text": _like},
    "ilike": {"text": _like},
    "date_add_days": {"date": "({0} + {1})"},
    "date_subtract_days": {"date": "({0} - {1})"},
    "concat_op": {"text bytea": "({0} || {1})"},
    "substring": {"text": _substring},
    "replace": {"text": "replace({0}, {1}, {2})"},
    "left": {"text": "text_left({0}, {1})"},
    "right": {"text": "text_right({0}, {1})"},
    "strpos": {"text": "text_position({0}, {1})"},
    "repeat": {"text": "text_repeat({0}, {1})"},
    "lpad": {"text": "text_lpad({0}, {1}, {2})"},
    "rpad": {"text": "text_rpad({0}, {1}, {2})"},
    "reverse": {"text": "reverse({0})"},
    "split_part": {"text": "text_split_part({0}, {1}, {2})"},
    "concat": {"any": lambda printer, node, texts: f"concat_ws('', {', '.join(texts)})"},
}
