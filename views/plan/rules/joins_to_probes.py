"""Joins below a stream's first grouping become a chain: the stream first, then one build side after
the other.

Whatever order the query writes, comma or JOIN: conditions on tables alone go into the build sides,
which Spark computes once; conditions on the stream alone go before the first probe; equalities are
keys; what is left filters as soon as its columns are there. A build side keeps the columns that are
needed later, then keys that are not among them. The grouping addresses the chain's columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sql.tree.expressions import Call, Column, Expression, Literal
from sql.tree.relations import Aggregate, Filter, Join, Project, Relation, Scan
from sql.tree.walks import children, map_parts
from sql.types.datatypes import BOOL
from views.model.properties import is_first_grouping, stream_path
from views.model.refusals import refused_outer_condition
from views.model.steps import unique_names
from views.model.trees import columns_of, meaning, rewrite_bottom_up, substitute, substitute_call
from views.plan.joins.join_graph import (
    STREAM,
    JoinGraph,
    conjunction,
    equality,
    is_pure,
    joined_tables,
    moved,
    table_groups,
)

FLAT = (Filter, Project, Join, Scan)


def joins_to_probes(root: Relation, builds: Sequence[Relation] = ()) -> Relation:
    """Return the tree with the joins below the first grouping in that form.

    builds: of another query over the same joins, in order; a build side is that one where it has
    all that is needed.
    """
    return rewrite_bottom_up(root, lambda relation: _step(relation, builds))


def _step(relation: Relation, builds: Sequence[Relation]) -> Relation:
    if not isinstance(relation, Aggregate) or not is_first_grouping(relation):
        return relation
    path = stream_path(relation.input)
    if not any(isinstance(part, Join) for part in path) or not all(isinstance(part, FLAT) for part in path):
        # Without a join there is nothing to do, and a view with another breaker below the grouping
        # is refused.
        return relation
    graph = JoinGraph.of(relation.input)
    grouping = _over_leaves(relation, graph.items)
    read = [key for _, key in grouping.keys]
    read += [part for _, call in grouping.aggregates for part in children(call)]
    return ProbeChain(graph, read).under(grouping, builds)


def _over_leaves(grouping: Aggregate, items: Sequence[Expression]) -> Aggregate:
    """Return the grouping in terms of the columns of all leaves."""
    keys = tuple((name, substitute(key, items)) for name, key in grouping.keys)
    calls = tuple((name, substitute_call(call, items)) for name, call in grouping.aggregates)
    return replace(grouping, keys=keys, aggregates=calls)


@dataclass
class Side:
    """A build side on its way into the chain.

    Attributes:
        columns: which of all leaves' columns each of `relation`'s is.
        keys: pairs of an expression over what comes before it and one over its own columns.
        guards: see `views.model.nodes.Probe`.
    """

    leaves: frozenset[int]
    kind: str
    relation: Relation
    columns: list[int]
    keys: list[tuple[Expression, Expression]] = field(default_factory=list)
    guards: list[Expression] = field(default_factory=list)
    filters: list[Expression] = field(default_factory=list)


class ProbeChain:
    """Orders the build sides of a graph.

    Attributes:
        read: what the grouping evaluates.
    """

    def __init__(self, graph: JoinGraph, read: Sequence[Expression]) -> None:
        self.graph = graph
        self.done = {STREAM}
        self.pending = list(graph.conditions)
        self.waiting = [self._inner_side(group) for group in table_groups(graph)]
        self.waiting += [self._outer_side(n) for n, leaf in enumerate(graph.leaves) if leaf.outer is not None]
        self.filters = self._take_ready()
        self.sides: list[Side] = []
        while self.waiting:
            self.sides.append(self._take_next())
        assert not self.pending, f"conditions without a place: {self.pending}"
        self.read = [*read, *(key for side in self.sides for key, _ in side.keys)]
        self.read += [part for side in self.sides for part in (*side.guards, *side.filters)]

    def under(self, grouping: Aggregate, builds: Sequence[Relation] = ()) -> Aggregate:
        """Return the grouping over the chain. builds: see `joins_to_probes`."""
        stream = self.graph.leaves[STREAM]
        places = {index: place for place, index in enumerate(stream.columns)}
        chain = _filtered(stream.relation, [moved(part, places) for part in self.filters])
        for number, side in enumerate(self.sides):
            chain = self._probed(chain, side, places, builds[number] if number < len(builds) else None)

        def change(part: Expression) -> Expression | None:
            return moved(part, places) if isinstance(part, Column) else None

        keys = tuple((name, moved(key, places)) for name, key in grouping.keys)
        calls = tuple((name, map_parts(call, change)) for name, call in grouping.aggregates)
        return replace(grouping, input=chain, keys=keys, aggregates=calls)

    def _inner_side(self, group: tuple[int, ...]) -> Side:
        """Return the build side of some tables, with the conditions on them alone."""
        own = [part for part in self.pending if is_pure(part) and self._inside(part, frozenset(group))]
        self.pending = [part for part in self.pending if part not in own]
        return Side(frozenset(group), "inner", *joined_tables(self.graph, group, own))

    def _outer_side(self, number: int) -> Side:
        """Return the build side of a LEFT JOIN, whose own conditions decide what matches before
        anything above can filter.
        """
        outer = self.graph.leaves[number].outer
        assert outer is not None
        own = [part for part in outer if is_pure(part) and self._inside(part, frozenset({number}))]
        side = Side(frozenset({number}), "left", *joined_tables(self.graph, [number], own))
        for part in outer:
            key = self._key(part, side)
            if part in own:
                continue
            if key is not None:
                side.keys.append(key)
            elif number not in self.graph.leaves_of(part):
                side.guards.append(part)
            else:
                raise refused_outer_condition(part)
        return side

    def _inside(self, condition: Expression, leaves: frozenset[int]) -> bool:
        found = self.graph.leaves_of(condition)
        return bool(found) and found <= leaves

    def _key(self, condition: Expression, side: Side) -> tuple[Expression, Expression] | None:
        """Return an equality as (what is before the side, what is of the side), or None if it is
        none.
        """
        pair = equality(condition)
        if pair is None:
            return None
        for ours, theirs in (pair, pair[::-1]):
            if self._inside(theirs, side.leaves) and not self.graph.leaves_of(ours) & side.leaves:
                return (ours, theirs) if self.graph.leaves_of(ours) else None
        return None

    def _take_next(self) -> Side:
        """Return the next build side: an inner one with a key, else an outer one whose conditions
        are ready, else any inner one.
        """
        inner = [side for side in self.waiting if side.kind == "inner"]
        ready = [side for side in inner if self._keys_of(side)]
        ready += [side for side in self.waiting if side.kind == "left" and self._needs(side) <= self.done]
        side = (ready or inner)[0]
        self.waiting.remove(side)
        if side.kind == "inner":
            keys = self._keys_of(side)
            side.keys = [key for _, key in keys]
            used = [condition for condition, _ in keys]
            self.pending = [part for part in self.pending if part not in used]
        self.done |= side.leaves
        side.filters = self._take_ready()
        return side

    def _keys_of(self, side: Side) -> list[tuple[Expression, tuple[Expression, Expression]]]:
        """Return the pending conditions that are keys of an inner side now."""
        found = [(part, key) for part in self.pending if (key := self._key(part, side)) is not None]
        return [(part, key) for part, key in found if self.graph.leaves_of(key[0]) <= self.done]

    def _needs(self, side: Side) -> frozenset[int]:
        """Return the leaves that a side's own conditions read before it."""
        own = [*(key for key, _ in side.keys), *side.guards]
        return frozenset(number for part in own for number in self.graph.leaves_of(part))

    def _take_ready(self) -> list[Expression]:
        """Return the pending conditions whose columns are there."""
        ready = [part for part in self.pending if self.graph.leaves_of(part) <= self.done]
        self.pending = [part for part in self.pending if part not in ready]
        return ready

    def _probed(self, chain: Relation, side: Side, places: dict[int, int], known: Relation | None) -> Relation:
        """Return the chain with one more build side.

        `places` learns where its columns are. known: what may do as this side.
        """
        build, kept, keys = self._wider(side, known) or self._build(side)
        width = len(chain.schema)
        conditions: list[Expression] = [
            Call("eq", (moved(ours, places), Column(width + place, build.schema[place].name, theirs.type)), BOOL)
            for (ours, theirs), place in zip(side.keys, keys, strict=True)
        ]
        conditions += [moved(part, places) for part in side.guards]
        for place, index in enumerate(kept):
            places[index] = width + place
        kind = "cross" if side.kind == "inner" and not conditions else side.kind
        condition = conjunction(conditions) if conditions else None
        if kind == "left" and condition is None:
            condition = Literal(True, BOOL)
        joined = Join(chain, build, kind, condition)
        return _filtered(joined, [moved(part, places) for part in side.filters])

    def _wider(self, side: Side, known: Relation | None) -> tuple[Project, list[int], list[int]] | None:
        """Return the same as `_build` of a projection that is there, None if it has not all that is
        needed, of the same tables.
        """
        if not isinstance(known, Project) or known.input != side.relation:
            return None
        own, _, keys = self._build(side)
        items = [meaning(item) for _, item in known.items]
        if not all(meaning(item) in items for _, item in own.items):
            return None
        columns = [side.columns[item.index] for _, item in known.items if isinstance(item, Column)]
        if not all(isinstance(item, Column) for _, item in known.items[: len(columns)]):
            return None
        return known, columns, [items.index(meaning(own.items[place][1])) for place in keys]

    def _build(self, side: Side) -> tuple[Project, list[int], list[int]]:
        """Return a side's projection, which of all columns its first ones are, and where its keys
        are.
        """
        read = frozenset(index for part in self.read for index in columns_of(part))
        kept = [index for index in side.columns if index in read]
        local = {index: place for place, index in enumerate(side.columns)}
        schema = side.relation.schema
        items: list[Expression] = [
            Column(local[index], schema[local[index]].name, schema[local[index]].type) for index in kept
        ]
        keys = []
        for _, theirs in side.keys:
            key = moved(theirs, local)
            known = [place for place, item in enumerate(items) if meaning(item) == meaning(key)]
            keys.append(known[0] if known else len(items))
            items += [] if known else [key]
        # A relation without columns can't be handed over.
        items = items or [Literal(True, BOOL)]
        names = unique_names([item.name if isinstance(item, Column) else "key" for item in items])
        return Project(side.relation, tuple(zip(names, items, strict=True))), kept, keys


def _filtered(relation: Relation, conditions: Sequence[Expression]) -> Relation:
    return Filter(relation, conjunction(conditions)) if conditions else relation
