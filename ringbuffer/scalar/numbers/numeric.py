"""Decimal arithmetic with PostgreSQL's scales: a numeric is (lo, hi, scale), its value is the
128-bit integer (lo, hi) times 10^-scale.

All words are int64. A value has at most 38 digits and a scale of at most 38; what needs more is
NUMERIC_DIGITS, never a rounded value. Results end with a code of error_codes (0 is success; the
other results are 0 then). No NaN and no infinity: `any_numeric.py` has the functions of values that
may be one. Rounding is half away from zero. Must not allocate or raise.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.columns import NUMERIC_DIGITS_MAX
from ringbuffer.memory.error_codes import BIGINT_RANGE, NUMERIC_DIGITS, NUMERIC_FIELD_OVERFLOW, OK
from ringbuffer.scalar.numbers.int128 import (
    int128_absolute,
    int128_add,
    int128_compare,
    int128_compare_unsigned,
    int128_digits_count,
    int128_divide_unsigned,
    int128_exceeds_digits,
    int128_multiply,
    int128_multiply_unsigned,
    int128_negate,
    int128_power_of_ten,
    int128_shift_left,
    int128_subtract,
)

SCALE_MAX = 38
# The scale of NaN and the infinities, in columns where each value has its own: the value is 2 for
# NaN, 1 and -1 for the infinities.
SPECIAL_SCALE = -1
NAN_RANK = 2

# PostgreSQL counts digits of base 10,000 from the decimal point, and gives quotients at least 16
# significant decimal digits.
BASE_DIGITS = 4
# A numeric on the wire: its head of four int16, and the signs in it.
NUMERIC_HEAD_BYTES = 8
SIGN_NEGATIVE = 0x4000
SIGN_NAN, SIGN_INFINITE, SIGN_MINUS_INFINITE = 0xC000, 0xD000, 0xF000
QUOTIENT_DIGITS_MIN = 16


@kernel
def numeric_compare(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> int:
    """Return -1, 0 or 1 by value: 1.0 and 1.00 are equal."""
    if ascale == bscale:
        order: int = int128_compare(alo, ahi, blo, bhi)
        return order
    return compare_scaled(alo, ahi, ascale, blo, bhi, bscale)


@kernel
def compare_scaled(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> int:
    """Compare values of different scales.

    One that exceeds 38 digits at the other's scale is further from zero.
    """
    order: int
    if ascale < bscale:
        lo, hi, error = scale_up(alo, ahi, bscale - ascale)
        if error != OK:
            return numeric_sign(alo, ahi)
        order = int128_compare(lo, hi, blo, bhi)
        return order
    lo, hi, error = scale_up(blo, bhi, ascale - bscale)
    if error != OK:
        return -numeric_sign(blo, bhi)
    order = int128_compare(alo, ahi, lo, hi)
    return order


@kernel
def numeric_sign(lo: int, hi: int) -> int:
    """Return -1, 0 or 1."""
    if hi < 0:
        return -1
    return 1 if lo != 0 or hi != 0 else 0


@kernel
def numeric_rescale(lo: int, hi: int, scale: int, to_scale: int) -> tuple[int, int, int]:
    """Return (lo, hi, error) of the value at `to_scale` (which may be negative), rounded half away
    from zero.
    """
    if to_scale >= scale:
        return scale_up(lo, hi, to_scale - scale)
    lo, hi = scale_down(lo, hi, scale - to_scale, True)
    return lo, hi, OK


@kernel
def numeric_limit(lo: int, hi: int, scale: int, precision: int, to_scale: int) -> tuple[int, int, int]:
    """Return (lo, hi, error) of a cast to numeric(precision, to_scale): rounded, then
    NUMERIC_FIELD_OVERFLOW if it has more digits.
    """
    lo, hi, error = numeric_rescale(lo, hi, scale, to_scale)
    if error != OK:
        return 0, 0, NUMERIC_FIELD_OVERFLOW
    magnitude_lo, magnitude_hi = int128_absolute(lo, hi)
    if int128_digits_count(magnitude_lo, magnitude_hi) > precision:
        return 0, 0, NUMERIC_FIELD_OVERFLOW
    return lo, hi, OK


@kernel
def numeric_round(lo: int, hi: int, scale: int, digits: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of round(x, digits): the new scale is `digits`, or 0 where that
    is negative.
    """
    return cut(lo, hi, scale, digits, True)


