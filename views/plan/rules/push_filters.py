"""A filter above a projection goes below it, so that nothing is computed for a row that is not
kept.
"""

from __future__ import annotations

from dataclasses import replace

from sql.tree.relations import Filter, Project, Relation
from views.model.trees import rewrite_bottom_up, substitute


def push_filters(root: Relation) -> Relation:
    """Return the tree with filters below the projections that they stood on."""
    return rewrite_bottom_up(root, pushed)


def pushed(relation: Relation) -> Relation:
    """Return an operator as it is, or the projections that a filter stands on, above the filter."""
    if not isinstance(relation, Filter) or not isinstance(relation.input, Project):
        return relation
    project = relation.input
    predicate = substitute(relation.predicate, [item for _, item in project.items])
    return replace(project, input=pushed(Filter(project.input, predicate)))
