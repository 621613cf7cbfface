"""An aggregate over a stream that needs all its values is an aggregate of the lists of them, which
groups keep in the order of arrival.

    string_agg(x, ',' ORDER BY y)
    ->  (SELECT string_agg(x, ',' ORDER BY y, n) FROM unnest(xs, ys) WITH ORDINALITY l (x, y, n))
        over array_agg(x) AS xs, array_agg(y) AS ys

The lists have NULLs, and as many elements as rows have passed the filter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sql.emit.duckdb import emit_duckdb
from sql.functions.table import AGGREGATE_ROWS
from sql.tree.expressions import AggregateCall, Cast, Column, Expression, Literal, OuterColumn, SortKey, Subquery
from sql.tree.relations import Aggregate, OutputColumn, Project, Relation, Scan, TableFunction
from sql.tree.walks import children, map_parts, open_columns
from sql.types.datatypes import BOOL, INT8, TEXT, array_of
from views.codegen.grouping import has_state
from views.model.properties import is_ungrouped
from views.model.trees import columns_of, meaning, uses_now
from views.plan.rules.combine_groupings import is_combined, union_sides

COLLECTED = "array_agg"


def collected_lists(relation: Relation) -> Relation:
    """Return an operator as it is, or a stream's first grouping with lists in the place of
    aggregates that have no state.
    """
    if not isinstance(relation, Aggregate) or not is_ungrouped(relation.input) or relation.sets is not None:
        return relation
    collected = _collected_over(relation.input)
    if any(True for _ in open_columns(relation)) or not any(collected(call) for _, call in relation.aggregates):
        return relation
    width = len(relation.keys)
    items: list[tuple[str, Expression]] = [
        (name, Column(index, name, key.type)) for index, (name, key) in enumerate(relation.keys)
    ]
    calls: list[tuple[str, AggregateCall]] = []
    for name, call in relation.aggregates:
        found = _list_calls(name, call) if collected(call) else [(name, call)]
        columns = tuple(Column(width + len(calls) + place, part, one.type) for place, (part, one) in enumerate(found))
        items.append((name, _over_lists(call, columns) if collected(call) else columns[0]))
        calls += found
    return Project(replace(relation, aggregates=tuple(calls)), tuple(items))


def _collected_over(rows: Relation) -> Callable[[AggregateCall], bool]:
    """Return what tells whether an aggregate over rows has neither a state nor finer groups that it
    can be made of. Over a UNION ALL, a state of a side is no state of the whole but for lists.
    """
    is_union = len(union_sides(rows)) > 1

    def is_collected(call: AggregateCall) -> bool:
        row = AGGREGATE_ROWS.get(call.function)
        if row is None or is_combined(call):
            return False
        return call.distinct or not has_state(call) or (is_union and row.adds_floats)

    return is_collected


def _values(call: AggregateCall) -> list[Expression]:
    """Return the different expressions over the rows of which an aggregate needs the values; of a
    row of values these. Where it needs none, that there is a row is its value.
    """
    found: dict[Expression, Expression] = {}
    waiting = list(children(replace(call, filter=None)))[::-1]
    while waiting:
        part = waiting.pop()
        if part.type.record is not None:
            waiting += children(part)[::-1]
        elif columns_of(part) or uses_now(part):
            found.setdefault(meaning(part), part)
    return list(found.values()) or [Literal(True, BOOL)]


def _list_calls(name: str, call: AggregateCall) -> list[tuple[str, AggregateCall]]:
    """Return the aggregates that list the values; those that are arrays are listed as texts."""
    values = [Cast(value, TEXT) if value.type.is_array else value for value in _values(call)]
    return [
        (
            f"{name}_{place}",
            AggregateCall(COLLECTED, (value,), array_of(value.type), call.filter, position=call.position),
        )
        for place, value in enumerate(values)
    ]


def _over_lists(call: AggregateCall, lists: tuple[Column, ...]) -> Expression:
    """Return the aggregate of the elements of lists."""
    names = [f"value{place}" for place in range(len(lists))]
    schema = tuple(OutputColumn(name, one.type.element) for name, one in zip(names, lists, strict=True))
    source = TableFunction(
        tuple(("unnest", (OuterColumn(place, one.name, one.type),)) for place, one in enumerate(lists)),
        True,
        (*schema, OutputColumn("place", INT8)),
    )
    elements: dict[Expression, Expression] = {}
    for place, (value, column) in enumerate(zip(_values(call), schema, strict=True)):
        element = Column(place, column.name, column.type)
        elements[meaning(value)] = element if column.type == value.type else Cast(element, value.type)

    def over(part: Expression) -> Expression | None:
        return elements.get(meaning(part))

    moved = map_parts(replace(call, filter=None), over)
    row = AGGREGATE_ROWS[call.function]
    if not call.distinct and not row.within_group:
        moved = replace(moved, order_by=(*moved.order_by, SortKey(Column(len(lists), "place", INT8))))
    grouping = Aggregate(source, (), ((call.function, moved),))
    # What the engine refuses is refused now, and not when the view is read.
    emit_duckdb(replace(grouping, input=Scan("lists", "rows", source.schema)), {"lists": "lists"})
    return Subquery("scalar", grouping, lists, call.type, position=call.position, text=call.text)
