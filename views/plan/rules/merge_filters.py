"""Two filters in a row are one; the lower one's conditions come first, as in PostgreSQL."""

from __future__ import annotations

from sql.tree.expressions import Call
from sql.tree.relations import Filter, Relation
from sql.types.datatypes import BOOL
from views.model.trees import conjuncts, rewrite_bottom_up


def merge_filters(root: Relation) -> Relation:
    """Return the tree with no filter directly on a filter."""
    return rewrite_bottom_up(root, _step)


def _step(relation: Relation) -> Relation:
    if not isinstance(relation, Filter) or not isinstance(relation.input, Filter):
        return relation
    lower = relation.input
    return Filter(lower.input, Call("and", (*conjuncts(lower.predicate), *conjuncts(relation.predicate)), BOOL))
