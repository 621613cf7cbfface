"""Divisors and multiples of integers against Python's math."""

from __future__ import annotations

import math
import random

import pytest

from ringbuffer.memory.error_codes import BIGINT_RANGE, INTEGER_RANGE, OK
from ringbuffer.scalar.numbers.divisors import gcd, lcm

SEED = 20_261_127
CASES = 3_000


@pytest.mark.parametrize(("bits", "range_error"), [(32, INTEGER_RANGE), (64, BIGINT_RANGE)])
def test_divisors_and_multiples(bits: int, range_error: int) -> None:
    chooser = random.Random(SEED)
    least, most = -(1 << bits - 1), (1 << bits - 1) - 1
    edges = (0, 1, -1, least, most, least + 1)
    for _ in range(CASES):
        a, b = (chooser.choice([*edges, chooser.randint(least, most), chooser.randint(-99, 99)]) for _ in range(2))
        for kernel, model in ((gcd, math.gcd), (lcm, math.lcm)):
            wanted, (value, error) = model(a, b), kernel(a, b, bits)
            if wanted > most:
                assert error in (range_error, BIGINT_RANGE), (a, b)
            else:
                assert (value, error) == (wanted, OK), (a, b)
