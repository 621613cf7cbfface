"""The joins below a stream's first grouping as a graph: leaves, and the conditions between them.

Enters: the input of a first grouping. Leaves: a `JoinGraph`, whose expressions address the columns
of all leaves side by side, and its tables put together into build sides. `rules.joins_to_probes`,
which orders the probes, starts from there. Must not know kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sql.tree.expressions import Call, Column, Expression
from sql.tree.relations import Filter, Join, Project, Relation, Scan
from sql.tree.walks import subqueries_of
from sql.types.datatypes import BOOL
from views.model.properties import properties
from views.model.trees import columns_of, conjuncts, rewrite, substitute, uses_now

STREAM = 0  # the number of the stream's leaf after `JoinGraph.of`


@dataclass(frozen=True)
class Leaf:
    """The stream, or a part of the tree that reads tables only.

    Attributes:
        start: its first column among those of all leaves.
        outer: None, or the conditions of the LEFT JOIN whose right side it is.
    """

    relation: Relation
    start: int
    outer: tuple[Expression, ...] | None = None

    @property
    def columns(self) -> range:
        """The columns of the leaf among those of all leaves."""
        return range(self.start, self.start + len(self.relation.schema))


@dataclass
class JoinGraph:
    """The leaves of a join, the conditions between them, and the columns of the result.

    Attributes:
        leaves: the stream first, then the tables from left to right.
        items: the columns of the flattened relation, over all leaves.
    """

    leaves: list[Leaf] = field(default_factory=list)
    conditions: list[Expression] = field(default_factory=list)
    items: list[Expression] = field(default_factory=list)

    @staticmethod
    def of(relation: Relation) -> JoinGraph:
        """Return the graph of a relation that scans one stream."""
        graph = JoinGraph()
        graph.items = graph._flatten(relation)
        graph.leaves.sort(key=lambda leaf: (not properties(leaf.relation).contains_stream, leaf.start))
        return graph

    def leaves_of(self, expression: Expression) -> frozenset[int]:
        """Return the numbers of the leaves that an expression reads."""
        wanted = columns_of(expression)
        return frozenset(
            number for number, leaf in enumerate(self.leaves) if any(index in leaf.columns for index in wanted)
        )

    def _flatten(self, relation: Relation) -> list[Expression]:
        """Take a part of the tree apart, and return its columns over those of all leaves."""
        in_tables = not properties(relation).contains_stream
        match relation:
            case Filter() if not in_tables:
                items = self._flatten(relation.input)
                self.conditions += factored(substitute(relation.predicate, items))
                return items
            case Project() if not in_tables:
                items = self._flatten(relation.input)
                return [substitute(item, items) for _, item in relation.items]
            case Join() if relation.lateral is None and relation.kind in ("inner", "cross"):
                items = [*self._flatten(relation.left), *self._flatten(relation.right)]
                if relation.condition is not None:
                    self.conditions += factored(substitute(relation.condition, items))
                return items
            case Join() if not in_tables:
                return self._flatten_outer(relation)
        return self._add_leaf(relation, None)

    def _flatten_outer(self, join: Join) -> list[Expression]:
        """Take apart a join that keeps the stream's rows: the other side is a leaf of its own."""
        assert join.kind in ("left", "right") and join.condition is not None, f"{join.kind} join: refused before"
        stream_left = join.kind == "left"
        kept = self._flatten(join.left if stream_left else join.right)
        place = len(self.leaves)
        other = self._add_leaf(join.right if stream_left else join.left, ())
        items = [*kept, *other] if stream_left else [*other, *kept]
        leaf = self.leaves[place]
        self.leaves[place] = Leaf(leaf.relation, leaf.start, conjuncts(substitute(join.condition, items)))
        return items

    def _add_leaf(self, relation: Relation, outer: tuple[Expression, ...] | None) -> list[Expression]:
        assert isinstance(relation, Scan) or not properties(relation).contains_stream, f"a {type(relation).__name__}"
        start = sum(len(leaf.relation.schema) for leaf in self.leaves)
        self.leaves.append(Leaf(relation, start, outer))
        return [Column(start + index, column.name, column.type) for index, column in enumerate(relation.schema)]


def factored(predicate: Expression) -> tuple[Expression, ...]:
    """Return the conditions of a predicate.

    (a AND b) OR (a AND c) becomes a and (b OR c), since a may be a key.
    """
    return tuple(part for condition in conjuncts(predicate) for part in _factored(condition))


