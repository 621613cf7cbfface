"""Eager grouping: a stream that joins below its grouping what no stream pipeline can probe is
grouped below the join instead.

    SELECT k, sum(x) FROM s JOIN r ON s.a = r.b GROUP BY k    ->  s by a, k with sum(x), r by b with count(*), joined, and the sum of
                                                                  sum(x) * count by k
    EXISTS (SELECT FROM s WHERE s.a = o.a AND s.b <> o.b)     ->  the distinct a, b of s

It serves joins of streams, outer joins that keep a table's rows, subqueries over streams, and
`stream_join = retroactive`. Rows that are alike in all that is asked of them above are one row with
a number (`views.share.reweighting`).

Enters: one operator of a bound tree whose inputs are done. Leaves: an equal one over groupings of
one stream each, which parts or a plan are made of; or the operator itself, where it needs none of
this. Must not run anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from sql.emit.duckdb import emit_duckdb
from sql.errors import SqlError
from sql.functions.table import AGGREGATE_ROWS
from sql.tree.counted_rows import repeated
from sql.tree.expressions import AggregateCall, Call, Column, Expression, Literal, OuterColumn, Subquery
from sql.tree.relations import (
    WINDOW_SHIFT,
    Aggregate,
    Distinct,
    Filter,
    Join,
    Project,
    Relation,
    Scan,
    SetOperation,
    Values,
)
from sql.tree.walks import (
    children,
    map_expression,
    map_parts,
    open_columns,
    subqueries_of,
    walk,
)
from sql.types.datatypes import BOOL, INT8
from views.codegen.state_size import bytes_per_group
from views.codegen.support import Cuts
from views.model.definition import JoinChoice
from views.model.nodes import StreamPipeline, kept_name
from views.model.properties import scans
from views.model.refusals import RULE_B, RULE_C, refused
from views.model.text import aggregate_text, expression_text
from views.model.trees import columns_of, conjuncts, inputs, substitute, substitute_call
from views.plan.eager.blocks import COUNT, Block, Blocks, call_name
from views.plan.eager.keys import is_of_kernels
from views.plan.eager.slices import are_of_stream, sliced
from views.plan.joins.join_graph import conjunction, equality
from views.plan.joins.stream_region import Leaf, Outer, Region, take_apart, ungrouped_streams
from views.share.reweighting import (
    CHOICES,
    Weighted,
    can_repeat,
    can_reweight,
    counts_rows,
    from_partials,
    from_rows,
    is_choice,
    known_count,
    partial_calls,
    shows_forms,
    times,
    with_ties,
)

IN_STREAMS = ("inner", "cross")


@dataclass
class EagerGrouping:
    """The rewrite of one query.

    Attributes:
        notices: for people, the keys by which each stream is grouped.
        is_made: true if anything has changed.
    """

    choice: JoinChoice
    notices: list[str] = field(default_factory=list)
    is_made: bool = False

    def step(self, relation: Relation) -> Relation:
        """Return an operator over groupings of the streams below it, or as it is."""
        if not self.choice.eager_grouping:
            return relation
        if any(_of_streams(part) for item in children(relation) for part in subqueries_of(item)):
            relation = map_parts(relation, self._subquery)
        if not isinstance(relation, Aggregate) or not ungrouped_streams(relation.input):
            return relation
        source, told = sliced(relation.input)
        if told and all(can_reweight(call) or can_repeat(call) for _, call in relation.aggregates):
            relation = replace(relation, input=source)
            self.notices += told
        elif not self._is_needed(relation):
            return relation
        region = take_apart(relation.input)
        if region is None or (_is_union(region) and not all(can_reweight(call) for _, call in relation.aggregates)):
            return relation
        return _Rewrite(region, self).grouped(relation)

    def _subquery(self, part: Expression) -> Expression | None:
        """Return a subquery that asks for the existence of stream rows over their groups.

        None for others.
        """
        if not isinstance(part, Subquery) or part.kind not in ("exists", "any", "all"):
            return None
        if not ungrouped_streams(part.relation):
            return None
        region = take_apart(part.relation)
        if region is None:
            return None
        names = [column.name for column in part.relation.schema]
        return replace(part, relation=_Rewrite(region, self).distinct(names, part.kind == "exists"))

    def _is_needed(self, grouping: Aggregate) -> bool:
        """Return whether a grouping has a join that no stream pipeline can probe, or may probe."""
        if len(ungrouped_streams(grouping.input)) > 1 or self._joins(grouping.input):
            return True
        expressions = _path_expressions(grouping)
        if any(map(_has_closure, expressions)):
            return True
        if _has_slices(grouping.input) and all(can_reweight(call) for _, call in grouping.aggregates):
            return True
        return _has_join(grouping.input) and not (all(map(is_of_kernels, expressions)) and _are_evaluated(grouping))

    def _joins(self, relation: Relation) -> bool:
        if isinstance(relation, Join) and ungrouped_streams(relation):
            stream_left = bool(ungrouped_streams(relation.left))
            if self.choice.stream_join == "retroactive" or relation.kind not in (
                *IN_STREAMS,
                "left" if stream_left else "right",
            ):
                return True
            if relation.kind not in IN_STREAMS and _compares_sides(relation):
                return True
            other = relation.right if stream_left else relation.left
            if scans(other, "stream") or scans(other, "view"):
                return True
        return not isinstance(relation, Aggregate | Distinct) and any(self._joins(below) for below in inputs(relation))


def _is_union(region: Region) -> bool:
    """Return whether a region has no joins, but a UNION ALL of streams."""
    (first, *others) = region.members
    return not others and isinstance(first, Leaf) and isinstance(first.relation, SetOperation)


def _compares_sides(join: Join) -> bool:
    """Return whether the condition of an outer join compares its sides by more than equality."""
    left = set(range(len(join.left.schema)))
    for condition in conjuncts(join.condition) if join.condition is not None else ():
        columns = columns_of(condition)
        if columns & left and columns - left and equality(condition) is None:
            return True
    return False


def _has_join(relation: Relation) -> bool:
    """Return whether a stream is joined with anything below a relation."""
    if not ungrouped_streams(relation):
        return False
    return isinstance(relation, Join) or any(map(_has_join, inputs(relation)))


def _has_slices(relation: Relation) -> bool:
    """Return whether the rows of a stream are in several windows each, which groups of slices can
    be instead.
    """
    if isinstance(relation, Join) and isinstance(relation.right, Values) and WINDOW_SHIFT in relation.right.schema:
        return bool(ungrouped_streams(relation.left))
    return not isinstance(relation, Aggregate | Distinct) and any(map(_has_slices, inputs(relation)))


def _path_expressions(relation: Relation) -> list[Expression]:
    """Return all expressions between a grouping and its streams."""
    found = list(children(relation))
    for below in inputs(relation):
        if ungrouped_streams(below):
            found += _path_expressions(below)
    return found


def _are_evaluated(relation: Relation) -> bool:
    """Return whether a stream pipeline evaluates all expressions between a grouping and its
    streams: by kernels, or before them where they read the stream alone.
    """
    schema = tuple(column for below in inputs(relation) for column in below.schema)
    flags = [flag for below in inputs(relation) for flag in are_of_stream(below)]
    cuts = Cuts(schema, {index for index, flag in enumerate(flags) if flag})
    if not all(map(cuts.cut, children(relation))):
        return False
    return all(_are_evaluated(below) for below in inputs(relation) if ungrouped_streams(below))


def _has_closure(expression: Expression) -> bool:
    return any(isinstance(part, OuterColumn | Subquery) for part in walk(expression))


def _of_streams(part: Subquery) -> bool:
    return bool(scans(part.relation, "stream") or scans(part.relation, "view"))


@dataclass
class _Home:
    """The block that keeps an aggregate whose arguments are its own.

    Attributes:
        places: of the parts that the block keeps, among its aggregates.
    """

    block: Block
    places: list[int]


class _Rewrite:
    """The rewrite of one region into groupings."""

    def __init__(self, region: Region, eager: EagerGrouping) -> None:
        self.region = region
        self.eager = eager

    def grouped(self, grouping: Aggregate) -> Relation:
        """Return the grouping over groups of the streams below it, with the same columns."""
        for _, call in grouping.aggregates:
            if not can_reweight(call) and not is_choice(call) and not can_repeat(call):
                raise self._refused(call, len(ungrouped_streams(grouping.input)))
        items = self.region.items
        keys = [substitute(key, items) for _, key in grouping.keys]
        calls = [with_ties(substitute_call(call, items)) for _, call in grouping.aggregates]
        blocks = Blocks(self.region, self.eager.choice.stream_join, keys, calls)
        keys = [blocks.canonical(key) for key in keys]
        # A table's column that is equal to a stream's may look different.
        calls = [call if shows_forms(call) else map_parts(call, blocks.canonical_column) for call in calls]
        for expression in (*blocks.above, *keys):
            blocks.want(expression)
        if any(not can_reweight(call) and not is_choice(call) and not call.distinct for call in calls):
            built, source = self._repeated(blocks, calls)
            weighted = [from_rows(map_parts(call, built.change), None) for call in calls]
        else:
            homes = self._homes(blocks, calls)
            self._want_counts(blocks, calls, homes)
            built = _Built(blocks)
            source = built.region(self.region)
            weighted = [self._weighted(built, call, home) for call, home in zip(calls, homes, strict=True)]
        self._note(blocks, keys)
        return put_together(grouping, source, [built.over(key) for key in keys], weighted)

    def _refused(self, call: AggregateCall, streams_count: int) -> SqlError:
        name, row = kept_name(call), AGGREGATE_ROWS.get(call.function)
        if row is not None and "FIRST" not in row.states.values():
            name += f" of {', '.join(part.type.sql_name for part in call.arguments)}"
        what = f"{name} over rows that are grouped before they are joined"
        if streams_count > 1:
            hint = "Group each stream in a subquery of its own, and join the groups."
            return refused(what, aggregate_text(call), RULE_C, hint, call.position)
        hint = "Group the stream in a subquery of its own, and join the groups."
        if self.eager.choice.stream_join == "retroactive":
            hint = "Choose stream_join = frozen or arrival, or group the stream in a subquery of its own, and join the groups."
        return refused(what, aggregate_text(call), RULE_B, hint, call.position)

    def distinct(self, names: Sequence[str], is_existence: bool) -> Relation:
        """Return the rows of the region, where it does not matter how often each row occurs."""
        items = [] if is_existence else self.region.items
        blocks = Blocks(self.region, self.eager.choice.stream_join, items, ())
        items = [blocks.canonical(item) for item in items]
        for expression in (*blocks.above, *items):
            blocks.want(expression)
        built = _Built(blocks)
        source = built.region(self.region)
        self._note(blocks, [])
        if is_existence:
            return source
        return Project(source, tuple((name, built.over(item)) for name, item in zip(names, items, strict=True)))

    def _repeated(self, blocks: Blocks, calls: Sequence[AggregateCall]) -> tuple[_Built, Relation]:
        """Return the region's rows, each as often as it occurs."""
        for call in calls:
            for part in children(call):
                blocks.want(part, shows_forms(call))
        for block in blocks.all:
            block.keep(COUNT)
        built = _Built(blocks)
        source = built.region(self.region)
        counts = [built.count(block) for block in blocks.all]
        return built, repeated(source, reduce(times, counts))

    def _homes(self, blocks: Blocks, calls: Sequence[AggregateCall]) -> list[_Home | None]:
        """Choose the aggregates that the blocks keep; the columns of the others become keys."""
        homes: list[_Home | None] = [None] * len(calls)
        found = [
            None if call.distinct or call.function in ("grouping", *CHOICES) else blocks.home(call) for call in calls
        ]
        for call, block in zip(calls, found, strict=True):
            if block is None:
                for part in children(call):
                    blocks.want(part, shows_forms(call))
        for number, (call, block) in enumerate(zip(calls, found, strict=True)):
            if block is None or block.has_all(columns_of_all(children(call))):
                continue
            homes[number] = _Home(block, [block.keep(part) for part in partial_calls(call)])
        return homes

    def _want_counts(self, blocks: Blocks, calls: Sequence[AggregateCall], homes: Sequence[_Home | None]) -> None:
        for call, home in zip(calls, homes, strict=True):
            if counts_rows(call):
                for block in blocks.all:
                    if home is None or home.block is not block:
                        block.keep(COUNT)

    def _weighted(self, built: _Built, call: AggregateCall, home: _Home | None) -> Weighted:
        weight: Expression | None = None
        for block in built.blocks.all if counts_rows(call) else ():
            if home is None or home.block is not block:
                count = built.count(block)
                weight = count if weight is None else times(weight, count)
        if home is None:
            return from_rows(map_parts(call, built.change), weight)
        return from_partials(call, [built.kept(home.block, place) for place in home.places], weight)

    def _note(self, blocks: Blocks, keys: Sequence[Expression]) -> None:
        """Note the added keys of the blocks, and the bytes of a row for blocks that keep whole
        rows.
        """
        self.eager.is_made = True
        for block in blocks.all:
            if block.is_whole():
                self.eager.notices.append(_kept_whole(block))
                continue
            meant = dict.fromkeys(block.meant[key] for key in block.keys)
            added = ", ".join(expression_text(one) for one in meant if one not in keys)
            if added:
                self.eager.notices.append(f"eager grouping groups {block.streams} also by {added}")


