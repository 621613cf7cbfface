"""LIMIT ALL and LIMIT NULL keep every row: an operator that does nothing goes, before it counts as
a pipeline breaker.
"""

from __future__ import annotations

from sql.tree.expressions import Cast, Expression, Literal
from sql.tree.relations import Limit, Relation
from views.model.trees import rewrite_bottom_up


def drop_limit_all(root: Relation) -> Relation:
    """Return the tree without limits that keep every row."""
    return rewrite_bottom_up(root, _step)


def _step(relation: Relation) -> Relation:
    if (
        isinstance(relation, Limit)
        and _is_null(relation.limit)
        and (_is_null(relation.offset) or _is_zero(relation.offset))
    ):
        return relation.input
    return relation


def _is_null(bound: Expression | None) -> bool:
    if isinstance(bound, Cast):
        return _is_null(bound.operand)
    return bound is None or (isinstance(bound, Literal) and bound.value is None)


def _is_zero(bound: Expression | None) -> bool:
    if isinstance(bound, Cast):
        return _is_zero(bound.operand)
    return isinstance(bound, Literal) and bound.value == 0
