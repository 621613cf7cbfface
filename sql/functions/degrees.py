"""Trigonometric functions of angles in degrees, exact where an angle of PostgreSQL's is.

PostgreSQL divides by the values that the C library has for 30 and 60 degrees, so that sind(30) is
0.5 (float.c). Strict: callers handle NULL. Raises SqlError 22003.
"""

from __future__ import annotations

import math

from sql.errors import SqlError

DEGREE = math.pi / 180
SINE_30, ONE_MINUS_COSINE_60 = math.sin(30 * DEGREE), 1 - math.cos(60 * DEGREE)
ARCSINE_HALF, ARCCOSINE_HALF, ARCTANGENT_1 = math.asin(0.5), math.acos(0.5), math.atan(1.0)


def _sine_to_30(x: float) -> float:
    return math.sin(x * DEGREE) / SINE_30 / 2


def _cosine_to_60(x: float) -> float:
    return 1 - (1 - math.cos(x * DEGREE)) / ONE_MINUS_COSINE_60 / 2


def _sine_to_90(x: float) -> float:
    return _sine_to_30(x) if x <= 30 else _cosine_to_60(90 - x)


def _cosine_to_90(x: float) -> float:
    return _cosine_to_60(x) if x <= 60 else _sine_to_30(90 - x)


def _reduced(x: float) -> tuple[float, int, int]:
    """Return an angle between 0 and 90, and the signs of its sine and of its cosine."""
    if math.isinf(x):
        raise SqlError("22003", "input is out of range")
    x, sine, cosine = math.fmod(x, 360), 1, 1
    if x < 0:
        x, sine = -x, -sine
    if x > 180:
        x, sine = 360 - x, -sine
    if x > 90:
        x, cosine = 180 - x, -cosine
    return x, sine, cosine


def _quotient(dividend: float, divisor: float) -> float:
    return math.inf if divisor == 0 else dividend / divisor


def sine(x: float) -> float:
    """Return sind."""
    if math.isnan(x):
        return x
    x, sign, _ = _reduced(x)
    return sign * _sine_to_90(x)


def cosine(x: float) -> float:
    """Return cosd."""
    if math.isnan(x):
        return x
    x, _, sign = _reduced(x)
    return sign * _cosine_to_90(x)


def tangent(x: float) -> float:
    """Return tand."""
    if math.isnan(x):
        return x
    x, sine_sign, cosine_sign = _reduced(x)
    at_45 = _sine_to_90(45) / _cosine_to_90(45)
    # Zero has no sign.
    return sine_sign * cosine_sign * (_quotient(_sine_to_90(x), _cosine_to_90(x)) / at_45) + 0.0


def cotangent(x: float) -> float:
    """Return cotd."""
    if math.isnan(x):
        return x
    x, sine_sign, cosine_sign = _reduced(x)
    at_45 = _cosine_to_90(45) / _sine_to_90(45)
    # Zero has no sign.
    return sine_sign * cosine_sign * (_quotient(_cosine_to_90(x), _sine_to_90(x)) / at_45) + 0.0


def arcsine(x: float) -> float:
    """Return asind."""
    if math.isnan(x):
        return x
    if not -1 <= x <= 1:
        raise SqlError("22003", "input is out of range")
    # Zero keeps its sign.
    size = x if x >= 0 else -x
    angle = math.asin(size) / ARCSINE_HALF * 30 if size <= 0.5 else 90 - math.acos(size) / ARCCOSINE_HALF * 60
    return angle if x >= 0 else -angle


def arccosine(x: float) -> float:
    """Return acosd."""
    if math.isnan(x):
        return x
    if x < 0:
        return 90 + arcsine(-x)
    if x > 1:
        raise SqlError("22003", "input is out of range")
    return 90 - math.asin(x) / ARCSINE_HALF * 30 if x <= 0.5 else math.acos(x) / ARCCOSINE_HALF * 60


def arctangent(x: float) -> float:
    """Return atand."""
    return math.atan(x) / ARCTANGENT_1 * 45


def arctangent_of_two(y: float, x: float) -> float:
    """Return atan2d."""
    return math.atan2(y, x) / ARCTANGENT_1 * 45
