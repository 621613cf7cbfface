"""DISTINCT directly over a stream is a grouping by all columns without aggregates, and a grouping
is what a stream pipeline can end in.
"""

from __future__ import annotations

from sql.tree.expressions import Column
from sql.tree.relations import Aggregate, Distinct, Relation
from views.model.properties import is_ungrouped


def grouped(relation: Relation) -> Relation:
    """Return an operator as it is, or the grouping that a DISTINCT is."""
    if not isinstance(relation, Distinct):
        return relation
    if not is_ungrouped(relation.input):
        return relation
    keys = tuple((column.name, Column(index, column.name, column.type)) for index, column in enumerate(relation.schema))
    return Aggregate(relation.input, keys, ())
