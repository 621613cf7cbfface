"""Exact decimal arithmetic with PostgreSQL's result scales, on Python integers: a numeric is
(unscaled, scale).

A numeric has at most 38 digits; a longer one is 22003, never rounded. Arithmetic is that of
`ringbuffer/scalar/numbers/numeric.py`; here are keys, totals and averages, which kernels do not
have. Results for NaN and the infinities are in `special_numerics.py`.
"""

from __future__ import annotations

from decimal import Decimal

from sql.errors import SqlError
from sql.types.datatypes import NUMERIC_DIGITS_MAX, numeric
from sql.values.literals import decimal_value
from sql.values.special_numbers import no_room, special_parts

Numeric = tuple[int, int]
"""unscaled, scale: the value is unscaled * 10^-scale."""

UNSCALED_LIMIT = 10**NUMERIC_DIGITS_MAX
# DuckDB's types of numerics of a scale, by it.
FIXED = tuple(f"DECIMAL({NUMERIC_DIGITS_MAX},{scale})" for scale in range(NUMERIC_DIGITS_MAX + 1))
MINIMUM_SIGNIFICANT_DIGITS = 16
DIGITS_PER_WEIGHT = 4
KEY_PART_DIGITS = 19


def checked(unscaled: int, scale: int) -> Numeric:
    """Return the numeric, or raise 22003 when 38 digits do not hold it."""
    if not -UNSCALED_LIMIT < unscaled < UNSCALED_LIMIT or scale > NUMERIC_DIGITS_MAX:
        raise SqlError(
            "22003", "value overflows numeric format", detail=f"A numeric holds at most {NUMERIC_DIGITS_MAX} digits."
        )
    return unscaled, scale


def divide_rounded(dividend: int, divisor: int) -> int:
    """Return dividend / divisor rounded half away from zero."""
    quotient, remainder = divmod(abs(dividend), abs(divisor))
    quotient += 2 * remainder >= abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def rescaled(value: Numeric, scale: int) -> int:
    """Return the unscaled integer of `value` at another scale, rounded half away from zero."""
    unscaled, old = value
    return unscaled * 10 ** (scale - old) if scale >= old else divide_rounded(unscaled, 10 ** (old - scale))


def divide(left: Numeric, right: Numeric) -> Numeric:
    """Divide at the scale of PostgreSQL's select_div_scale: at least 16 significant digits, by
    weights of base 10,000.
    """
    if right[0] == 0:
        raise SqlError("22012", "division by zero")
    scale = quotient_scale(left, right)
    exponent = scale - left[1] + right[1]
    dividend = left[0] * 10 ** max(exponent, 0)
    return checked(divide_rounded(dividend, right[0] * 10 ** max(-exponent, 0)), scale)


def quotient_scale(left: Numeric, right: Numeric) -> int:
    """Return the scale of left / right (select_div_scale)."""
    weight, first = _leading_digit(left)
    divisor_weight, divisor_first = _leading_digit(right)
    quotient_weight = weight - divisor_weight - (first <= divisor_first)
    return max(MINIMUM_SIGNIFICANT_DIGITS - quotient_weight * DIGITS_PER_WEIGHT, left[1], right[1], 0)


def _leading_digit(value: Numeric) -> tuple[int, int]:
    """Return weight and value of the first base-10,000 digit that is not zero."""
    unscaled, scale = abs(value[0]), value[1]
    if unscaled == 0:
        return 0, 0
    weight = (len(str(unscaled)) - 1 - scale) // DIGITS_PER_WEIGHT
    shift = weight * DIGITS_PER_WEIGHT + scale
    return weight, unscaled // 10**shift if shift >= 0 else unscaled * 10**-shift


def key(value: Numeric) -> tuple[int, int, int]:
    """Return (whole, high, low): whole part and 38 fraction digits in two halves, all of the
    value's sign.

    Equal values have equal keys whatever their scale, keys order as values do, and sums of keys
    give the sum of the values.
    """
    unscaled, scale = abs(value[0]), value[1]
    whole, fraction = divmod(unscaled, 10**scale)
    high, low = divmod(fraction * 10 ** (NUMERIC_DIGITS_MAX - scale), 10**KEY_PART_DIGITS)
    return (-whole, -high, -low) if value[0] < 0 else (whole, high, low)


def average(upper: int, lower: int, fraction: Numeric, count: int) -> Numeric:
    """Return an average.

    upper, lower: the sum of the whole parts, in 10^19 and the rest; fraction: the sum of the digits
    after the point.
    """
    behind, scale = fraction
    return divide(((upper * 10**KEY_PART_DIGITS + lower) * 10**scale + behind, scale), (count, 0))


def total(whole: int, high: int, low: int, scale: int) -> Numeric:
    """Return the value whose key parts were summed, at `scale`, the largest of the summands."""
    unscaled = (whole * 10**KEY_PART_DIGITS + high) * 10**KEY_PART_DIGITS + low
    return checked(unscaled // 10 ** (NUMERIC_DIGITS_MAX - scale), scale)


def compare(left: Numeric, right: Numeric) -> int:
    scale = max(left[1], right[1])
    difference = rescaled(left, scale) - rescaled(right, scale)
    return (difference > 0) - (difference < 0)


def from_decimal(value: Decimal, scale: int | None = None) -> Numeric:
    """Return a Decimal with its digits, or rounded half away from zero to `scale` of them.

    NaN and the infinities as they are.
    """
    sign_bit, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return special_parts(value)
    unscaled = int("".join(map(str, digits))) * (-1 if sign_bit else 1)
    exact = (unscaled, -exponent) if exponent <= 0 else (unscaled * 10**exponent, 0)
    return checked(*exact) if scale is None else checked(rescaled(exact, scale), scale)


def from_text(text: str) -> Numeric:
    """Return the numeric that a text spells; its own scale is the number of digits after the
    point.
    """
    return from_decimal(decimal_value(text))


def limited_from_text(text: str, precision: int, scale: int) -> Numeric:
    """Return the number that a text spells at the scale of numeric(precision, scale), whose digits
    the caller checks.
    """
    return _limited(decimal_value(text), precision, scale)


def _limited(value: Decimal, precision: int, scale: int) -> Numeric:
    if not value.is_finite():
        raise no_room(value, numeric(precision, scale))
    return from_decimal(value, scale)
