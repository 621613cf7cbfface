"""Two filters in a row are one; the lower one's conditions come first, as in PostgreSQL."""

from __future__ import annotations

from sql.datatypes import BOOL
from sql.expressions import Call
from sql.relations import Filter, Relation
from views.plan.trees import conjuncts, rewrite_bottom_up


def merge_filters(root: Relation) -> Relation:
    """Return the tree with no filter directly on a filter."""
    return rewrite_bottom_up(root, _step)


def _step(relation: Relation) -> Relation:
    if not isinstance(relation, Filter) or not isinstance(relation.input, Filter):
        return relation
    lower = relation.input
    return Filter(lower.input, Call("and", (*conjuncts(lower.predicate), *conjuncts(relation.predicate)), BOOL))