@kernel
def numeric_trunc(lo: int, hi: int, scale: int, digits: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) of trunc(x, digits): the new scale is `digits`, or 0 where that
    is negative.
    """
    return cut(lo, hi, scale, digits, False)


@kernel
def cut(lo: int, hi: int, scale: int, digits: int, rounded: bool) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error) with `digits` decimal digits, rounded or truncated."""
    if digits > SCALE_MAX:
        return 0, 0, 0, NUMERIC_DIGITS
    if digits >= scale:
        lo, hi, error = scale_up(lo, hi, digits - scale)
        return lo, hi, digits if error == OK else 0, error
    lo, hi = scale_down(lo, hi, scale - digits, rounded)
    if digits >= 0:
        return lo, hi, digits, OK
    lo, hi, error = scale_up(lo, hi, -digits)
    return lo, hi, 0, error


@kernel
def numeric_ceil(lo: int, hi: int, scale: int) -> tuple[int, int]:
    """Return the words, at scale 0, of the least integer not below x."""
    whole_lo, whole_hi = scale_down(lo, hi, scale, False)
    if hi >= 0 and compare_scaled(whole_lo, whole_hi, 0, lo, hi, scale) < 0:
        whole_lo, whole_hi, _ = int128_add(whole_lo, whole_hi, 1, 0)
    return whole_lo, whole_hi


@kernel
def numeric_floor(lo: int, hi: int, scale: int) -> tuple[int, int]:
    """Return the words, at scale 0, of the greatest integer not above x."""
    whole_lo, whole_hi = scale_down(lo, hi, scale, False)
    if hi < 0 and compare_scaled(whole_lo, whole_hi, 0, lo, hi, scale) > 0:
        whole_lo, whole_hi, _ = int128_subtract(whole_lo, whole_hi, 1, 0)
    return whole_lo, whole_hi


@kernel
def numeric_normalise(lo: int, hi: int, scale: int) -> tuple[int, int, int]:
    """Return (lo, hi, scale) without trailing zeros after the point: equal values become equal
    words, as group keys need.
    """
    while scale > 0:
        magnitude_lo, magnitude_hi = int128_absolute(lo, hi)
        whole_lo, whole_hi, rest_lo, _ = int128_divide_unsigned(magnitude_lo, magnitude_hi, 10, 0)
        if rest_lo != 0:
            break
        if whole_lo == 0 and whole_hi == 0:
            return 0, 0, 0
        if hi < 0:
            whole_lo, whole_hi = int128_negate(whole_lo, whole_hi)
        lo, hi, scale = whole_lo, whole_hi, scale - 1
    return lo, hi, scale


@kernel
def numeric_from_int64(value: int) -> tuple[int, int]:
    """Return the words of an integer, at scale 0."""
    return value, value >> 63


@kernel
def numeric_to_int64(lo: int, hi: int, scale: int) -> tuple[int, int]:
    """Return (integer, error), rounded half away from zero; BIGINT_RANGE if it does not fit."""
    lo, hi = scale_down(lo, hi, scale, True)
    if hi != lo >> 63:
        return 0, BIGINT_RANGE
    return lo, OK


