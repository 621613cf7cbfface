"""GROUPING SETS of one set, which has all keys, is a plain GROUP BY."""

from __future__ import annotations

from dataclasses import replace

from sql.tree.relations import Aggregate, Relation
from views.model.trees import rewrite_bottom_up


def drop_single_sets(root: Relation) -> Relation:
    """Return the tree without such grouping sets."""
    return rewrite_bottom_up(root, _step)


def _step(relation: Relation) -> Relation:
    if not isinstance(relation, Aggregate) or relation.sets is None:
        return relation
    asks = any(call.function == "grouping" for _, call in relation.aggregates)
    if asks or [sorted(part) for part in relation.sets] != [list(range(len(relation.keys)))]:
        return relation
    return replace(relation, sets=None)
