"""Decimals of which each value has its own scale, and some are NaN or an infinity: their scale is
SPECIAL_SCALE, their value a rank.

Each function is that of `numeric.py`, or of what builds on it, where all operands are finite, and
has PostgreSQL's answer where one is not. Generated kernels call them where a value's scale is known
by its row alone: a column of numeric(p,s) is always finite, and pays nothing. Arithmetic follows
floats: a finite operand takes part as its sign. Must not allocate or raise.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import (
    INFINITY_TO_BIGINT,
    INFINITY_TO_INTEGER,
    INFINITY_TO_SMALLINT,
    NAN_TO_BIGINT,
    NAN_TO_INTEGER,
    NAN_TO_SMALLINT,
    NUMERIC_FIELD_OVERFLOW,
    NUMERIC_SPECIAL,
    OK,
)
from ringbuffer.scalar.numbers import casts
from ringbuffer.scalar.numbers.narrow import real
from ringbuffer.scalar.numbers.numeric import (
    NAN_RANK,
    SPECIAL_SCALE,
    numeric_ceil,
    numeric_compare,
    numeric_floor,
    numeric_limit,
    numeric_rescale,
    numeric_round,
    numeric_sign,
    numeric_to_int64,
    numeric_trunc,
)
from ringbuffer.scalar.numbers.numeric_floats import (
    numeric_from_float32,
    numeric_from_float64,
    numeric_to_float32,
    numeric_to_float64,
)

cast_to_int16, cast_to_int32 = casts.numeric_to_int16, casts.numeric_to_int32


@kernel
def is_special(ascale: int, bscale: int) -> bool:
    """Tell whether one of two values is NaN or an infinity."""
    return ascale == SPECIAL_SCALE or bscale == SPECIAL_SCALE


@kernel
def approximate(lo: int, hi: int, scale: int) -> float:
    """Return NaN or an infinity as a float; of a finite value its sign."""
    if scale != SPECIAL_SCALE:
        return np.float64(numeric_sign(lo, hi))
    if lo == NAN_RANK:
        return np.nan
    return np.inf if lo > 0 else -np.inf


@kernel
def special_words(value: float) -> tuple[int, int, int]:
    """Return (lo, hi, scale) of NaN, an infinity or zero."""
    if np.isnan(value):
        return NAN_RANK, 0, SPECIAL_SCALE
    if np.isinf(value):
        return (1, 0, SPECIAL_SCALE) if value > 0.0 else (-1, -1, SPECIAL_SCALE)
    return 0, 0, 0


@kernel
def any_compare(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> int:
    """Return -1, 0 or 1: NaN equals itself and is above everything else."""
    if is_special(ascale, bscale):
        first = alo if ascale == SPECIAL_SCALE else 0
        second = blo if bscale == SPECIAL_SCALE else 0
        return (1 if first > second else 0) - (1 if first < second else 0)
    order: int = numeric_compare(alo, ahi, ascale, blo, bhi, bscale)
    return order


@kernel
def any_same(lo: int, hi: int, scale: int) -> tuple[int, int, int]:
    """Return a value of known scale as one with a scale of its own."""
    return lo, hi, scale


@kernel
def any_at_scale(lo: int, hi: int, scale: int, to_scale: int) -> tuple[int, int, int]:
    """Return (lo, hi, error) at another scale, which holds finite values alone."""
    if scale == SPECIAL_SCALE:
        return 0, 0, NUMERIC_SPECIAL
    return numeric_rescale(lo, hi, scale, to_scale)


@kernel
def any_round(lo: int, hi: int, scale: int, digits: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of round(x, digits)."""
    if scale == SPECIAL_SCALE:
        return lo, hi, scale, OK
    return numeric_round(lo, hi, scale, digits)


