"""A projection below a stream's first grouping is inlined into it, so that the pipeline's expressions address the stream's columns."""

from __future__ import annotations

from sql.expressions import Column, Expression
from sql.relations import Aggregate, Project, Relation
from views.plan.properties import is_first_grouping
from views.plan.trees import rewrite, rewrite_aggregate, rewrite_bottom_up


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

    def value(part: Expression) -> Expression | None:
        return values[part.index] if isinstance(part, Column) else None

    return Aggregate(
        relation.input.input,
        tuple((name, rewrite(key, value)) for name, key in relation.keys),
        tuple((name, rewrite_aggregate(call, value)) for name, call in relation.aggregates),
    )
