"""The greatest common divisor and the least common multiple of integers, for kernels.

int64 words go in, with the bits of their type; a result is (value, error code), and 0 comes with an
error. Must not raise.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import BIGINT_RANGE, OK
from ringbuffer.scalar.numbers.arithmetic import absolute_int64, divide_int64, modulo_int64, multiply_int64
from ringbuffer.scalar.numbers.narrow import limited

LONG = 64


@kernel
def gcd(a: int, b: int, bits: int) -> tuple[int, int]:
    """Return (the greatest common divisor, error), which the least integers alone do not have."""
    while b != 0:
        a, b = b, modulo_int64(a, b)[0]
    value, error = absolute_int64(a)
    return limited(value, bits) if bits < LONG and error == OK else (value, error)


@kernel
def lcm(a: int, b: int, bits: int) -> tuple[int, int]:
    """Return (the least common multiple, error); 0 where one of both is 0."""
    if a == 0 or b == 0:
        return 0, OK
    divisor, error = gcd(a, b, LONG)
    if error != OK:
        return 0, BIGINT_RANGE
    value, error = multiply_int64(divide_int64(a, divisor)[0], b)
    if error == OK:
        value, error = absolute_int64(value)
    if error != OK:
        return 0, BIGINT_RANGE
    return limited(value, bits) if bits < LONG else (value, OK)
