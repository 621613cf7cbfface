"""Sums and averages of exact numbers: the type of a sum, and an average as a quotient."""

from __future__ import annotations

from sql.tree.expressions import Call, Cast, Expression
from sql.types.datatypes import INT8, SqlType, scaled_numeric

EXACT_FAMILIES = frozenset({"int2", "int4", "int8", "numeric"})


def sum_type(argument: SqlType) -> SqlType:
    """Return the type of PostgreSQL's sum over an exact number."""
    if argument.family in ("int2", "int4"):
        return INT8
    return scaled_numeric(0 if argument.family == "int8" else argument.display_scale)


def quotient(total: Expression, count: Expression, kind: SqlType) -> Expression:
    """Return total / count as PostgreSQL's avg ends: NULL when nothing was summed."""
    wide = total if total.type.family == "numeric" else Cast(total, scaled_numeric(0))
    return Call("divide", (wide, Cast(count, scaled_numeric(0))), kind)
