"""Display scales of numeric results: the number of decimal digits of every value of an expression,
None where values differ.

The rules are those of numeric.c, from the types of the operands; rows of the table of functions
name them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sql.errors import SqlError
from sql.tree.expressions import Expression, Literal
from sql.types.datatypes import SqlType

SCALE_MAX = 38

ScaleRule = Callable[[Sequence[Expression], int | None], int | None]


def _scales(operands: Sequence[Expression]) -> list[int | None]:
    return [operand.type.display_scale for operand in operands if operand.type.family == "numeric"]


def widest(operands: Sequence[Expression], position: int | None = None) -> int | None:
    """Return the scale of a sum."""
    scales = _scales(operands)
    known = [scale for scale in scales if scale is not None]
    return max(known) if len(known) == len(scales) else None


def summed(operands: Sequence[Expression], position: int | None = None) -> int | None:
    """Return the scale of a product. Raises 22003."""
    scales = _scales(operands)
    return checked(None if None in scales else sum(scale or 0 for scale in scales), position)


def first(operands: Sequence[Expression], position: int | None = None) -> int | None:
    """Return the operand's own scale; an aggregate of integers has no decimals."""
    scales = _scales(operands)
    return scales[0] if scales else 0


def whole(operands: Sequence[Expression], position: int | None = None) -> int | None:
    """Return the scale of a whole number, unless NaN and the infinities may stay what they were."""
    return None if _scales(operands)[0] is None else 0


def rounded(operands: Sequence[Expression], position: int | None = None) -> int | None:
    """Return the scale of ROUND and TRUNC. Raises 22003."""
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
