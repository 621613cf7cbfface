"""Decimal kernels against exact integer arithmetic; test_golden.py has PostgreSQL's own answers."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ringbuffer.memory.error_codes import BIGINT_RANGE, DIVISION_BY_ZERO, NUMERIC_DIGITS, NUMERIC_FIELD_OVERFLOW, OK
from ringbuffer.scalar.numbers import arithmetic, numeric
from tests.ringbuffer.kernel_values import value, words

SEED = 20_261_120
CASES = 15_000
LIMIT = 10**38
SCALE_MAX = 38

Decimal = tuple[int, int]


def numbers(chooser: random.Random) -> Iterator[Decimal]:
    borders = [0, 1, -1, LIMIT - 1, 1 - LIMIT, 10**37, 5, 9999, 10000]
    while True:
        unscaled = chooser.choice((1, -1)) * chooser.randrange(10 ** chooser.randint(0, 38))
        if chooser.random() < 0.2:
            unscaled = chooser.choice([*borders, 10 ** chooser.randint(0, 37), 10 ** chooser.randint(0, 38) - 1])
        yield unscaled, chooser.choice([0, 0, 1, 2, chooser.randint(0, 20), chooser.randint(0, SCALE_MAX)])


def half_away(dividend: int, divisor: int) -> int:
    quotient, rest = divmod(abs(dividend), abs(divisor))
    quotient += 2 * rest >= abs(divisor)
    return -quotient if (dividend < 0) != (divisor < 0) else quotient


def truncated(dividend: int, divisor: int) -> int:
    quotient = abs(dividend) // abs(divisor)
    return -quotient if (dividend < 0) != (divisor < 0) else quotient


def quotient_scale(a: Decimal, b: Decimal) -> int:
    """PostgreSQL's select_div_scale, on the base-10,000 digits as its source has them."""
    weight_a, first_a = first_digit(a)
    weight_b, first_b = first_digit(b)
    weight = weight_a - weight_b - (first_a <= first_b)
    return max(16 - 4 * weight, a[1], b[1], 0)


def first_digit(number: Decimal) -> tuple[int, int]:
    unscaled, scale = abs(number[0]), number[1]
    padding = -scale % 4
    digits = unscaled * 10**padding
    weight = -(scale + padding) // 4
    while digits >= 10_000:
        digits //= 10_000
        weight += 1
    return (weight, digits) if digits else (0, 0)


def checked(unscaled: int, scale: int) -> tuple[int, int, int]:
    """Return (unscaled, scale, error) as kernels must."""
    if abs(unscaled) >= LIMIT or scale > SCALE_MAX:
        return 0, 0, NUMERIC_DIGITS
    return unscaled, scale, OK


def result(outcome: tuple[int, int, int, int]) -> tuple[int, int, int]:
    lo, hi, scale, error = outcome
    return value(lo, hi), scale, error


def test_sums_and_products() -> None:
    source = numbers(random.Random(SEED))
    for _ in range(CASES):
        a, b = next(source), next(source)
        scale = max(a[1], b[1])
        x, y = a[0] * 10 ** (scale - a[1]), b[0] * 10 ** (scale - b[1])
        arguments = (*words(a[0]), a[1], *words(b[0]), b[1])
        for kernel, exact in ((arithmetic.numeric_add, x + y), (arithmetic.numeric_subtract, x - y)):
            too_long = max(abs(x), abs(y)) >= LIMIT
            expected = (0, 0, NUMERIC_DIGITS) if too_long and a[1] != b[1] else checked(exact, scale)
            assert result(kernel(*arguments)) == expected, (a, b)
        assert result(arithmetic.numeric_multiply(*arguments)) == checked(a[0] * b[0], a[1] + b[1]), (a, b)
        assert numeric.numeric_compare(*arguments) == (x > y) - (x < y), (a, b)


