"""Arithmetic, rounding and bits of numbers, and numbers as text."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace

from sql.errors import SqlError
from sql.functions.arguments import literal_integer
from sql.functions.printing import Printer, Rule, passed, unpacked
from sql.functions.rows import OWN_SCALES, STABLE, VOLATILE, Function, Kernel, routines
from sql.functions.signatures import FLOATS, INTEGERS, NUMBERS, across, alike, unary
from sql.tree.expressions import Call, Literal
from sql.tree.numeric_scale import first, rounded, summed, whole, widest
from sql.types.datatypes import scaled_numeric

EXACT = (*INTEGERS, "numeric")
MIXED = across(INTEGERS)
# The function takes numbers of one size.
MODULO = "; ".join(f"%: {mixed}" for mixed in MIXED.split("; "))


def _digits(node: Call) -> int:
    return literal_integer(node.arguments[1], "a number of digits") if len(node.arguments) > 1 else 0


def _round(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return ROUND of a fixed scale: the engines' decimal casts round half away from zero, as
    PostgreSQL does.
    """
    digits, scale = _digits(node), node.arguments[0].type.display_scale
    assert scale is not None
    if digits < 0:
        return printer.unpack(f"numeric_round({printer.pack(texts[0], scale)}, {digits})", 0)
    return f"CAST({texts[0]} AS {printer.type_name(node.type)})"


def _trunc(printer: Printer, node: Call, texts: list[str]) -> str:
    digits, scale = _digits(node), node.arguments[0].type.display_scale
    assert scale is not None and node.type.display_scale is not None
    if digits >= scale:
        return printer.fit_text(texts[0], node.arguments[0].type, node.type)
    return printer.unpack(f"numeric_trunc({printer.pack(texts[0], scale)}, {digits})", node.type.display_scale)


def _variable(name: str) -> Rule:
    """Return a function of a numeric and a number of digits, whose result has a scale of its
    own.
    """

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        digits = texts[1] if len(texts) > 1 else "0"
        return unpacked(printer, f"{name}({_packed(printer, node)}, {digits})", node.type)

    return rule


def _packed(printer: Printer, node: Call) -> str:
    return printer.fit(node.arguments[0], scaled_numeric(None))


def divisor_guarded(texts: list[str], node: Call) -> str:
    """Return the divisor of a remainder, 1 instead of -1: PostgreSQL's min % -1 is 0, not an
    overflow.
    """
    divisor = node.arguments[1]
    if isinstance(divisor, Literal) and divisor.value != -1:
        return texts[1]
    return f"(CASE WHEN {texts[1]} = -1 THEN 1 ELSE {texts[1]} END)"


