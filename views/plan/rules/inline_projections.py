"""A projection below a stream's first grouping is inlined into it, so that the pipeline's
expressions address the stream's columns.
"""

from __future__ import annotations

from dataclasses import replace

from sql.tree.relations import Aggregate, Project, Relation
from views.model.properties import is_first_grouping
from views.model.trees import rewrite_bottom_up, substitute, substitute_call


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
    keys = tuple((name, substitute(key, values)) for name, key in relation.keys)
    aggregates = tuple((name, substitute_call(call, values)) for name, call in relation.aggregates)
    return _step(replace(relation, input=relation.input.input, keys=keys, aggregates=aggregates))