def _factored(condition: Expression) -> tuple[Expression, ...]:
    if not isinstance(condition, Call) or condition.function != "or":
        return (condition,)
    branches = [conjuncts(branch) for branch in condition.arguments]
    shared = [part for part in branches[0] if all(part in branch for branch in branches[1:])]
    if not shared:
        return (condition,)
    rests = [[part for part in branch if part not in shared] for branch in branches]
    if not all(rests):
        return tuple(shared)
    rest = replace(condition, arguments=tuple(conjunction(rest) for rest in rests))
    return (*shared, rest)


def equality(expression: Expression) -> tuple[Expression, Expression] | None:
    """Return both sides of an equality that may become a key."""
    if not isinstance(expression, Call) or expression.function != "eq" or not is_pure(expression):
        return None
    left, right = expression.arguments
    return left, right


def is_pure(expression: Expression) -> bool:
    """Return whether an expression over a table means the same at CREATE VIEW as at each insert.

    A part of a subquery does not.
    """
    return not uses_now(expression)


def sides(graph: JoinGraph, condition: Expression) -> tuple[frozenset[int], frozenset[int]] | None:
    """Return the leaves on both sides of an equality between different leaves."""
    pair = equality(condition)
    if pair is None or any(True for _ in subqueries_of(condition)):
        return None
    left, right = graph.leaves_of(pair[0]), graph.leaves_of(pair[1])
    return (left, right) if left and right and not left & right else None


def table_groups(graph: JoinGraph) -> list[tuple[int, ...]]:
    """Return the inner table leaves by build side.

    Each table with a key to the stream, or to an outer side, begins a build side, to which tables
    join that are equal to one of its tables only. Tables that are left are connected with each
    other or not at all.
    """
    tables = [n for n, leaf in enumerate(graph.leaves) if n != STREAM and leaf.outer is None]
    links = [pair for condition in graph.conditions if (pair := sides(graph, condition)) is not None]
    probed = frozenset(range(len(graph.leaves))) - frozenset(tables)
    groups = [[n] for n in tables if any(_links(n, probed, pair) for pair in links)]
    taken = {n for group in groups for n in group}
    while True:
        for group in groups:
            _grow(group, taken, tables, links)
        rest = [n for n in tables if n not in taken]
        if not rest:
            return [tuple(group) for group in groups]
        groups.append([rest[0]])
        taken.add(rest[0])


def _links(table: int, probed: frozenset[int], pair: tuple[frozenset[int], frozenset[int]]) -> bool:
    left, right = pair
    return (left == {table} and right <= probed) or (right == {table} and left <= probed)


def _grow(
    group: list[int], taken: set[int], tables: Sequence[int], links: Sequence[tuple[frozenset[int], frozenset[int]]]
) -> None:
    """Add to a group the free tables that are equal to one of its tables, as long as there are
    any.
    """
    grown = True
    while grown:
        grown = False
        for table in tables:
            if table in taken or not any(_links(table, frozenset(group), pair) for pair in links):
                continue
            group.append(table)
            taken.add(table)
            grown = True


def conjunction(conditions: Sequence[Expression]) -> Expression:
    """Return the conditions joined by AND."""
    return conditions[0] if len(conditions) == 1 else Call("and", tuple(conditions), BOOL)


def moved(expression: Expression, places: Mapping[int, int]) -> Expression:
    """Return an expression over all leaves as one over a relation that has their column i at
    places[i].
    """

    def place(part: Expression) -> Expression | None:
        if not isinstance(part, Column):
            return None
        return Column(places[part.index], part.name, part.type, part.position)

    return rewrite(expression, place)


def joined_tables(
    graph: JoinGraph, group: Sequence[int], conditions: Iterable[Expression]
) -> tuple[Relation, list[int]]:
    """Return the inner join of some table leaves, and which column of all leaves each of its
    columns is.

    conditions: on these leaves alone.
    """
    pending = list(conditions)
    result: Relation | None = None
    columns: list[int] = []
    done: set[int] = set()
    for number in group:
        leaf = graph.leaves[number]
        own = [part for part in pending if graph.leaves_of(part) <= {number}]
        relation = leaf.relation
        if own:
            places = {index: index - leaf.start for index in leaf.columns}
            relation = Filter(relation, moved(conjunction(own), places))
        done.add(number)
        columns += leaf.columns
        between = [part for part in pending if part not in own and graph.leaves_of(part) <= done]
        pending = [part for part in pending if part not in own and part not in between]
        if result is None:
            result = relation
            continue
        places = {index: place for place, index in enumerate(columns)}
        condition = moved(conjunction(between), places) if between else None
        result = Join(result, relation, "inner" if between else "cross", condition)
    assert result is not None and not pending
    return result, columns
