"""DISTINCT ON over a stream as a grouping: by its expressions, with the first row of each group in
the query's ORDER BY.

Bound it is a row_number of which the first is kept; a query with that row_number is the same. The
order belongs to the grouping; rows that are equal in it are in order of arrival. Over a UNION ALL
it is the first of the first rows of each side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sql.functions.comparisons import TURNED
from sql.tree.counted_rows import union_all
from sql.tree.expressions import AggregateCall, Call, Column, Expression, Literal, SortKey, WindowCall
from sql.tree.relations import Aggregate, Filter, Project, Relation, Window
from sql.tree.walks import map_expression
from sql.types.datatypes import BOOL, BYTEA, INT8
from views.model.nodes import FIRST
from views.model.properties import is_ungrouped
from views.model.trees import columns_of, taken_apart
from views.plan.joins.join_graph import conjunction
from views.plan.rules.combine_groupings import union_sides


def first_rows(relation: Relation) -> Relation:
    """Return an operator as it is, or the grouping that a DISTINCT ON, or a condition on
    row_number(), is.
    """
    if not isinstance(relation, Filter):
        return relation
    window, conditions, items = taken_apart(relation)
    if not isinstance(window, Window) or not is_ungrouped(window.input):
        return relation
    (_, call), *others = window.calls
    place = len(window.input.schema)
    left = [part for part in conditions if not _says_first(part, place)]
    if others or call.function != "row_number" or not call.partition_by or len(left) == len(conditions):
        return relation
    sides = union_sides(window.input)
    asked = {index for part in (*items, *left) for index in columns_of(part)} if len(sides) == 1 else range(place)
    columns = [
        (column.name, Column(index, column.name, column.type))
        for index, column in enumerate(window.input.schema)
        if index in asked
    ]
    firsts = [_firsts(side, call, columns) for side in sides]
    found = firsts[0] if len(firsts) == 1 else _firsts_of_all(firsts, window, columns)
    known: dict[int, Expression] = {value.index: replace(value, index=at) for at, (_, value) in enumerate(columns)}
    known[place] = Literal(1, INT8)

    def moved(expression: Expression) -> Expression:
        return map_expression(expression, lambda part: known[part.index] if isinstance(part, Column) else None)

    if left:
        found = Filter(found, conjunction([moved(part) for part in left]))
    names = [column.name for column in relation.schema]
    return Project(found, tuple(zip(names, (moved(item) for item in items), strict=True)))


def _says_first(condition: Expression, place: int) -> bool:
    """Return whether a condition lets a row through exactly if its number, the column at `place`,
    is 1.
    """
    if not isinstance(condition, Call) or len(condition.arguments) != 2:
        return False
    left, right = condition.arguments
    function = condition.function
    if isinstance(left, Literal):
        left, right, function = right, left, TURNED.get(function, function)
    is_number = isinstance(left, Column) and left.index == place
    return is_number and isinstance(right, Literal) and (function, right.value) in (("eq", 1), ("le", 1), ("lt", 2))


def _firsts(relation: Relation, call: WindowCall, columns: Sequence[tuple[str, Column]]) -> Relation:
    """Return the first row of each group of a relation.

    All rows of one that is no stream's, or is grouped.
    """
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
    """Return the first row of each group of the rows of all sides.

    Of equal ones that of an earlier side.
    """
    ((name, call),) = window.calls
    width = len(columns)
    marked: list[Relation] = [
        Project(side, (*columns, ("side", Literal(number, INT8)))) for number, side in enumerate(sides)
    ]
    first = replace(call, order_by=(*call.order_by, SortKey(Column(width, "side", INT8))))
    is_first = Call("eq", (Column(width + 1, name, INT8), Literal(1, INT8)), BOOL)
    return Filter(Window(union_all(marked), ((name, first),)), is_first)


def deciding_keys(order: Sequence[SortKey], keys: Sequence[Expression]) -> tuple[SortKey, ...]:
    """Return the sort keys that rows of one group can differ in, each once.

    Kernels know no order of jsonb, but that of the bytes which stand for it.
    """
    kept: dict[Expression, SortKey] = {}
    for key in order:
        if key.expression in keys:
            continue
        by_bytes = key.expression.type.family == "jsonb"
        value = Call("jsonb_order", (key.expression,), BYTEA) if by_bytes else key.expression
        kept.setdefault(value, replace(key, expression=value))
    return tuple(kept.values())


def _name(key: Expression, number: int) -> str:
    return key.name if isinstance(key, Column) else f"key{number}"
