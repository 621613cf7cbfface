"""Arithmetic of SQL's numbers, with PostgreSQL's range checks, for kernels: + - * / %, the sign and
what changes it, each for every type.

Integers of all widths come in and leave as int64; float64 functions take and give float64, float32
functions float32. A numeric is (lo, hi, scale) as in `numeric.py`; those of `any_` may be NaN or an
infinity, as in `any_numeric.py`. Results are (value, error code); a value that comes with an error
is 0. Must not raise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import (
    BIGINT_RANGE,
    DIVISION_BY_ZERO,
    FLOAT_OVERFLOW,
    FLOAT_UNDERFLOW,
    NUMERIC_DIGITS,
    OK,
)
from ringbuffer.scalar.numbers.any_numeric import approximate, is_special, special_words
from ringbuffer.scalar.numbers.int128 import (
    int128_absolute,
    int128_add,
    int128_compare_unsigned,
    int128_exceeds_digits,
    int128_multiply,
    int128_multiply_words,
    int128_negate,
    int128_shift_left,
    int128_subtract,
    words_intrinsic,
)
from ringbuffer.scalar.numbers.narrow import limited, real
from ringbuffer.scalar.numbers.numeric import (
    NAN_RANK,
    SCALE_MAX,
    SPECIAL_SCALE,
    align,
    divide_shifted,
    numeric_sign,
    quotient_scale,
    scale_up,
)


def word_with_overflow(builder: Any, outcome: Any) -> list[Any]:
    """Emit (word, overflow) of an LLVM arithmetic-with-overflow result."""
    overflow = builder.extract_value(outcome, 1)
    return [builder.extract_value(outcome, 0), builder.zext(overflow, builder.extract_value(outcome, 0).type)]


# (a, b) -> (word, overflow 0 or 1)
add_words: Any = words_intrinsic(2, 2, lambda builder, w: word_with_overflow(builder, builder.sadd_with_overflow(*w)))
subtract_words: Any = words_intrinsic(
    2, 2, lambda builder, w: word_with_overflow(builder, builder.ssub_with_overflow(*w))
)
multiply_words: Any = words_intrinsic(
    2, 2, lambda builder, w: word_with_overflow(builder, builder.smul_with_overflow(*w))
)
# (a, b) -> (quotient towards zero, remainder with the sign of a); not for b = 0 or INT64_MIN / -1,
# which trap
truncate_divide_words: Any = words_intrinsic(2, 2, lambda builder, w: [builder.sdiv(*w), builder.srem(*w)])


@kernel
def add_int64(a: int, b: int) -> tuple[int, int]:
    """Return (a + b, error)."""
    value, overflow = add_words(a, b)
    if overflow:
        return 0, BIGINT_RANGE
    return value, OK


@kernel
def subtract_int64(a: int, b: int) -> tuple[int, int]:
    """Return (a - b, error)."""
    value, overflow = subtract_words(a, b)
    if overflow:
        return 0, BIGINT_RANGE
    return value, OK


@kernel
def multiply_int64(a: int, b: int) -> tuple[int, int]:
    """Return (a * b, error)."""
    value, overflow = multiply_words(a, b)
    if overflow:
        return 0, BIGINT_RANGE
    return value, OK


@kernel
def divide_int64(a: int, b: int) -> tuple[int, int]:
    """Return (a / b towards zero, error)."""
    if b == 0:
        return 0, DIVISION_BY_ZERO
    if b == -1:
        return subtract_int64(0, a)
    value, _ = truncate_divide_words(a, b)
    return value, OK


@kernel
def modulo_int64(a: int, b: int) -> tuple[int, int]:
    """Return (a % b with the sign of a, error); modulo -1 is 0, even of the least integer."""
    if b == 0:
        return 0, DIVISION_BY_ZERO
    if b == -1:
        return 0, OK
    _, value = truncate_divide_words(a, b)
    return value, OK


@kernel
def negate_int64(a: int) -> tuple[int, int]:
    """Return (-a, error)."""
    return subtract_int64(0, a)


@kernel
def absolute_int64(a: int) -> tuple[int, int]:
    """Return (|a|, error)."""
    if a < 0:
        return subtract_int64(0, a)
    return a, OK


@kernel
def add_narrow(a: int, b: int, bits: int) -> tuple[int, int]:
    """Return (a + b, error) in 16 or 32 bits."""
    return limited(a + b, bits)


@kernel
def subtract_narrow(a: int, b: int, bits: int) -> tuple[int, int]:
    """Return (a - b, error) in 16 or 32 bits."""
    return limited(a - b, bits)


@kernel
def multiply_narrow(a: int, b: int, bits: int) -> tuple[int, int]:
    """Return (a * b, error) in 16 or 32 bits."""
    return limited(a * b, bits)


@kernel
def divide_narrow(a: int, b: int, bits: int) -> tuple[int, int]:
    """Return (a / b towards zero, error) in 16 or 32 bits."""
    if b == 0:
        return 0, DIVISION_BY_ZERO
    value, _ = truncate_divide_words(a, b)
    return limited(value, bits)


@kernel
def modulo_narrow(a: int, b: int, bits: int) -> tuple[int, int]:
    """Return (a % b with the sign of a, error)."""
    return modulo_int64(a, b)


@kernel
def negate_narrow(a: int, bits: int) -> tuple[int, int]:
    """Return (-a, error) in 16 or 32 bits."""
    return limited(-a, bits)


@kernel
def absolute_narrow(a: int, bits: int) -> tuple[int, int]:
    """Return (|a|, error) in 16 or 32 bits."""
    return limited(abs(a), bits)


@kernel
def add_float64(a: float, b: float) -> tuple[float, int]:
    """Return (a + b, error): an infinite result of finite operands is FLOAT_OVERFLOW."""
    value = a + b
    if np.isinf(value) and not np.isinf(a) and not np.isinf(b):
        return 0.0, FLOAT_OVERFLOW
    return value, OK


@kernel
def subtract_float64(a: float, b: float) -> tuple[float, int]:
    """Return (a - b, error)."""
    return add_float64(a, -b)


@kernel
def multiply_float64(a: float, b: float) -> tuple[float, int]:
    """Return (a * b, error): a zero product of operands that aren't zero is FLOAT_UNDERFLOW."""
    value = a * b
    if np.isinf(value) and not np.isinf(a) and not np.isinf(b):
        return 0.0, FLOAT_OVERFLOW
    if value == 0.0 and a != 0.0 and b != 0.0:
        return 0.0, FLOAT_UNDERFLOW
    return value, OK


