"""Literal values as digits and civil times, which both engines need to write a constant down
exactly.
"""

from __future__ import annotations

from decimal import Decimal

from sql.errors import SqlError
from sql.times.civil import DAY_US
from sql.types.datatypes import NUMERIC_DIGITS_MAX, SqlType
from sql.values.literal_output import timestamp_text
from sql.values.special_numbers import special_parts

# Years 1 to 9999: the times that Python and both engines can read as text.
READABLE_US = (-62_135_596_800_000_000, 253_402_300_799_999_999)


def unscaled_value(value: object, kind: SqlType) -> tuple[int, int]:
    """Return a numeric constant as (unscaled, scale), at its type's scale where that is fixed."""
    number = Decimal(str(value))
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        assert kind.display_scale is None, "what is not finite has no known scale"
        return special_parts(number)
    unscaled = int("".join(map(str, digits)) or "0") * (-1 if sign else 1) * 10 ** max(exponent, 0)
    scale = max(-exponent, 0)
    if kind.display_scale is not None:
        assert kind.display_scale >= scale, "a constant must fit its type's scale"
        unscaled, scale = unscaled * 10 ** (kind.display_scale - scale), kind.display_scale
    if abs(unscaled) >= 10**NUMERIC_DIGITS_MAX or scale > NUMERIC_DIGITS_MAX:
        raise SqlError("22003", "value overflows numeric format", detail="A numeric holds at most 38 digits.")
    return unscaled, scale


def decimal_text(unscaled: int, scale: int) -> str:
    """Return unscaled * 10^-scale as PostgreSQL prints it: all digits, no exponent."""
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    sign = "-" if unscaled < 0 else ""
    return sign + (f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits)


def civil_text(us: int) -> str | None:
    """Return microseconds since 1970 as 'YYYY-MM-DD HH:MM:SS[.ffffff]', or None outside the years 1
    to 9999.
    """
    if not READABLE_US[0] <= us <= READABLE_US[1]:
        return None
    return timestamp_text(us)


def civil_date(days: int) -> str | None:
    """Return days since 1970 as 'YYYY-MM-DD', or None outside the years 1 to 9999."""
    text = civil_text(days * DAY_US)
    return None if text is None else text[:10]
