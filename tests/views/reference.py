"""A plain-Python model of typed expressions: what PostgreSQL answers, written for clarity and not
for speed.

Values: None, bool, int, float (numpy.float32 for real), Decimal with its digits, str; dates and
timestamps as ints, like literals. A failure is `SqlFailureError` with PostgreSQL's SQLSTATE. It
shares no code with the kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np

from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal
from sql.types.datatypes import SqlType
from tests.views.reference_times import DAY_US, date_bin, date_trunc, extract

Value = Any
Row = Sequence[Value]

EXACT = Context(prec=400, Emax=10_000, Emin=-10_000)
LIMIT = 10**38
RANGES = {"int2": 2**15, "int4": 2**31, "int8": 2**63}
FLOATS = ("float4", "float8")


@dataclass
class SqlFailureError(Exception):
    """Error that PostgreSQL reports."""

    sqlstate: str


def evaluate(expression: Expression, row: Row, now_us: int = 0) -> Value:
    """Return the value of an expression over a row."""
    if isinstance(expression, Column):
        return row[expression.index]
    if isinstance(expression, Literal):
        return literal(expression)
    if isinstance(expression, Cast):
        return cast(evaluate(expression.operand, row, now_us), expression)
    if isinstance(expression, Case):
        for condition, value in expression.branches:
            if evaluate(condition, row, now_us) is True:
                return evaluate(value, row, now_us)
        return evaluate(expression.default, row, now_us)
    assert isinstance(expression, Call)
    if expression.function == "now":
        return now_us
    if expression.function in LAZY:
        return LAZY[expression.function](expression, row, now_us)
    values = [evaluate(argument, row, now_us) for argument in expression.arguments]
    if expression.function in TOLERANT:
        return TOLERANT[expression.function](expression, values)
    if any(value is None for value in values):
        return None
    return STRICT[expression.function](expression, values)


def literal(node: Literal) -> Value:
    value = node.value
    if isinstance(value, Decimal) and node.type.display_scale is not None:
        return value.quantize(Decimal(1).scaleb(-node.type.display_scale), context=EXACT)
    return np.float32(value) if node.type.family == "float4" and isinstance(value, float) else value


def write_and(node: Call, row: Row, now_us: int) -> Value:
    result: Value = True
    for argument in node.arguments:
        value = evaluate(argument, row, now_us)
        if value is False:
            return False
        result = None if value is None else result
    return result


def write_or(node: Call, row: Row, now_us: int) -> Value:
    result: Value = False
    for argument in node.arguments:
        value = evaluate(argument, row, now_us)
        if value is True:
            return True
        result = None if value is None else result
    return result


def coalesce(node: Call, row: Row, now_us: int) -> Value:
    for argument in node.arguments:
        value = evaluate(argument, row, now_us)
        if value is not None:
            return value
    return None


def order(kind: SqlType, left: Value, right: Value) -> int:
    """Return -1, 0 or 1: NaN is the largest float, texts are ordered by their bytes."""
    if kind.family in FLOATS and (math.isnan(left) or math.isnan(right)):
        return int(math.isnan(left)) - int(math.isnan(right))
    if isinstance(left, str):
        left, right = left.encode(), right.encode()
    return int(left > right) - int(left < right)


def comparison(test: Callable[[int], bool]) -> Callable[[Call, list[Value]], Value]:
    return lambda node, values: test(order(node.arguments[0].type, *values))


def is_distinct(node: Call, values: list[Value]) -> bool:
    left, right = values
    if left is None or right is None:
        return left is not right
    return order(node.arguments[0].type, left, right) != 0


def in_list(node: Call, values: list[Value]) -> Value:
    needle, *items = values
    if needle is None:
        return None
    if any(item is not None and order(node.arguments[0].type, needle, item) == 0 for item in items):
        return True
    return None if None in items else False


def nullif(node: Call, values: list[Value]) -> Value:
    left, right = values
    if left is None or right is None or order(node.arguments[0].type, left, right) != 0:
        return left
    return None


def extreme(sign: int) -> Callable[[Call, list[Value]], Value]:
    def choose(node: Call, values: list[Value]) -> Value:
        best = None
        for value in values:
            if value is not None and (best is None or sign * order(node.type, value, best) > 0):
                best = value
        return best

    return choose


def in_range(value: int, family: str) -> int:
    if not -RANGES[family] <= value < RANGES[family]:
        raise SqlFailureError("22003")
    return value


def in_digits(value: Decimal) -> Decimal:
    """Return a numeric, unless it needs more than 38 digits or a scale beyond 38: PostgreSQL's
    limits are wider.
    """
    if digits(value) > 38 or abs(int(value.scaleb(digits(value), context=EXACT))) >= LIMIT:
        raise SqlFailureError("22003")
    return value


def digits(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return max(-exponent, 0)


def with_digits(value: Decimal, scale: int) -> Decimal:
    """Return a value rounded half away from zero to `scale` digits, which may be negative."""
    if scale >= 0:
        rounded = value.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP, context=EXACT)
    else:
        whole = value.scaleb(scale, context=EXACT).quantize(Decimal(1), rounding=ROUND_HALF_UP, context=EXACT)
        rounded = Decimal(int(whole) * 10**-scale)
    return in_digits(rounded or abs(rounded))


def division_scale(left: Decimal, right: Decimal) -> int:
    """PostgreSQL's select_div_scale."""

    def first_digit(value: Decimal) -> tuple[int, int]:
        if not value:
            return 0, 0
        weight = math.floor((abs(value).adjusted()) / 4)
        return weight, int(abs(value).scaleb(-4 * weight, context=EXACT))

    left_weight, left_digit = first_digit(left)
    right_weight, right_digit = first_digit(right)
    weight = left_weight - right_weight - (1 if left_digit <= right_digit else 0)
    return min(max(16 - weight * 4, digits(left), digits(right), 0), 1000)


