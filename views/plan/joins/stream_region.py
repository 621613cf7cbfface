"""The joins between streams and a grouping, taken apart into leaves, inner joins and outer joins.

An inner join has any number of members, an outer join two regions. Streams that UNION ALL puts
together are one leaf. Enters: the input of a grouping. Leaves: a `Region`, whose expressions
address the columns of all its leaves side by side, wherever they stand. Conditions are as far down
as they may be. Must not know what is grouped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sql.tree.expressions import Column, Expression, OuterColumn
from sql.tree.relations import Aggregate, Distinct, Filter, Join, Project, Relation, Scan, SetOperation
from sql.tree.walks import children, inputs, subqueries_of, walk
from views.model.properties import scans
from views.model.trees import columns_of, conjuncts, substitute, uses_now
from views.plan.joins.join_graph import factored


@dataclass(eq=False)
class Leaf:
    """A part of the tree that is not taken apart.

    Attributes:
        start: its first column among those of all leaves.
        streams: the streams that it scans and does not group: one, or those of a UNION ALL.
        nullable: true if an outer join may put NULLs in the place of its rows.
        filters: conditions on its rows; only the leaf of a stream has any.
    """

    relation: Relation
    start: int
    streams: tuple[str, ...]
    nullable: bool
    filters: list[Expression] = field(default_factory=list)

    @property
    def columns(self) -> range:
        """The columns of the leaf among those of all leaves."""
        return range(self.start, self.start + len(self.relation.schema))

    @property
    def is_of_tables(self) -> bool:
        """True if a stream's kernel could probe its rows, which are neither a stream's nor groups
        of one.
        """
        return not scans(self.relation, "stream") and not scans(self.relation, "view")


@dataclass(eq=False)
class Outer:
    """A left, right or full join of two regions under conditions that AND joins."""

    kind: str
    left: Region
    right: Region
    conditions: list[Expression]

    @property
    def columns(self) -> frozenset[int]:
        """The columns of its leaves."""
        return self.left.columns | self.right.columns

    @property
    def kept(self) -> tuple[Region, ...]:
        """The regions whose rows are never replaced by NULLs."""
        return {"left": (self.left,), "right": (self.right,), "full": ()}[self.kind]


@dataclass(eq=False)
class Region:
    """An inner join of members under conditions.

    Attributes:
        items: the columns that it yields, over those of all leaves.
    """

    members: list[Leaf | Outer] = field(default_factory=list)
    conditions: list[Expression] = field(default_factory=list)
    items: list[Expression] = field(default_factory=list)

    @property
    def columns(self) -> frozenset[int]:
        """The columns of its leaves."""
        return frozenset(index for member in self.members for index in member.columns)

    def leaves(self) -> Iterator[Leaf]:
        """Yield all leaves, those of outer joins included."""
        for member in self.members:
            if isinstance(member, Leaf):
                yield member
            else:
                yield from member.left.leaves()
                yield from member.right.leaves()

    def regions(self) -> Iterator[Region]:
        """Yield the region and all regions inside of it."""
        yield self
        for member in self.members:
            if isinstance(member, Outer):
                yield from member.left.regions()
                yield from member.right.regions()

    def outer_joins(self) -> Iterator[Outer]:
        """Yield all outer joins."""
        for region in self.regions():
            yield from (member for member in region.members if isinstance(member, Outer))


def ungrouped_streams(relation: Relation) -> list[str]:
    """Return the streams that are scanned below without a grouping, once per scan.

    Those in subqueries are left out.
    """
    if isinstance(relation, Aggregate | Distinct):
        return []
    if isinstance(relation, Scan):
        return [relation.name] if relation.kind == "stream" else []
    return [name for below in inputs(relation) for name in ungrouped_streams(below)]


def take_apart(relation: Relation) -> Region | None:
    """Return the region of a relation that has only filters, projections and joins over streams,
    else None.
    """
    maker = _Maker()
    region = Region()
    items = maker.flatten(relation, region, nullable=False)
    if items is None:
        return None
    region.items = items
    _push_down(region)
    return region


def is_closed(expression: Expression) -> bool:
    """Return whether an expression depends on one row alone, and can be evaluated when the row
    comes.
    """
    return not (
        uses_now(expression)
        or any(True for _ in subqueries_of(expression))
        or any(isinstance(part, OuterColumn) for part in walk(expression))
    )


class _Maker:
    def __init__(self) -> None:
        self._width = 0

    def flatten(self, relation: Relation, region: Region, nullable: bool) -> list[Expression] | None:
        """Add a part of the tree to a region, and return its columns over those of all leaves."""
        of_tables = not ungrouped_streams(relation) and not _is_inner_join(relation)
        if of_tables or isinstance(relation, Scan) or (isinstance(relation, SetOperation) and _is_flat(relation)):
            return self._leaf(relation, region, nullable)
        match relation:
            case Filter():
                items = self.flatten(relation.input, region, nullable)
                if items is not None:
                    region.conditions += factored(substitute(relation.predicate, items))
                return items
            case Project():
                items = self.flatten(relation.input, region, nullable)
                return None if items is None else [substitute(item, items) for _, item in relation.items]
            case Join() if _is_inner_join(relation):
                left = self.flatten(relation.left, region, nullable)
                right = self.flatten(relation.right, region, nullable)
                if left is None or right is None:
                    return None
                if relation.condition is not None:
                    region.conditions += factored(substitute(relation.condition, [*left, *right]))
                return [*left, *right]
            case Join() if relation.lateral is None and relation.condition is not None:
                return self._outer(relation, relation.condition, region, nullable)
        return None

    def _leaf(self, relation: Relation, region: Region, nullable: bool) -> list[Expression]:
        streams = tuple(dict.fromkeys(ungrouped_streams(relation)))
        region.members.append(Leaf(relation, self._width, streams, nullable))
        start = self._width
        self._width += len(relation.schema)
        return [Column(start + index, column.name, column.type) for index, column in enumerate(relation.schema)]

    def _outer(self, join: Join, condition: Expression, region: Region, nullable: bool) -> list[Expression] | None:
        left, right = Region(), Region()
        padded = (join.kind in ("right", "full"), join.kind in ("left", "full"))
        for side, below, becomes_null in zip((left, right), (join.left, join.right), padded, strict=True):
            if becomes_null and _computes(below):
                # What is computed from columns may have a value where they are NULL.
                if not _is_flat(below):
                    return None
                side.items = self._leaf(below, side, True)
                continue
            items = self.flatten(below, side, nullable or becomes_null)
            if items is None:
                return None
            side.items = items
        items = [*left.items, *right.items]
        region.members.append(Outer(join.kind, left, right, list(conjuncts(substitute(condition, items)))))
        return items


def _is_inner_join(relation: Relation) -> bool:
    return isinstance(relation, Join) and relation.lateral is None and relation.kind in ("inner", "cross")


def _computes(relation: Relation) -> bool:
    """Return whether a part over streams yields more than their columns."""
    if not ungrouped_streams(relation):
        return False
    if isinstance(relation, Project) and not all(isinstance(item, Column) for _, item in relation.items):
        return True
    return any(_computes(below) for below in inputs(relation))


def _is_flat(relation: Relation) -> bool:
    """Return whether a stream pipeline can yield a part of the tree.

    Such a part is streams, put together by UNION ALL, under filters, projections and probes.
    """
    if isinstance(relation, SetOperation) and relation.kind == "union" and relation.all:
        return all(_is_flat(side) or not ungrouped_streams(side) for side in (relation.left, relation.right))
    if not all(is_closed(part) for part in children(relation)):
        return False
    if isinstance(relation, Filter | Project):
        return _is_flat(relation.input)
    return isinstance(relation, Scan) or (isinstance(relation, Join) and _is_probe(relation))


def _is_probe(join: Join) -> bool:
    """Return whether a join probes tables with rows that a stream pipeline yields."""
    of_left = bool(ungrouped_streams(join.left))
    stream, tables = (join.left, join.right) if of_left else (join.right, join.left)
    if join.lateral is not None or join.kind not in ("inner", "cross", "left" if of_left else "right"):
        return False
    return _is_flat(stream) and not scans(tables, "stream") and not scans(tables, "view")


def _push_down(region: Region) -> None:
    """Move conditions into the leaves of streams, and into regions of outer joins, where nothing
    changes.
    """
    for member in region.members:
        if isinstance(member, Outer):
            _push_into(region.conditions, member.kept)
            padded = {"left": (member.right,), "right": (member.left,), "full": ()}[member.kind]
            _push_into(member.conditions, padded)
            _push_down(member.left)
            _push_down(member.right)
        elif member.streams:
            own = [part for part in region.conditions if _is_of(part, frozenset(member.columns)) and is_closed(part)]
            member.filters += own
            region.conditions = [part for part in region.conditions if part not in own]


def _push_into(conditions: list[Expression], regions: tuple[Region, ...]) -> None:
    for region in regions:
        own = [part for part in conditions if _is_of(part, region.columns) and is_closed(part)]
        region.conditions += own
        conditions[:] = [part for part in conditions if part not in own]


def _is_of(condition: Expression, columns: frozenset[int]) -> bool:
    found = columns_of(condition)
    return bool(found) and found <= columns
