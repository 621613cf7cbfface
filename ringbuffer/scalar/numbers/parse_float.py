"""double precision and real from text, exactly rounded: Clinger's fast path, then Eisel and
Lemire's 128-bit product.

Enter: `buffer` uint8[n] and the field's bytes [start, end). Leave: the value and an error code;
NEEDS_FALLBACK for the few texts that the product can't decide (and hexadecimal ones), which
`exact_float` settles in Python. Must not know columns or NULL.
"""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import bits_of_float, float_from_bits, multiply_unsigned, signed_word
from ringbuffer.memory.error_codes import FLOAT_OVERFLOW, FLOAT_UNDERFLOW, INVALID_TEXT, NEEDS_FALLBACK, OK, REAL_RANGE
from ringbuffer.scalar.numbers.fields import INF, INFINITY, NAN, WORD_DIGITS_MAX, Bytes, is_word, scan_decimal, trim

POWER_MIN = -342
POWER_MAX = 308
EXACT_POWER_MAX = 22
MANTISSA_BITS = 52
MANTISSA_MAX = 1 << 53
EXPONENT_BIAS = 1023
EXPONENT_INFINITE = 0x7FF
FLOAT32_MAX = 3.4028234663852886e38

EXACT_POWERS = np.array([10.0**k for k in range(EXACT_POWER_MAX + 1)])


def _powers_of_five() -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    """Return (high, low) of the top 128 bits of 5^q for q in [POWER_MIN, POWER_MAX], truncated.

    Of inverses, rounded up.
    """
    rows = []
    for power in range(POWER_MIN, POWER_MAX + 1):
        five = 5 ** abs(power)
        bits = five.bit_length()
        if power >= 0:
            word = five << (128 - bits) if bits <= 128 else five >> (bits - 128)
        else:
            word = (1 << ((bits + 127) if power >= -27 else (2 * bits + 128))) // five + 1
            word >>= max(0, word.bit_length() - 128)
        rows.append((word >> 64, word & (2**64 - 1)))
    return np.array(rows, dtype=np.uint64)


POWERS_OF_FIVE = _powers_of_five()


@kernel
def parse_float64(buffer: Bytes, start: int, end: int) -> tuple[float, int]:
    """Return (value, error) as PostgreSQL's float8in.

    A finite text out of range is an error, a denormal is not.
    """
    error, negative, word, digits_count, _, exponent = scan_decimal(buffer, start, end)
    if error != OK:
        return special_float(buffer, start, end)
    if digits_count == 0:
        return (-0.0 if negative else 0.0), OK
    if (
        digits_count <= WORD_DIGITS_MAX
        and -EXACT_POWER_MAX <= exponent <= EXACT_POWER_MAX
        and word <= np.uint64(MANTISSA_MAX)
    ):
        value: float = signed_word(word) * 1.0
        value = value / EXACT_POWERS[-exponent] if exponent < 0 else value * EXACT_POWERS[exponent]
        return (-value if negative else value), OK
    exponent += max(0, digits_count - WORD_DIGITS_MAX)
    value = decimal_product(word, exponent)
    if digits_count > WORD_DIGITS_MAX and decimal_product(word + np.uint64(1), exponent) != value:
        return 0.0, NEEDS_FALLBACK
    if value == np.inf:
        return 0.0, FLOAT_OVERFLOW
    if value == 0.0:
        return 0.0, FLOAT_UNDERFLOW
    return (-value if negative else value), OK


@kernel
def parse_float32(buffer: Bytes, start: int, end: int) -> tuple[float, int]:
    """Return (value, error) as float4in: a float64 that is a float32, rounded once, from the
    text.
    """
    value, error = parse_float64(buffer, start, end)
    if error in (FLOAT_OVERFLOW, FLOAT_UNDERFLOW):
        return 0.0, REAL_RANGE
    if error != OK or value == 0.0 or value - value != 0.0:
        return value, error
    bits = bits_of_float(value)
    nearest = np.float32(value)
    # Rounding twice differs from rounding once only within one step of the point between two
    # float32.
    if (
        np.float32(float_from_bits(bits + np.uint64(1))) != nearest
        or np.float32(float_from_bits(bits - np.uint64(1))) != nearest
    ):
        return 0.0, NEEDS_FALLBACK
    if nearest == 0.0 or abs(np.float64(nearest)) > FLOAT32_MAX:
        return 0.0, REAL_RANGE
    return np.float64(nearest), OK


