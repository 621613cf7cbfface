"""A query over streams in the form that the cut into pipelines takes: each stream under a grouping that one state can answer.

Enters: a bound tree, before it is known whether it is one plan or several parts. Leaves: an equal one, in which set operations, grouping
sets, DISTINCT in aggregates, UNION ALL and subqueries over streams stand above first groupings of one stream each, and subqueries over
tables are joins. What no step knows stays as it is, and is refused later. The same tree yields the same form, since a view's parts are
found again in it by their numbers.
"""

from __future__ import annotations

from sql.relations import Relation
from sql.trees import rewrite_everywhere
from views.plan.properties import scans
from views.plan.rules.combine_groupings import combine_groupings
from views.plan.rules.distinct_to_grouping import grouped
from views.plan.rules.group_set_operations import group_set_operations
from views.plan.rules.join_subqueries import join_subqueries
from views.subquery_grouping import group_subqueries

# Of one operator each, whose inputs have been through all of them.
STEPS = (join_subqueries, grouped, group_set_operations, combine_groupings)


def prepared(root: Relation) -> Relation:
    """Return a query in that form."""
    streams = frozenset(scans(root, "stream"))
    if not streams:
        return root
    return rewrite_everywhere(group_subqueries(root, streams), _step)


def _step(relation: Relation) -> Relation:
    for step in STEPS:
        relation = step(relation)
    return relation
