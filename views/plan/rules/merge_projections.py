"""Two projections in a row are one."""

from __future__ import annotations

from sql.tree.relations import Project, Relation
from views.model.trees import rewrite_bottom_up, substitute


def merge_projections(root: Relation) -> Relation:
    """Return the tree with no projection directly on a projection."""
    return rewrite_bottom_up(root, _step)


def _step(relation: Relation) -> Relation:
    if not isinstance(relation, Project) or not isinstance(relation.input, Project):
        return relation
    values = [item for _, item in relation.input.items]
    return Project(relation.input.input, tuple((name, substitute(item, values)) for name, item in relation.items))
