"""Casts between decimals and floats against Python's exact conversions."""

from __future__ import annotations

import math
import random
import struct
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from ringbuffer import numeric_floats
from ringbuffer.error_codes import NUMERIC_DIGITS, NUMERIC_SPECIAL, OK
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


def scattered(chooser: random.Random) -> float:
    """Return a number of moderate size, often one that is half way between two decimals of 15 digits."""
    if chooser.random() < 0.2:
        return (chooser.randrange(10**15) + 0.5) * 2.0 ** chooser.randint(-3, 3)
    return chooser.uniform(-1, 1) * 10.0 ** chooser.randint(-25, 37)


def check_decimal(kernel: Any, number: Any, digits: int) -> None:
    lo, hi, scale, error = kernel(number)
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
