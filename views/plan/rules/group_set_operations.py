"""UNION, INTERSECT and EXCEPT of streams' rows as groupings: of one side each, and what the
operation makes of their groups.

s UNION | INTERSECT | EXCEPT r   ->  the distinct rows of s, and those of r
s INTERSECT | EXCEPT ALL r       ->  both by all columns with counts (`sql.tree.counted_rows`)
"""

from __future__ import annotations

from sql.tree.counted_rows import by_counts
from sql.tree.relations import Distinct, Relation, SetOperation
from views.model.properties import is_ungrouped
from views.plan.rules.combine_groupings import split_unions
from views.plan.rules.distinct_to_grouping import grouped


def group_set_operations(relation: Relation) -> Relation:
    """Return an operator as it is, or a set operation of streams over groupings of its sides."""
    if not isinstance(relation, SetOperation) or (relation.kind == "union" and relation.all):
        return relation
    sides = (relation.left, relation.right)
    if not any(is_ungrouped(side) for side in sides):
        return relation
    if not relation.all:
        left, right = (split_unions(grouped(Distinct(side))) if is_ungrouped(side) else side for side in sides)
        return SetOperation(relation.kind, False, left, right, relation.schema)
    return by_counts(relation, split_unions)
