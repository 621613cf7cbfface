"""PostgreSQL's text input of integers, floats and numerics, and the limits of numeric(p,s).

Enters: a text and a type. Leaves: int, float, or a Decimal with its digits. NaN and the infinities
are Decimals as well. Raises 22P02 and 22003; for NaN as numeric(p,s) 0A000.
"""

from __future__ import annotations

import re
import struct
from decimal import Context, Decimal

from sql.errors import SqlError
from sql.types.datatypes import NUMERIC_DIGITS_MAX, SqlType, numeric
from sql.values.special_numbers import no_room

# Digits of PostgreSQL's numerics before the point.
WHOLE_DIGITS_MAX = 131_072
WHITESPACE = " \t\n\r\f\v"
EXACT = Context(prec=2000, Emax=999_999, Emin=-999_999)

INTEGER_BITS = {"int2": 16, "int4": 32, "int8": 64}
INTEGER = re.compile(r"[+-]?[0-9]+")
# No part gives back what it took: otherwise a long text that is no number takes a time that is
# quadratic in its length.
DECIMAL = re.compile(r"[+-]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+")
# The spellings that the C library reads, and with it PostgreSQL.
NOT_A_NUMBER = re.compile(r"[+-]?nan(?:\([a-z0-9_]*+\))?+", re.IGNORECASE | re.ASCII)
HEXADECIMAL = re.compile(
    r"[+-]?0x(?:[0-9a-f]++\.?+[0-9a-f]*+|\.[0-9a-f]++)(?:p[+-]?[0-9]++)?+", re.IGNORECASE | re.ASCII
)
SPECIAL_FLOATS = {"nan": "nan", "inf": "inf", "+inf": "inf", "-inf": "-inf"}
SPECIAL_FLOATS |= {"infinity": "inf", "+infinity": "inf", "-infinity": "-inf"}
FLOAT4_MAX = 3.4028235677973366e38  # halfway between the largest float4 and the next power
FLOAT4_MIN = 7.006492321624085e-46  # half of the smallest one


def invalid(text: str, kind: SqlType, position: int | None) -> SqlError:
    """Return the 22P02 error of a text that is no value of `kind`."""
    return SqlError("22P02", f'invalid input syntax for type {kind.without_modifier().sql_name}: "{text}"', position)


def integer_value(text: str, kind: SqlType, position: int | None) -> int:
    stripped = text.strip(WHITESPACE)
    digits = INTEGER.match(stripped)
    if digits is None:
        raise invalid(text, kind, position)
    bound = 1 << (INTEGER_BITS[kind.family] - 1)
    # int() of very long digit strings is refused by Python; 40 digits are out of range anyway.
    value = int(digits[0]) if len(digits[0].lstrip("+-0")) < 40 else 2 * bound
    # PostgreSQL reads from the left: too many digits are noticed before the characters after them.
    if abs(value) <= bound and digits.end() < len(stripped):
        raise invalid(text, kind, position)
    if not -bound <= value < bound:
        raise SqlError("22003", f'value "{text}" is out of range for type {kind.sql_name}', position)
    return value


def float_value(text: str, kind: SqlType, position: int | None) -> float:
    stripped = text.strip(WHITESPACE)
    special = SPECIAL_FLOATS.get(stripped.lower())
    if special is not None:
        return float(special)
    if NOT_A_NUMBER.fullmatch(stripped):
        return float("nan")
    if HEXADECIMAL.fullmatch(stripped):
        value = hexadecimal_value(stripped)
        digits, exact = stripped.lower().split("p")[0].replace("0x", ""), ""
    elif DECIMAL.fullmatch(stripped):
        value = float(stripped)
        digits, exact = stripped.lower().split("e")[0], stripped
    else:
        raise invalid(text, kind, position)
    underflow = value == 0.0 and any(digit not in "+-.0" for digit in digits)
    if kind.family == "float8":
        if value in (float("inf"), float("-inf")) or underflow:
            raise SqlError("22003", f'"{stripped}" is out of range for type double precision', position)
        return value
    # A float4 below its smallest normal number is kept as long as it does not round to zero.
    if underflow or abs(value) >= FLOAT4_MAX or (value != 0.0 and abs(value) <= FLOAT4_MIN):
        raise SqlError("22003", f'"{stripped}" is out of range for type real', position)
    return round_float4(value, exact)


