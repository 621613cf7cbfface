"""Floating point numbers as PostgreSQL prints them: the shortest digits that read back as the same
number.

The digits are found by Schubfach (R. Giulietti, "The Schubfach way to render doubles"), after the
layout of A. Jackson's and F. Loitsch's public descriptions. PostgreSQL's Ryu does not accept a
decimal that lies exactly on the border to the neighbouring number (a reader that rounds otherwise
would get the neighbour), so 1e23 prints as 9.999999999999999e+22; the borders are left out here
too. float4 takes the same way: more bits of the power of ten than needed do no harm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.scalar.numbers.int128 import int128_multiply_unsigned, signed_word, unsigned_word

Bytes = npt.NDArray[np.uint8]

# '-1.7976931348623157e+308'
FLOAT_BYTES_MAX = 24

POWER_MIN = -292
POWER_MAX = 324

# Exponents from which on PostgreSQL writes 1e+15 and 1e+06; below 1e-4 both write 1e-05.
FLOAT8_FIXED_DIGITS = 15
FLOAT4_FIXED_DIGITS = 6
FIXED_EXPONENT_MIN = -4


def power_words(exponent: int) -> tuple[int, int]:
    """Return (high, low) of 10^exponent, scaled to 128 bits and rounded up."""
    if exponent >= 0:
        value = 10**exponent
        shift = 128 - value.bit_length()
        scaled = value << shift if shift >= 0 else -(-value >> -shift)
    else:
        divisor = 10**-exponent
        numerator = 1 << (127 + divisor.bit_length())
        scaled = -(-numerator // divisor)
        if scaled.bit_length() > 128:
            scaled = -(-(numerator >> 1) // divisor)
    assert scaled.bit_length() == 128
    return scaled >> 64, scaled & (2**64 - 1)


_POWERS = [power_words(exponent) for exponent in range(POWER_MIN, POWER_MAX + 1)]
POWERS_HIGH = np.array([high for high, _ in _POWERS], dtype=np.uint64)
POWERS_LOW = np.array([low for _, low in _POWERS], dtype=np.uint64)

U0: Any = np.uint64(0)
U1: Any = np.uint64(1)
U2: Any = np.uint64(2)
U4: Any = np.uint64(4)
U10: Any = np.uint64(10)
U40: Any = np.uint64(40)


@kernel
def round_to_odd(high: np.uint64, low: np.uint64, factor: np.uint64) -> np.uint64:
    """Return floor(power * factor / 2^128), its lowest bit set when that is not exact."""
    _, carried, _ = int128_multiply_unsigned(signed_word(low), 0, signed_word(factor), 0)
    product_lo, product_hi, _ = int128_multiply_unsigned(signed_word(high), 0, signed_word(factor), 0)
    middle = unsigned_word(product_lo) + unsigned_word(carried)
    top: np.uint64 = unsigned_word(product_hi)
    if middle < unsigned_word(carried):
        top += U1
    if middle > U1:
        top |= U1
    return top


@kernel
def shortest_decimal(significand: int, exponent: int, lower_is_closer: bool) -> tuple[np.uint64, int]:
    """Return (digits, k): digits * 10^k is the shortest decimal strictly between the borders of
    significand * 2^exponent, not zero.
    """
    center = unsigned_word(significand) << U2
    left = center - (U1 if lower_is_closer else U2)
    right = center + U2
    k = (exponent * 1262611 - (524031 if lower_is_closer else 0)) >> 22
    shift = unsigned_word(exponent + ((-k * 1741647) >> 19) + 1)
    high, low = POWERS_HIGH[-k - POWER_MIN], POWERS_LOW[-k - POWER_MIN]
    lower = round_to_odd(high, low, left << shift) + U1
    value = round_to_odd(high, low, center << shift)
    upper = round_to_odd(high, low, right << shift) - U1
    digits = value // U4
    if digits >= U10:
        tens = digits // U10
        down_inside = lower <= U40 * tens
        up_inside = U40 * tens + U40 <= upper
        if down_inside != up_inside:
            return tens + (U1 if up_inside else U0), k + 1
    down_inside = lower <= U4 * digits
    up_inside = U4 * digits + U4 <= upper
    if down_inside != up_inside:
        return digits + (U1 if up_inside else U0), k
    middle = U4 * digits + U2
    if value > middle or (value == middle and (digits & U1) != U0):
        return digits + U1, k
    return digits, k


@kernel
def put_text(out: Bytes, at: int, text: Bytes) -> int:
    """Copy `text` to out[at:]; return where it ends."""
    for index in range(len(text)):
        out[at + index] = text[index]
    return at + len(text)


@kernel
def put_decimal(out: Bytes, at: int, digits: np.uint64, k: int, fixed_digits: int) -> int:
    """Write digits * 10^k in PostgreSQL's layout.

    Return where it ends. fixed_digits: from this exponent on scientific.
    """
    while digits % U10 == U0:
        digits //= U10
        k += 1
    count = 0
    rest = digits
    while rest != U0:
        rest //= U10
        count += 1
    exponent = k + count - 1
    if FIXED_EXPONENT_MIN <= exponent < fixed_digits:
        return put_fixed(out, at, digits, count, exponent)
    # The first digit stands before the point: write all digits after its place, then move it.
    end = at + 1 + count if count > 1 else at + 1
    for index in range(end - 1, end - count, -1):
        out[index] = 48 + digits % U10
        digits //= U10
    out[at] = 48 + digits
    if count > 1:
        out[at + 1] = 46
    out[end] = 101
    out[end + 1] = 45 if exponent < 0 else 43
    exponent = abs(exponent)
    end += 2
    if exponent >= 100:
        out[end] = 48 + exponent // 100
        end += 1
    out[end] = 48 + exponent // 10 % 10
    out[end + 1] = 48 + exponent % 10
    return end + 2


@kernel
def put_fixed(out: Bytes, at: int, digits: np.uint64, count: int, exponent: int) -> int:
    """Write `count` digits, the first one of value 10^exponent, without an exponent.

    Return where it ends.
    """
    if exponent < 0:
        # 0.000ddd
        end = at + 1 - exponent + count
        for index in range(end - 1, at - 1, -1):
            out[index] = 48 + digits % U10
            digits //= U10
        out[at + 1] = 46
        return end
    whole = exponent + 1
    if count <= whole:
        for index in range(at + count, at + whole):
            out[index] = 48
        for index in range(at + count - 1, at - 1, -1):
            out[index] = 48 + digits % U10
            digits //= U10
        return at + whole
    end = at + count + 1
    for index in range(end - 1, at - 1, -1):
        if index == at + whole:
            out[index] = 46
        else:
            out[index] = 48 + digits % U10
            digits //= U10
    return end


@kernel
def put_float_bits(
    out: Bytes,
    at: int,
    negative: bool,
    significand: int,
    exponent: int,
    special: bool,
    hidden_bits: int,
    bias: int,
    fixed_digits: int,
) -> int:
    """Write a number from the fields of its IEEE form.

    Return where it ends. special: the exponent field is all ones.
    """
    if special and significand != 0:
        out[at], out[at + 1], out[at + 2] = 78, 97, 78
        return at + 3
    if negative:
        out[at] = 45
        at += 1
    if special:
        for index in range(8):
            out[at + index] = INFINITY[index]
        return at + 8
    if exponent == 0 and significand == 0:
        out[at] = 48
        return at + 1
    if exponent == 0:
        digits, k = shortest_decimal(significand, 1 - bias, False)
    else:
        lower_is_closer = significand == 0 and exponent > 1
        digits, k = shortest_decimal(significand + (1 << hidden_bits), exponent - bias, lower_is_closer)
    return put_decimal(out, at, digits, k, fixed_digits)


INFINITY: Bytes = np.frombuffer(b"Infinity", dtype=np.uint8)


@kernel
def render_float8(values: npt.NDArray[np.int64], valid: Bytes, out: Bytes, ends: npt.NDArray[np.int64]) -> None:
    """Write the text of float8 values. values: int64[n], their bits; out: uint8[FLOAT_BYTES_MAX *
    n]; ends: int64[n + 1].
    """
    at = 0
    ends[0] = 0
    for row in range(len(values)):
        if len(valid) == 0 or valid[row] != 0:
            bits = signed_word(values[row])
            exponent = (bits >> 52) & 0x7FF
            significand = bits & 0xFFFFFFFFFFFFF
            at = put_float_bits(
                out, at, bits < 0, significand, exponent, exponent == 0x7FF, 52, 1075, FLOAT8_FIXED_DIGITS
            )
        ends[row + 1] = at


@kernel
def render_float4(values: npt.NDArray[np.int32], valid: Bytes, out: Bytes, ends: npt.NDArray[np.int64]) -> None:
    """Write the text of float4 values. values: int32[n], their bits; out: uint8[FLOAT_BYTES_MAX *
    n]; ends: int64[n + 1].
    """
    at = 0
    ends[0] = 0
    for row in range(len(values)):
        if len(valid) == 0 or valid[row] != 0:
            bits = signed_word(values[row])
            exponent = (bits >> 23) & 0xFF
            significand = bits & 0x7FFFFF
            at = put_float_bits(
                out, at, bits < 0, significand, exponent, exponent == 0xFF, 23, 150, FLOAT4_FIXED_DIGITS
            )
        ends[row + 1] = at
