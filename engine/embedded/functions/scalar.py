"""PostgreSQL's scalar functions on Python values, where DuckDB's own mean something else: checked
floats and text functions.

Strict: callers handle NULL. Raise SqlError with PostgreSQL's SQLSTATE. Must not know of Arrow or
DuckDB.
"""

from __future__ import annotations

import math

import numpy as np

from sql.errors import SqlError


def overflow() -> SqlError:
    return SqlError("22003", "value out of range: overflow")


def underflow() -> SqlError:
    return SqlError("22003", "value out of range: underflow")


def sqrt(value: float) -> float:
    if value < 0:
        raise SqlError("2201F", "cannot take square root of a negative number")
    return math.sqrt(value)


def ln(value: float) -> float:
    if value == 0:
        raise SqlError("2201E", "cannot take logarithm of zero")
    if value < 0:
        raise SqlError("2201E", "cannot take logarithm of a negative number")
    return math.log(value)


def exp(value: float) -> float:
    try:
        result = math.exp(value)
    except OverflowError:
        raise overflow() from None
    if result == 0 and not math.isinf(value):
        raise underflow()
    return result


def power(base: float, exponent: float) -> float:
    """Return base ^ exponent, with IEEE's special cases."""
    if base == 0 and exponent < 0:
        raise SqlError("2201F", "zero raised to a negative power is undefined")
    if base < 0 and math.isfinite(exponent) and exponent != math.floor(exponent):
        raise SqlError("2201F", "a negative number raised to a non-integer power yields a complex result")
    try:
        result = math.pow(base, exponent)
    except OverflowError:
        raise overflow() from None
    if result == 0 and base != 0 and math.isfinite(base) and math.isfinite(exponent):
        raise underflow()
    return result


def float8_total(total: float, has_infinity: bool | None) -> float:
    """Return a sum of floats, or 22003 where finite values summed to infinity."""
    if math.isinf(total) and not has_infinity:
        raise overflow()
    return total


def float4_from_float8(value: float) -> float:
    """Return the nearest real."""
    with np.errstate(over="ignore", under="ignore"):
        narrow = float(np.float32(value))
    if math.isinf(narrow) and not math.isinf(value):
        raise overflow()
    if narrow == 0 and value != 0:
        raise underflow()
    return narrow


def substring(text: str, start: int, length: int) -> str:
    """Return substring(text from start for length): positions before the text count, but hold
    nothing.
    """
    if length < 0:
        raise SqlError("22011", "negative substring length not allowed")
    return text[max(start, 1) - 1 : max(start + length, 1) - 1]


def left(text: str, count: int) -> str:
    return text[:count]


def right(text: str, count: int) -> str:
    """Return the last `count` characters; a negative count drops that many first ones."""
    return text[-count:] if count else ""


def position(text: str, part: str) -> int:
    return text.find(part) + 1


def repeat(text: str, count: int) -> str:
    return text * max(count, 0)


def replace(text: str, part: str, by: str) -> str:
    """Return the text with every `part` of it replaced; an empty part is nowhere."""
    return text.replace(part, by) if part else text


def lpad(text: str, length: int, fill: str) -> str:
    length = max(length, 0)
    missing = length - len(text)
    if missing <= 0 or not fill:
        return text[:length]
    return (fill * (missing // len(fill) + 1))[:missing] + text


def rpad(text: str, length: int, fill: str) -> str:
    length = max(length, 0)
    missing = length - len(text)
    if missing <= 0 or not fill:
        return text[:length]
    return text + (fill * (missing // len(fill) + 1))[:missing]


def split_part(text: str, separator: str, field: int) -> str:
    """Return the field-th part, counted from the end when negative."""
    if field == 0:
        raise SqlError("22023", "field position must not be zero")
    if not text:
        return ""
    parts = text.split(separator) if separator else [text]
    index = field - 1 if field > 0 else len(parts) + field
    return parts[index] if 0 <= index < len(parts) else ""


def limit_text(text: str, length: int) -> str:
    """Return a text for varchar(length): only trailing spaces may be cut."""
    if len(text) <= length:
        return text
    if text[length:].strip(" "):
        raise SqlError("22001", f"value too long for type character varying({length})")
    return text[:length]
