"""Arithmetic and comparison of SQL's integers and floating-point numbers, with PostgreSQL's range
checks, for kernels.

Integers of all widths come in and leave as int64; float64 functions take and give float64, float32
functions float32. Results are (value, error code); a value that comes with an error is 0. Must not
raise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import (
    BIGINT_RANGE,
    BUCKETS_COUNT,
    BUCKETS_EMPTY,
    BUCKETS_INFINITE,
    BUCKETS_NAN,
    DIVISION_BY_ZERO,
    FLOAT_OVERFLOW,
    FLOAT_UNDERFLOW,
    INTEGER_RANGE,
    INVALID_LOGARITHM_NEGATIVE,
    INVALID_LOGARITHM_ZERO,
    INVALID_POWER,
    INVALID_POWER_ZERO,
    INVALID_SQUARE_ROOT,
    OK,
    SMALLINT_RANGE,
)
from ringbuffer.scalar.numbers.int128 import words_intrinsic

real: Any = np.float32


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
def limit_int16(value: int) -> tuple[int, int]:
    """Return (value, error): SMALLINT_RANGE outside of 16 bits."""
    if value < -32768 or value > 32767:
        return 0, SMALLINT_RANGE
    return value, OK


@kernel
def limit_int32(value: int) -> tuple[int, int]:
    """Return (value, error): INTEGER_RANGE outside of 32 bits."""
    if value < -2147483648 or value > 2147483647:
        return 0, INTEGER_RANGE
    return value, OK


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
def add_int32(a: int, b: int) -> tuple[int, int]:
    """Return (a + b, error)."""
    return limit_int32(a + b)


@kernel
def subtract_int32(a: int, b: int) -> tuple[int, int]:
    """Return (a - b, error)."""
    return limit_int32(a - b)


@kernel
def multiply_int32(a: int, b: int) -> tuple[int, int]:
    """Return (a * b, error)."""
    return limit_int32(a * b)


@kernel
def divide_int32(a: int, b: int) -> tuple[int, int]:
    """Return (a / b towards zero, error)."""
    if b == 0:
        return 0, DIVISION_BY_ZERO
    value, _ = truncate_divide_words(a, b)
    return limit_int32(value)


@kernel
def modulo_int32(a: int, b: int) -> tuple[int, int]:
    """Return (a % b with the sign of a, error)."""
    return modulo_int64(a, b)


@kernel
def negate_int32(a: int) -> tuple[int, int]:
    """Return (-a, error)."""
    return limit_int32(-a)


@kernel
def absolute_int32(a: int) -> tuple[int, int]:
    """Return (|a|, error)."""
    return limit_int32(abs(a))


@kernel
def add_int16(a: int, b: int) -> tuple[int, int]:
    """Return (a + b, error)."""
    return limit_int16(a + b)


@kernel
def subtract_int16(a: int, b: int) -> tuple[int, int]:
    """Return (a - b, error)."""
    return limit_int16(a - b)


@kernel
def multiply_int16(a: int, b: int) -> tuple[int, int]:
    """Return (a * b, error)."""
    return limit_int16(a * b)


@kernel
def divide_int16(a: int, b: int) -> tuple[int, int]:
    """Return (a / b towards zero, error)."""
    if b == 0:
        return 0, DIVISION_BY_ZERO
    value, _ = truncate_divide_words(a, b)
    return limit_int16(value)


@kernel
def modulo_int16(a: int, b: int) -> tuple[int, int]:
    """Return (a % b with the sign of a, error)."""
    return modulo_int64(a, b)


@kernel
def negate_int16(a: int) -> tuple[int, int]:
    """Return (-a, error)."""
    return limit_int16(-a)


@kernel
def absolute_int16(a: int) -> tuple[int, int]:
    """Return (|a|, error)."""
    return limit_int16(abs(a))


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
def sign_float64(a: float) -> float:
    """Return -1.0, 0.0 or 1.0; of NaN 0.0, as PostgreSQL does."""
    if a > 0.0:
        return 1.0
    return -1.0 if a < 0.0 else 0.0


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
def shift_left(value: int, count: int, bits: int) -> int:
    """Return value << count in 16, 32 or 64 bits.

    Processors look at the last five bits of the count, of 64 bits at the last six.
    """
    return sign_extended(value << (count & (63 if bits == 64 else 31)), bits)


@kernel
def shift_right(value: int, count: int, bits: int) -> int:
    """Return value >> count with the sign kept."""
    return value >> (count & (63 if bits == 64 else 31))


@kernel
def sign_extended(value: int, bits: int) -> int:
    """Return the number that the last `bits` bits are."""
    return value << (64 - bits) >> (64 - bits)


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
