"""The expressions by which a stream may be grouped below a join, and that it may aggregate there.

They can be evaluated for rows that join nothing. Enters: expressions over a stream's columns.
Leaves: answers about them. Must not know blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sql.catalog.catalog import ARRIVAL
from sql.functions.rows import IMMUTABLE
from sql.functions.table import ROWS, can_fail, volatility
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal
from sql.tree.relations import Filter, Project, Relation, Scan
from sql.tree.walks import children, map_expression, walk
from sql.types.datatypes import BOOL
from views.codegen.functions.table import FUNCTIONS as KERNEL_WRITERS
from views.codegen.values import is_plainly_compared
from views.plan.joins.casts import widens

# Yield NULL of NULL.
STRICT = frozenset(row.canonical for row in ROWS.values() if row.overflows)
# Whether a call may be evaluated for a row that joins nothing.
Choice = Callable[[Call], bool]


def is_strict(call: Call) -> bool:
    """Return whether a call yields NULL of NULL, and fails for nothing but a value out of range."""
    return call.function in STRICT


def is_safe(call: Call) -> bool:
    """Return whether a call fails for no values."""
    return is_plain(call) and not can_fail(call)


def is_plain(call: Call) -> bool:
    """Return whether kernels compute a call, of which nothing but its operands tells the value."""
    return volatility(call.function) == IMMUTABLE and call.function in KERNEL_WRITERS


def is_argument(call: Call) -> bool:
    """Return whether a call may be aggregated below a join.

    What is out of range fails the insert, also of a row that joins nothing; else every row would
    have to be kept.
    """
    return is_strict(call) or is_safe(call) or (is_plain(call) and usual_condition(call) is not None)


def usual_condition(call: Call) -> Expression | None:
    """Return the condition under which a call that may fail does not."""
    row = ROWS.get(call.function)
    return None if row is None or row.usual is None else row.usual(call)


@dataclass(frozen=True)
class Guarded:
    """A key that fails for values at the ends of its one column, which are kept as they are.

    Attributes:
        usual: the expression, NULL for these values.
        kept: the column, NULL for all other values.
    """

    usual: Expression
    kept: Expression

    @property
    def keys(self) -> tuple[Expression, Expression]:
        """The keys."""
        return self.usual, self.kept

    def value(self, expression: Expression, usual: Expression, kept: Expression) -> Expression:
        """Return the expression where groups have these two columns."""
        is_kept = Call("is_not_null", (kept,), BOOL)
        again = map_expression(expression, lambda part: kept if isinstance(part, Column) else None)
        return Case(((is_kept, again),), usual, expression.type)


def guarded(expression: Expression) -> Guarded | None:
    """Return a key whose calls fail for values at the ends of its one column alone.

    None for any other expression.
    """
    failing = [part for part in walk(expression) if isinstance(part, Call) and not is_safe(part)]
    columns = {part for part in walk(expression) if isinstance(part, Column)}
    if len(failing) != 1 or len(columns) != 1:
        return None
    (call,), (column,) = failing, columns
    condition = usual_condition(call) if is_plain(call) else None
    if condition is None or column not in call.arguments or not is_made_of(expression, is_argument):
        return None
    unusual = Call("not", (condition,), BOOL)

    def unless(one: Expression, other: Expression) -> Expression:
        return Case(((unusual, one),), other, one.type)

    return Guarded(unless(Literal(None, expression.type), expression), unless(column, Literal(None, column.type)))


def is_of_kernels(expression: Expression) -> bool:
    """Return whether kernels compare values of all columns of an expression."""
    if isinstance(expression, Column):
        return is_plainly_compared(expression.type)
    return all(is_of_kernels(part) for part in children(expression))


def is_made_of(expression: Expression, chosen: Choice) -> bool:
    """Return whether an expression is columns and constants under such calls, and safe casts.

    A safe cast fails for no value.
    """
    if isinstance(expression, Column | Literal):
        return True
    if isinstance(expression, Cast):
        if not widens(expression.operand.type, expression.type):
            return False
    elif isinstance(expression, Case):
        if chosen is is_strict:
            return False
    elif not isinstance(expression, Call) or not chosen(expression):
        return False
    return all(is_made_of(part, chosen) for part in children(expression))


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
