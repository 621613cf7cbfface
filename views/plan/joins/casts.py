"""Casts that fail for no value.

Enters: types, and casts between them. Leaves: answers. Must not know what is done with them.
"""

from __future__ import annotations

from sql.tree.expressions import Cast, Expression
from sql.types.datatypes import SqlType

INTEGERS = ("int2", "int4", "int8")
TEXTS = ("text", "varchar")
# Other values of these may have one float8.
LONG = ("int8", "numeric")


def widens(source: SqlType, target: SqlType) -> bool:
    """Return whether every value of a type has a value of the other type, which is no narrower."""
    if source.family in INTEGERS and target.family in INTEGERS:
        return INTEGERS.index(source.family) <= INTEGERS.index(target.family)
    plain = target == target.without_modifier()
    if target.family in ("numeric", "float8"):
        return plain and source.family in (*INTEGERS, "numeric", "float4")
    return plain and source.family in (*TEXTS, "bpchar") and target.family in TEXTS


def unwidened(expression: Expression) -> Expression:
    """Return the operand of a cast to a wider type that keeps different values different."""
    while isinstance(expression, Cast) and widens(expression.operand.type, expression.type):
        if expression.type.family == "float8" and expression.operand.type.family in LONG:
            break
        expression = expression.operand
    return expression
