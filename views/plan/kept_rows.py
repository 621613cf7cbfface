"""Rows of a stream that nothing groups: all of them are kept, equal ones once with their number.

    SELECT a, b FROM s WHERE c > 0           ->  s by a, b with count(*), each group as often as it says
    SELECT ... FROM s JOIN t ON s.k = t.k    ->  the same below the join, by the columns of s that are read
    row_number() OVER (...) over s           ->  the same below the window

What stands above the kept rows is computed when they are read: expressions, joins, windows, and
conditions on now(). Conditions that each row answers by itself are the stream's own. Enters: the
tree of a query whose groupings of streams are made. Leaves: an equal one in which no stream is read
without a grouping, but for those that groupings read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sql.bind.readers import is_open
from sql.functions.rows import IMMUTABLE
from sql.functions.table import volatility
from sql.tree.counted_rows import as_often
from sql.tree.expressions import (
    AggregateCall,
    Call,
    Cast,
    Column,
    Expression,
    Literal,
    OuterColumn,
    Subquery,
)
from sql.tree.needed_columns import every
from sql.tree.relations import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Limit,
    Project,
    Relation,
    Scan,
    SetOperation,
    Sort,
    Window,
)
from sql.tree.walks import children, inputs, walk, with_inputs
from sql.types.datatypes import INT8, TEXT, array_of
from views.codegen.state_size import bytes_per_group
from views.model.nodes import StreamPipeline
from views.model.properties import cannot_fail, is_ungrouped, scans
from views.model.refusals import refused
from views.model.text import identifier
from views.model.trees import columns_of, conjuncts, substitute, uses_now
from views.plan.joins.join_graph import conjunction
from views.plan.packed_keys import packed_keys
from views.share.told_apart import differing

# The joins of which each row has one of the left side, or of the right one; and those of which each
# row of the other side may be there without it.
KEPT_SIDES = (("inner", "cross", "left"), ("inner", "cross", "right"))
OTHER_SIDES = (("inner", "cross", "right"), ("inner", "cross", "left"))


@dataclass
class KeptRows:
    """The rows that a query keeps.

    Attributes:
        at_arrival: rows meet the tables that they are joined with when they arrive, and are kept
            above the join.
        notices: for people, the streams whose rows are kept.
    """

    at_arrival: bool
    notices: list[str] = field(default_factory=list)

    def of(self, root: Relation) -> Relation:
        """Return the tree of a query with the rows of streams kept where nothing groups them."""
        return self._kept(root, every(root), ())

    def _kept(self, relation: Relation, needed: Iterable[int], conditions: Sequence[Expression]) -> Relation:
        """Return a relation over kept rows, with the same columns, NULL where nobody needs them.

        conditions: on its rows; those that do not hold need not be kept, but may be.
        """
        if not scans(relation, "stream"):
            return relation
        looked_at = {index for item in children(relation) for index in columns_of(item)}
        match relation:
            case Scan():
                return self._rows(relation, needed, conditions)
            case Aggregate() | Distinct() if not is_ungrouped(relation.input) or _is_of_rows(relation.input):
                return with_inputs(relation, [self._below_grouping(part) for part in inputs(relation)])
            case Filter():
                own = [part for part in conjuncts(relation.predicate) if _is_of_row(part)]
                left = [
                    part
                    for part in conjuncts(relation.predicate)
                    if part not in own or not self._takes(relation.input, part)
                ]
                asked = {index for part in left for index in columns_of(part)}.union(needed)
                below = self._kept(relation.input, asked, (*own, *conditions))
                return Filter(below, conjunction(left)) if left else below
            case Aggregate():
                return replace(relation, input=self._kept(relation.input, looked_at, ()))
            case Project():
                values = [item for _, item in relation.items]
                moved = [substitute(part, values) for part in conditions]
                asked = {index for place in needed for index in columns_of(values[place])}
                return replace(
                    relation, input=self._kept(relation.input, asked, [part for part in moved if _is_of_row(part)])
                )
            case Sort():
                return replace(relation, input=self._kept(relation.input, looked_at.union(needed), conditions))
            case Window():
                width = len(relation.input.schema)
                asked = looked_at.union(index for index in needed if index < width)
                return replace(relation, input=self._kept(relation.input, asked, ()))
            case Limit():
                return replace(relation, input=self._kept(relation.input, needed, ()))
            case Join() if self._is_kept_whole(relation):
                return self._rows(relation, needed, conditions)
            case Join():
                return self._joined(relation, looked_at.union(needed), conditions)
            case SetOperation(kind="union", all=True):
                sides = (relation.left, relation.right)
                types = [column.type for column in relation.schema]
                alike = [[column.type for column in side.schema] == types for side in sides]
                return with_inputs(
                    relation,
                    [
                        self._kept(side, needed, conditions if same else ())
                        for side, same in zip(sides, alike, strict=True)
                    ],
                )
        return with_inputs(relation, [self._kept(part, every(part), ()) for part in inputs(relation)])

    def _joined(self, join: Join, needed: Iterable[int], conditions: Sequence[Expression]) -> Join:
        """Return a join over kept rows; a side whose rows the join does not keep takes its
        conditions.
        """
        if self.at_arrival and any(scans(side, "table") and not scans(side, "stream") for side in inputs(join)):
            hint = "Choose stream_join = retroactive, or group the streams in subqueries of their own."
            what = "stream_join = arrival for a table that is joined above rows that are kept"
            raise refused(what, "JOIN", None, hint)
        width = len(join.left.schema)
        own = () if join.condition is None else tuple(filter(_is_of_row, conjuncts(join.condition)))
        sides = [_side(join, part, KEPT_SIDES) for part in conditions]
        own_sides = [_side(join, part, OTHER_SIDES) for part in own]
        found = list(zip((*conditions, *own), (*sides, *own_sides), strict=True))
        return replace(
            join,
            left=self._kept(join.left, {index for index in needed if index < width}, [c for c, at in found if at == 0]),
            right=self._kept(
                join.right,
                {index - width for index in needed if index >= width},
                [_of_right(join, c) for c, at in found if at == 1],
            ),
        )

    def _takes(self, relation: Relation, condition: Expression) -> bool:
        """Return whether no row of a relation over kept rows fails a condition that it is given."""
        match relation:
            case Scan():
                return relation.kind == "stream"
            case Filter() | Sort():
                return self._takes(relation.input, condition)
            case Project():
                moved = substitute(condition, [item for _, item in relation.items])
                return _is_of_row(moved) and self._takes(relation.input, moved)
            case Join():
                if self._is_kept_whole(relation):
                    return True
                side = _side(relation, condition, KEPT_SIDES)
                if side is None:
                    return False
                return (
                    self._takes(relation.left, condition)
                    if side == 0
                    else self._takes(relation.right, _of_right(relation, condition))
                )
        return False

    def _is_kept_whole(self, join: Join) -> bool:
        """Return whether the rows of a join are kept, and not those that it joins."""
        return self.at_arrival and _is_of_rows(join) and len(scans(join, "stream")) == 1

    def _below_grouping(self, relation: Relation) -> Relation:
        """Return the input of a grouping, which reads rows of streams as they come, or groups."""
        return relation if is_ungrouped(relation) else self._kept(relation, every(relation), ())

    def _rows(self, source: Relation, needed: Iterable[int], conditions: Sequence[Expression]) -> Relation:
        """Return the rows of one stream for which conditions hold, with the columns needed."""
        schema = source.schema
        keys: list[tuple[str, Expression]] = []
        items: list[tuple[str, Expression]] = [(column.name, Literal(None, column.type)) for column in schema]
        for index in sorted(needed):
            column = schema[index]
            value: Expression = Column(index, column.name, column.type)
            kept: Expression = Column(len(keys), column.name, column.type)
            if column.type.family in ("json", "json[]"):
                texts = array_of(TEXT) if column.type.is_array else TEXT
                value, kept = Cast(value, texts, True), Cast(Column(len(keys), column.name, texts), column.type, True)
            items[index] = (column.name, kept)
            apart = enumerate(differing(value), 1)
            keys += [(column.name, value), *((f"{column.name}_{n}", part) for n, part in apart)]
        if conditions:
            source = Filter(source, conjunction(list(dict.fromkeys(conditions))))
        groups = packed_keys(Aggregate(source, tuple(keys), (("n", AggregateCall("count_star", (), INT8)),)))
        self._note(groups)
        return as_often(groups, items, len(keys))

    def _note(self, groups: Relation) -> None:
        """Note that a stream's rows are kept, and the bytes of one."""
        if isinstance(groups, Project):
            groups = groups.input
        assert isinstance(groups, Aggregate)
        size = bytes_per_group(StreamPipeline("", (), (), groups.keys, groups.aggregates, ()))
        (stream,) = scans(groups, "stream")
        self.notices.append(
            f"every row of stream {identifier(stream)} that the view asks for is kept, since nothing groups them: "
            f"{size} bytes for each different one"
        )


