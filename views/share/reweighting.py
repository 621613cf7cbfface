"""Aggregates over rows that each stand for several rows.

    count(*), count(x)   ->  sum of the counts                   avg   ->  such a sum by such a count
    sum(x)               ->  sum(x times the count)              min, max, bool_and, bit_or, DISTINCT ...  ->  as they are

Enters: aggregates, and expressions that say how many rows a row stands for. Leaves: aggregates over
such rows, and the expression above them. Must not know where rows come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sql.functions.table import AGGREGATE_ROWS, DISTINCT_FREE
from sql.tree.expressions import AggregateCall, Call, Cast, Column, Expression, Literal, SortKey
from sql.tree.walks import children
from sql.types.datatypes import BOOL, FLOAT8, INT8, SqlType, scaled_numeric
from views.codegen.values import has_equality, shown_words
from views.model.exact_sums import sum_type

COUNTS = ("count", "count_star")
# What the same function makes of its own results, however often each is there.
REPEATED = DISTINCT_FREE
SUMS = ("sum", "avg")
FLOATS = ("float4", "float8")
EXACT = ("int2", "int4", "int8", "numeric")
CHOICES = ("first", "last")
ONE = Literal(1, INT8)
ZERO = Literal(0, INT8)


@dataclass(frozen=True)
class Weighted:
    """An aggregate over rows that each stand for several rows.

    Attributes:
        calls: the aggregates over these rows.
        value: the aggregate's value made of them, in which `Column(i)` is `calls[i]`.
    """

    calls: tuple[AggregateCall, ...]
    value: Expression


def can_reweight(call: AggregateCall) -> bool:
    """Return whether an aggregate can be computed over rows that each stand for several rows."""
    if call.function == "grouping":
        return True
    if call.order_by:
        return False
    if call.function in SUMS and call.arguments[0].type.family not in (*FLOATS, *EXACT):
        return False
    return call.function in (*COUNTS, *SUMS, *REPEATED)


def is_choice(call: AggregateCall) -> bool:
    """Tell whether an aggregate is the value of the first or the last row in an order of its own,
    which is the same however often each row occurs.
    """
    if call.function not in CHOICES or not call.order_by:
        return False
    return all(has_equality(part.type) for part in _fields(children(call)))


def with_ties(call: AggregateCall) -> AggregateCall:
    """Return an aggregate whose order tells apart all rows that it may choose from: of rows that
    are equal in its own order, which have no arrival, those with the smallest or largest value.
    """
    if not is_choice(call):
        return call
    return replace(call, order_by=(*call.order_by, *(SortKey(value) for value in call.arguments)))


def can_repeat(call: AggregateCall) -> bool:
    """Return whether an aggregate can be computed over such rows, each taken as often as rows that
    it stands for: it has no need of the rows' arrival.
    """
    row = AGGREGATE_ROWS.get(call.function)
    if row is None or "FIRST" in row.states.values():
        return False
    return all(has_equality(part.type) for part in _fields(children(call)))


def shows_forms(call: AggregateCall) -> bool:
    """Tell whether an aggregate shows how values look that are equal to others."""
    row = AGGREGATE_ROWS.get(call.function)
    if row is None or call.distinct or row.within_group or can_reweight(call):
        return False
    alike = FLOATS if row.adds_floats or row.final == "count" else ()
    return any(shown_words(part.type) and part.type.family not in alike for part in _fields(children(call)))


def _fields(parts: Sequence[Expression]) -> list[Expression]:
    """Return expressions with the fields of rows in the place of the rows."""
    return [one for part in parts for one in ([part] if part.type.record is None else _fields(children(part)))]


def counts_rows(call: AggregateCall) -> bool:
    """Return whether an aggregate depends on how often each row occurs."""
    return call.function in (*COUNTS, *SUMS) and not call.distinct


def partial_calls(call: AggregateCall) -> tuple[AggregateCall, ...]:
    """Return the aggregates that a group keeps for an aggregate of its own arguments."""
    call = replace(call, distinct=False)
    if call.function != "avg":
        return (call,)
    (argument,) = call.arguments
    count = replace(call, function="count", type=INT8)
    if argument.type.family in FLOATS:
        return replace(call, function="sum", arguments=(_as(argument, FLOAT8),), type=FLOAT8), count
    return replace(call, function="sum", type=sum_type(argument.type)), count


def from_partials(call: AggregateCall, partials: Sequence[Expression], weight: Expression | None) -> Weighted:
    """Return an aggregate over the columns that groups have kept for it.

    weight: how often each group occurs, its own count not included; None: once.
    """
    if call.function in REPEATED:
        return Weighted((AggregateCall(call.function, (partials[0],), call.type),), Column(0, "value", call.type))
    if call.function in COUNTS:
        return _counted(times(partials[0], weight), None)
    total = _summed(partials[0], weight, call)
    if call.function == "sum":
        return Weighted((total,), _as(Column(0, "total", total.type), call.type))
    count = _counted(times(partials[1], weight), None).calls[0]
    return Weighted((total, count), _mean(total, count, call.type))


def from_rows(call: AggregateCall, weight: Expression | None) -> Weighted:
    """Return an aggregate over rows that occur `weight` times each; None: once."""
    if weight is None or not counts_rows(call):
        return Weighted((call,), Column(0, "value", call.type))
    if call.function == "count_star":
        return _counted(weight, call.filter)
    condition = _both(call.filter, Call("is_not_null", call.arguments, BOOL))
    if call.function == "count":
        return _counted(weight, condition)
    total = replace(_summed(call.arguments[0], weight, call), filter=call.filter)
    if call.function == "sum":
        return Weighted((total,), _as(Column(0, "total", total.type), call.type))
    count = _counted(weight, condition).calls[0]
    return Weighted((total, count), _mean(total, count, call.type))


def times(value: Expression, weight: Expression | None) -> Expression:
    """Return the product of two counts."""
    return value if weight is None else Call("multiply", (value, weight), INT8)


def known_count(count: Expression) -> Expression:
    """Return a count in which NULL is 1: an outer join that has found nothing yields one row."""
    return Call("coalesce", (count, ONE), INT8)


def _counted(count: Expression, condition: Expression | None) -> Weighted:
    """Return a sum of counts, which is 0 for no rows.

    A count is NULL for a row for which an outer join has found nothing.
    """
    call = AggregateCall("sum", (count,), scaled_numeric(0), condition)
    total = Cast(Column(0, "count", call.type), INT8)
    return Weighted((call,), Call("coalesce", (total, ZERO), INT8))


def _summed(value: Expression, weight: Expression | None, call: AggregateCall) -> AggregateCall:
    if value.type.family in FLOATS:
        wide = _as(value, FLOAT8)
        product: Expression = wide if weight is None else Call("multiply", (wide, Cast(weight, FLOAT8)), FLOAT8)
        return AggregateCall("sum", (product,), FLOAT8)
    kind = scaled_numeric(value.type.display_scale if value.type.family == "numeric" else 0)
    exact = _as(value, kind)
    if weight is not None:
        exact = Call("multiply", (exact, Cast(weight, scaled_numeric(0))), kind)
    return AggregateCall("sum", (exact,), kind)


def _mean(total: AggregateCall, count: AggregateCall, kind: SqlType) -> Expression:
    """Return total / count, NULL when nothing was summed."""
    value, number = Column(0, "total", total.type), Column(1, "count", count.type)
    rows_count = Call("nullif", (number, Literal(Decimal(0), number.type)), number.type)
    if total.type.family == "float8":
        return Call("divide", (value, Cast(rows_count, FLOAT8)), kind)
    return Call("divide", (value, rows_count), kind)


def _both(first: Expression | None, second: Expression) -> Expression:
    return second if first is None else Call("and", (first, second), BOOL)


def _as(value: Expression, kind: SqlType) -> Expression:
    return value if value.type == kind else Cast(value, kind)
