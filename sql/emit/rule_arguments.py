"""Arguments of functions that must be constants, such as a unit, a zone or a number of digits."""

from __future__ import annotations

from sql.errors import not_supported
from sql.expressions import Cast, Expression, Literal


def literal_text(node: Expression, what: str) -> str:
    """Return the value of a literal text argument."""
    if not isinstance(node, Literal) or not isinstance(node.value, str):
        raise not_supported(f"{what} that is not a constant")
    return node.value


def literal_integer(node: Expression, what: str) -> int:
    """Return the value of a literal integer argument."""
    while isinstance(node, Cast):
        node = node.operand
    if not isinstance(node, Literal) or not isinstance(node.value, int):
        raise not_supported(f"{what} that is not a constant")
    return node.value
