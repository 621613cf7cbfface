"""Trigonometric functions of angles in degrees, and inverse hyperbolic ones, for kernels.

float64 goes in; a result is (value, error code). PostgreSQL divides by the values that the C
library has for 30, 45 and 60 degrees, so that sind(30) is 0.5 (float.c); so do these. Must not
raise.
"""

from __future__ import annotations

import math

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import INPUT_RANGE, OK
from ringbuffer.scalar.numbers.trigonometry import RADIANS_PER_DEGREE as DEGREE

SINE_30, ONE_MINUS_COSINE_60 = math.sin(30 * DEGREE), 1 - math.cos(60 * DEGREE)
ARCSINE_HALF, ARCCOSINE_HALF, ARCTANGENT_1 = math.asin(0.5), math.acos(0.5), math.atan(1.0)


@kernel
def sine_to_30(x: float) -> float:
    """Return the sine of an angle from 0 to 30."""
    return math.sin(x * DEGREE) / SINE_30 / 2.0


@kernel
def cosine_to_60(x: float) -> float:
    """Return the cosine of an angle from 0 to 60."""
    return 1.0 - (1.0 - math.cos(x * DEGREE)) / ONE_MINUS_COSINE_60 / 2.0


@kernel
def sine_and_cosine(x: float) -> tuple[float, float]:
    """Return (sine, cosine) of any angle, NaN of NaN."""
    x, sine, cosine = np.fmod(x, 360.0), 1.0, 1.0
    if x < 0.0:
        x, sine = -x, -sine
    if x > 180.0:
        x, sine = 360.0 - x, -sine
    if x > 90.0:
        x, cosine = 180.0 - x, -cosine
    sine *= sine_to_30(x) if x <= 30.0 else cosine_to_60(90.0 - x)
    cosine *= cosine_to_60(x) if x <= 60.0 else sine_to_30(90.0 - x)
    return sine, cosine


@kernel
def sind(value: float) -> tuple[float, int]:
    """Return (sine, error)."""
    if np.isinf(value):
        return 0.0, INPUT_RANGE
    return sine_and_cosine(value)[0], OK


@kernel
def cosd(value: float) -> tuple[float, int]:
    """Return (cosine, error)."""
    if np.isinf(value):
        return 0.0, INPUT_RANGE
    return sine_and_cosine(value)[1], OK


@kernel
def tand(value: float) -> tuple[float, int]:
    """Return (tangent, error); zero has no sign."""
    if np.isinf(value):
        return 0.0, INPUT_RANGE
    sine, cosine = sine_and_cosine(value)
    return sine / cosine + 0.0, OK


@kernel
def cotd(value: float) -> tuple[float, int]:
    """Return (cotangent, error); zero has no sign."""
    if np.isinf(value):
        return 0.0, INPUT_RANGE
    sine, cosine = sine_and_cosine(value)
    return cosine / sine + 0.0, OK


@kernel
def asind(value: float) -> tuple[float, int]:
    """Return (inverse sine, error)."""
    size = abs(value)
    if size > 1.0:
        return 0.0, INPUT_RANGE
    angle = math.asin(size) / ARCSINE_HALF * 30.0 if size <= 0.5 else 90.0 - math.acos(size) / ARCCOSINE_HALF * 60.0
    return math.copysign(angle, value), OK


@kernel
def acosd(value: float) -> tuple[float, int]:
    """Return (inverse cosine, error)."""
    if abs(value) > 1.0:
        return 0.0, INPUT_RANGE
    if value < 0.0:
        return 90.0 + asind(-value)[0], OK
    if value <= 0.5:
        return 90.0 - math.asin(value) / ARCSINE_HALF * 30.0, OK
    return math.acos(value) / ARCCOSINE_HALF * 60.0, OK


@kernel
def atand(value: float) -> tuple[float, int]:
    """Return (inverse tangent, OK)."""
    return math.atan(value) / ARCTANGENT_1 * 45.0, OK


@kernel
def atan2d(y: float, x: float) -> tuple[float, int]:
    """Return (angle of a point, OK)."""
    return math.atan2(y, x) / ARCTANGENT_1 * 45.0, OK


@kernel
def asinh(value: float) -> tuple[float, int]:
    """Return (inverse hyperbolic sine, OK)."""
    return math.asinh(value), OK


@kernel
def acosh(value: float) -> tuple[float, int]:
    """Return (inverse hyperbolic cosine, error)."""
    if value < 1.0:
        return 0.0, INPUT_RANGE
    return math.acosh(value), OK


@kernel
def atanh(value: float) -> tuple[float, int]:
    """Return (inverse hyperbolic tangent, error), infinite at 1 and -1."""
    if abs(value) > 1.0:
        return 0.0, INPUT_RANGE
    if abs(value) == 1.0:
        return math.copysign(math.inf, value), OK
    return math.atanh(value), OK
