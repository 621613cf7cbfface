"""Checked arithmetic against Python's integers and IEEE floats; test_golden.py has PostgreSQL's own
answers.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ringbuffer.memory.error_codes import (
    BIGINT_RANGE,
    BUCKETS_COUNT,
    BUCKETS_EMPTY,
    BUCKETS_INFINITE,
    BUCKETS_NAN,
    DIVISION_BY_ZERO,
    FLOAT_OVERFLOW,
    FLOAT_UNDERFLOW,
    INTEGER_RANGE,
    OK,
    SMALLINT_RANGE,
)
from ringbuffer.scalar.numbers import arithmetic, floats
from tests.ringbuffer.kernel_values import integer_kernel

SEED = 20_261_120
CASES = 10_000


@pytest.mark.parametrize(("bits", "code"), [(16, SMALLINT_RANGE), (32, INTEGER_RANGE), (64, BIGINT_RANGE)])
def test_integers(bits: int, code: int) -> None:
    chooser = random.Random(SEED)
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    kernels: dict[str, Any] = {
        name: integer_kernel(name, bits)
        for name in ("add", "subtract", "multiply", "divide", "modulo", "negate", "absolute")
    }

    def checked(exact: int) -> tuple[int, int]:
        return (exact, OK) if least <= exact <= most else (0, code)

    def chosen() -> int:
        return chooser.choice([0, 1, -1, least, most, chooser.randint(least, most), chooser.randint(-300, 300)])

    for _ in range(CASES):
        a, b = chosen(), chosen()
        assert kernels["add"](a, b) == checked(a + b)
        assert kernels["subtract"](a, b) == checked(a - b)
        assert kernels["multiply"](a, b) == checked(a * b)
        assert kernels["negate"](a) == checked(-a)
        assert kernels["absolute"](a) == checked(abs(a))
        if b == 0:
            assert kernels["divide"](a, b) == kernels["modulo"](a, b) == (0, DIVISION_BY_ZERO)
        else:
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            assert kernels["divide"](a, b) == checked(quotient)
            assert kernels["modulo"](a, b) == (a - quotient * b, OK)


@pytest.mark.parametrize("form", [np.float32, np.float64])
def test_floats(form: Any) -> None:
    chooser = random.Random(SEED)
    name = form.__name__
    special = [0.0, -0.0, 1.0, math.inf, -math.inf, math.nan, float(np.finfo(form).max), float(np.finfo(form).tiny)]
    kernels: dict[str, Any] = {
        operation: getattr(arithmetic, f"{operation}_{name}") for operation in ("add", "subtract", "multiply", "divide")
    }
    exponent_max = 38 if form is np.float32 else 307
    for _ in range(CASES):
        a, b = (
            form(
                chooser.choice(
                    [*special, chooser.uniform(-1, 1) * 10.0 ** chooser.randint(-exponent_max, exponent_max)]
                )
            )
            for _ in range(2)
        )
        with np.errstate(all="ignore"):
            exact = {"add": a + b, "subtract": a - b, "multiply": a * b, "divide": a / b if b != 0 else form(math.nan)}
        for operation, value in exact.items():
            expected = (value, float_error(operation, a, b, value))
            got, error = kernels[operation](a, b)
            assert error == expected[1], (operation, a, b)
            assert error != OK or (form(got) == value or (np.isnan(got) and np.isnan(value))), (operation, a, b)


def float_error(operation: str, a: Any, b: Any, value: Any) -> int:
    """Return what PostgreSQL's float.h checks."""
    if operation == "divide" and b == 0 and not np.isnan(a):
        return DIVISION_BY_ZERO
    if np.isinf(value) and not np.isinf(a) and (operation == "divide" or not np.isinf(b)):
        return FLOAT_OVERFLOW
    if operation == "multiply" and value == 0 and a != 0 and b != 0:
        return FLOAT_UNDERFLOW
    if operation == "divide" and value == 0 and a != 0 and not np.isinf(b):
        return FLOAT_UNDERFLOW
    return OK


def test_nan_is_equal_to_itself_and_greatest() -> None:
    order = [-math.inf, -1.0, 0.0, 1e300, math.inf, math.nan]
    for i, a in enumerate(order):
        for j, b in enumerate(order):
            assert floats.compare_float64(a, b) == (i > j) - (i < j)
    assert floats.compare_float64(0.0, -0.0) == 0


def test_buckets() -> None:
    """Against exact fractions, away from a bucket's edges: at these a quotient of doubles may
    round.
    """
    chooser = random.Random(SEED)
    for _ in range(CASES):
        low, high = chooser.uniform(-1e3, 1e3), chooser.uniform(-1e3, 1e3)
        operand, count = chooser.uniform(-2e3, 2e3), chooser.choice([1, 2, 7, 1000, 2**31 - 2])
        exact = count * (Fraction(operand) - Fraction(low)) / (Fraction(high) - Fraction(low))
        if 0 <= exact < count and (count > 1000 or abs(exact - round(exact)) < 1e-9):
            continue
        expected = 0 if exact < 0 else count + 1 if exact >= count else int(exact) + 1
        assert floats.width_bucket(operand, low, high, count) == (expected, OK), (operand, low, high, count)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((1.0, 0.0, 10.0, 5), (1, OK)),
        ((0.0, 0.0, 10.0, 5), (1, OK)),
        ((10.0, 0.0, 10.0, 5), (6, OK)),
        ((10.0, 10.0, 0.0, 5), (1, OK)),
        ((0.0, 10.0, 0.0, 5), (6, OK)),
        ((math.inf, 0.0, 10.0, 2**31 - 1), (0, INTEGER_RANGE)),
        ((-math.inf, 0.0, 10.0, 5), (0, OK)),
        ((1.0, 0.0, 10.0, 0), (0, BUCKETS_COUNT)),
        ((math.nan, 0.0, 10.0, 5), (0, BUCKETS_NAN)),
        ((1.0, -math.inf, 10.0, 5), (0, BUCKETS_INFINITE)),
        ((1.0, 2.0, 2.0, 5), (0, BUCKETS_EMPTY)),
        ((math.nextafter(10.0, 0.0), 0.0, 10.0, 3), (3, OK)),
    ],
)
def test_edges_of_buckets(arguments: tuple[float, float, float, int], expected: tuple[int, int]) -> None:
    assert floats.width_bucket(*arguments) == expected
