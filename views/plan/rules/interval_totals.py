"""A sum or an average of intervals over a stream as sums of their parts.

    sum(x)  ->  interval_total(sum(months of x), sum(days of x), sum(microseconds of x))
    avg(x)  ->  interval_average(the same sums, count(x))

The sums are exact and can be added up in any order, as those of integers.
"""

from __future__ import annotations

from dataclasses import replace

from sql.tree.expressions import AggregateCall, Call, Column, Expression
from sql.tree.relations import Aggregate, Project, Relation
from sql.types.datatypes import INT4, INT8, SqlType
from views.model.exact_sums import sum_type
from views.model.properties import is_ungrouped

PARTS: tuple[tuple[str, SqlType], ...] = (("interval_months", INT4), ("interval_days", INT4), ("interval_micros", INT8))


def interval_totals(relation: Relation) -> Relation:
    """Return an operator as it is, or a stream's first grouping without totals of intervals."""
    if not isinstance(relation, Aggregate) or not is_ungrouped(relation.input):
        return relation
    if not any(_is_total(call) for _, call in relation.aggregates):
        return relation
    items: list[tuple[str, Expression]] = []
    for index, (name, key) in enumerate(relation.keys):
        items.append((name, Column(index, name, key.type)))
    calls: list[tuple[str, AggregateCall]] = []
    for name, call in relation.aggregates:
        found = _part_calls(name, call) if _is_total(call) else [(name, call)]
        start = len(relation.keys) + len(calls)
        columns = tuple(Column(start + place, part, one.type) for place, (part, one) in enumerate(found))
        calls += found
        items.append((name, Call(f"interval_{_word(call)}", columns, call.type) if _is_total(call) else columns[0]))
    return Project(replace(relation, aggregates=tuple(calls)), tuple(items))


def _is_total(call: AggregateCall) -> bool:
    return call.function in ("sum", "avg") and call.type.family == "interval" and not call.distinct


def _word(call: AggregateCall) -> str:
    return "total" if call.function == "sum" else "average"


def _part_calls(name: str, call: AggregateCall) -> list[tuple[str, AggregateCall]]:
    """Return the aggregates of which a sum or an average is made."""
    part = replace(call, function="sum", order_by=())
    found = [
        (f"{name}_{function}", replace(part, arguments=(Call(function, call.arguments, kind),), type=sum_type(kind)))
        for function, kind in PARTS
    ]
    if call.function == "avg":
        found.append((f"{name}_count", replace(part, function="count", type=INT8)))
    return found