@kernel
def align(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> tuple[int, int, int, int, int, int]:
    """Return (alo, ahi, blo, bhi, scale, error) of both values at the larger scale."""
    if ascale < bscale:
        alo, ahi, error = scale_up(alo, ahi, bscale - ascale)
        return alo, ahi, blo, bhi, bscale, error
    blo, bhi, error = scale_up(blo, bhi, ascale - bscale)
    return alo, ahi, blo, bhi, ascale, error


@kernel
def scale_up(lo: int, hi: int, digits: int) -> tuple[int, int, int]:
    """Return (lo, hi, error) times 10^digits."""
    if digits == 0 or (lo == 0 and hi == 0):
        return lo, hi, OK
    if digits > NUMERIC_DIGITS_MAX:
        return 0, 0, NUMERIC_DIGITS
    power_lo, power_hi = int128_power_of_ten(digits)
    lo, hi, overflow = int128_multiply(lo, hi, power_lo, power_hi)
    if overflow or int128_exceeds_digits(lo, hi):
        return 0, 0, NUMERIC_DIGITS
    return lo, hi, OK


@kernel
def scale_down(lo: int, hi: int, digits: int, rounded: bool) -> tuple[int, int]:
    """Return (lo, hi) divided by 10^digits, rounded half away from zero or truncated."""
    if digits == 0:
        return lo, hi
    if digits > NUMERIC_DIGITS_MAX:
        return 0, 0
    power_lo, power_hi = int128_power_of_ten(digits)
    magnitude_lo, magnitude_hi = int128_absolute(lo, hi)
    whole_lo, whole_hi, rest_lo, rest_hi = int128_divide_unsigned(magnitude_lo, magnitude_hi, power_lo, power_hi)
    if rounded:
        rest_lo, rest_hi = int128_shift_left(rest_lo, rest_hi, 1)
        if int128_compare_unsigned(rest_lo, rest_hi, power_lo, power_hi) >= 0:
            whole_lo, whole_hi, _ = int128_add(whole_lo, whole_hi, 1, 0)
    if hi < 0:
        whole_lo, whole_hi = int128_negate(whole_lo, whole_hi)
    return whole_lo, whole_hi


@kernel
def quotient_scale(alo: int, ahi: int, ascale: int, blo: int, bhi: int, bscale: int) -> int:
    """Return the scale of a / b that PostgreSQL 15's select_div_scale chooses."""
    weight_a, first_a = first_base_digit(alo, ahi, ascale)
    weight_b, first_b = first_base_digit(blo, bhi, bscale)
    weight = weight_a - weight_b
    if first_a <= first_b:
        weight -= 1
    return max(QUOTIENT_DIGITS_MIN - weight * BASE_DIGITS, ascale, bscale)


@kernel
def first_base_digit(lo: int, hi: int, scale: int) -> tuple[int, int]:
    """Return (weight, digit) of the first nonzero digit of base 10,000: the value is about digit *
    10000^weight; (0, 0) of zero.
    """
    lo, hi = int128_absolute(lo, hi)
    digits = int128_digits_count(lo, hi)
    if digits == 0:
        return 0, 0
    weight = (digits - scale - 1) >> 2
    dropped = scale + weight * BASE_DIGITS
    if dropped > 0:
        power_lo, power_hi = int128_power_of_ten(dropped)
        digit, _, _, _ = int128_divide_unsigned(lo, hi, power_lo, power_hi)
    else:
        power_lo, power_hi = int128_power_of_ten(-dropped)
        digit = lo * power_lo
    return weight, digit


@kernel
def divide_shifted(alo: int, ahi: int, digits: int, blo: int, bhi: int) -> tuple[int, int, int, int, int]:
    """Return (quotient lo, hi, remainder lo, hi, error) of a * 10^digits by b, both unsigned and b
    below 2^127.

    The dividend may be as long as it likes: the quotient is found in pieces of as many decimal
    digits as the remainder has room for.
    """
    if digits <= NUMERIC_DIGITS_MAX:
        power_lo, power_hi = int128_power_of_ten(digits)
        lo, hi, overflow = int128_multiply_unsigned(alo, ahi, power_lo, power_hi)
        if not overflow:
            lo, hi, rest_lo, rest_hi = int128_divide_unsigned(lo, hi, blo, bhi)
            return lo, hi, rest_lo, rest_hi, NUMERIC_DIGITS if hi < 0 or int128_exceeds_digits(lo, hi) else OK
    return divide_in_pieces(alo, ahi, digits, blo, bhi)


@kernel
def divide_in_pieces(alo: int, ahi: int, digits: int, blo: int, bhi: int) -> tuple[int, int, int, int, int]:
    """Do the work of `divide_shifted` for a dividend of more than 128 bits."""
    lo, hi, rest_lo, rest_hi = int128_divide_unsigned(alo, ahi, blo, bhi)
    error = OK
    room = NUMERIC_DIGITS_MAX - int128_digits_count(blo, bhi)
    while digits > 0:
        piece = min(digits, max(room, 1))
        power_lo, power_hi = int128_power_of_ten(piece)
        if room > 0:
            rest_lo, rest_hi, _ = int128_multiply_unsigned(rest_lo, rest_hi, power_lo, power_hi)
            piece_lo, piece_hi, rest_lo, rest_hi = int128_divide_unsigned(rest_lo, rest_hi, blo, bhi)
        else:
            piece_lo, rest_lo, rest_hi = next_digit(rest_lo, rest_hi, blo, bhi)
            piece_hi = 0
        lo, hi, overflow = int128_multiply_unsigned(lo, hi, power_lo, power_hi)
        lo, hi, _ = int128_add(lo, hi, piece_lo, piece_hi)
        if overflow or hi < 0 or int128_exceeds_digits(lo, hi):
            error = NUMERIC_DIGITS
        digits -= piece
    return lo, hi, rest_lo, rest_hi, error


@kernel
def next_digit(rest_lo: int, rest_hi: int, blo: int, bhi: int) -> tuple[int, int, int]:
    """Return (digit, remainder lo, hi) of 10 * rest by b, for a b so long that 10 * rest may not
    fit: 10 = 2 * (2 * 2 + 1).
    """
    lo, hi = rest_lo, rest_hi
    digit = 0
    for step in range(3):
        digit *= 2
        lo, hi = int128_shift_left(lo, hi, 1)
        if int128_compare_unsigned(lo, hi, blo, bhi) >= 0:
            lo, hi, _ = int128_subtract(lo, hi, blo, bhi)
            digit += 1
        if step == 1:
            lo, hi, _ = int128_add(lo, hi, rest_lo, rest_hi)
            if int128_compare_unsigned(lo, hi, blo, bhi) >= 0:
                lo, hi, _ = int128_subtract(lo, hi, blo, bhi)
                digit += 1
    return digit, lo, hi
