"""ORDER BY without LIMIT says nothing about a set of rows that is stored: it is dropped (rule
d).
"""

from __future__ import annotations

from sql.tree.relations import Filter, Limit, Project, Relation, Sort
from views.model.trees import inputs, with_inputs


def drop_order_by(root: Relation) -> Relation:
    """Return the tree without the sorts whose order no LIMIT above them reads."""
    return _drop(root, order_read=False)


def _drop(relation: Relation, order_read: bool) -> Relation:
    if isinstance(relation, Sort) and not order_read:
        return _drop(relation.input, order_read=False)
    if isinstance(relation, Limit):
        below = True
    else:
        # A projection or a filter hands its input's order on; what groups, joins or sorts again
        # does not.
        below = order_read and isinstance(relation, Project | Filter)
    return with_inputs(relation, tuple(_drop(part, below) for part in inputs(relation)))
