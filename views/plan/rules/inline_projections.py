"""A projection below a stream's first grouping is inlined into it, so that the pipeline's expressions address the stream's columns."""

from __future__ import annotations

from dataclasses import replace

from sql.relations import Aggregate, Project, Relation
from views.plan.properties import is_first_grouping
from views.plan.trees import rewrite_bottom_up, substitute


def inline_projections(root: Relation) -> Relation:
    """Return the tree with no projection directly below the first grouping."""
    return rewrite_bottom_up(root, _step)


def _step(relation: Relation) -> Relation:
    if (
        not isinstance(relation, Aggregate)
        or not isinstance(relation.input, Project)
        or not is_first_grouping(relation)
    ):
        return relation
    values = [item for _, item in relation.input.items]
    aggregates = []
    for name, call in relation.aggregates:
        condition = None if call.filter is None else substitute(call.filter, values)
        arguments = tuple(substitute(part, values) for part in call.arguments)
        aggregates.append((name, replace(call, arguments=arguments, filter=condition)))
    keys = tuple((name, substitute(key, values)) for name, key in relation.keys)
    return Aggregate(relation.input.input, keys, tuple(aggregates))
