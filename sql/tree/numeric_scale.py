"""Display scales of numeric results: the number of decimal digits of every value of an expression,
None where values differ.

There is one rule per canonical function, from the types of its operands, as PostgreSQL's numeric.c
computes dscale.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.errors import SqlError
from sql.tree.expressions import Expression, Literal
from sql.types.datatypes import SqlType

SCALE_MAX = 38


def result_scale(canonical: str, operands: Sequence[Expression], position: int | None = None) -> int | None:
    """Return the display scale of a numeric call's value."""
    scales = [operand.type.display_scale for operand in operands if operand.type.family == "numeric"]
    match canonical:
        case "add" | "subtract" | "modulo":
            return widest(scales)
        case "multiply":
            total = None if None in scales else sum(scale or 0 for scale in scales)
            return checked(total, position)
        case "negate" | "plus" | "abs" | "min" | "max":
            return scales[0]
        case "sum":
            # sum(bigint) is a numeric without decimals.
            return scales[0] if scales else 0
        case "ceil" | "floor" | "sign":
            return None if scales[0] is None else 0
        case "round" | "trunc":
            return rounded_scale(operands, position)
    return None


def widest(scales: Sequence[int | None]) -> int | None:
    known = [scale for scale in scales if scale is not None]
    return max(known) if len(known) == len(scales) else None


def rounded_scale(operands: Sequence[Expression], position: int | None) -> int | None:
    if operands[0].type.display_scale is None:
        # NaN and the infinities stay what they were.
        return None
    if len(operands) == 1:
        return 0
    digits = operands[1]
    if isinstance(digits, Literal) and isinstance(digits.value, int):
        return checked(max(digits.value, 0), position)
    return None


def checked(scale: int | None, position: int | None) -> int | None:
    if scale is not None and scale > SCALE_MAX:
        raise SqlError("22003", f"numeric value has more than {SCALE_MAX} digits", position)
    return scale


def common_scale(types: Sequence[SqlType]) -> int | None:
    """Return the scale of CASE, COALESCE and the like: the common one, or None when branches
    differ.
    """
    scales = {kind.display_scale for kind in types}
    return scales.pop() if len(scales) == 1 else None
