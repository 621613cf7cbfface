"""DISTINCT directly over a stream is a grouping by all columns without aggregates, and a grouping is what a stream pipeline can end in."""

from __future__ import annotations

from sql.expressions import Column
from sql.relations import Aggregate, Distinct, Relation
from views.plan.properties import properties
from views.plan.trees import rewrite_bottom_up


def distinct_to_grouping(root: Relation) -> Relation:
    """Return the tree with each DISTINCT that is a stream's first breaker turned into a grouping."""
    return rewrite_bottom_up(root, _step)


def _step(relation: Relation) -> Relation:
    if not isinstance(relation, Distinct):
        return relation
    below = properties(relation.input)
    if not below.contains_stream or below.grouped:
        return relation
    keys = tuple((column.name, Column(index, column.name, column.type)) for index, column in enumerate(relation.schema))
    return Aggregate(relation.input, keys, ())
