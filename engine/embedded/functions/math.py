"""PostgreSQL's mathematical functions on Python values: integers, floats, and numerics with
PostgreSQL's choice of digits.

A numeric is (unscaled, scale). Strict: callers handle NULL. Raises SqlError with PostgreSQL's
SQLSTATE.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from typing import Any

from engine.embedded import decimals
from engine.embedded.decimals import Numeric
from sql.errors import SqlError
from sql.types.datatypes import NUMERIC_DIGITS_MAX

DIGITS_SIGNIFICANT_MIN = 16
SCALE_MAX = 1000
WORK_DIGITS = 120
INT4_MAX = 2**31 - 1
FACTORIAL_MAX = 33


def out_of_range(kind: str) -> SqlError:
    return SqlError("22003", f"{kind} out of range")


def numeric_gcd(left: Numeric, right: Numeric) -> Numeric:
    scale = max(left[1], right[1])
    return math.gcd(decimals.rescaled(left, scale), decimals.rescaled(right, scale)), scale


def numeric_lcm(left: Numeric, right: Numeric) -> Numeric:
    scale = max(left[1], right[1])
    return decimals.checked(math.lcm(decimals.rescaled(left, scale), decimals.rescaled(right, scale)), scale)


def factorial(number: int) -> Numeric:
    if number < 0:
        raise SqlError("22003", "factorial of a negative number is undefined")
    if number > FACTORIAL_MAX:
        raise SqlError("22003", "value overflows numeric format", detail="A numeric holds at most 38 digits.")
    return math.factorial(number), 0


def after(count: int) -> int:
    """Return the bucket after the last one."""
    if count == INT4_MAX:
        raise out_of_range("integer")
    return count + 1


def numeric_width_bucket(operand: Numeric, low: Numeric, high: Numeric, count: int) -> int:
    if count <= 0:
        raise SqlError("2201G", "count must be greater than zero")
    scale = max(operand[1], low[1], high[1])
    value, start, end = (decimals.rescaled(item, scale) for item in (operand, low, high))
    if start == end:
        raise SqlError("2201G", "lower bound cannot equal upper bound")
    if start > end:
        value, start, end = -value, -start, -end
    if value < start:
        return 0
    if value >= end:
        return after(count)
    return (value - start) * count // (end - start) + 1


def quotient(left: Numeric, right: Numeric) -> Numeric:
    """Return div(left, right): the quotient cut to an integer."""
    if right[0] == 0:
        raise SqlError("22012", "division by zero")
    scale = max(left[1], right[1])
    dividend, divisor = decimals.rescaled(left, scale), decimals.rescaled(right, scale)
    size = abs(dividend) // abs(divisor)
    return (size if (dividend < 0) == (divisor < 0) else -size), 0


# Numerics with a choice of digits: PostgreSQL takes at least 16 significant digits, and computes
# them exactly.


def decimal_of(value: Numeric) -> Decimal:
    return Decimal(value[0]).scaleb(-value[1], Context(prec=WORK_DIGITS))


def rounded(value: Decimal, scale: int) -> Numeric:
    """Return a value at a scale, within PostgreSQL's limits of one."""
    scale = min(max(scale, 0), SCALE_MAX)
    return decimals.checked(_unscaled(value, scale), scale)


def _unscaled(value: Decimal, scale: int) -> int:
    with localcontext(Context(prec=WORK_DIGITS + SCALE_MAX, rounding=ROUND_HALF_UP)):
        return int(value.scaleb(scale).to_integral_value(ROUND_HALF_UP))


def weight_of(value: Numeric) -> int:
    """Return the weight of the first base-10,000 digit."""
    unscaled, scale = abs(value[0]), value[1]
    return 0 if unscaled == 0 else (len(str(unscaled)) - 1 - scale) // 4


def sqrt(value: Numeric) -> Numeric:
    if value[0] < 0:
        raise SqlError("2201F", "cannot take square root of a negative number")
    weight = weight_of(value)
    digits = weight * 4 // 2 + 1 if weight >= 0 else 1 - (-weight * 4 // 2)
    scale = max(DIGITS_SIGNIFICANT_MIN - digits, value[1], 0)
    return rounded(decimal_of(value).sqrt(Context(prec=WORK_DIGITS)), scale)


def ln_weight(value: Numeric) -> int:
    """Return PostgreSQL's estimate of the decimal weight of ln(value)."""
    number = decimal_of(value)
    if number <= 0:
        return 0
    if Decimal("0.9") <= number <= Decimal("1.1"):
        difference = abs(number - 1)
        return 0 if difference == 0 else _digit_weight(difference)
    return int(math.log10(abs(float(number.ln(Context(prec=20))))))


def _digit_weight(value: Decimal) -> int:
    weight = value.adjusted() // 4
    first = int(value.scaleb(-4 * weight))
    return weight * 4 + int(math.log10(first))


def check_logarithm(value: Numeric) -> None:
    if value[0] == 0:
        raise SqlError("2201E", "cannot take logarithm of zero")
    if value[0] < 0:
        raise SqlError("2201E", "cannot take logarithm of a negative number")


def ln(value: Numeric) -> Numeric:
    check_logarithm(value)
    scale = max(DIGITS_SIGNIFICANT_MIN - ln_weight(value), value[1], 0)
    return rounded(decimal_of(value).ln(Context(prec=WORK_DIGITS)), scale)


