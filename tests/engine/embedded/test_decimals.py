"""Exact decimals against Python's own, and PostgreSQL's scales of quotients."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from random import Random

import pytest

from engine.embedded import decimals
from sql.errors import SqlError

EXACT = Context(prec=200, rounding=ROUND_HALF_UP)
CASES = 2_000


def as_decimal(value: decimals.Numeric) -> Decimal:
    return Decimal(value[0]).scaleb(-value[1], context=EXACT)


def random_numeric(random: Random, digits_max: int = 9) -> decimals.Numeric:
    size = random.choice([0, 1, 9, 10**4, 10**digits_max])
    return random.randint(-size, size), random.randint(0, 6)


def test_against_decimal() -> None:
    random = Random(20_261_120)
    for _ in range(CASES):
        left, right = random_numeric(random), random_numeric(random)
        x, y = as_decimal(left), as_decimal(right)
        assert decimals.compare(left, right) == (x > y) - (x < y)
        assert (decimals.key(left) < decimals.key(right)) == (x < y)
        assert (decimals.key(left) == decimals.key(right)) == (x == y)
        if y:
            quotient = decimals.divide(left, right)
            assert as_decimal(quotient) == EXACT.divide(x, y).quantize(Decimal(1).scaleb(-quotient[1]), context=EXACT)


def test_sums_of_keys_are_sums_of_values() -> None:
    random = Random(1)
    values = [random_numeric(random) for _ in range(500)]
    parts = [sum(part) for part in zip(*map(decimals.key, values), strict=True)]
    scale = max(value[1] for value in values)
    assert as_decimal(decimals.total(parts[0], parts[1], parts[2], scale)) == sum(map(as_decimal, values))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("1", "3", "0.33333333333333333333"),
        ("10", "3", "3.3333333333333333"),
        ("1.0", "3", "0.33333333333333333333"),
        ("100000", "3", "33333.333333333333"),
        ("2", "3", "0.66666666666666666667"),
        ("-2", "3", "-0.66666666666666666667"),
        ("1", "30000", "0.000033333333333333333333"),
        ("0", "7", "0.00000000000000000000"),
    ],
)
def test_the_scale_of_a_quotient(left: str, right: str, expected: str) -> None:
    quotient = decimals.divide(decimals.from_text(left), decimals.from_text(right))
    assert quotient == decimals.from_text(expected)


def test_limits_are_errors() -> None:
    with pytest.raises(SqlError, match="22003"):
        decimals.from_text("1" + "0" * 38)
    with pytest.raises(SqlError, match="22003"):
        decimals.divide((10**38 - 1, 0), (1, 3))
    with pytest.raises(SqlError, match="22012"):
        decimals.divide((1, 0), (0, 3))
