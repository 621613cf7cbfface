"""Arithmetic of integers, floats and decimals with PostgreSQL's errors, and the mathematical
functions.
"""

from __future__ import annotations

import math

from sql.tree.expressions import Call, Case, Cast
from views.codegen.expressions import ExpressionWriter, FunctionWriter
from views.codegen.values import INTEGERS, Value, has_known_scale, numeric_function

WIDTHS = {"int2": "int16", "int4": "int32", "int8": "int64", "float4": "float32", "float8": "float64"}
BITS = {"bit_and": "&", "bit_or": "|", "bit_xor": "^"}


def write_binary(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """+, -, *, /, %."""
    assert isinstance(node, Call)
    left, right = (writer.evaluate(argument) for argument in node.arguments)
    words = ", ".join((*left.words, *right.words))
    use = writer.writer.use
    if node.type.family == "numeric":
        call = f"{use(*numeric_function(node.function, left, right))}({words})"
    else:
        call = f"{use('scalar.numbers.arithmetic', f'{node.function}_{WIDTHS[node.type.family]}')}({words})"
    return writer.strict(node, call, (left, right), node.function, fallible=True)


def write_negate(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """-x."""
    assert isinstance(node, Call)
    value = writer.evaluate(node.arguments[0])
    use = writer.writer.use
    if node.type.family in INTEGERS:
        call = f"{use('scalar.numbers.arithmetic', 'negate_' + WIDTHS[node.type.family])}({value.word})"
        return writer.strict(node, call, (value,), "negate", fallible=True)
    if node.type.family == "numeric" and not has_known_scale(value):
        names = [writer.writer.name("negate" + suffix) for suffix in ("_lo", "_hi")]
        writer.writer.line(
            f"{', '.join(names)} = {use('scalar.numbers.any_numeric', 'any_negate')}({', '.join(value.words)})"
        )
        return Value((*names, value.words[2]), value.null)
    if node.type.family == "numeric":
        return _same_scale(writer, node, value, "numeric_negate")
    return writer.strict(node, f"-{value.word}", (value,), "negate", fallible=False)


def write_abs(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """abs(x)."""
    assert isinstance(node, Call)
    value = writer.evaluate(node.arguments[0])
    use = writer.writer.use
    if node.type.family in INTEGERS:
        call = f"{use('scalar.numbers.arithmetic', 'absolute_' + WIDTHS[node.type.family])}({value.word})"
        return writer.strict(node, call, (value,), "absolute", fallible=True)
    if node.type.family == "numeric":
        return _same_scale(writer, node, value, "numeric_absolute")
    return writer.strict(node, f"abs({value.word})", (value,), "absolute", fallible=False)


def _same_scale(writer: ExpressionWriter, node: Call, value: Value, function: str) -> Value:
    """Write a function of (lo, hi) that leaves the scale as it is."""
    lo, hi, scale = value.words
    name = writer.writer.use("scalar.numbers.numeric", function)
    names = [writer.writer.name(node.function + suffix) for suffix in ("_lo", "_hi")]
    writer.writer.line(f"{', '.join(names)} = {name}({lo}, {hi})")
    return Value((*names, scale), value.null)


def write_rounding(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """Write round, trunc, ceil or floor of numeric with or without a number of digits, or of double
    precision.
    """
    assert isinstance(node, Call)
    value = writer.evaluate(node.arguments[0])
    out = writer.writer
    if node.type.family == "float8":
        functions = {"round": "rint", "trunc": "trunc", "ceil": "ceil", "floor": "floor"}
        return writer.strict(
            node, f"np.{functions[node.function]}({value.word})", (value,), node.function, fallible=False
        )
    words = ", ".join(value.words)
    if node.function in ("ceil", "floor"):
        suffixes = ("_lo", "_hi") if has_known_scale(value) else ("_lo", "_hi", "_scale")
        names = [out.name(node.function + suffix) for suffix in suffixes]
        out.line(f"{', '.join(names)} = {out.use(*numeric_function(node.function, value))}({words})")
        return Value((*names, "0")[:3], value.null)
    digits = writer.evaluate(node.arguments[1]) if len(node.arguments) > 1 else Value(("0",))
    call = f"{out.use(*numeric_function(node.function, value))}({words}, {digits.word})"
    return writer.strict(node, call, (value, digits), node.function, fallible=True)


def write_sign(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """sign(x): -1, 0 or 1."""
    assert isinstance(node, Call)
    value = writer.evaluate(node.arguments[0])
    out = writer.writer
    if node.type.family == "float8":
        call = f"{out.use('scalar.numbers.arithmetic', 'sign_float64')}({value.word})"
        return writer.strict(node, call, (value,), "sign", fallible=False)
    if not has_known_scale(value):
        names = [out.name("sign" + suffix) for suffix in ("", "_scale")]
        out.line(f"{', '.join(names)} = {out.use('scalar.numbers.any_numeric', 'any_sign')}({', '.join(value.words)})")
        return Value((names[0], f"({names[0]} >> 63)", names[1]), value.null)
    lo = out.assign("sign", f"{out.use('scalar.numbers.numeric', 'numeric_sign')}({value.words[0]}, {value.words[1]})")
    return Value((lo, f"({lo} >> 63)", "0"), value.null)


def write_pi(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """pi()."""
    return Value((repr(math.pi),))


def write_bits(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """&, |, # and ~ of integers, which are words of 64 bits with their sign."""
    assert isinstance(node, Call)
    values = tuple(writer.evaluate(argument) for argument in node.arguments)
    words = [value.word for value in values]
    call = f"(~{words[0]})" if node.function == "bit_not" else f"({f' {BITS[node.function]} '.join(words)})"
    return writer.strict(node, call, values, "bits", fallible=False)


def write_shift(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """<< and >> of integers."""
    assert isinstance(node, Call)
    value, count = (writer.evaluate(argument) for argument in node.arguments)
    bits = {"int2": 16, "int4": 32, "int8": 64}[node.type.family]
    call = f"{writer.writer.use('scalar.numbers.arithmetic', node.function)}({value.word}, {count.word}, {bits})"
    return writer.strict(node, call, (value, count), "shifted", fallible=False)


FUNCTIONS: dict[str, FunctionWriter] = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "modulo"), write_binary),
    "negate": write_negate,
    "abs": write_abs,
    **dict.fromkeys(("round", "trunc", "ceil", "floor"), write_rounding),
    "sign": write_sign,
    "pi": write_pi,
    **dict.fromkeys((*BITS, "bit_not"), write_bits),
    **dict.fromkeys(("shift_left", "shift_right"), write_shift),
}
