"""Keys of type character(n) that come from a table: kernels group by their text, and above the
grouping they are padded again.

Equal are character values whose texts without the blanks at the end are, and the cast to text is
just that. Only for columns that are nothing but keys: kernels have no comparison of the type.
"""

from __future__ import annotations

from dataclasses import replace

from sql.tree.expressions import Cast, Column, Expression
from sql.tree.relations import Aggregate, Project, Relation
from sql.tree.walks import aggregate_expressions
from sql.types.datatypes import TEXT
from views.model.trees import columns_of
from views.plan.joins.join_graph import STREAM, JoinGraph


def text_keys(graph: JoinGraph, grouping: Aggregate) -> Aggregate:
    """Return a grouping over the columns of all leaves with such keys as text.

    The leaves yield them so from then on.
    """
    found = _found(graph, grouping)
    if not found:
        return grouping
    for number, leaf in enumerate(graph.leaves):
        columns = enumerate(leaf.relation.schema)
        items = [(column.name, Column(index, column.name, column.type)) for index, column in columns]
        cast = [(name, Cast(item, TEXT) if leaf.start + item.index in found else item) for name, item in items]
        if cast != items:
            graph.leaves[number] = replace(leaf, relation=Project(leaf.relation, tuple(cast)))
    keys = tuple((name, replace(key, type=TEXT) if _is_among(key, found) else key) for name, key in grouping.keys)
    return replace(grouping, keys=keys)


def padded(grouping: Relation, wanted: Aggregate) -> Relation:
    """Return the grouping's columns with the types that they had before."""
    if grouping.schema == wanted.schema:
        return grouping
    columns = enumerate(zip(grouping.schema, wanted.schema, strict=True))
    items: list[tuple[str, Expression]] = []
    for index, (column, before) in columns:
        item = Column(index, column.name, column.type)
        items.append((before.name, item if column.type == before.type else Cast(item, before.type, explicit=True)))
    return Project(grouping, tuple(items))


def _found(graph: JoinGraph, grouping: Aggregate) -> frozenset[int]:
    stream = graph.leaves[STREAM].columns
    keys = [key for _, key in grouping.keys if isinstance(key, Column) and key.type.family == "bpchar"]
    others = [key for _, key in grouping.keys if key not in keys]
    others += [part for _, call in grouping.aggregates for part in aggregate_expressions(call)]
    others += [*graph.conditions, *(part for leaf in graph.leaves for part in leaf.outer or ())]
    used = {index for part in others for index in columns_of(part)}
    return frozenset(key.index for key in keys if key.index not in stream) - used


def _is_among(key: Expression, found: frozenset[int]) -> bool:
    return isinstance(key, Column) and key.index in found