def divide_numeric(left: Decimal, right: Decimal) -> Decimal:
    if not right:
        raise SqlFailureError("22012")
    return with_digits(EXACT.divide(left, right), division_scale(left, right))


def float_result(node: Call, result: Any, inputs: Sequence[Any], zero_is_exact: bool) -> Any:
    if np.isinf(result) and not any(np.isinf(value) for value in inputs):
        raise SqlFailureError("22003")
    if result == 0 and not zero_is_exact:
        raise SqlFailureError("22003")
    return result


def arithmetic(node: Call, values: list[Value]) -> Value:
    left, right = values
    family = node.type.family
    if family == "numeric":
        return numeric_arithmetic(node.function, left, right)
    if family in FLOATS:
        return float_arithmetic(node, left, right)
    if node.function in ("divide", "modulo"):
        if right == 0:
            raise SqlFailureError("22012")
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return in_range(quotient, family) if node.function == "divide" else left - quotient * right
    return in_range({"add": left + right, "subtract": left - right, "multiply": left * right}[node.function], family)


def numeric_arithmetic(function: str, left: Decimal, right: Decimal) -> Decimal:
    if function == "divide":
        return divide_numeric(left, right)
    if function == "modulo":
        if not right:
            raise SqlFailureError("22012")
        scale = max(digits(left), digits(right))
        result = EXACT.remainder(left, right).quantize(Decimal(1).scaleb(-scale), context=EXACT)
        return in_digits(result or abs(result))
    exact = {"add": EXACT.add, "subtract": EXACT.subtract, "multiply": EXACT.multiply}[function](left, right)
    scale = digits(left) + digits(right) if function == "multiply" else max(digits(left), digits(right))
    if function != "multiply" and digits(left) != digits(right):
        # The operand of fewer digits is brought to the other's scale, where it must still have at
        # most 38 digits.
        for operand in (left, right):
            in_digits(operand.quantize(Decimal(1).scaleb(-scale), context=EXACT))
    return with_digits(exact, scale)


def float_arithmetic(node: Call, left: Any, right: Any) -> Any:
    kind = np.float32 if node.type.family == "float4" else np.float64
    a, b = kind(left), kind(right)
    with np.errstate(all="ignore"):
        if node.function == "add":
            return float_result(node, a + b, (a, b), True)
        if node.function == "subtract":
            return float_result(node, a - b, (a, b), True)
        if node.function == "multiply":
            return float_result(node, a * b, (a, b), a == 0 or b == 0)
        if b == 0 and not np.isnan(a):
            raise SqlFailureError("22012")
        return float_result(node, a / b, (a,), a == 0 or bool(np.isinf(b)))


def negate(node: Call, values: list[Value]) -> Value:
    (value,) = values
    if isinstance(value, Decimal):
        return value.copy_negate() if value else abs(value)
    return in_range(-value, node.type.family) if isinstance(value, int) else -value


