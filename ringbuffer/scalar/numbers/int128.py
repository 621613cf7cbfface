"""128-bit two's complement integers as pairs of int64 words (lo, hi), for kernels only.

Every argument and result is an int64; a comparison gives -1, 0 or 1, an overflow is 1, else 0, and
then the words are the result modulo 2^128. The small operations are intrinsics on LLVM's i128: they
cost one to five machine instructions and little compile time, but can be called from compiled
functions only. Must not know scales or error codes; numeric.py does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import I64, I128
from ringbuffer.memory.columns import NUMERIC_DIGITS_MAX

I1 = ir.IntType(1)
WORD_BITS = ir.Constant(I128, 64)
ZERO = ir.Constant(I128, 0)

Build = Callable[[Any, Any], list[Any]]
UniTuple: Any = types.UniTuple
global_constant: Any = cgutils.global_constant

# The conversions between signed and unsigned words, as compiled code sees them.
signed_word: Any = np.int64
unsigned_word: Any = np.uint64


def words_intrinsic(arguments_count: int, results_count: int, build: Build, result: Any = types.int64) -> Any:
    """Return an intrinsic of `arguments_count` int64 words.

    `build(builder, words)` emits the code of `results_count` results.
    """
    signature = (result if results_count == 1 else UniTuple(result, results_count))(*[types.int64] * arguments_count)

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        results = build(builder, words)
        return results[0] if results_count == 1 else context.make_tuple(builder, signature.return_type, results)

    if arguments_count == 1:
        return intrinsic(lambda typing, a: (signature, generate))
    if arguments_count == 2:
        return intrinsic(lambda typing, a, b: (signature, generate))
    if arguments_count == 3:
        return intrinsic(lambda typing, a, b, c: (signature, generate))
    return intrinsic(lambda typing, a, b, c, d: (signature, generate))


def join(builder: Any, lo: Any, hi: Any) -> Any:
    """Emit the i128 of two words."""
    return builder.or_(builder.zext(lo, I128), builder.shl(builder.zext(hi, I128), WORD_BITS))


def split(builder: Any, value: Any) -> list[Any]:
    """Emit the two words of an i128."""
    return [builder.trunc(value, I64), builder.trunc(builder.lshr(value, WORD_BITS), I64)]


def pair(builder: Any, words: Any) -> tuple[Any, Any]:
    """Emit the two i128 of four words."""
    return join(builder, words[0], words[1]), join(builder, words[2], words[3])


def with_overflow(builder: Any, outcome: Any) -> list[Any]:
    """Emit (lo, hi, overflow) of an LLVM arithmetic-with-overflow result."""
    return [*split(builder, builder.extract_value(outcome, 0)), builder.zext(builder.extract_value(outcome, 1), I64)]


def magnitude(builder: Any, value: Any) -> Any:
    """Emit |value| as an unsigned i128."""
    return builder.select(builder.icmp_signed("<", value, ZERO), builder.neg(value), value)


def build_multiply(builder: Any, words: Any) -> list[Any]:
    """Emit a product from unsigned magnitudes: LLVM's signed one would call a library function that
    not every system has.
    """
    a, b = pair(builder, words)
    outcome = builder.umul_with_overflow(magnitude(builder, a), magnitude(builder, b))
    unsigned = builder.extract_value(outcome, 0)
    negative = builder.icmp_signed("<", builder.xor(a, b), ZERO)
    product = builder.select(negative, builder.neg(unsigned), unsigned)
    wrong_sign = builder.xor(builder.icmp_signed("<", product, ZERO), negative)
    lost = builder.and_(wrong_sign, builder.icmp_unsigned("!=", product, ZERO))
    return [*split(builder, product), builder.zext(builder.or_(builder.extract_value(outcome, 1), lost), I64)]


def build_compare(signed: bool) -> Build:
    """Return what emits -1, 0 or 1."""

    def build(builder: Any, words: Any) -> list[Any]:
        a, b = pair(builder, words)
        compare = builder.icmp_signed if signed else builder.icmp_unsigned
        return [builder.sub(builder.zext(compare(">", a, b), I64), builder.zext(compare("<", a, b), I64))]

    return build


def build_exceeds_digits(builder: Any, words: Any) -> list[Any]:
    """Emit 1 if |value| needs more than 38 digits: one addition and one unsigned comparison."""
    most = 10**NUMERIC_DIGITS_MAX - 1
    shifted = builder.add(join(builder, words[0], words[1]), ir.Constant(I128, most))
    return [builder.zext(builder.icmp_unsigned(">", shifted, ir.Constant(I128, 2 * most)), I64)]


def power_of_ten(builder: Any, exponent: Any) -> Any:
    """Emit 10^exponent for 0 <= exponent <= 38 from a table; a constant exponent folds."""
    table = global_constant(
        builder,
        "powers_of_ten",
        ir.Constant(ir.ArrayType(I128, NUMERIC_DIGITS_MAX + 1), [10**k for k in range(NUMERIC_DIGITS_MAX + 1)]),
    )
    return builder.load(builder.gep(table, [ir.Constant(I64, 0), exponent]))


def build_digits_count(builder: Any, words: Any) -> list[Any]:
    """Emit the decimal digits of an unsigned value (0 has none): log10(2) times its bits is at most
    one too few.
    """
    value = join(builder, words[0], words[1])
    bits = builder.sub(ir.Constant(I64, 128), builder.trunc(builder.ctlz(value, ir.Constant(I1, 0)), I64))
    guess = builder.lshr(builder.mul(bits, ir.Constant(I64, 1233)), ir.Constant(I64, 12))
    more = builder.zext(builder.icmp_unsigned(">=", value, power_of_ten(builder, guess)), I64)
    return [builder.add(guess, more)]


def build_divide_words(builder: Any, words: Any) -> list[Any]:
    """Emit the unsigned quotient and remainder of two words; the divisor must not be 0."""
    return [builder.udiv(words[0], words[1]), builder.urem(words[0], words[1])]


# (alo, ahi, blo, bhi) -> (lo, hi, overflow)
int128_add: Any = words_intrinsic(
    4, 3, lambda builder, w: with_overflow(builder, builder.sadd_with_overflow(*pair(builder, w)))
)
int128_subtract: Any = words_intrinsic(
    4, 3, lambda builder, w: with_overflow(builder, builder.ssub_with_overflow(*pair(builder, w)))
)
int128_multiply: Any = words_intrinsic(4, 3, build_multiply)
# Products of magnitudes: (alo, ahi, blo, bhi) -> (lo, hi, overflow), all unsigned.
int128_multiply_unsigned: Any = words_intrinsic(
    4, 3, lambda builder, w: with_overflow(builder, builder.umul_with_overflow(*pair(builder, w)))
)
# (a, b) signed words -> their exact product (lo, hi).
int128_multiply_words: Any = words_intrinsic(
    2, 2, lambda builder, w: split(builder, builder.mul(builder.sext(w[0], I128), builder.sext(w[1], I128)))
)
# (lo, hi) -> (lo, hi); -2^127 stays what it is, which as an unsigned magnitude is right.
int128_negate: Any = words_intrinsic(2, 2, lambda builder, w: split(builder, builder.neg(join(builder, *w))))
int128_absolute: Any = words_intrinsic(2, 2, lambda builder, w: split(builder, magnitude(builder, join(builder, *w))))
# (alo, ahi, blo, bhi) -> -1, 0, 1
int128_compare: Any = words_intrinsic(4, 1, build_compare(signed=True))
int128_compare_unsigned: Any = words_intrinsic(4, 1, build_compare(signed=False))
# (lo, hi, bits 0..127) -> (lo, hi)
int128_shift_left: Any = words_intrinsic(
    3, 2, lambda builder, w: split(builder, builder.shl(join(builder, w[0], w[1]), builder.zext(w[2], I128)))
)
int128_shift_right_unsigned: Any = words_intrinsic(
    3, 2, lambda builder, w: split(builder, builder.lshr(join(builder, w[0], w[1]), builder.zext(w[2], I128)))
)
# (lo, hi) -> 1 if the value needs more than 38 decimal digits, else 0
int128_exceeds_digits: Any = words_intrinsic(2, 1, build_exceeds_digits)
# (lo, hi) unsigned -> decimal digits, 0 for 0
int128_digits_count: Any = words_intrinsic(2, 1, build_digits_count)
# exponent 0..38 -> (lo, hi); nothing checks the bounds
int128_power_of_ten: Any = words_intrinsic(1, 2, lambda builder, w: split(builder, power_of_ten(builder, w[0])))
# (a, b) unsigned words -> (quotient, remainder)
divide_words: Any = words_intrinsic(2, 2, build_divide_words)
leading_zeros: Any = words_intrinsic(1, 1, lambda builder, w: [builder.ctlz(w[0], ir.Constant(I1, 0))])

HALF_BITS = np.uint64(32)
HALF_MASK = np.uint64(0xFFFFFFFF)
HALF_BASE = np.uint64(1 << 32)
ONE = np.uint64(1)


@kernel
def int128_divide_unsigned(alo: int, ahi: int, blo: int, bhi: int) -> tuple[int, int, int, int]:
    """Return (quotient lo, hi, remainder lo, hi) of unsigned values; the divisor must not be 0."""
    if ahi == 0 and bhi == 0:
        quotient, remainder = divide_words(alo, blo)
        return quotient, 0, remainder, 0
    return divide_wide(alo, ahi, blo, bhi)


@kernel
def divide_wide(alo: int, ahi: int, blo: int, bhi: int) -> tuple[int, int, int, int]:
    """Return (quotient lo, hi, remainder lo, hi): Hacker's Delight, udivdi3 with 64-bit digits.

    A two-word divisor has a one-word quotient; dividing by its top 64 bits alone gives it or one
    too many.
    """
    if bhi == 0:
        high, rest = divide_words(ahi, blo)
        low, rest = divide_two_words(rest, alo, blo)
        return low, high, rest, 0
    shift = leading_zeros(bhi)
    _, top = int128_shift_left(blo, bhi, shift)
    half_lo, half_hi = int128_shift_right_unsigned(alo, ahi, 1)
    digit, _ = divide_two_words(half_hi, half_lo, top)
    quotient = signed_word(unsigned_word(digit) >> unsigned_word(63 - shift))
    if quotient != 0:
        quotient -= 1
    product_lo, product_hi, _ = int128_multiply_unsigned(quotient, 0, blo, bhi)
    rest_lo, rest_hi, _ = int128_subtract(alo, ahi, product_lo, product_hi)
    if int128_compare_unsigned(rest_lo, rest_hi, blo, bhi) >= 0:
        quotient += 1
        rest_lo, rest_hi, _ = int128_subtract(rest_lo, rest_hi, blo, bhi)
    return quotient, 0, rest_lo, rest_hi


@kernel
def divide_two_words(high: int, low: int, divisor: int) -> tuple[int, int]:
    """Return (quotient, remainder) of (high, low) by one word, all unsigned; high < divisor.

    Knuth's D with 32-bit digits.
    """
    shift = unsigned_word(leading_zeros(divisor))
    normal = unsigned_word(divisor) << shift
    top = normal >> HALF_BITS
    bottom = normal & HALF_MASK
    shifted_lo, shifted_hi = int128_shift_left(low, high, signed_word(shift))
    upper = unsigned_word(shifted_hi)
    lower = unsigned_word(shifted_lo)
    first, upper = divide_digit(upper, lower >> HALF_BITS, top, bottom, normal)
    second, upper = divide_digit(upper, lower & HALF_MASK, top, bottom, normal)
    return signed_word((first << HALF_BITS) | second), signed_word(upper >> shift)


@kernel
def divide_digit(
    upper: np.uint64, digit: np.uint64, top: np.uint64, bottom: np.uint64, normal: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Return the next 32-bit digit of a quotient and the new remainder of (upper, digit) by
    `normal` = (top, bottom).
    """
    guess = upper // top
    rest = upper - guess * top
    while guess >= HALF_BASE or guess * bottom > ((rest << HALF_BITS) | digit):
        guess -= ONE
        rest += top
        if rest >= HALF_BASE:
            break
    return guess, ((upper << HALF_BITS) | digit) - guess * normal