def _modulo_integer(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"({texts[0]} % {divisor_guarded(texts, node)})"


def _negate_duckdb(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"subtract({printer.literal(Literal(0, node.type))}, {texts[0]})"


def _negate_integer(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"({printer.literal(Literal(0, node.type))} - {texts[0]})"


def _divide_integer(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return DIV, which yields a bigint; the cast back finds min / -1."""
    return f"CAST(({texts[0]} div {texts[1]}) AS {printer.type_name(node.type)})"


def _quotient(one: int, other: int) -> int:
    """Return a quotient of integers, whose fraction is cut off."""
    if not other:
        raise SqlError("22012", "division by zero")
    found = abs(one) // abs(other)
    return found if (one < 0) == (other < 0) else -found


def _remainder(one: int, other: int) -> int:
    return one - other * _quotient(one, other)


def _known_scale(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"CASE WHEN {texts[0]} IS NOT NULL THEN {node.arguments[0].type.display_scale} END"


def _checked(name: str, families: tuple[str, ...] = NUMBERS) -> Mapping[str, Kernel]:
    """Return the kernels of arithmetic that is computed in the type of its operands."""
    at = f"numbers.arithmetic.{name}_"
    return {
        **{one: Kernel(at + width, fallible=True) for one, width in WIDTHS.items() if one in families},
        **{one: Kernel(f"{at}narrow", fallible=True, constants=(bits,)) for one, bits in NARROW.items()},
        "numeric": Kernel(f"numbers.arithmetic.numeric_{name}", fallible=True),
        "variable": Kernel(f"numbers.arithmetic.any_{name}", fallible=True),
    }


def _signed(name: str) -> Mapping[str, Kernel]:
    """Return the kernels of negate and abs, but for floats."""
    kept = Kernel(f"numbers.arithmetic.any_{name}", keeps_scale=True)
    return {**_checked(name, INTEGERS), "numeric": kept, "variable": kept}


def _divided(name: str) -> Mapping[str, Kernel]:
    """Return the kernels of divisors and multiples of integers."""
    kernel = Kernel(f"numbers.divisors.{name}", fallible=True)
    return {family: replace(kernel, constants=(bits,)) for family, bits in (("int4", "32"), ("int8", "64"))}


def _needed_scale(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"nullif(numeric_needed_scale({passed(printer, node.arguments[0], texts[0])}), -1)"


def _shift(name: str) -> Mapping[str, Kernel]:
    return {f"int{size}": Kernel(f"numbers.bits.{name}", constants=(str(8 * size),)) for size in (2, 4, 8)}


def _cut(name: str) -> Mapping[str, Kernel]:
    """Return the kernels that cut numerics to a number of digits."""
    return {
        form: Kernel(f"numbers.{module}_{name}", fallible=True, left_out=("0",))
        for form, module in (("numeric", "numeric.numeric"), ("variable", "any_numeric.any"))
    }


WIDTHS = {"int8": "int64", "float4": "float32", "float8": "float64"}
NARROW = {"int2": "16", "int4": "32"}
NEGATIVE = {"numeric float4 float8": "(-{0})"}
PLAIN_ABS = {"int2 int4 int8 numeric float4 float8": "abs({0})"}
FUNCTIONS = (
    Function(
        "abs", "abs @", unary(NUMBERS), ("abs(-2.50)", "2.50"),
        duckdb=PLAIN_ABS, spark=PLAIN_ABS, scale=first,
        kernel={**_signed("absolute"), "float4 float8": "abs({0})"}, plain={"int2 int4 int8 float4 float8": abs},
    ),
    Function(
        "ceil", "ceil ceiling", "numeric > numeric; float8 > float8", ("ceil(-1.5)", "-1"),
        duckdb={
            "numeric": "CAST(ceil({0}) AS DECIMAL(38,0))",
            "float8": "ceil({0})",
        },
        kernel={"numeric variable": Kernel("numbers.any_numeric.any_ceil"), "float8": "np.ceil({0})"},
        scale=whole, operands=OWN_SCALES,
    ),
    Function(
        "floor", "floor", "numeric > numeric; float8 > float8", ("floor(-1.5)", "-2"),
        duckdb={
            "numeric": "CAST(floor({0}) AS DECIMAL(38,0))",
            "float8": "floor({0})",
        },
        kernel={"numeric variable": Kernel("numbers.any_numeric.any_floor"), "float8": "np.floor({0})"},
        scale=whole, operands=OWN_SCALES,
    ),
    Function(
        "round", "round", "numeric > numeric; float8 > float8; numeric int4 > numeric", ("round(2.345, 2)", "2.35"),
        duckdb={"numeric": _round, "variable": _variable("numeric_round"), "float8": "round_even({0}, 0)"},
        kernel={**_cut("round"), "float8": "np.rint({0})"},
        scale=rounded, operands=OWN_SCALES, constants={1: "1"},
    ),
    Function(
        "trunc", "trunc", "numeric > numeric; float8 > float8; numeric int4 > numeric", ("trunc(-2.345, 1)", "-2.3"),
        duckdb={"numeric": _trunc, "variable": _variable("numeric_trunc"), "float8": "trunc({0})"},
        kernel={**_cut("trunc"), "float8": "np.trunc({0})"},
        scale=rounded, operands=OWN_SCALES, constants={1: "1"},
    ),
    Function(
        "sign", "sign", "numeric > numeric; float8 > float8", ("sign(-8.4)", "-1"),
        duckdb={
            "numeric": "CAST(sign({0}) AS DECIMAL(38,0))",
            "float8": "CAST(sign({0}) AS DOUBLE)",
        },
        kernel={
            "numeric variable": Kernel("numbers.arithmetic.any_sign_words"),
            "float8": Kernel("numbers.arithmetic.sign_float64"),
        },
        scale=whole, operands=OWN_SCALES,
    ),
    Function(
        "modulo", "mod %", f"{alike(EXACT)}; {MODULO}", ("-7 % 3", "-1"),
        duckdb={"numeric": "({0} % {1})", "int2 int4 int8": _modulo_integer},
        spark={"numeric int2 int4 int8": "({0} % {1})"}, scale=widest,
        kernel=_checked("modulo", EXACT), infix="%", plain=dict.fromkeys(INTEGERS, _remainder),
    ),
    Function(
        "quotient", "div", "numeric numeric > numeric", ("div(9, 4)", "2"), python="math.quotient", special="divide",
        called="div",
    ),
    Function(
        "gcd", "gcd", "int4 int4 > int4; int8 int8 > int8; numeric numeric > numeric", ("gcd(1071, 462)", "21"),
        kernel=_divided("gcd"), python={"numeric": "math.numeric_gcd"}, special="nan",
    ),
    Function(
        "lcm", "lcm", "int4 int4 > int4; int8 int8 > int8; numeric numeric > numeric", ("lcm(1071, 462)", "23562"),
        kernel=_divided("lcm"), python={"numeric": "math.numeric_lcm"}, special="nan",
    ),
    Function("factorial", "factorial", "int8 > numeric", ("factorial(5)", "120"), python="math.factorial"),
    Function(
        "scale", "scale", "numeric > int4", ("scale(8.410)", "3"),
        duckdb={"variable": "nullif(numeric_scale({0}), -1)", "numeric": _known_scale},
    ),
    Function(
        "min_scale", "min_scale", "numeric > int4", ("min_scale(8.4100)", "2"), duckdb=_needed_scale,
    ),
    Function(
        "trim_scale", "trim_scale", "numeric > numeric", ("trim_scale(8.4100)", "8.41"),
        kernel=dict.fromkeys(("numeric", "variable"), Kernel("numbers.numeric.numeric_normalise")),
    ),
    Function("random", "random", "> float8", strict=False, volatility=VOLATILE, duckdb="random()"),
    Function(
        "to_hex", "to_hex", "int4 > text; int8 > text", ("to_hex(-1)", "ffffffff"),
        kernel={
            family: Kernel("texts.codes.int64_to_hexadecimal", fallible=True, scratch=True, constants=(bits,))
            for family, bits in (("int4", "32"), ("int8", "64"))
        },
    ),
    Function(
        "read_number", "to_number", "text text > numeric", ("to_number('12,454.8-', '99G999D9S')", "-12454.8"),
        volatility=STABLE, python="number_reading.read",
    ),
    Function(
        "format_number", "to_char",
        "int4 text > text; int8 text > text; numeric text > text",
        ("to_char(-125.8, '999D99S')", "125.80-"), volatility=STABLE,
        python={
            "int4": "number_formats.formatted_int4",
            "int8": "number_formats.formatted_int8",
            "numeric": "number_formats.formatted",
        },
        special="format_number",
    ),
    Function(
        "format_float", "to_char", "float4 text > text; float8 text > text", ("to_char(125.8::float8, '999D9')", " 125.8"),
        python={"float4": "number_formats.formatted_float4", "float8": "number_formats.formatted_float"},
    ),
    Function(
        "add", "+", f"{alike(NUMBERS)}; {MIXED}; {across(FLOATS)}", ("1 + 2.50", "3.50"),
        duckdb={
            "int2 int4 int8": "add({0}, {1})",
            "numeric": "({0} + {1})",
        },
        spark={"int2 int4 int8 numeric": "({0} + {1})"}, scale=widest, kernel=_checked("add"), overflows=True, infix="+",
        plain=dict.fromkeys(INTEGERS, operator.add),
    ),
    Function("plus", "+", unary(NUMBERS), ("+ 3", "3"), scale=first),
    Function(
        "subtract", "-", f"{alike(NUMBERS)}; {MIXED}; {across(FLOATS)}", ("2 - 3.0", "-1.0"),
        duckdb={
            "int2 int4 int8": "subtract({0}, {1})",
            "numeric": "({0} - {1})",
        },
        spark={"int2 int4 int8 numeric": "({0} - {1})"}, scale=widest, kernel=_checked("subtract"), overflows=True, infix="-",
        plain=dict.fromkeys(INTEGERS, operator.sub),
    ),
    Function(
        "negate", "-", unary(NUMBERS), ("- 2.50", "-2.50"),
        duckdb={"int2 int4 int8": _negate_duckdb, **NEGATIVE},
        spark={"int2 int4 int8": _negate_integer, **NEGATIVE}, scale=first,
        kernel={**_signed("negate"), "float4 float8": "-{0}"}, overflows=True, shown="-{0}",
        plain=dict.fromkeys(INTEGERS, operator.neg),
    ),
    Function(
        "multiply", "*", f"{alike(NUMBERS)}; {MIXED}; {across(FLOATS)}", ("2 * 0.5", "1.0"),
        duckdb={
            "int2 int4 int8": "multiply({0}, {1})",
            "numeric": "({0} * {1})",
        },
        spark={"int2 int4 int8 numeric": "({0} * {1})"}, scale=summed, operands=OWN_SCALES,
        kernel=_checked("multiply"), overflows=True, infix="*", plain=dict.fromkeys(INTEGERS, operator.mul),
    ),
    Function(
        "divide", "/", f"{alike(NUMBERS)}; {MIXED}; {across(FLOATS)}", ("7 / 2", "3"),
        duckdb={
            "int2 int4 int8": "({0} // {1})",
        },
        spark={"int2 int4 int8": _divide_integer}, kernel=_checked("divide"), infix="/",
        plain=dict.fromkeys(INTEGERS, _quotient),
    ),
    Function(
        "bit_not", "~", unary(INTEGERS), ("~ 1", "-2"), both="(~{0})", kernel="(~{0})",
        plain=dict.fromkeys(INTEGERS, operator.invert),
    ),
    Function(
        "bit_and", "&", alike(INTEGERS), ("91 & 15", "11"), both="({0} & {1})", kernel="({0} & {1})",
        plain=dict.fromkeys(INTEGERS, operator.and_),
    ),
    Function(
        "bit_or", "|", alike(INTEGERS), ("32 | 3", "35"), both="({0} | {1})", kernel="({0} | {1})",
        plain=dict.fromkeys(INTEGERS, operator.or_),
    ),
    Function(
        "bit_xor", "#", alike(INTEGERS), ("17 # 5", "20"), duckdb="xor({0}, {1})", spark="({0} ^ {1})", kernel="({0} ^ {1})",
        plain=dict.fromkeys(INTEGERS, operator.xor),
    ),
    Function(
        "shift_left", "<<", "; ".join(f"{family} int4 > {family}" for family in INTEGERS), ("1 << 4", "16"),
        kernel=_shift("shift_left"),
    ),
    Function(
        "shift_right", ">>", "; ".join(f"{family} int4 > {family}" for family in INTEGERS), ("-8 >> 2", "-2"),
        kernel=_shift("shift_right"),
    ),
)  # fmt: skip
ROUTINES = routines(
    numeric_round=("numeric int4 > numeric", Kernel("numbers.any_numeric.any_round")),
    numeric_trunc=("numeric int4 > numeric", Kernel("numbers.any_numeric.any_trunc")),
    numeric_scale=("numeric > int4", Kernel("numbers.scales.scale_of")),
    numeric_needed_scale=("numeric > int4", Kernel("numbers.scales.needed_scale")),
)
