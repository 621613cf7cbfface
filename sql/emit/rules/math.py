"""Mathematical functions beyond arithmetic and rounding as SQL: functions of ours where the
engine's means something else.
"""

from __future__ import annotations

from collections.abc import Mapping

from sql.emit.rules.numeric import unpacked
from sql.functions.printing import Printer, Rule
from sql.tree.expressions import Call
from sql.types.datatypes import scaled_numeric


def _numeric(name: str) -> Mapping[str, Rule]:
    """Return a function of numerics, whose digits each value has for itself."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        plain = scaled_numeric(None)
        packed = [
            printer.fit(argument, plain) if argument.type.family == "numeric" else text
            for argument, text in zip(node.arguments, texts, strict=True)
        ]
        text = f"{name}({', '.join(packed)})"
        return unpacked(printer, text, node.type) if node.type.family == "numeric" else text

    return {"numeric": rule, "variable": rule}


def _shift(name: str) -> Mapping[str, Rule]:
    return {f"int{size}": f"int{size}_{name}({{0}}, {{1}})" for size in (2, 4, 8)}


TRIGONOMETRY = "sin cos tan cot asin acos sinh cosh".split()

SHARED_MATH_RULES: Mapping[str, Mapping[str, Rule]] = {
    **{name: {"float8": f"float8_{name}({{0}})"} for name in (*TRIGONOMETRY, "degrees", "cbrt")},
    "atan": {"float8": "atan({0})"},
    "atan2": {"float8": "atan2({0}, {1})"},
    "tanh": {"float8": "tanh({0})"},
    "radians": {"float8": "float8_multiply({0}, CAST('0.017453292519943295' AS DOUBLE))"},
    "pi": {"any": "pi()"},
    "log10": {"float8": "float8_log10({0})"},
    "quotient": _numeric("numeric_div"),
    "gcd": {"int4": "int4_gcd({0}, {1})", "int8": "int8_gcd({0}, {1})", **_numeric("numeric_gcd")},
    "lcm": {"int4": "int4_lcm({0}, {1})", "int8": "int8_lcm({0}, {1})", **_numeric("numeric_lcm")},
    "min_scale": _numeric("numeric_min_scale"),
    "trim_scale": _numeric("numeric_trimmed"),
    "width_bucket": {"float8": "float8_width_bucket({0}, {1}, {2}, {3})", **_numeric("numeric_width_bucket")},
    "bit_and": {"int2 int4 int8": "({0} & {1})"},
    "bit_or": {"int2 int4 int8": "({0} | {1})"},
    "bit_not": {"int2 int4 int8": "(~{0})"},
    "num_nulls": {"any": lambda printer, node, texts: _counted(printer, node, texts, "IS NULL")},
    "num_nonnulls": {"any": lambda printer, node, texts: _counted(printer, node, texts, "IS NOT NULL")},
}


def _counted(printer: Printer, node: Call, texts: list[str], test: str) -> str:
    return "(" + " + ".join(f"CASE WHEN {text} {test} THEN 1 ELSE 0 END" for text in texts) + ")"


def _format_number(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"numeric_format({printer.fit(node.arguments[0], scaled_numeric(None))}, {texts[1]})"


def _known_scale(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"CASE WHEN {texts[0]} IS NOT NULL THEN {node.arguments[0].type.display_scale} END"


DUCKDB_MATH_RULES: Mapping[str, Mapping[str, Rule]] = {
    **SHARED_MATH_RULES,
    # Digits as PostgreSQL chooses them, which only our own arithmetic gives.
    "log10": {"float8": "float8_log10({0})", **_numeric("numeric_log10")},
    "log": _numeric("numeric_log"),
    "sqrt": {"float8": "float8_sqrt({0})", **_numeric("numeric_sqrt")},
    "ln": {"float8": "float8_ln({0})", **_numeric("numeric_ln")},
    "exp": {"float8": "float8_exp({0})", **_numeric("numeric_exp")},
    "power": {"float8": "float8_power({0}, {1})", **_numeric("numeric_power")},
    "factorial": {"variable": "numeric_factorial({0})", "int8": "numeric_factorial({0})"},
    "bit_xor": {"int2 int4 int8": "xor({0}, {1})"},
    "shift_left": _shift("shift_left"),
    "shift_right": _shift("shift_right"),
    "random": {"any": "random()"},
    "scale": {"variable": "CAST(numeric_scale({0}) AS INTEGER)", "numeric": _known_scale},
    "format_number": {"numeric": _format_number, "variable": _format_number},
    "format_float": {"float8": "float8_format({0}, {1})"},
    "read_number": {"any": "numeric_read({0}, {1})"},
    "gen_random_uuid": {"any": "CAST(uuid() AS VARCHAR)"},
}

SPARK_MATH_RULES: Mapping[str, Mapping[str, Rule]] = {
    **SHARED_MATH_RULES,
    "bit_xor": {"int2 int4 int8": "({0} ^ {1})"},
}
