"""Casts between decimals and floating-point numbers, exact as PostgreSQL's, which go through
decimal text.

Numerics are (lo, hi, scale) as in numeric.py. The C library's snprintf and strtod do what double
arithmetic can't do exactly; the process's LC_NUMERIC must be "C", which is what Python leaves it
at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import I64
from ringbuffer.memory.error_codes import NUMERIC_DIGITS, NUMERIC_SPECIAL, OK, REAL_RANGE
from ringbuffer.scalar.numbers.int128 import (
    UniTuple,
    int128_absolute,
    int128_divide_unsigned,
    int128_negate,
    signed_word,
)
from ringbuffer.scalar.numbers.narrow import real
from ringbuffer.scalar.numbers.numeric import SCALE_MAX, scale_down, scale_up
from ringbuffer.scalar.numbers.parse_float import EXACT_POWERS, MANTISSA_MAX

FLOAT8_DIGITS = 15
FLOAT4_DIGITS = 6

# Integers below 2^53 and powers of ten up to 10^22 are exact doubles, so one division of them is
# rounded once.
# The same for single precision through double: 53 bits are enough for the second rounding to do no
# harm.
EXACT_REAL_INTEGER_MAX = 1 << 24
EXACT_REAL_POWER_MAX = 10

BUFFER_BYTES = 128
POINTER = ir.IntType(8).as_pointer()
insert_function: Any = cgutils.get_or_insert_function
function_type: Any = ir.FunctionType
reserve_stack: Any = cgutils.alloca_once
print_number: Any = cgutils.snprintf


def to_digits_intrinsic(digits: int) -> Any:
    """Return an intrinsic float64 -> (mantissa of `digits` decimal digits, exponent of the first)
    by snprintf's %.{digits-1}e.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word = function_type(I64, [POINTER, POINTER, ir.IntType(32)])
        to_word = insert_function(builder.module, word, "strtoll")
        buffer = reserve_stack(builder, ir.IntType(8), size=BUFFER_BYTES)
        print_number(builder, buffer, ir.Constant(I64, BUFFER_BYTES), f"%.{digits - 1}e", values[0])
        # "d.ddde-XX": the first digit moves over the point, so that the mantissa is one run of
        # digits.
        mantissa = builder.gep(buffer, [ir.Constant(I64, 1)])
        exponent = builder.gep(buffer, [ir.Constant(I64, digits + 2)])
        builder.store(builder.load(buffer), mantissa)
        rest = [ir.Constant(POINTER, None), ir.Constant(ir.IntType(32), 10)]
        results = [builder.call(to_word, [start, *rest]) for start in (mantissa, exponent)]
        return context.make_tuple(builder, signature.return_type, results)

    return intrinsic(lambda typing, value: (UniTuple(types.int64, 2)(types.float64), generate))


def from_digits_intrinsic(function: str, result: Any, form: Any) -> Any:
    """Return an intrinsic (high, low, exponent) -> `function` (strtod or strtof) of the text (high
    * 10^19 + low)e(exponent).
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        to_float = insert_function(builder.module, function_type(form, [POINTER, POINTER]), function)
        buffer = reserve_stack(builder, ir.IntType(8), size=BUFFER_BYTES)
        print_number(builder, buffer, ir.Constant(I64, BUFFER_BYTES), "%llu%019llue%lld", *values)
        return builder.call(to_float, [buffer, ir.Constant(POINTER, None)])

    return intrinsic(lambda typing, high, low, exponent: (result(types.int64, types.int64, types.int64), generate))


to_15_digits: Any = to_digits_intrinsic(FLOAT8_DIGITS)
to_6_digits: Any = to_digits_intrinsic(FLOAT4_DIGITS)
from_digits_float64: Any = from_digits_intrinsic("strtod", types.float64, ir.DoubleType())
from_digits_float32: Any = from_digits_intrinsic("strtof", types.float32, ir.FloatType())


@kernel
def numeric_to_float64(lo: int, hi: int, scale: int) -> float:
    """Return the nearest double."""
    if hi == lo >> 63 and -MANTISSA_MAX <= lo <= MANTISSA_MAX and scale <= 22:
        quotient: float = lo / EXACT_POWERS[scale]
        return quotient
    high, low = split_digits(lo, hi)
    value: float = from_digits_float64(high, low, -scale)
    return -value if hi < 0 else value


@kernel
def numeric_to_float32(lo: int, hi: int, scale: int) -> tuple[float, int]:
    """Return (nearest float32, error): REAL_RANGE when a value that isn't 0 becomes 0."""
    if hi == lo >> 63 and -EXACT_REAL_INTEGER_MAX <= lo <= EXACT_REAL_INTEGER_MAX and scale <= EXACT_REAL_POWER_MAX:
        return real(lo / EXACT_POWERS[scale]), OK
    high, low = split_digits(lo, hi)
    value = from_digits_float32(high, low, -scale)
    if value == 0.0 and (lo != 0 or hi != 0):
        return real(0.0), REAL_RANGE
    return -value if hi < 0 else value, OK


@kernel
def split_digits(lo: int, hi: int) -> tuple[int, int]:
    """Return the unsigned words (high, low) with |value| = high * 10^19 + low."""
    lo, hi = int128_absolute(lo, hi)
    high, _, low, _ = int128_divide_unsigned(lo, hi, -8446744073709551616, 0)
    return high, low


@kernel
def numeric_from_float64(value: float, target_scale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of the value at 15 significant digits, without trailing zeros.

    target_scale: of the numeric(p,s) that it becomes next, or -1: then what has more than 38 digits
    is an error.
    """
    if not np.isfinite(value):
        return 0, 0, 0, NUMERIC_SPECIAL
    mantissa, exponent = to_15_digits(abs(value))
    return from_mantissa(mantissa, exponent - (FLOAT8_DIGITS - 1), value < 0.0, target_scale)


@kernel
def numeric_from_float32(value: float, target_scale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of the value at 6 significant digits, without trailing zeros.

    target_scale: of the numeric(p,s) that it becomes next, or -1: then what has more than 38 digits
    is an error.
    """
    if not np.isfinite(value):
        return 0, 0, 0, NUMERIC_SPECIAL
    mantissa, exponent = to_6_digits(np.float64(abs(value)))
    return from_mantissa(mantissa, exponent - (FLOAT4_DIGITS - 1), value < 0.0, target_scale)


@kernel
def from_mantissa(mantissa: int, exponent: int, negative: bool, target_scale: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of mantissa * 10^exponent.

    Digits beyond the 38th are cut off if a smaller scale comes next.
    """
    if mantissa == 0:
        return 0, 0, 0, OK
    while exponent < 0 and mantissa % 10 == 0:
        mantissa //= 10
        exponent += 1
    lo, hi, scale, error = mantissa, signed_word(0), 0, OK
    if exponent > 0:
        lo, hi, error = scale_up(mantissa, 0, exponent)
    elif exponent < -SCALE_MAX:
        if target_scale < 0:
            return 0, 0, 0, NUMERIC_DIGITS
        surplus = -exponent - SCALE_MAX
        if surplus > FLOAT8_DIGITS:
            return 0, 0, 0, OK
        # Rounding twice would err; a cut leaves what is half of a smaller scale's unit as it is.
        lo, hi = scale_down(mantissa, signed_word(0), surplus, target_scale == SCALE_MAX)
        scale = SCALE_MAX
    else:
        scale = -exponent
    if negative:
        lo, hi = int128_negate(lo, hi)
    return lo, hi, scale, error
