"""GROUPING SETS, ROLLUP and CUBE as plain groupings.

Enters: a grouping with several sets. Leaves: an equal relation without sets. Must not know engines.
"""

from __future__ import annotations

from sql.tree.expressions import Column, Expression, Literal
from sql.tree.relations import Aggregate, Project, Relation, SetOperation, Values


def spread_sets(node: Aggregate) -> Relation:
    """Return GROUPING SETS as the union of one grouping for each set."""
    assert node.sets is not None
    schema = node.schema
    parts = [one_set(node, chosen) for chosen in node.sets]
    whole = parts[0]
    for part in parts[1:]:
        whole = SetOperation("union", True, whole, part, schema)
    return whole


def one_set(node: Aggregate, chosen: tuple[int, ...]) -> Relation:
    """Return the groups of one set: the other keys are NULL."""
    kept = sorted(set(chosen))
    calls = tuple((name, call) for name, call in node.aggregates if call.function != "grouping")
    keys = tuple(node.keys[index] for index in kept)
    below: Relation = Aggregate(node.input, keys, calls) if keys or calls else Values(((),), ())
    items: list[tuple[str, Expression]] = []
    for index, (name, key) in enumerate(node.keys):
        place = kept.index(index) if index in kept else None
        items.append((name, Literal(None, key.type) if place is None else Column(place, name, key.type)))
    place = len(kept)
    expressions = [key for _, key in node.keys]
    for name, call in node.aggregates:
        if call.function == "grouping":
            bits = sum(
                (expressions.index(item) not in kept) << place for place, item in enumerate(reversed(call.arguments))
            )
            items.append((name, Literal(bits, call.type)))
        else:
            items.append((name, Column(place, name, call.type)))
            place += 1
    return Project(below, tuple(items))
