"""Aggregates that a removed row can't be taken from are made of finer groups: one for each of their
values, with the number of its rows.

    max(x), sum(y) by k  ->  max(x), sum(y) by k over sum(y) by k, x

So a group that has lost its largest value still knows the next one.
"""

from __future__ import annotations

from sql.tree.expressions import AggregateCall
from sql.tree.relations import Aggregate, Relation
from views.model.properties import is_first_grouping
from views.plan.rules.combine_groupings import Combination, can_combine
from views.share.reweighting import REPEATED


def count_values(relation: Relation) -> Relation:
    """Return an operator as it is, or a grouping of finer groups in the place of one of rows with
    extremes.
    """
    if not isinstance(relation, Aggregate) or not is_first_grouping(relation) or not can_combine(relation):
        return relation
    if not any(_is_extreme(call) for _, call in relation.aggregates):
        return relation
    return Combination(relation, _is_extreme).over([relation.input])


def _is_extreme(call: AggregateCall) -> bool:
    return call.distinct or call.function in REPEATED
