"""NaN and the infinities of plain numerics, in the form (rank, SPECIAL_SCALE), for which each
value's scale has room.

A numeric whose scale is known when the statement is bound is never one of them: it is a plain
integer to all engines. The ranks have PostgreSQL's order; -Infinity is below all numbers.
`ringbuffer/scalar/numbers/numeric.py` and `engine/spark/spark_functions.java` have the same form.
"""

from __future__ import annotations

from decimal import Decimal

from sql.errors import SqlError, not_supported
from sql.types.datatypes import SqlType

SPECIAL_SCALE = -1
SPECIALS = {-1: Decimal("-Infinity"), 1: Decimal("Infinity"), 2: Decimal("NaN")}
NAN_RANK = 2


def special_parts(value: Decimal) -> tuple[int, int]:
    """Return (rank, SPECIAL_SCALE) of a value that is not finite."""
    if value.is_nan():
        return NAN_RANK, SPECIAL_SCALE
    return (1 if value > 0 else -1), SPECIAL_SCALE


def no_room(value: Decimal, kind: SqlType, position: int | None = None) -> SqlError:
    """Return the error of a numeric(p,s) for a value that is not finite: PostgreSQL's holds NaN,
    ours doesn't.
    """
    if value.is_nan():
        return not_supported(f"NaN as {kind.sql_name}", position, hint="A plain numeric can be NaN.")
    detail = f"A field with precision {kind.precision}, scale {kind.scale or 0} cannot hold an infinite value."
    return SqlError("22003", "numeric field overflow", position, detail=detail)


def not_an_integer(value: Decimal, type_name: str) -> SqlError:
    """Return PostgreSQL's error of a cast to an integer type."""
    return SqlError("0A000", f"cannot convert {'NaN' if value.is_nan() else 'infinity'} to {type_name}")
