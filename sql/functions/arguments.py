"""Arguments of functions that must be constants, such as a unit, a zone or a number of digits.

And a statement's run.
"""

from __future__ import annotations

from decimal import Decimal

from sql.errors import not_supported
from sql.times.interval_values import bin_width_us
from sql.tree.expressions import Cast, Expression, Literal

# The number of the cursor on which a statement runs in DuckDB, for calls that end in the middle
# when it is stopped.
RUN_VARIABLE = "run"
RUN = f"coalesce(getvariable('{RUN_VARIABLE}'), 0::BIGINT)"


def literal_text(node: Expression, what: str, null: str | None = None) -> str:
    """Return the value of a literal text argument.

    null: the meaning of NULL, if it has one.
    """
    if null is not None and isinstance(node, Literal) and node.value is None:
        return null
    if not isinstance(node, Literal) or not isinstance(node.value, str):
        raise not_supported(f"{what} that is not a constant")
    return node.value


def literal_bytes(node: Expression, what: str, null: bytes) -> bytes:
    """Return the value of a literal bytea argument; null: the meaning of NULL."""
    if not isinstance(node, Literal) or not isinstance(node.value, bytes | None):
        raise not_supported(f"{what} that is not a constant")
    return null if node.value is None else node.value


def literal_integer(node: Expression, what: str) -> int:
    """Return the value of a literal integer argument."""
    while isinstance(node, Cast):
        node = node.operand
    if not isinstance(node, Literal) or not isinstance(node.value, int):
        raise not_supported(f"{what} that is not a constant")
    return node.value


def literal_number(node: Expression, what: str) -> float | None:
    """Return the value of a literal number as a float, None for NULL."""
    while isinstance(node, Cast):
        node = node.operand
    if not isinstance(node, Literal) or not isinstance(node.value, int | float | Decimal | None):
        raise not_supported(f"{what} that is not a constant")
    return None if node.value is None else float(node.value)


def literal_bin_us(node: Expression) -> int:
    """Return the microseconds of date_bin's stride.

    Raises SqlError for a stride that is no constant, or that date_bin does not take.
    """
    match node:
        case Literal(value=(int(months), int(days), int(micros))):
            return bin_width_us((months, days, micros), node.position)
    raise not_supported("a stride that is not a constant")