def absolute(node: Call, values: list[Value]) -> Value:
    (value,) = values
    if isinstance(value, Decimal):
        return value.copy_abs()
    return in_range(abs(value), node.type.family) if isinstance(value, int) else abs(value)


def rounding(node: Call, values: list[Value]) -> Value:
    value, *rest = values
    if isinstance(value, float):
        return float({"round": np.rint, "trunc": np.trunc, "ceil": np.ceil, "floor": np.floor}[node.function](value))
    places = rest[0] if rest else 0
    if node.function == "round":
        return with_digits(value, places)
    if node.function == "trunc":
        scaled = value.scaleb(places, context=EXACT)
        whole = int(scaled)
        return in_digits(Decimal(whole).scaleb(-places, context=EXACT)) if places >= 0 else Decimal(whole * 10**-places)
    return Decimal(math.ceil(value) if node.function == "ceil" else math.floor(value))


def sign(node: Call, values: list[Value]) -> Value:
    (value,) = values
    if isinstance(value, Decimal):
        return Decimal(order(node.type, value, Decimal(0)))
    return 0.0 if math.isnan(value) else float((value > 0) - (value < 0))


def substring(node: Call, values: list[Value]) -> str:
    text: str = values[0]
    start, *count = values[1:]
    if not count:
        return text[max(start - 1, 0) :]
    if count[0] < 0:
        raise SqlFailureError("22011")
    return text[max(start - 1, 0) : max(start - 1 + count[0], 0)]


def like(node: Call, values: list[Value]) -> bool:
    text, pattern, escape = values
    return like_from(text, pattern, escape)


def like_from(text: str, pattern: str, escape: str) -> bool:
    if not pattern:
        return not text
    first, rest = pattern[0], pattern[1:]
    if escape and first == escape:
        if not rest:
            raise SqlFailureError("22025")
        return bool(text) and text[0] == rest[0] and like_from(text[1:], rest[1:], escape)
    if first == "%":
        return any(like_from(text[skip:], rest, escape) for skip in range(len(text) + 1))
    return bool(text) and first in ("_", text[0]) and like_from(text[1:], rest, escape)


def ascii_case(text: str, upper: bool) -> str:
    return "".join((letter.upper() if upper else letter.lower()) if letter.isascii() else letter for letter in text)