@kernel
def divide_float64(a: float, b: float) -> tuple[float, int]:
    """Return (a / b, error): division by zero is an error except for NaN."""
    if b == 0.0 and not np.isnan(a):
        return 0.0, DIVISION_BY_ZERO
    value = a / b
    if np.isinf(value) and not np.isinf(a):
        return 0.0, FLOAT_OVERFLOW
    if value == 0.0 and a != 0.0 and not np.isinf(b):
        return 0.0, FLOAT_UNDERFLOW
    return value, OK


@kernel
def add_float32(a: float, b: float) -> tuple[float, int]:
    """Return (a + b, error) in single precision."""
    value = real(a) + real(b)
    if np.isinf(value) and not np.isinf(a) and not np.isinf(b):
        return real(0.0), FLOAT_OVERFLOW
    return value, OK


@kernel
def subtract_float32(a: float, b: float) -> tuple[float, int]:
    """Return (a - b, error) in single precision."""
    return add_float32(a, -b)


@kernel
def multiply_float32(a: float, b: float) -> tuple[float, int]:
    """Return (a * b, error) in single precision."""
    value = real(a) * real(b)
    if np.isinf(value) and not np.isinf(a) and not np.isinf(b):
        return real(0.0), FLOAT_OVERFLOW
    if value == 0.0 and a != 0.0 and b != 0.0:
        return real(0.0), FLOAT_UNDERFLOW
    return value, OK


@kernel
def divide_float32(a: float, b: float) -> tuple[float, int]:
    """Return (a / b, error) in single precision."""
    if b == 0.0 and not np.isnan(a):
        return real(0.0), DIVISION_BY_ZERO
    value = real(a) / real(b)
    if np.isinf(value) and not np.isinf(a):
        return real(0.0), FLOAT_OVERFLOW
    if value == 0.0 and a != 0.0 and not np.isinf(b):
        return real(0.0), FLOAT_UNDERFLOW
    return value, OK


