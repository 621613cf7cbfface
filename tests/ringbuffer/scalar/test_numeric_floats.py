"""Casts between decimals and floats against Python's exact conversions."""

from __future__ import annotations

import math
import random
import struct
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from ringbuffer.memory.error_codes import NUMERIC_DIGITS, NUMERIC_SPECIAL, OK
from ringbuffer.scalar.numbers import numeric, numeric_floats
from tests.ringbuffer.kernel_values import numeric_text, words

SEED = 20_261_120
CASES = 5_000


def nearest_float32(number: Fraction) -> np.float32:
    """Round once, by trying the neighbours of a double-rounded guess; ties to even."""
    guess = np.float32(float(number))
    candidates = [np.nextafter(guess, np.float32(-np.inf)), guess, np.nextafter(guess, np.float32(np.inf))]
    return min(candidates, key=lambda c: (abs(Fraction(float(c)) - number), int(c.view(np.int32)) & 1))


def test_decimals_become_the_nearest_floats() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        unscaled = chooser.choice((1, -1)) * chooser.randrange(10 ** chooser.randint(0, 38))
        scale = chooser.randint(0, 38)
        exact = Fraction(unscaled, 10**scale)
        assert numeric_floats.numeric_to_float64(*words(unscaled), scale) == float(exact), (unscaled, scale)
        single, error = numeric_floats.numeric_to_float32(*words(unscaled), scale)
        assert (np.float32(single), error) == (nearest_float32(exact), OK), (unscaled, scale)


def test_floats_become_decimals_of_15_and_6_digits() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        number = struct.unpack("<d", chooser.randbytes(8))[0] if chooser.random() < 0.2 else scattered(chooser)
        check_decimal(numeric_floats.numeric_from_float64, number, 15)
        with np.errstate(over="ignore", under="ignore"):
            check_decimal(numeric_floats.numeric_from_float32, np.float32(number), 6)


def test_floats_with_more_digits_than_a_numeric_round_to_a_smaller_scale() -> None:
    chooser = random.Random(SEED)
    numbers = [-1e-300, 5e-324, 0.5e-37, 4.99999999999999e-38, 9.99999999999999e-24, -5e-39, 0.49999e-38]
    numbers += [chooser.uniform(-1, 1) * 10.0 ** chooser.randint(-45, -18) for _ in range(CASES)]
    for number in numbers:
        scale = chooser.choice((0, 2, 24, 25, 30, 37, 38))
        found_lo, found_hi, found_scale, error = numeric_floats.numeric_from_float64(number, scale)
        assert error == OK, number
        lo, hi = numeric.scale_down(found_lo, found_hi, max(found_scale - scale, 0), True)
        with localcontext() as context:
            context.prec = 400
            exact = Decimal(f"{number:.15g}").quantize(Decimal(1).scaleb(-scale), rounding="ROUND_HALF_UP")
        assert Decimal(numeric_text(lo, hi, min(scale, found_scale))) == exact, (number, scale)


def scattered(chooser: random.Random) -> float:
    """Return a number of moderate size, often one that is half way between two decimals of 15
    digits.
    """
    if chooser.random() < 0.2:
        return (chooser.randrange(10**15) + 0.5) * 2.0 ** chooser.randint(-3, 3)
    return chooser.uniform(-1, 1) * 10.0 ** chooser.randint(-25, 37)


def check_decimal(kernel: Any, number: Any, digits: int) -> None:
    lo, hi, scale, error = kernel(number, -1)
    if not math.isfinite(number):
        assert error == NUMERIC_SPECIAL
        return
    with localcontext() as context:
        context.prec = 400
        exact = Decimal(f"{float(number):.{digits}g}")
        exponent = exact.as_tuple().exponent
        assert isinstance(exponent, int)
        if abs(exact) >= 10**38 or -exponent > 38:
            assert error == NUMERIC_DIGITS
        else:
            assert (error, numeric_text(lo, hi, scale)) == (OK, f"{exact:f}" if exact else "0"), number
