"""A first grouping whose aggregates can't be made of finer groups becomes several of the same rows,
each with a state of its own.

stddev(x) GROUP BY ROLLUP (k)        ->  one grouping for each set, put together by UNION ALL
stddev(x), count(DISTINCT y) by k    ->  stddev(x) by k and count(DISTINCT y) by k, joined by k
"""

from __future__ import annotations

from dataclasses import replace

from sql.tree.expressions import Call, Column, Expression
from sql.tree.grouping_sets import spread_sets
from sql.tree.relations import Aggregate, Join, Project, Relation
from sql.tree.walks import open_columns
from sql.types.datatypes import BOOL
from views.model.properties import is_ungrouped
from views.plan.joins.join_graph import conjunction
from views.plan.rules.combine_groupings import is_combined, is_of_values


def separate_sets(relation: Relation) -> Relation:
    """Return an operator as it is, or a grouping for each of its grouping sets."""
    if not isinstance(relation, Aggregate) or not _is_separable(relation) or relation.sets is None:
        return relation
    return spread_sets(relation)


def separate_distinct(relation: Relation) -> Relation:
    """Return an operator as it is, or one grouping with its DISTINCT aggregates and one with those
    that can't be combined.
    """
    if not isinstance(relation, Aggregate) or not _is_separable(relation) or relation.sets is not None:
        return relation
    calls = [call for _, call in relation.aggregates]
    distinct = [call for call in calls if is_of_values(call)]
    apart = [not is_combined(call) for call in calls]
    if not distinct or not all(is_combined(call) for call in distinct):
        return relation
    sides = [
        replace(
            relation,
            aggregates=tuple(item for item, far in zip(relation.aggregates, apart, strict=True) if far is wanted),
        )
        for wanted in (False, True)
    ]
    width = len(relation.keys)
    left_width = len(sides[0].schema)
    equal: list[Expression] = [
        Call("is_not_distinct", (Column(index, name, key.type), Column(left_width + index, name, key.type)), BOOL)
        for index, (name, key) in enumerate(relation.keys)
    ]
    joined = Join(sides[0], sides[1], "inner" if equal else "cross", conjunction(equal) if equal else None)
    places = [width, left_width + width]
    items: list[tuple[str, Expression]] = [
        (name, Column(index, name, key.type)) for index, (name, key) in enumerate(relation.keys)
    ]
    for (name, call), far in zip(relation.aggregates, apart, strict=True):
        items.append((name, Column(places[far], name, call.type)))
        places[far] += 1
    return Project(joined, tuple(items))


def _is_separable(grouping: Aggregate) -> bool:
    """Return whether a grouping is a stream's first and has to be several."""
    if not is_ungrouped(grouping.input) or any(True for _ in open_columns(grouping)):
        return False
    return not all(is_combined(call) for _, call in grouping.aggregates)