class _Built:
    """The groups of the blocks, joined as the region joins their rows.

    Attributes:
        places: where a relation has the columns of all leaves, of the keys of a block, and more.
    """

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        for block in blocks.all:
            block.settle()
            if not block.keys:
                # One row even of an empty stream, which has no place in a join.
                block.keep(COUNT)
        self.starts: dict[int, int] = {}
        self.places: dict[int, int] = {}

    def region(self, region: Region) -> Relation:
        """Return a region's rows as groups."""
        relation, width = self._region(region, 0)
        assert width == len(relation.schema)
        return relation

    def over(self, expression: Expression) -> Expression:
        """Return an expression over all leaves as one over the relation."""
        return map_expression(expression, self.change)

    def change(self, part: Expression) -> Expression | None:
        """Return the column of a block or a table for an expression; None: look into the
        expression.
        """
        found = self.blocks.from_keys(part, self._key)
        if found is not None:
            return found
        if isinstance(part, Column):
            return replace(part, index=self.places[part.index])
        return None

    def _key(self, block: Block, place: int) -> Expression:
        key = block.keys[place]
        return Column(self.starts[id(block)] + place, _name(key), key.type)

    def count(self, block: Block) -> Expression:
        """Return how many rows of a block a row of the relation stands for."""
        column = self.kept(block, block.count_place)
        return known_count(column) if block.nullable else column

    def kept(self, block: Block, place: int) -> Expression:
        """Return the column of one of the aggregates of a block."""
        call = block.calls[place]
        return Column(self.starts[id(block)] + len(block.keys) + place, call_name(call), call.type)

    def _region(self, region: Region, start: int) -> tuple[Relation, int]:
        result: Relation | None = None
        conditions = [*self.blocks.conditions_of(region)]
        width = start
        done: set[int] = set()
        for member in self.blocks.members_of(region):
            relation, end = self._member(member, width)
            done |= set(member.columns)
            if result is None:
                result, width = relation, end
                continue
            ready = [
                part for part in conditions if columns_of(part) <= done and columns_of(part) and not _has_subquery(part)
            ]
            conditions = [part for part in conditions if part not in ready]
            condition = conjunction([self.shifted(part, start) for part in ready]) if ready else None
            result, width = Join(result, relation, "inner" if ready else "cross", condition), end
        assert result is not None
        if conditions:
            result = Filter(result, conjunction([self.shifted(part, start) for part in conditions]))
        return result, width

    def shifted(self, expression: Expression, start: int) -> Expression:
        """Return an expression over a relation whose first column is at `start`."""
        moved = self.over(expression)
        if not start:
            return moved
        return map_expression(
            moved, lambda part: replace(part, index=part.index - start) if isinstance(part, Column) else None
        )

    def _member(self, member: Block | Leaf | Outer, start: int) -> tuple[Relation, int]:
        if isinstance(member, Outer):
            left, middle = self._region(member.left, start)
            right, end = self._region(member.right, middle)
            condition = conjunction([self.shifted(part, start) for part in member.conditions] or [Literal(True, BOOL)])
            return Join(left, right, member.kind, condition), end
        if isinstance(member, Leaf):
            for index, place in enumerate(member.columns):
                self.places[place] = start + index
            return member.relation, start + len(member.relation.schema)
        self.starts[id(member)] = start
        relation = member.grouping()
        if not member.keys:
            there = Call("gt", (Column(member.count_place, "rows", INT8), Literal(0, INT8)), BOOL)
            relation = Filter(relation, there)
        return relation, start + len(relation.schema)