@kernel
def decimal_product(word: np.uint64, exponent: int) -> float:
    """Return word * 10^exponent, rounded to nearest, even on ties; 0 or infinity out of range.

    This is algorithm 1 of Lemire, 2021.
    """
    if exponent < POWER_MIN:
        return 0.0
    if exponent > POWER_MAX:
        return np.inf
    zeros = leading_zeros(word)
    word = word << np.uint64(zeros)
    row = exponent - POWER_MIN
    low, high = multiply_unsigned(word, POWERS_OF_FIVE[row, 0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        _, carry = multiply_unsigned(word, POWERS_OF_FIVE[row, 1])
        low = low + carry
        if carry > low:
            high += np.uint64(1)
    upper = signed_word(high >> np.uint64(63))
    mantissa = high >> np.uint64(upper + 9)
    power = ((217706 * exponent) >> 16) + 63 + upper - zeros + EXPONENT_BIAS
    if power <= 0:
        if 1 - power >= 64:
            return 0.0
        mantissa >>= np.uint64(1 - power)
        mantissa += mantissa & np.uint64(1)
        # A mantissa that rounds up to 2^52 lands on the smallest normal number by itself.
        small: float = float_from_bits(mantissa >> np.uint64(1))
        return small
    if low <= np.uint64(1) and -4 <= exponent <= 23 and mantissa & np.uint64(3) == np.uint64(1):
        if mantissa << np.uint64(upper + 9) == high:
            mantissa &= ~np.uint64(1)
    mantissa += mantissa & np.uint64(1)
    mantissa >>= np.uint64(1)
    if mantissa >= np.uint64(MANTISSA_MAX):
        mantissa = np.uint64(1 << MANTISSA_BITS)
        power += 1
    if power >= EXPONENT_INFINITE:
        return np.inf
    mantissa &= np.uint64((1 << MANTISSA_BITS) - 1)
    value: float = float_from_bits(mantissa | (np.uint64(power) << np.uint64(MANTISSA_BITS)))
    return value


@kernel
def leading_zeros(word: np.uint64) -> int:
    """Return how many zero bits are above the highest one bit; word is not 0."""
    count = 0
    for shift in (32, 16, 8, 4, 2, 1):
        if word >> np.uint64(64 - shift) == np.uint64(0):
            count += shift
            word = word << np.uint64(shift)
    return count


@kernel
def special_float(buffer: Bytes, start: int, end: int) -> tuple[float, int]:
    """Return (value, error) of a text that is no decimal number.

    It is infinity or NaN in any case, or a form that only C's strtod takes.
    """
    start, end = trim(buffer, start, end)
    negative = False
    if start < end and (buffer[start] == 45 or buffer[start] == 43):
        negative = buffer[start] == 45
        start += 1
    if is_word(buffer, start, end, INF) or is_word(buffer, start, end, INFINITY):
        return (-np.inf if negative else np.inf), OK
    if is_word(buffer, start, end, NAN):
        return np.nan, OK
    if end - start > 2 and buffer[start] == 48 and (buffer[start + 1] | 32) == 120:
        return 0.0, NEEDS_FALLBACK
    return 0.0, INVALID_TEXT


def exact_float(text: str, single: bool) -> tuple[float, int]:
    """Return (value, error) of a text that a kernel could not decide: exact arithmetic, rounded
    once.
    """
    stripped = text.strip(" \t\n\v\f\r")
    try:
        value = float.fromhex(stripped) if "x" in stripped.lower() else float(stripped)
    except OverflowError:
        return 0.0, REAL_RANGE if single else FLOAT_OVERFLOW
    except ValueError:
        return 0.0, INVALID_TEXT
    if not single:
        if value in (float("inf"), float("-inf")):
            return 0.0, FLOAT_OVERFLOW
        return value, OK if value != 0.0 else FLOAT_UNDERFLOW
    return _exact_single(Fraction(value) if "x" in stripped.lower() else Fraction(stripped), value)


def _exact_single(exact: Fraction, value: float) -> tuple[float, int]:
    """Return the float32 nearest to `exact`, even on ties.

    `value` is its float64 and points at the right pair of neighbours.
    """
    with np.errstate(over="ignore"):
        middle = int(np.float32(value).view(np.uint32)) & 0x7FFFFFFF
    size = abs(exact)
    best = min(
        (bits for bits in (middle - 1, middle, middle + 1) if 0 <= bits <= 0x7F800000),
        key=lambda bits: (abs(_single_size(bits) - size), bits & 1),
    )
    if best in (0, 0x7F800000):
        return 0.0, REAL_RANGE
    result: float = struct.unpack("<f", struct.pack("<I", best))[0]
    return (-result if exact < 0 else result), OK


def _single_size(bits: int) -> Fraction:
    if bits == 0x7F800000:
        return Fraction(2) ** 128
    unpacked: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    return Fraction(unpacked)