@kernel
def any_trunc(lo: int, hi: int, scale: int, digits: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of trunc(x, digits)."""
    if scale == SPECIAL_SCALE:
        return lo, hi, scale, OK
    return numeric_trunc(lo, hi, scale, digits)


@kernel
def any_ceil(lo: int, hi: int, scale: int) -> tuple[int, int, int]:
    """Return (lo, hi, scale) of the least integer not below x."""
    if scale == SPECIAL_SCALE:
        return lo, hi, scale
    whole_lo, whole_hi = numeric_ceil(lo, hi, scale)
    return whole_lo, whole_hi, 0


@kernel
def any_floor(lo: int, hi: int, scale: int) -> tuple[int, int, int]:
    """Return (lo, hi, scale) of the greatest integer not above x."""
    if scale == SPECIAL_SCALE:
        return lo, hi, scale
    whole_lo, whole_hi = numeric_floor(lo, hi, scale)
    return whole_lo, whole_hi, 0


@kernel
def any_limit(lo: int, hi: int, scale: int, precision: int, to_scale: int) -> tuple[int, int, int]:
    """Return (lo, hi, error) of a cast to numeric(precision, to_scale), which holds finite values
    alone.
    """
    if scale == SPECIAL_SCALE:
        return 0, 0, NUMERIC_SPECIAL if lo == NAN_RANK else NUMERIC_FIELD_OVERFLOW
    return numeric_limit(lo, hi, scale, precision, to_scale)


@kernel
def any_to_int16(lo: int, hi: int, scale: int) -> tuple[int, int]:
    """Return (integer, error), rounded half away from zero."""
    if scale == SPECIAL_SCALE:
        return 0, NAN_TO_SMALLINT if lo == NAN_RANK else INFINITY_TO_SMALLINT
    return cast_to_int16(lo, hi, scale)


@kernel
def any_to_int32(lo: int, hi: int, scale: int) -> tuple[int, int]:
    """Return (integer, error), rounded half away from zero."""
    if scale == SPECIAL_SCALE:
        return 0, NAN_TO_INTEGER if lo == NAN_RANK else INFINITY_TO_INTEGER
    return cast_to_int32(lo, hi, scale)


@kernel
def any_to_int64(lo: int, hi: int, scale: int) -> tuple[int, int]:
    """Return (integer, error), rounded half away from zero."""
    if scale == SPECIAL_SCALE:
        return 0, NAN_TO_BIGINT if lo == NAN_RANK else INFINITY_TO_BIGINT
    return numeric_to_int64(lo, hi, scale)


@kernel
def any_to_float64(lo: int, hi: int, scale: int) -> float:
    """Return the nearest double."""
    value: float = approximate(lo, hi, scale) if scale == SPECIAL_SCALE else numeric_to_float64(lo, hi, scale)
    return value


@kernel
def any_to_float32(lo: int, hi: int, scale: int) -> tuple[float, int]:
    """Return (nearest float32, error)."""
    if scale == SPECIAL_SCALE:
        return real(approximate(lo, hi, scale)), OK
    return numeric_to_float32(lo, hi, scale)


@kernel
def any_from_float64(value: float, target_scale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) as `numeric_from_float64`; NaN and the infinities as they
    are.
    """
    if not np.isfinite(value):
        lo, hi, scale = special_words(value)
        return lo, hi, scale, OK
    return numeric_from_float64(value, target_scale)


@kernel
def any_limited_float64(value: float, precision: int, scale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) rounded to a scale; who calls checks the digits."""
    if not np.isfinite(value):
        return 0, 0, 0, NUMERIC_FIELD_OVERFLOW
    lo, hi, digits, error = numeric_from_float64(value, scale)
    if error == OK:
        lo, hi, error = numeric_rescale(lo, hi, digits, scale)
    return lo, hi, scale, error


@kernel
def any_limited_float32(value: float, precision: int, scale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) rounded to a scale; who calls checks the digits."""
    if not np.isfinite(value):
        return 0, 0, 0, NUMERIC_FIELD_OVERFLOW
    lo, hi, digits, error = numeric_from_float32(value, scale)
    if error == OK:
        lo, hi, error = numeric_rescale(lo, hi, digits, scale)
    return lo, hi, scale, error


@kernel
def any_from_float32(value: float, target_scale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) as `numeric_from_float32`; NaN and the infinities as they
    are.
    """
    if not np.isfinite(value):
        lo, hi, scale = special_words(np.float64(value))
        return lo, hi, scale, OK
    return numeric_from_float32(value, target_scale)