def test_quotients_and_remainders() -> None:
    source = numbers(random.Random(SEED))
    for _ in range(CASES):
        a, b = next(source), next(source)
        arguments = (*words(a[0]), a[1], *words(b[0]), b[1])
        if b[0] == 0:
            assert result(arithmetic.numeric_divide(*arguments)) == (0, 0, DIVISION_BY_ZERO)
            assert result(arithmetic.numeric_modulo(*arguments)) == (0, 0, DIVISION_BY_ZERO)
            continue
        scale = quotient_scale(a, b)
        exact = half_away(a[0] * 10 ** (scale + b[1] - a[1]), b[0])
        assert result(arithmetic.numeric_divide(*arguments)) == checked(exact, scale), (a, b)
        common = max(a[1], b[1])
        x, y = a[0] * 10 ** (common - a[1]), b[0] * 10 ** (common - b[1])
        assert result(arithmetic.numeric_modulo(*arguments)) == checked(x - truncated(x, y) * y, common), (a, b)


def test_average_takes_a_sum_of_39_digits() -> None:
    total = (1 << 127) - 1
    lo, hi, scale, error = arithmetic.numeric_average(*words(total), 2, 7)
    expected_scale = quotient_scale((total, 2), (7, 0))
    assert (value(lo, hi), scale, error) == checked(half_away(total * 10 ** (expected_scale - 2), 7), expected_scale)


def test_rounding() -> None:
    chooser = random.Random(SEED)
    source = numbers(chooser)
    for _ in range(CASES):
        unscaled, scale = next(source)
        digits = chooser.randint(-45, 45)
        for kernel, divide in ((numeric.numeric_round, half_away), (numeric.numeric_trunc, truncated)):
            cut = divide(unscaled * 10 ** max(digits - scale, 0), 10 ** max(scale - digits, 0))
            expected = checked(cut * 10 ** max(-digits, 0), max(digits, 0))
            assert result(kernel(*words(unscaled), scale, digits)) == expected, (unscaled, scale, digits)
        floor = unscaled // 10**scale
        assert value(*numeric.numeric_floor(*words(unscaled), scale)) == floor
        assert value(*numeric.numeric_ceil(*words(unscaled), scale)) == -(-unscaled // 10**scale)
        integer = half_away(unscaled, 10**scale)
        fits = -(1 << 63) <= integer < 1 << 63
        expected_integer = (integer, OK) if fits else (0, BIGINT_RANGE)
        assert numeric.numeric_to_int64(*words(unscaled), scale) == expected_integer


def test_limits_of_a_declared_type() -> None:
    chooser = random.Random(SEED)
    source = numbers(chooser)
    for _ in range(CASES):
        unscaled, scale = next(source)
        precision = chooser.randint(1, 38)
        to_scale = chooser.randint(0, precision)
        rounded = half_away(unscaled * 10 ** max(to_scale - scale, 0), 10 ** max(scale - to_scale, 0))
        lo, hi, error = numeric.numeric_limit(*words(unscaled), scale, precision, to_scale)
        expected = (rounded, OK) if abs(rounded) < 10**precision else (0, NUMERIC_FIELD_OVERFLOW)
        assert (value(lo, hi), error) == expected


def test_equal_values_have_one_normal_form() -> None:
    chooser = random.Random(SEED)
    for _ in range(2000):
        unscaled = chooser.choice((1, -1)) * chooser.randrange(10 ** chooser.randint(0, 20))
        scale, zeros = chooser.randint(0, 20), chooser.randint(0, 15)
        other = (*words(unscaled * 10**zeros), scale + zeros)
        lo, hi, normal_scale = numeric.numeric_normalise(*words(unscaled), scale)
        assert (lo, hi, normal_scale) == numeric.numeric_normalise(*other)
        assert value(lo, hi) * 10 ** (scale - normal_scale) == unscaled
        assert normal_scale == 0 or value(lo, hi) % 10 != 0


def test_sign_negation_and_magnitude() -> None:
    for number in (0, 1, -1, LIMIT - 1, 1 - LIMIT):
        assert numeric.numeric_sign(*words(number)) == (number > 0) - (number < 0)
        assert value(*arithmetic.numeric_negate(*words(number))) == -number
        assert value(*arithmetic.numeric_absolute(*words(number))) == abs(number)
