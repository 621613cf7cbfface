"""PostgreSQL's scalar functions on Python values, where DuckDB's own mean something else: checked
floats and text functions.

Strict: callers handle NULL. Raise SqlError with PostgreSQL's SQLSTATE. Must not know of Arrow or
DuckDB.
"""

from __future__ import annotations

import math

from sql.errors import SqlError


def overflow() -> SqlError:
    return SqlError("22003", "value out of range: overflow")


def float8_total(total: float, has_infinity: bool | None) -> float:
    """Return a sum of floats, or 22003 where finite values summed to infinity."""
    if math.isinf(total) and not has_infinity:
        raise overflow()
    return total


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
