"""Equal aggregates of a stream's first grouping are kept once: the same call written twice, and the
keys likewise.
"""

from __future__ import annotations

from dataclasses import replace

from sql.tree.expressions import AggregateCall, Column, Expression
from sql.tree.relations import Aggregate, Project, Relation
from views.model.properties import is_first_grouping
from views.model.trees import meaning, rewrite_bottom_up


def share_aggregates(root: Relation) -> Relation:
    """Return the tree with each distinct key and aggregate of the first grouping computed once."""
    return rewrite_bottom_up(root, _step)


def _step(relation: Relation) -> Relation:
    if not isinstance(relation, Aggregate) or relation.sets is not None or not is_first_grouping(relation):
        return relation
    keys: dict[Expression, tuple[str, Expression]] = {}
    for name, key in relation.keys:
        keys.setdefault(meaning(key), (name, key))
    calls: dict[AggregateCall, tuple[str, AggregateCall]] = {}
    for name, call in relation.aggregates:
        calls.setdefault(_meaning(call), (name, call))
    if len(keys) == len(relation.keys) and len(calls) == len(relation.aggregates):
        return relation
    key_places = {key: index for index, key in enumerate(keys)}
    call_places = {call: len(keys) + index for index, call in enumerate(calls)}
    items: list[tuple[str, Expression]] = []
    for name, key in relation.keys:
        items.append((name, Column(key_places[meaning(key)], name, key.type)))
    for name, call in relation.aggregates:
        items.append((name, Column(call_places[_meaning(call)], name, call.type)))
    shared = replace(relation, keys=tuple(keys.values()), aggregates=tuple(calls.values()))
    return Project(shared, tuple(items))


def _meaning(call: AggregateCall) -> AggregateCall:
    condition = None if call.filter is None else meaning(call.filter)
    arguments = tuple(meaning(part) for part in call.arguments)
    order = tuple(replace(key, expression=meaning(key.expression)) for key in call.order_by)
    return AggregateCall(call.function, arguments, call.type, condition, call.distinct, order_by=order)
