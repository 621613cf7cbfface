"""DISTINCT ON over a stream as a grouping: by its expressions, with the first row of each group in the query's ORDER BY.

Bound it is a row_number of which the first is kept. The order belongs to the grouping; rows that are equal in it are in order of arrival.
"""

from __future__ import annotations

from dataclasses import replace

from sql.datatypes import INT8
from sql.expressions import AggregateCall, Call, Column, Expression, Literal, SortKey
from sql.relations import Aggregate, Filter, Project, Relation, Window
from views.plan.nodes import FIRST
from views.plan.properties import is_ungrouped


def first_rows(relation: Relation) -> Relation:
    """Return an operator as it is, or the grouping that a DISTINCT ON is."""
    if not isinstance(relation, Filter) or not isinstance(relation.input, Window):
        return relation
    window = relation.input
    below = window.input
    (name, call), *others = window.calls
    place = Column(len(below.schema), name, INT8)
    wanted = Call("eq", (place, Literal(1, INT8)), INT8)
    is_first = isinstance(relation.predicate, Call) and relation.predicate == replace(
        wanted, type=relation.predicate.type
    )
    if others or call.function != "row_number" or not call.partition_by or not is_first or not is_ungrouped(below):
        return relation
    keys = tuple((_name(key, number), key) for number, key in enumerate(call.partition_by))
    order = _deciding(call.order_by, call.partition_by)
    items: list[tuple[str, Expression]] = []
    firsts: list[tuple[str, AggregateCall]] = []
    for index, column in enumerate(below.schema):
        value = Column(index, column.name, column.type)
        if value in call.partition_by:
            found = call.partition_by.index(value)
        else:
            found = len(keys) + len(firsts)
            firsts.append((column.name, AggregateCall(FIRST, (value,), column.type, order_by=order)))
        items.append((column.name, Column(found, column.name, column.type)))
    return Project(Aggregate(below, keys, tuple(firsts)), (*items, (name, Literal(1, INT8))))


def _deciding(order: tuple[SortKey, ...], keys: tuple[Expression, ...]) -> tuple[SortKey, ...]:
    """Return the sort keys that rows of one group can differ in, each once."""
    kept: dict[Expression, SortKey] = {}
    for key in order:
        if key.expression not in keys:
            kept.setdefault(key.expression, key)
    return tuple(kept.values())


def _name(key: Expression, number: int) -> str:
    return key.name if isinstance(key, Column) else f"key{number}"
