"""DISTINCT in an aggregate says nothing where no two rows of a group have one value.

count(DISTINCT x) by k over rows of which k, x are a key  ->  count(x) by k
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sql.tree.expressions import AggregateCall, Column
from sql.tree.relations import Aggregate, Relation
from sql.tree.row_keys import OfScan, row_keys
from views.model.properties import is_first_grouping


def drop_distinct(relation: Relation, of_scan: OfScan) -> Relation:
    """Return an operator as it is, or a grouping of rows without a DISTINCT that says nothing.

    of_scan: tells the keys of scans.
    """
    if not isinstance(relation, Aggregate) or not is_first_grouping(relation) or relation.sets is not None:
        return relation
    keys = row_keys(relation.input, of_scan)
    if keys is None:
        return relation
    known = frozenset(key.index for _, key in relation.keys if isinstance(key, Column))
    step = partial(_of_single_values, frozenset(keys) - known)
    return replace(relation, aggregates=tuple((name, step(call)) for name, call in relation.aggregates))


def _of_single_values(missing: frozenset[int], call: AggregateCall) -> AggregateCall:
    read = frozenset(part.index for part in call.arguments if isinstance(part, Column))
    return replace(call, distinct=False) if call.distinct and missing <= read else call
