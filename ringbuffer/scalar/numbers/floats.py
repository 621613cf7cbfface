"""Comparison, rounding, roots, powers and buckets of floating-point numbers, for kernels.

Results that may fail are (value, error code). Must not raise.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import (
    BUCKETS_COUNT,
    BUCKETS_EMPTY,
    BUCKETS_INFINITE,
    BUCKETS_NAN,
    FLOAT_OVERFLOW,
    FLOAT_UNDERFLOW,
    INVALID_LOGARITHM_NEGATIVE,
    INVALID_LOGARITHM_ZERO,
    INVALID_POWER,
    INVALID_POWER_ZERO,
    INVALID_SQUARE_ROOT,
    OK,
)
from ringbuffer.scalar.numbers.narrow import limit_int32


@kernel
def compare_float64(a: float, b: float) -> int:
    """Return -1, 0 or 1 in PostgreSQL's order of float4 and float8: NaN equals itself and is
    greater than everything else.
    """
    if a < b:
        return -1
    if a > b:
        return 1
    if a == b:
        return 0
    return int(np.isnan(a)) - int(np.isnan(b))


@kernel
def round_float64(a: float) -> float:
    """Return the nearest integer, half to even."""
    rounded: float = np.rint(a)
    return rounded


@kernel
def trunc_float64(a: float) -> float:
    """Return the integer towards zero; -0.5 gives -0."""
    whole: float = np.trunc(a)
    return whole


@kernel
def square_root(a: float) -> tuple[float, int]:
    """Return (root, error)."""
    if a < 0.0:
        return 0.0, INVALID_SQUARE_ROOT
    return np.sqrt(a), OK


@kernel
def natural_logarithm(a: float) -> tuple[float, int]:
    """Return (ln a, error)."""
    if a == 0.0:
        return 0.0, INVALID_LOGARITHM_ZERO
    if a < 0.0:
        return 0.0, INVALID_LOGARITHM_NEGATIVE
    return np.log(a), OK


@kernel
def exponential(a: float) -> tuple[float, int]:
    """Return (e^a, error)."""
    value = np.exp(a)
    if np.isinf(value) and not np.isinf(a):
        return 0.0, FLOAT_OVERFLOW
    if value == 0.0 and not np.isinf(a):
        return 0.0, FLOAT_UNDERFLOW
    return value, OK


@kernel
def power(a: float, b: float) -> tuple[float, int]:
    """Return (a^b, error)."""
    if a == 0.0 and b < 0.0:
        return 0.0, INVALID_POWER_ZERO
    if a < 0.0 and np.floor(b) != b and not np.isnan(b):
        return 0.0, INVALID_POWER
    value = a**b
    if np.isinf(value) and not np.isinf(a) and not np.isinf(b):
        return 0.0, FLOAT_OVERFLOW
    if value == 0.0 and a != 0.0 and not np.isinf(a) and not np.isinf(b):
        return 0.0, FLOAT_UNDERFLOW
    return value, OK


@kernel
def total(value: float, largest: float, all_signed: int) -> tuple[float, int]:
    """Return (sum of floats, error): finite values that are summed to infinity are out of range.

    largest: the largest absolute value. all_signed: all values have a sign, also where they are -0.
    """
    if np.isinf(value) and not np.isinf(largest):
        return 0.0, FLOAT_OVERFLOW
    return (-0.0 if all_signed and value == 0 else value), OK


@kernel
def width_bucket(operand: float, low: float, high: float, count: int) -> tuple[int, int]:
    """Return (number of the bucket of `count` equal ones that holds the operand, error).

    0 before the first, count + 1 after the last.
    """
    if count <= 0:
        return 0, BUCKETS_COUNT
    if operand != operand or low != low or high != high:
        return 0, BUCKETS_NAN
    if np.isinf(low) or np.isinf(high):
        return 0, BUCKETS_INFINITE
    if low == high:
        return 0, BUCKETS_EMPTY
    if low < high:
        is_before, is_behind, part = operand < low, operand >= high, (operand - low) / (high - low)
    else:
        is_before, is_behind, part = operand > low, operand <= high, (low - operand) / (low - high)
    if is_before:
        return 0, OK
    if is_behind:
        return limit_int32(count + 1)
    # The quotient may round to one.
    return min(int(count * part), count - 1) + 1, OK