def columns_of_all(expressions: Sequence[Expression]) -> frozenset[int]:
    """Return the columns that some expressions read."""
    return frozenset(index for part in expressions for index in columns_of(part))


def put_together(
    grouping: Aggregate, source: Relation, keys: Sequence[Expression], weighted: Sequence[Weighted]
) -> Relation:
    """Return a grouping of rows that stand for several, with the columns of the one that it
    replaces.
    """
    named = tuple((name, key) for (name, _), key in zip(grouping.keys, keys, strict=True))
    calls = [call for one in weighted for call in one.calls]
    whole = Aggregate(source, named, tuple((f"a{number}", call) for number, call in enumerate(calls)), grouping.sets)
    # What the engine refuses is refused now, and not when the view is read.
    if not any(True for _ in open_columns(whole)):
        emit_duckdb(replace(whole, input=Scan("rows", "rows", source.schema)), {"rows": "rows"})
    items: list[tuple[str, Expression]] = [(name, Column(at, name, key.type)) for at, (name, key) in enumerate(named)]
    place = len(named)
    for (name, _), one in zip(grouping.aggregates, weighted, strict=True):
        values = [Column(place + number, name, call.type) for number, call in enumerate(one.calls)]
        items.append((name, substitute(one.value, values)))
        place += len(values)
    result = Project(whole, tuple(items))
    assert result.schema == grouping.schema, f"{result.schema} instead of {grouping.schema}"
    return result


def _has_subquery(expression: Expression) -> bool:
    return any(True for _ in subqueries_of(expression))


def _name(expression: Expression) -> str:
    return expression.name if isinstance(expression, Column) else "key"


def _kept_whole(block: Block) -> str:
    keys, calls = tuple(("", key) for key in block.keys), tuple(("", call) for call in block.calls)
    size = bytes_per_group(StreamPipeline("", (), (), keys, calls, ()))
    return f"eager grouping keeps every column of {block.streams}: {size} bytes for each distinct row"