def _is_of_rows(relation: Relation) -> bool:
    """Return whether a relation looks at each row of its streams by itself, or joins them."""
    if not is_ungrouped(relation):
        return True
    known = isinstance(relation, Scan | Project | Filter) or (
        (isinstance(relation, Join) and relation.lateral is None)
        or (isinstance(relation, SetOperation) and relation.kind == "union" and relation.all)
    )
    return known and all(map(_is_of_rows, inputs(relation)))


def _side(join: Join, condition: Expression, kinds: Sequence[Sequence[str]]) -> int | None:
    """Return the side of a join whose rows a condition may leave out before it.

    0 is the left one, 1 the right one; None: neither.

    kinds: of the joins where it may be the left side, and the right one.
    """
    columns, width = columns_of(condition), len(join.left.schema)
    if not columns or not cannot_fail(condition):
        return None
    if max(columns) < width:
        return 0 if join.kind in kinds[0] else None
    return 1 if min(columns) >= width and join.kind in kinds[1] else None


def _of_right(join: Join, condition: Expression) -> Expression:
    """Return a condition over a join's columns as one over those of its right side."""
    width = len(join.left.schema)
    return substitute(
        condition, [Column(at - width, column.name, column.type) for at, column in enumerate(join.schema)]
    )


def _is_of_row(condition: Expression) -> bool:
    """Return whether a row's own columns tell for ever whether a condition holds."""
    for part in walk(condition):
        if isinstance(part, Subquery | OuterColumn) or is_open(part):
            return False
        if isinstance(part, Call) and volatility(part.function) != IMMUTABLE:
            return False
    return not uses_now(condition)