def log(base: Numeric, value: Numeric) -> Numeric:
    check_logarithm(base)
    check_logarithm(value)
    below = decimal_of(base).ln(Context(prec=WORK_DIGITS))
    if below == 0:
        raise SqlError("22012", "division by zero")
    scale = max(DIGITS_SIGNIFICANT_MIN - (ln_weight(value) - ln_weight(base)), base[1], value[1], 0)
    context = Context(prec=WORK_DIGITS)
    return rounded(context.divide(decimal_of(value).ln(context), below), scale)


def numeric_log10(value: Numeric) -> Numeric:
    return log((10, 0), value)


def exp(value: Numeric) -> Numeric:
    number = decimal_of(value)
    weight = int(min(max(float(number) * 0.434294481903252, -SCALE_MAX), SCALE_MAX))
    refuse_long(weight)
    scale = max(DIGITS_SIGNIFICANT_MIN - weight, value[1], 0)
    return rounded(number.exp(Context(prec=WORK_DIGITS)), scale)


def power(base: Numeric, exponent: Numeric) -> Numeric:
    """Return base ^ exponent."""
    if base[0] == 0 and exponent[0] < 0:
        raise SqlError("2201F", "zero raised to a negative power is undefined")
    whole = exponent[0] % 10 ** exponent[1] == 0
    if base[0] < 0 and not whole:
        message = "a negative number raised to a non-integer power yields a complex result"
        raise SqlError("2201F", message)
    if whole:
        times = exponent[0] // 10 ** exponent[1]
        scale = max(DIGITS_SIGNIFICANT_MIN, base[1])
        if times == 0:
            return rounded(Decimal(1), scale)
        if base[0] == 0:
            return 0, scale
        refuse_long(int(min(times * float(abs(decimal_of(base)).log10()), 1e6)))
        if times * float(abs(decimal_of(base)).log10()) < -SCALE_MAX:
            return 0, scale
        return rounded(Context(prec=WORK_DIGITS).power(decimal_of(base), times), scale)
    if base[0] == 0:
        return 0, max(DIGITS_SIGNIFICANT_MIN, base[1], exponent[1])
    context = Context(prec=WORK_DIGITS)
    logarithm = context.multiply(decimal_of(base).ln(context), decimal_of(exponent))
    # PostgreSQL estimates the weight with eight digits of the logarithm.
    unit = Decimal(1).scaleb(-max(8 - ln_weight(base), 0))
    estimate = decimal_of(base).ln(context).quantize(unit, ROUND_HALF_UP, context)
    estimate = context.multiply(estimate, decimal_of(exponent)).quantize(unit, ROUND_HALF_UP, context)
    weight = int(float(estimate) * 0.434294481903252)
    refuse_long(weight)
    scale = max(DIGITS_SIGNIFICANT_MIN - weight, base[1], exponent[1], 0)
    return rounded(logarithm.exp(context), scale)


def refuse_long(weight: int) -> None:
    """Raise 22003 for a value of so many digits in front of the point."""
    if weight > NUMERIC_DIGITS_MAX:
        raise SqlError("22003", "value overflows numeric format", detail="A numeric holds at most 38 digits.")


def variance(
    count: int, total: Numeric | None, upper: int | None, squares: Numeric | None, name: str
) -> Numeric | None:
    """Return var_pop, var_samp, stddev_pop or stddev_samp from the count, the sum and the sum of
    squares.

    upper: more of the sum of squares of integers, in 10^19. PostgreSQL's function is
    numeric_stddev_internal.
    """
    sample = name.endswith("samp")
    if total is None or upper is None or squares is None or count <= sample:
        return None
    squares = squares[0] + upper * 10**decimals.KEY_PART_DIGITS, squares[1]
    scale = max(2 * total[1], squares[1])
    numerator = count * decimals.rescaled(squares, scale) - total[0] ** 2 * 10 ** (scale - 2 * total[1])
    if numerator <= 0:
        return 0, 0
    found = wide_quotient((numerator, scale), (count * (count - sample), 0))
    if not name.startswith("var"):
        root = Decimal(found[0]).scaleb(-found[1], Context(prec=WORK_DIGITS)).sqrt(Context(prec=WORK_DIGITS))
        found = _unscaled(root, found[1]), found[1]
    # The scale is twice that of the values: an answer with more digits than a numeric has is
    # rounded.
    excess = max(found[1] - NUMERIC_DIGITS_MAX, len(str(found[0])) - NUMERIC_DIGITS_MAX)
    scale = min(found[1], max(found[1] - excess, 0))
    return decimals.checked(decimals.rescaled(found, scale), scale)


def wide_quotient(left: Numeric, right: Numeric) -> Numeric:
    """Return left / right at PostgreSQL's scale, whatever the number of digits."""
    scale = decimals.quotient_scale(left, right)
    exponent = scale - left[1] + right[1]
    dividend = left[0] * 10 ** max(exponent, 0)
    return decimals.divide_rounded(dividend, right[0] * 10 ** max(-exponent, 0)), scale


VARIABLE = "STRUCT(unscaled DECIMAL(38,0), scale SMALLINT)"
NULL_MATH_SPECIFICATIONS: list[tuple[str, list[str], str, Callable[..., Any]]] = [
    ("numeric_variance", ["BIGINT", VARIABLE, "DECIMAL(38,0)", VARIABLE, "VARCHAR"], VARIABLE, variance),
]
