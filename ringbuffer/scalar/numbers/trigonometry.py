"""Trigonometric and hyperbolic functions, angles, cube roots and decimal logarithms of double
precision, for kernels.

float64 goes in; a result is (value, error code), and 0 comes with an error. What is out of range is
so as in PostgreSQL's float.c. Must not raise.
"""

from __future__ import annotations

import math

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import INPUT_RANGE, INVALID_LOGARITHM_NEGATIVE, INVALID_LOGARITHM_ZERO, OK
from ringbuffer.scalar.numbers.arithmetic import divide_float64, multiply_float64

RADIANS_PER_DEGREE = 0.0174532925199432957692


@kernel
def sin(value: float) -> tuple[float, int]:
    """Return (sine, error)."""
    if np.isinf(value):
        return 0.0, INPUT_RANGE
    return math.sin(value), OK


@kernel
def cos(value: float) -> tuple[float, int]:
    """Return (cosine, error)."""
    if np.isinf(value):
        return 0.0, INPUT_RANGE
    return math.cos(value), OK


@kernel
def tan(value: float) -> tuple[float, int]:
    """Return (tangent, error)."""
    if np.isinf(value):
        return 0.0, INPUT_RANGE
    return math.tan(value), OK


@kernel
def cot(value: float) -> tuple[float, int]:
    """Return (cotangent, error); infinite at 0."""
    if np.isinf(value):
        return 0.0, INPUT_RANGE
    return 1.0 / math.tan(value), OK


@kernel
def asin(value: float) -> tuple[float, int]:
    """Return (inverse sine, error)."""
    if value < -1.0 or value > 1.0:
        return 0.0, INPUT_RANGE
    return math.asin(value), OK


@kernel
def acos(value: float) -> tuple[float, int]:
    """Return (inverse cosine, error)."""
    if value < -1.0 or value > 1.0:
        return 0.0, INPUT_RANGE
    return math.acos(value), OK


@kernel
def atan(value: float) -> tuple[float, int]:
    """Return (inverse tangent, OK)."""
    return math.atan(value), OK


@kernel
def atan2(y: float, x: float) -> tuple[float, int]:
    """Return (angle of a point, OK)."""
    return math.atan2(y, x), OK


@kernel
def sinh(value: float) -> tuple[float, int]:
    """Return (hyperbolic sine, OK), infinite where it overflows."""
    return math.sinh(value), OK


@kernel
def cosh(value: float) -> tuple[float, int]:
    """Return (hyperbolic cosine, OK), infinite where it overflows."""
    return math.cosh(value), OK


@kernel
def tanh(value: float) -> tuple[float, int]:
    """Return (hyperbolic tangent, OK)."""
    return math.tanh(value), OK


@kernel
def degrees(value: float) -> tuple[float, int]:
    """Return (degrees of radians, error)."""
    return divide_float64(value, RADIANS_PER_DEGREE)


@kernel
def radians(value: float) -> tuple[float, int]:
    """Return (radians of degrees, error)."""
    return multiply_float64(value, RADIANS_PER_DEGREE)


@kernel
def cbrt(value: float) -> tuple[float, int]:
    """Return (cube root, OK)."""
    return np.cbrt(value), OK


@kernel
def log10(value: float) -> tuple[float, int]:
    """Return (decimal logarithm, error)."""
    if value == 0.0:
        return 0.0, INVALID_LOGARITHM_ZERO
    if value < 0.0:
        return 0.0, INVALID_LOGARITHM_NEGATIVE
    return math.log10(value), OK
