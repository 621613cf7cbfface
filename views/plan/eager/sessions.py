"""Groupings of sessions: the stream is grouped by its keys and times, and sessions are made of the
groups.

    SELECT k, window_start, sum(x) FROM session(TABLE s PARTITION BY k, t, '5 min') GROUP BY 1, 2
      ->  s by k, t with count(*) and sum(x); sessions of these groups; the sum of sum(x)

Rows of equal keys and times are in the same session, whatever the others are. Enters: one operator
of a bound tree whose inputs are done. Leaves: an equal one over a first grouping of the stream, or
the operator itself, whose rows are all kept then. Must not know how a session is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sql.tree.expressions import AggregateCall, Column, Expression, OuterColumn, Subquery
from sql.tree.relations import SESSION_START, Aggregate, Filter, Project, Relation, Window
from sql.tree.walks import children, map_expression, map_parts, walk
from sql.types.datatypes import SqlType
from views.codegen.state_size import bytes_per_group
from views.codegen.values import FLOATS, is_plainly_compared
from views.model.nodes import StreamPipeline
from views.model.properties import is_ungrouped, scans
from views.model.text import identifier
from views.model.trees import columns_of, conjuncts, substitute, substitute_call, uses_now
from views.plan.eager.blocks import COUNT, call_name
from views.plan.eager.grouping import put_together
from views.plan.joins.join_graph import conjunction
from views.share.reweighting import can_reweight, from_partials, from_rows, partial_calls


@dataclass
class SessionGroups:
    """The groups that sessions of streams are made of.

    Attributes:
        notices: for people, what is kept of a stream.
    """

    notices: list[str] = field(default_factory=list)

    def step(self, relation: Relation) -> Relation:
        """Return a grouping of sessions over groups by keys and times, or an operator as it is."""
        if not isinstance(relation, Aggregate) or not all(can_reweight(call) for _, call in relation.aggregates):
            return relation
        rows = _Rows()
        if not rows.take_apart(relation.input) or len(rows.windows) != 2:
            return relation
        keys = [substitute(key, rows.values) for _, key in relation.keys]
        calls = [substitute_call(call, rows.values) for _, call in relation.aggregates]
        if not rows.want([*keys, *(part for call in calls if not rows.keeps(call) for part in children(call))]):
            return relation
        own = [[rows.kept(part) for part in partial_calls(call)] if rows.keeps(call) else [] for call in calls]
        source, partials = rows.over_groups()
        weighted = [
            from_partials(call, [partials[place] for place in places], None)
            if places
            else from_rows(map_parts(call, rows.change), partials[0])
            for call, places in zip(calls, own, strict=True)
        ]
        self._note(rows.groups)
        return put_together(relation, source, [map_expression(key, rows.change) for key in keys], weighted)

    def _note(self, groups: Aggregate) -> None:
        size = bytes_per_group(StreamPipeline("", (), (), groups.keys, groups.aggregates, ()))
        (stream,) = scans(groups, "stream")
        names = ", ".join(identifier(name) for name, _ in groups.keys)
        self.notices.append(f"sessions are made of groups of stream {identifier(stream)} by {names}: {size} bytes each")


class _Rows:
    """The rows of sessions: a stream, and the window functions over it.

    Attributes:
        source: the rows of the stream.
        values: the columns over those of the source, and after them those of the windows.
        windows: from below, over the same columns.
        own, below, above: conditions on rows of the source, on its groups, and on sessions.
        needed: the places of the source's columns by which it is grouped.
        calls: the aggregates that groups keep.
    """

    source: Relation

    def __init__(self) -> None:
        self.values: list[Expression] = []
        self.windows: list[Window] = []
        self.own: list[Expression] = []
        self.below: list[Expression] = []
        self.above: list[Expression] = []
        self.needed: list[int] = []
        self.calls = [COUNT]

    def take_apart(self, relation: Relation) -> bool:
        """Take steps apart from below; False: these are no sessions of a stream."""
        match relation:
            case Project():
                if not self.take_apart(relation.input):
                    return False
                self.values = [substitute(item, self.values) for _, item in relation.items]
            case Filter():
                if not self.take_apart(relation.input):
                    return False
                for condition in (substitute(one, self.values) for one in conjuncts(relation.predicate)):
                    moves = uses_now(condition)
                    (self.above if self.windows else self.below if moves else self.own).append(condition)
            case Window():
                names = {name for name, _ in relation.calls}
                if not self.take_apart(relation.input) or (self.windows and SESSION_START not in names):
                    return False
                place = self.width + sum(len(window.calls) for window in self.windows)
                values = self.values
                self.windows.append(map_parts(relation, lambda part: _value(part, values)))
                made = enumerate(relation.calls, place)
                self.values = [*values, *(Column(number, name, call.type) for number, (name, call) in made)]
            case _:
                self.source = relation
                self.values = [Column(place, one.name, one.type) for place, one in enumerate(relation.schema)]
                return is_ungrouped(relation) and len(scans(relation, "stream")) == 1
        return True

    @property
    def width(self) -> int:
        """How many columns the source has."""
        return len(self.source.schema)

    def keeps(self, call: AggregateCall) -> bool:
        """Tell whether groups of the source keep an aggregate."""
        columns = [place for part in children(call) for place in columns_of(part)]
        return not call.distinct and call.function != "grouping" and all(place < self.width for place in columns)

    def kept(self, call: AggregateCall) -> int:
        """Return the place of an aggregate that groups keep."""
        if call not in self.calls:
            self.calls.append(call)
        return self.calls.index(call)

    def want(self, expressions: Iterable[Expression]) -> bool:
        """Group the source so that expressions can be evaluated over sessions of groups; False:
        equal values of a column may look different, or rows outside are read.
        """
        asked = [*expressions, *self.below, *self.above, *(part for one in self.windows for part in children(one))]
        self.needed = sorted({place for part in asked for place in columns_of(part) if place < self.width})
        return all(map(_is_closed, (*asked, *self.own))) and all(
            _is_key(self.source.schema[place].type) for place in self.needed
        )

    @property
    def groups(self) -> Aggregate:
        """The groups of the source."""
        named = [(place, self.source.schema[place]) for place in self.needed]
        keys = tuple((column.name, Column(place, column.name, column.type)) for place, column in named)
        calls = tuple((f"{call_name(call)}_{number}", call) for number, call in enumerate(self.calls, 1))
        return Aggregate(Filter(self.source, conjunction(self.own)) if self.own else self.source, keys, calls)

    def over_groups(self) -> tuple[Relation, list[Expression]]:
        """Return the rows of sessions as groups, and the columns of what these keep."""
        rows: Relation = self.groups
        start = len(self.needed)
        kept = enumerate(rows.schema[start:], start)
        partials: list[Expression] = [Column(place, column.name, column.type) for place, column in kept]
        if self.below:
            rows = Filter(rows, conjunction([map_expression(one, self.change) for one in self.below]))
        for window in self.windows:
            rows = replace(map_parts(window, self.change), input=rows)
        if self.above:
            rows = Filter(rows, conjunction([map_expression(one, self.change) for one in self.above]))
        return rows, partials

    def change(self, part: Expression) -> Expression | None:
        """Return a column of the source or of its windows as one over groups."""
        if not isinstance(part, Column):
            return None
        if part.index < self.width:
            return replace(part, index=self.needed.index(part.index))
        return replace(part, index=part.index - self.width + len(self.needed) + len(self.calls))


def _value(part: Expression, values: list[Expression]) -> Expression | None:
    return values[part.index] if isinstance(part, Column) else None


def _is_closed(expression: Expression) -> bool:
    return not any(isinstance(part, OuterColumn | Subquery) for part in walk(expression))


def _is_key(kind: SqlType) -> bool:
    """Tell whether equal values of a type look alike."""
    return is_plainly_compared(kind) and not kind.has_own_order and kind.family not in FLOATS
