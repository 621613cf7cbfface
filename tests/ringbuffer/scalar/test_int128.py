"""128-bit kernels against Python's integers, at the borders of words and digits and at random."""

from __future__ import annotations

import random
from typing import Any

from ringbuffer.compile.jit import kernel
from ringbuffer.scalar.numbers import int128
from tests.ringbuffer.kernel_values import WIDE, signed, unsigned_value, value, words

SEED = 20_261_120
CASES = 20_000
LEAST, MOST = -(1 << 127), (1 << 127) - 1
BORDERS = [
    0,
    1,
    -1,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
    1 << 64,
    LEAST,
    MOST,
    10**38,
    10**38 - 1,
    -(10**38),
    1 - 10**38,
]


def chosen(chooser: random.Random) -> int:
    if chooser.random() < 0.2:
        return chooser.choice(BORDERS)
    return chooser.choice((1, -1)) * chooser.getrandbits(chooser.randint(0, 127))


@kernel
def add(alo: int, ahi: int, blo: int, bhi: int) -> Any:
    return int128.int128_add(alo, ahi, blo, bhi)


@kernel
def subtract(alo: int, ahi: int, blo: int, bhi: int) -> Any:
    return int128.int128_subtract(alo, ahi, blo, bhi)


@kernel
def multiply(alo: int, ahi: int, blo: int, bhi: int) -> Any:
    return int128.int128_multiply(alo, ahi, blo, bhi)


@kernel
def multiply_unsigned(alo: int, ahi: int, blo: int, bhi: int) -> Any:
    return int128.int128_multiply_unsigned(alo, ahi, blo, bhi)


@kernel
def compare(alo: int, ahi: int, blo: int, bhi: int) -> Any:
    return int128.int128_compare(alo, ahi, blo, bhi), int128.int128_compare_unsigned(alo, ahi, blo, bhi)


@kernel
def multiply_words(a: int, b: int) -> Any:
    return int128.int128_multiply_words(a, b)


@kernel
def unary(lo: int, hi: int) -> Any:
    return int128.int128_negate(lo, hi), int128.int128_absolute(lo, hi), int128.int128_exceeds_digits(lo, hi)


@kernel
def digits_count(lo: int, hi: int) -> Any:
    return int128.int128_digits_count(lo, hi)


@kernel
def shifted(lo: int, hi: int, bits: int) -> Any:
    return int128.int128_shift_left(lo, hi, bits), int128.int128_shift_right_unsigned(lo, hi, bits)


@kernel
def power_of_ten(exponent: int) -> Any:
    return int128.int128_power_of_ten(exponent)


def test_sums_and_products_are_exact_or_flagged() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        a, b = chosen(chooser), chosen(chooser)
        for operation, exact in ((add, a + b), (subtract, a - b), (multiply, a * b)):
            lo, hi, overflow = operation(*words(a), *words(b))
            assert (unsigned_value(lo, hi), bool(overflow)) == (exact % WIDE, not LEAST <= exact <= MOST), (a, b)
        lo, hi, overflow = multiply_unsigned(*words(a), *words(b))
        exact = (a % WIDE) * (b % WIDE)
        assert (unsigned_value(lo, hi), bool(overflow)) == (exact % WIDE, exact >= WIDE), (a, b)
        assert value(*multiply_words(signed(a), signed(b))) == signed(a) * signed(b)


def test_order_sign_and_digits() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        a, b = chosen(chooser), chosen(chooser)
        order, unsigned_order = compare(*words(a), *words(b))
        assert order == (a > b) - (a < b)
        assert unsigned_order == (a % WIDE > b % WIDE) - (a % WIDE < b % WIDE)
        negated, absolute, exceeds = unary(*words(a))
        assert unsigned_value(*negated) == -a % WIDE
        assert unsigned_value(*absolute) == abs(a)
        assert bool(exceeds) == (abs(a) >= 10**38)
        unsigned = chooser.choice((a % WIDE, 10 ** chooser.randint(0, 38) - chooser.randint(0, 1)))
        assert digits_count(*words(unsigned)) == (len(str(unsigned)) if unsigned else 0)


def test_division_is_python_s() -> None:
    chooser = random.Random(SEED)
    for _ in range(CASES):
        divisor = max(chooser.getrandbits(chooser.randint(1, 128)), 1)
        dividend = chooser.getrandbits(chooser.randint(0, 128))
        if chooser.random() < 0.3:
            # Around multiples of the divisor, where a guessed digit is wrong.
            dividend = min(max(divisor * chooser.getrandbits(64) + chooser.randint(-1, 1), 0), WIDE - 1)
        quotient_and_rest = int128.int128_divide_unsigned(*words(dividend), *words(divisor))
        got = unsigned_value(*quotient_and_rest[:2]), unsigned_value(*quotient_and_rest[2:])
        assert got == divmod(dividend, divisor), (dividend, divisor)


def test_shifts_and_powers() -> None:
    chooser = random.Random(SEED)
    for bits in range(128):
        number = chooser.getrandbits(128)
        left, right = shifted(*words(number), bits)
        assert (unsigned_value(*left), unsigned_value(*right)) == ((number << bits) % WIDE, number >> bits)
    assert [value(*power_of_ten(k)) for k in range(39)] == [10**k for k in range(39)]