@kernel
def sign_float64(a: float) -> float:
    """Return -1.0, 0.0 or 1.0; of NaN 0.0, as PostgreSQL does."""
    if a > 0.0:
        return 1.0
    return -1.0 if a < 0.0 else 0.0


@kernel
def numeric_add(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of a + b; the scale is the larger one."""
    if ascale != bscale:
        alo, ahi, blo, bhi, ascale, error = align(alo, ahi, ascale, blo, bhi, bscale)
        if error != OK:
            return 0, 0, 0, error
    lo, hi, overflow = int128_add(alo, ahi, blo, bhi)
    if overflow or int128_exceeds_digits(lo, hi):
        return 0, 0, 0, NUMERIC_DIGITS
    return lo, hi, ascale, OK


@kernel
def numeric_subtract(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of a - b; the scale is the larger one."""
    if ascale != bscale:
        alo, ahi, blo, bhi, ascale, error = align(alo, ahi, ascale, blo, bhi, bscale)
        if error != OK:
            return 0, 0, 0, error
    lo, hi, overflow = int128_subtract(alo, ahi, blo, bhi)
    if overflow or int128_exceeds_digits(lo, hi):
        return 0, 0, 0, NUMERIC_DIGITS
    return lo, hi, ascale, OK


@kernel
def numeric_multiply(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of the exact product; the scale is the sum."""
    scale = ascale + bscale
    if ahi == alo >> 63 and bhi == blo >> 63 and scale <= SCALE_MAX:
        # At most 2^126.
        lo, hi = int128_multiply_words(alo, blo)
        return lo, hi, scale, OK
    lo, hi, overflow = int128_multiply(alo, ahi, blo, bhi)
    if overflow or int128_exceeds_digits(lo, hi) or scale > SCALE_MAX:
        return 0, 0, 0, NUMERIC_DIGITS
    return lo, hi, scale, OK


@kernel
def numeric_divide(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of a / b, rounded to the scale that PostgreSQL's
    select_div_scale chooses.
    """
    if blo == 0 and bhi == 0:
        return 0, 0, 0, DIVISION_BY_ZERO
    scale = quotient_scale(alo, ahi, ascale, blo, bhi, bscale)
    if scale > SCALE_MAX:
        return 0, 0, 0, NUMERIC_DIGITS
    dividend_lo, dividend_hi = int128_absolute(alo, ahi)
    divisor_lo, divisor_hi = int128_absolute(blo, bhi)
    lo, hi, rest_lo, rest_hi, error = divide_shifted(
        dividend_lo, dividend_hi, scale + bscale - ascale, divisor_lo, divisor_hi
    )
    rest_lo, rest_hi = int128_shift_left(rest_lo, rest_hi, 1)
    if int128_compare_unsigned(rest_lo, rest_hi, divisor_lo, divisor_hi) >= 0:
        lo, hi, _ = int128_add(lo, hi, 1, 0)
    if error != OK or int128_exceeds_digits(lo, hi):
        return 0, 0, 0, NUMERIC_DIGITS
    if ahi ^ bhi < 0:
        lo, hi = int128_negate(lo, hi)
    return lo, hi, scale, OK


@kernel
def numeric_average(sum_lo: int, sum_hi: int, sum_scale: int, count: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of PostgreSQL's avg: the 128-bit sum (it may have 39 digits)
    divided by the count of values.
    """
    return numeric_divide(sum_lo, sum_hi, sum_scale, count, count >> 63, 0)


@kernel
def numeric_modulo(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of a % b, with the sign of a; the scale is the larger one."""
    if blo == 0 and bhi == 0:
        return 0, 0, 0, DIVISION_BY_ZERO
    dividend_lo, dividend_hi = int128_absolute(alo, ahi)
    divisor_lo, divisor_hi = int128_absolute(blo, bhi)
    scale = max(ascale, bscale)
    divisor_lo, divisor_hi, error = scale_up(divisor_lo, divisor_hi, scale - bscale)
    if error != OK:
        # The divisor has more than 38 digits at the dividend's scale, so it is larger than the
        # dividend.
        return alo, ahi, scale, OK
    _, _, lo, hi, _ = divide_shifted(dividend_lo, dividend_hi, scale - ascale, divisor_lo, divisor_hi)
    if int128_exceeds_digits(lo, hi):
        return 0, 0, 0, NUMERIC_DIGITS
    if ahi < 0:
        lo, hi = int128_negate(lo, hi)
    return lo, hi, scale, OK


@kernel
def numeric_negate(lo: int, hi: int) -> tuple[int, int]:
    """Return the words of -x; the scale stays."""
    low, high = int128_negate(lo, hi)
    return low, high


@kernel
def numeric_absolute(lo: int, hi: int) -> tuple[int, int]:
    """Return the words of |x|; the scale stays, also that of NaN and the infinities."""
    low, high = int128_absolute(lo, hi)
    return low, high


@kernel
def any_add(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of a + b."""
    if is_special(ascale, bscale):
        lo, hi, scale = special_words(approximate(alo, ahi, ascale) + approximate(blo, bhi, bscale))
        return lo, hi, scale, OK
    return numeric_add(alo, ahi, ascale, blo, bhi, bscale)


@kernel
def any_subtract(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of a - b."""
    if is_special(ascale, bscale):
        lo, hi, scale = special_words(approximate(alo, ahi, ascale) - approximate(blo, bhi, bscale))
        return lo, hi, scale, OK
    return numeric_subtract(alo, ahi, ascale, blo, bhi, bscale)


@kernel
def any_multiply(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of a * b."""
    if is_special(ascale, bscale):
        lo, hi, scale = special_words(approximate(alo, ahi, ascale) * approximate(blo, bhi, bscale))
        return lo, hi, scale, OK
    return numeric_multiply(alo, ahi, ascale, blo, bhi, bscale)


@kernel
def any_divide(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of a / b: what is finite is nothing beside an infinity."""
    if not is_special(ascale, bscale):
        return numeric_divide(alo, ahi, ascale, blo, bhi, bscale)
    dividend, divisor = approximate(alo, ahi, ascale), approximate(blo, bhi, bscale)
    if divisor == 0.0:
        return (NAN_RANK, 0, SPECIAL_SCALE, OK) if np.isnan(dividend) else (0, 0, 0, DIVISION_BY_ZERO)
    lo, hi, scale = special_words(dividend / divisor)
    return lo, hi, scale, OK


@kernel
def any_modulo(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of a % b: what is finite stays as it is beside an infinity."""
    if not is_special(ascale, bscale):
        return numeric_modulo(alo, ahi, ascale, blo, bhi, bscale)
    dividend, divisor = approximate(alo, ahi, ascale), approximate(blo, bhi, bscale)
    if np.isnan(dividend) or np.isnan(divisor):
        return NAN_RANK, 0, SPECIAL_SCALE, OK
    if divisor == 0.0:
        return 0, 0, 0, DIVISION_BY_ZERO
    if np.isinf(dividend):
        return NAN_RANK, 0, SPECIAL_SCALE, OK
    return alo, ahi, ascale, OK


@kernel
def any_negate(lo: int, hi: int, scale: int) -> tuple[int, int]:
    """Return the words of -x; the scale stays."""
    if scale == SPECIAL_SCALE and lo == NAN_RANK:
        return lo, hi
    return numeric_negate(lo, hi)


@kernel
def any_sign(lo: int, hi: int, scale: int) -> tuple[int, int]:
    """Return (-1, 0 or 1, scale); of NaN NaN."""
    if scale == SPECIAL_SCALE and lo == NAN_RANK:
        return lo, scale
    return numeric_sign(lo, hi), 0


@kernel
def any_sign_words(lo: int, hi: int, scale: int) -> tuple[int, int, int]:
    """Return (lo, hi, scale) of sign(x)."""
    value, scale = any_sign(lo, hi, scale)
    return value, value >> 63, scale


@kernel
def any_absolute(lo: int, hi: int, scale: int) -> tuple[int, int]:
    """Return the words of abs(x); the scale stays, and the rank of NaN is above zero."""
    return numeric_absolute(lo, hi)