def hexadecimal_value(text: str) -> float:
    """Return a number in C's hexadecimal form; a number that is too large is infinite."""
    try:
        return float.fromhex(text)
    except (OverflowError, ValueError):
        return float("inf") if "p-" not in text.lower() else 0.0


def round_float4(value: float, text: str = "") -> float:
    """Return `value` as a float4.

    text: the digits of the value, which decide where rounding twice would err.
    """
    single = float(struct.unpack("<f", struct.pack("<f", value))[0])
    if not text or single == value:
        return single
    exact = Decimal(text)
    if exact == Decimal(value):
        return single
    # The double may be a tie between two float4 values where the text itself is none.
    bits = struct.unpack("<i", struct.pack("<f", single))[0]
    neighbours = [single]
    for step in (-1, 1):
        near = float(struct.unpack("<f", struct.pack("<i", bits + step))[0])
        if near - near == 0.0:
            neighbours.append(near)
    return min(neighbours, key=lambda near: abs(EXACT.subtract(Decimal(near), exact)))


def decimal_value(text: str, position: int | None = None) -> Decimal:
    """Return the numeric with the digits of `text`: '1e3' has none after the point, '1.50' has
    two.
    """
    return check_digits(unlimited_decimal(text, position), position)


def unlimited_decimal(text: str, position: int | None = None) -> Decimal:
    """Return the numeric as PostgreSQL has it, which may have more digits than ours can hold."""
    stripped = text.strip(WHITESPACE)
    if DECIMAL.fullmatch(stripped) is None:
        special = SPECIAL_FLOATS.get(stripped.lower())
        if special is not None:
            return Decimal(special)
        raise SqlError("22P02", f'invalid input syntax for type numeric: "{text}"', position)
    mantissa, _, exponent = stripped.lower().partition("e")
    shift = int(exponent or "0") if len(exponent) < 8 else 9_999_999
    if abs(shift) > WHOLE_DIGITS_MAX:
        raise SqlError("22003", "value overflows numeric format", position)
    digits = len(mantissa.partition(".")[2])
    if Decimal(stripped).adjusted() >= WHOLE_DIGITS_MAX and Decimal(stripped):
        raise SqlError("22003", "value overflows numeric format", position)
    if Decimal(stripped).adjusted() + max(digits - shift, 0) >= EXACT.prec:
        raise too_many_digits(position)
    value = EXACT.quantize(Decimal(stripped), Decimal(1).scaleb(-max(digits - shift, 0)))
    # A numeric has no negative zero, so that a numeric zero never becomes -0 as a float.
    return value or value.copy_abs()


def check_digits(value: Decimal, position: int | None) -> Decimal:
    """Raise 22003 when `value` needs more than 38 digits."""
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return value
    used = len(digits) if value else 1
    if max(used, -exponent) > NUMERIC_DIGITS_MAX:
        raise too_many_digits(position)
    return value


def too_many_digits(position: int | None) -> SqlError:
    return SqlError("22003", f"numeric value has more than {NUMERIC_DIGITS_MAX} digits", position)


def fit_numeric(value: Decimal, precision: int, scale: int, position: int | None = None) -> Decimal:
    """Return `value` rounded (half away from zero) to numeric(precision, scale)."""
    if not value.is_finite():
        raise no_room(value, numeric(precision, scale), position)
    rounded = value.quantize(Decimal(1).scaleb(-scale), rounding="ROUND_HALF_UP", context=EXACT)
    # abs() would round to the default context's 28 digits.
    if rounded.copy_abs() >= Decimal(10) ** (precision - scale):
        bound = f"10^{precision - scale}" if precision > scale else "1"
        detail = f"A field with precision {precision}, scale {scale} must round to an absolute value less than {bound}."
        raise SqlError("22003", "numeric field overflow", position, detail=detail)
    return rounded or rounded.copy_abs()