def shifted(node: Call, value: int) -> int:
    """Return the number that the last bits of `value` are."""
    bits = {"int2": 16, "int4": 32, "int8": 64}[node.type.family]
    return (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def split_part(node: Call, values: list[Value]) -> str:
    text, separator, field = values
    if not text:
        return ""
    parts = text.split(separator) if separator else [text]
    index = field - 1 if field > 0 else len(parts) + field
    return parts[index] if 0 <= index < len(parts) else ""


def cast(value: Value, node: Cast) -> Value:
    if value is None:
        return None
    source, target = node.operand.type.family, node.type.family
    if target in ("text", "varchar"):
        text = value if source in ("text", "varchar") else output(value, source)
        return limited_text(text, node)
    if target == "numeric":
        return to_numeric(value, source, node.type)
    if target in RANGES:
        return to_integer(value, source, target)
    if target in FLOATS:
        return to_float(value, source, target)
    if target == "bool":
        return value if source == "bool" else value != 0
    if (source, target) == ("date", "timestamp"):
        return value * DAY_US
    if (source, target) == ("timestamp", "date"):
        return value // DAY_US
    assert source == target, (source, target)
    return value


def limited_text(text: str, node: Cast) -> str:
    if node.type.length is None or len(text) <= node.type.length:
        return text
    if not node.explicit and text[node.type.length :].strip(" "):
        raise SqlFailureError("22001")
    return text[: node.type.length]


def output(value: Value, family: str) -> str:
    if family == "bool":
        return "true" if value else "false"
    if family == "numeric":
        return f"{value:f}"
    if family == "date":
        return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
    assert family in RANGES, family
    return str(value)


def to_numeric(value: Value, source: str, kind: SqlType) -> Decimal:
    if source in FLOATS:
        if not np.isfinite(value):
            raise SqlFailureError("0A000")
        result = Decimal(f"{float(value):.{15 if source == 'float8' else 6}g}")
        result = result.normalize(EXACT) if result else Decimal(0)
        result = in_digits(result.quantize(Decimal(1), context=EXACT) if digits(result) == 0 else result)
    else:
        result = Decimal(value) if isinstance(value, int) else value
    if kind.precision is None:
        return result
    try:
        result = with_digits(result, kind.scale or 0)
    except SqlFailureError:
        raise SqlFailureError("22003") from None
    if abs(int(result.scaleb(kind.scale or 0, context=EXACT))) >= 10**kind.precision:
        raise SqlFailureError("22003")
    return result


def to_integer(value: Value, source: str, target: str) -> int:
    if source in FLOATS:
        if not np.isfinite(value):
            raise SqlFailureError("22003")
        return in_range(int(np.rint(value)), target)
    if source == "numeric":
        return in_range(int(value.quantize(Decimal(1), rounding=ROUND_HALF_UP, context=EXACT)), target)
    return in_range(int(value), target)


def to_float(value: Value, source: str, target: str) -> Any:
    if target == "float8":
        return float(value)
    if source in RANGES:
        return np.float32(np.int64(value))
    with np.errstate(all="ignore"):
        result = np.float32(float(value))
    if source == "float8":
        if np.isinf(result) and not np.isinf(value):
            raise SqlFailureError("22003")
        if result == 0 and value != 0:
            raise SqlFailureError("22003")
    return result


LAZY: dict[str, Callable[[Call, Row, int], Value]] = {"and": write_and, "or": write_or, "coalesce": coalesce}
TOLERANT: dict[str, Callable[[Call, list[Value]], Value]] = {
    "is_null": lambda node, v: v[0] is None,
    "is_not_null": lambda node, v: v[0] is not None,
    "is_true": lambda node, v: v[0] is True,
    "is_not_true": lambda node, v: v[0] is not True,
    "is_false": lambda node, v: v[0] is False,
    "is_not_false": lambda node, v: v[0] is not False,
    "is_distinct": is_distinct,
    "is_not_distinct": lambda node, v: not is_distinct(node, v),
    "in_list": in_list,
    "nullif": nullif,
    "greatest": extreme(1),
    "least": extreme(-1),
    "concat": lambda node, v: "".join(text for text in v if text is not None),
}
STRICT: dict[str, Callable[[Call, list[Value]], Value]] = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "modulo"), arithmetic),
    "negate": negate,
    "abs": absolute,
    **dict.fromkeys(("round", "trunc", "ceil", "floor"), rounding),
    "sign": sign,
    "eq": comparison(lambda order: order == 0),
    "ne": comparison(lambda order: order != 0),
    "lt": comparison(lambda order: order < 0),
    "le": comparison(lambda order: order <= 0),
    "gt": comparison(lambda order: order > 0),
    "ge": comparison(lambda order: order >= 0),
    "not": lambda node, v: not v[0],
    "concat_op": lambda node, v: v[0] + v[1],
    "lower": lambda node, v: ascii_case(v[0], upper=False),
    "upper": lambda node, v: ascii_case(v[0], upper=True),
    "length": lambda node, v: len(v[0]),
    "octet_length": lambda node, v: len(v[0].encode()),
    "substring": substring,
    "trim_both": lambda node, v: v[0].strip(v[1]) if v[1] else v[0],
    "trim_left": lambda node, v: v[0].lstrip(v[1]) if v[1] else v[0],
    "trim_right": lambda node, v: v[0].rstrip(v[1]) if v[1] else v[0],
    "replace": lambda node, v: v[0].replace(v[1], v[2]) if v[1] else v[0],
    "left": lambda node, v: v[0][: v[1]],
    "right": lambda node, v: v[0][-v[1] :] if v[1] != 0 else "",
    "strpos": lambda node, v: v[0].find(v[1]) + 1,
    "starts_with": lambda node, v: v[0].startswith(v[1]),
    "repeat": lambda node, v: v[0] * max(v[1], 0),
    "reverse": lambda node, v: v[0][::-1],
    "like": like,
    "date_add_days": lambda node, v: v[0] + v[1],
    "date_subtract_days": lambda node, v: v[0] - v[1],
    "date_difference": lambda node, v: v[0] - v[1],
    "date_trunc": date_trunc,
    "bit_and": lambda node, v: v[0] & v[1],
    "bit_or": lambda node, v: v[0] | v[1],
    "bit_xor": lambda node, v: v[0] ^ v[1],
    "bit_not": lambda node, v: ~v[0],
    "shift_left": lambda node, v: shifted(node, v[0] << (v[1] & (63 if node.type.family == "int8" else 31))),
    "shift_right": lambda node, v: v[0] >> (v[1] & (63 if node.type.family == "int8" else 31)),
    "split_part": split_part,
    "date_bin": date_bin,
    "extract": extract,
}
