"""Trigonometry against Python's math, which asks the same library as PostgreSQL does."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from ringbuffer.memory.error_codes import INPUT_RANGE, INVALID_LOGARITHM_NEGATIVE, INVALID_LOGARITHM_ZERO, OK
from ringbuffer.scalar.numbers import trigonometry

SEED = 20_261_120
CASES = 2_000
ANYWHERE: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "cot": lambda value: 1.0 / math.tan(value),
    "atan": math.atan,
    "tanh": math.tanh,
    "cbrt": math.cbrt,
    "degrees": lambda value: value / trigonometry.RADIANS_PER_DEGREE,
    "radians": lambda value: value * trigonometry.RADIANS_PER_DEGREE,
}


@pytest.mark.parametrize("name", ANYWHERE)
def test_of_any_number(name: str) -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        value = chooser.uniform(-1, 1) * 10.0 ** chooser.randint(-20, 20)
        assert getattr(trigonometry, name)(value) == (ANYWHERE[name](value), OK), value


@pytest.mark.parametrize("name", ["asin", "acos", "sinh", "cosh"])
def test_of_small_numbers(name: str) -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        value = chooser.choice([-1.0, 0.0, 1.0, chooser.uniform(-1, 1)])
        assert getattr(trigonometry, name)(value) == (getattr(math, name)(value), OK), value


def test_of_two_numbers_and_logarithms() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        y, x = (chooser.choice([0.0, -0.0, chooser.uniform(-1e9, 1e9)]) for _ in range(2))
        assert trigonometry.atan2(y, x) == (math.atan2(y, x), OK)
        value = chooser.uniform(0.5, 1) * 10.0 ** chooser.randint(-300, 300)
        assert trigonometry.log10(value) == (math.log10(value), OK)


def test_edges() -> None:
    for name in ("sin", "cos", "tan", "cot"):
        assert getattr(trigonometry, name)(math.inf) == (0.0, INPUT_RANGE)
    for name in ("asin", "acos"):
        assert getattr(trigonometry, name)(math.nextafter(1.0, 2.0)) == (0.0, INPUT_RANGE)
    for name in ("sin", "acos", "atan", "sinh", "degrees", "log10", "cbrt"):
        value, error = getattr(trigonometry, name)(math.nan)
        assert math.isnan(value) and error == OK
    assert trigonometry.cot(0.0) == (math.inf, OK) and trigonometry.cot(-0.0) == (-math.inf, OK)
    assert trigonometry.sinh(-1000.0) == (-math.inf, OK) and trigonometry.cosh(-1000.0) == (math.inf, OK)
    assert trigonometry.log10(0.0) == (0.0, INVALID_LOGARITHM_ZERO)
    assert trigonometry.log10(-1.0) == (0.0, INVALID_LOGARITHM_NEGATIVE)
