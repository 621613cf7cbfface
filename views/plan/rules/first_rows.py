"""DISTINCT ON over a stream as a grouping: by its expressions, with the first row of each group in the query's ORDER BY.

Bound it is a row_number of which the first is kept. The order belongs to the grouping; rows that are equal in it are in order of arrival.
Over a UNION ALL it is the first of the first rows of each side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sql.datatypes import BOOL, INT8, SqlType
from sql.expressions import AggregateCall, Call, Column, Expression, Literal, SortKey, WindowCall
from sql.relations import Aggregate, Filter, Project, Relation, Window
from views.plan.nodes import FIRST
from views.plan.properties import is_ungrouped
from views.plan.rules.combine_groupings import union_all, union_sides


def first_rows(relation: Relation) -> Relation:
    """Return an operator as it is, or the grouping that a DISTINCT ON is."""
    if not isinstance(relation, Filter) or not isinstance(relation.input, Window):
        return relation
    window = relation.input
    below = window.input
    (name, call), *others = window.calls
    place = Column(len(below.schema), name, INT8)
    is_first = isinstance(relation.predicate, Call) and relation.predicate == _is_one(place, relation.predicate.type)
    if others or call.function != "row_number" or not call.partition_by or not is_first or not is_ungrouped(below):
        return relation
    columns = [(column.name, Column(index, column.name, column.type)) for index, column in enumerate(below.schema)]
    sides: list[Relation] = [_firsts(side, call, columns) for side in union_sides(below)]
    found = sides[0] if len(sides) == 1 else _firsts_of_all(sides, window, columns)
    return Project(found, (*columns, (name, Literal(1, INT8))))


def _is_one(place: Column, kind: SqlType) -> Call:
    return Call("eq", (place, Literal(1, INT8)), kind)


def _firsts(relation: Relation, call: WindowCall, columns: Sequence[tuple[str, Column]]) -> Relation:
    """Return the first row of each group of a relation; all rows of one that is no stream's, or is grouped."""
    if not is_ungrouped(relation):
        return relation
    keys = tuple((_name(key, number), key) for number, key in enumerate(call.partition_by))
    order = deciding_keys(call.order_by, call.partition_by)
    items: list[tuple[str, Expression]] = []
    firsts: list[tuple[str, AggregateCall]] = []
    for name, value in columns:
        if value in call.partition_by:
            found = call.partition_by.index(value)
        else:
            found = len(keys) + len(firsts)
            firsts.append((name, AggregateCall(FIRST, (value,), value.type, order_by=order)))
        items.append((name, Column(found, name, value.type)))
    return Project(Aggregate(relation, keys, tuple(firsts)), tuple(items))


def _firsts_of_all(sides: Sequence[Relation], window: Window, columns: Sequence[tuple[str, Column]]) -> Relation:
    """Return the first row of each group of the rows of all sides; of equal ones that of an earlier side."""
    ((name, call),) = window.calls
    width = len(columns)
    marked: list[Relation] = [
        Project(side, (*columns, ("side", Literal(number, INT8)))) for number, side in enumerate(sides)
    ]
    first = replace(call, order_by=(*call.order_by, SortKey(Column(width, "side", INT8))))
    return Filter(Window(union_all(marked), ((name, first),)), _is_one(Column(width + 1, name, INT8), BOOL))


def deciding_keys(order: Sequence[SortKey], keys: Sequence[Expression]) -> tuple[SortKey, ...]:
    """Return the sort keys that rows of one group can differ in, each once."""
    kept: dict[Expression, SortKey] = {}
    for key in order:
        if key.expression not in keys:
            kept.setdefault(key.expression, key)
    return tuple(kept.values())


def _name(key: Expression, number: int) -> str:
    return key.name if isinstance(key, Column) else f"key{number}"
