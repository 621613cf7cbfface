"""A condition on the keys of a stream's first grouping goes below it, so that no state is kept for
groups that nobody sees.

Only conditions that can't fail go: an error above the stream pipeline is the reader's, one in it
the inserter's, and moving a condition must not change whose it is. now() stays above as well, where
it is the reader's.
"""

from __future__ import annotations

from dataclasses import replace

from sql.tree.expressions import Expression
from sql.tree.relations import Aggregate, Filter, Relation
from views.model.properties import cannot_fail, is_first_grouping
from views.model.trees import columns_of, conjuncts, rewrite_bottom_up, substitute
from views.plan.rules.push_filters import pushed


def push_key_conditions(root: Relation) -> Relation:
    """Return the tree with such conditions below the first grouping."""
    return rewrite_bottom_up(root, _step)


def _step(relation: Relation) -> Relation:
    if (
        not isinstance(relation, Filter)
        or not isinstance(relation.input, Aggregate)
        or relation.input.sets is not None
        or not is_first_grouping(relation.input)
    ):
        return relation
    grouping = relation.input
    keys = [key for _, key in grouping.keys]
    above: list[Expression] = []
    below: Relation = grouping.input
    for condition in conjuncts(relation.predicate):
        columns = columns_of(condition)
        if columns and max(columns) < len(keys) and cannot_fail(condition):
            below = pushed(Filter(below, substitute(condition, keys)))
        else:
            above.append(condition)
    if below is grouping.input:
        return relation
    result: Relation = replace(grouping, input=below)
    for condition in above:
        result = Filter(result, condition)
    return result
