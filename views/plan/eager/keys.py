"""The expressions by which a stream may be grouped below a join, and that it may aggregate there.

They can be evaluated for rows that join nothing. Enters: expressions over a stream's columns.
Leaves: answers about them. Must not know blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.catalog.catalog import ARRIVAL
from sql.functions.rows import IMMUTABLE
from sql.functions.table import ROWS
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal
from sql.tree.relations import Filter, Project, Relation, Scan
from sql.tree.walks import children
from views.codegen.functions.table import FUNCTIONS as KERNEL_WRITERS
from views.codegen.values import is_plainly_compared
from views.plan.joins.casts import widens

# Yield NULL of NULL.
STRICT = frozenset(row.canonical for row in ROWS.values() if row.overflows)
SAFE = frozenset(
    row.canonical
    for row in ROWS.values()
    if not row.can_fail and row.volatility == IMMUTABLE and row.canonical in KERNEL_WRITERS
)
# What overflows fails the insert, also of a row that joins nothing; else every row would have to be
# kept.
ARGUMENTS = SAFE | STRICT


def is_of_kernels(expression: Expression) -> bool:
    """Return whether kernels compare values of all columns of an expression."""
    if isinstance(expression, Column):
        return is_plainly_compared(expression.type)
    return all(is_of_kernels(part) for part in children(expression))


def is_made_of(expression: Expression, functions: frozenset[str]) -> bool:
    """Return whether an expression is columns and constants under such functions, and safe casts.

    A safe cast fails for no value.
    """
    if isinstance(expression, Column | Literal):
        return True
    if isinstance(expression, Cast):
        if not widens(expression.operand.type, expression.type):
            return False
    elif isinstance(expression, Case):
        if functions is STRICT:
            return False
    elif not isinstance(expression, Call) or expression.function not in functions:
        return False
    return all(is_made_of(part, functions) for part in children(expression))


def keeps_all(relation: Relation, places: Sequence[int]) -> bool:
    """Return whether these columns of a stream, under filters and projections, are all of its
    columns.
    """
    if isinstance(relation, Filter):
        return keeps_all(relation.input, places)
    if isinstance(relation, Project):
        items = [relation.items[place][1] for place in places]
        return keeps_all(relation.input, [item.index for item in items if isinstance(item, Column)])
    shown = {index for index, column in enumerate(relation.schema) if column.name != ARRIVAL.name}
    return isinstance(relation, Scan) and relation.kind == "stream" and shown <= set(places)
