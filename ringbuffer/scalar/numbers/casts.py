"""Casts between SQL's numbers, booleans, dates and timestamps, with PostgreSQL's rounding and range
errors, for kernels.

Integers are int64 whatever their SQL width, dates are days and timestamps microseconds since
1970-01-01. A cast that can fail returns (value, error code); the value is 0 then. Casts of
timestamps between zones are in time_zones.py, casts to text in text_output.py.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import (
    BIGINT_RANGE,
    FLOAT_OVERFLOW,
    FLOAT_UNDERFLOW,
    INTEGER_RANGE,
    OK,
    SMALLINT_RANGE,
)
from ringbuffer.scalar.numbers.int128 import signed_word
from ringbuffer.scalar.numbers.narrow import limit_int16, limit_int32, real
from ringbuffer.scalar.numbers.numeric import numeric_to_int64


@kernel
def float_to_int16(value: float) -> tuple[int, int]:
    """Return (integer, error) of a float4 or float8, rounded half to even."""
    rounded = np.rint(value)
    if not (rounded >= -32768.0 and rounded < 32768.0):
        return 0, SMALLINT_RANGE
    return signed_word(rounded), OK


@kernel
def float_to_int32(value: float) -> tuple[int, int]:
    """Return (integer, error) of a float4 or float8, rounded half to even."""
    rounded = np.rint(value)
    if not (rounded >= -2147483648.0 and rounded < 2147483648.0):
        return 0, INTEGER_RANGE
    return signed_word(rounded), OK


@kernel
def float_to_int64(value: float) -> tuple[int, int]:
    """Return (integer, error) of a float4 or float8, rounded half to even."""
    rounded = np.rint(value)
    if not (rounded >= -9223372036854775808.0 and rounded < 9223372036854775808.0):
        return 0, BIGINT_RANGE
    return signed_word(rounded), OK


@kernel
def float64_to_float32(value: float) -> tuple[float, int]:
    """Return (float32, error)."""
    narrow = real(value)
    if np.isinf(narrow) and not np.isinf(value):
        return real(0.0), FLOAT_OVERFLOW
    if narrow == 0.0 and value != 0.0:
        return real(0.0), FLOAT_UNDERFLOW
    return narrow, OK


@kernel
def int64_to_int16(value: int) -> tuple[int, int]:
    """Return (value, error)."""
    return limit_int16(value)


@kernel
def int64_to_int32(value: int) -> tuple[int, int]:
    """Return (value, error)."""
    return limit_int32(value)


@kernel
def numeric_to_int16(lo: int, hi: int, scale: int) -> tuple[int, int]:
    """Return (integer, error), rounded half away from zero."""
    value, error = numeric_to_int64(lo, hi, scale)
    if error != OK:
        return 0, SMALLINT_RANGE
    return limit_int16(value)


@kernel
def numeric_to_int32(lo: int, hi: int, scale: int) -> tuple[int, int]:
    """Return (integer, error), rounded half away from zero."""
    value, error = numeric_to_int64(lo, hi, scale)
    if error != OK:
        return 0, INTEGER_RANGE
    return limit_int32(value)


@kernel
def int32_to_bool(value: int) -> int:
    """Return 1 for everything but 0."""
    return 1 if value != 0 else 0
