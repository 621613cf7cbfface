"""The blocks of eager grouping: each stream of a region, with the tables that only say which rows
count.

Enters: a `Region`, and the keys and aggregates of a query over its rows. Leaves: blocks with their
keys and aggregates, and the conditions that stay above them. A table goes into a stream's block if
an equality links it with the block and nothing above needs its columns; then the stream's kernel
probes it. All other tables are joined with the groups. Must not know what becomes of the
aggregates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sql.functions.comparisons import COMPARED_DAYS
from sql.functions.table import AGGREGATE_ROWS
from sql.tree.expressions import AggregateCall, Call, Column, Expression
from sql.tree.relations import Aggregate, Filter, Join, Relation, Schema
from sql.tree.walks import children, map_expression, map_parts, relation_names
from sql.types.datatypes import INT8
from views.codegen.support import kernel_supports
from views.codegen.values import is_plainly_compared
from views.model.refusals import RULE_B, refused
from views.model.steps import unique_names
from views.model.text import identifier
from views.model.trees import columns_of
from views.plan.eager.keys import guarded, is_argument, is_made_of, is_of_kernels, is_safe, is_strict, keeps_all
from views.plan.joins.casts import unwidened
from views.plan.joins.join_graph import conjunction, equality, moved
from views.plan.joins.stream_region import Leaf, Outer, Region, is_closed
from views.plan.rules.combine_groupings import union_sides
from views.share.told_apart import differing

COUNT = AggregateCall("count_star", (), INT8)


@dataclass(eq=False)
class Block:
    """The groups of a stream, or of a UNION ALL of streams, below a join.

    Attributes:
        leaves: the stream's, then those of tables.
        conditions: between the leaves.
        keys, calls: over the columns of all leaves of the region.
        meant: the expressions that keys stand for.
        apart: keys that tell equal values of other keys apart.
    """

    leaves: list[Leaf]
    conditions: list[Expression] = field(default_factory=list)
    keys: list[Expression] = field(default_factory=list)
    meant: dict[Expression, Expression] = field(default_factory=dict)
    calls: list[AggregateCall] = field(default_factory=list)
    apart: list[Expression] = field(default_factory=list)

    @property
    def streams(self) -> str:
        """The name of the stream, or the names of a UNION ALL, for people."""
        names = [identifier(name) for name in self.leaves[0].streams]
        return f"stream {names[0]}" if len(names) == 1 else f"streams {', '.join(names)}"

    @property
    def nullable(self) -> bool:
        """True if an outer join may put NULLs in the place of its rows."""
        return self.leaves[0].nullable

    @property
    def columns(self) -> frozenset[int]:
        """The columns of the block among those of all leaves."""
        return frozenset(index for leaf in self.leaves for index in leaf.columns)

    @property
    def count_place(self) -> int:
        """The place of count(*) among the aggregates."""
        return self.keep(COUNT)

    def keep(self, call: AggregateCall) -> int:
        """Keep an aggregate from now on, and return its place."""
        if call not in self.calls:
            self.calls.append(call)
        return self.calls.index(call)

    def want_key(self, key: Expression, expression: Expression) -> None:
        """Add a key for an expression."""
        self.meant.setdefault(key, expression)
        if key not in self.keys:
            self.keys.append(key)

    def want_apart(self, key: Expression, expression: Expression) -> None:
        """Add keys for what tells equal values of a key apart."""
        for part in differing(key):
            self.want_key(part, expression)
            self.apart.append(part)

    def has_all(self, columns: Iterable[int]) -> bool:
        """Return whether all of these columns are keys."""
        return set(columns) <= {key.index for key in self.keys if isinstance(key, Column)}

    def settle(self) -> None:
        """Remove the keys that follow from columns that are keys, too."""
        self.keys = [
            key
            for key in self.keys
            if isinstance(key, Column) or key in self.apart or not self.has_all(columns_of(key))
        ]

    def is_whole(self) -> bool:
        """Return whether the block would keep every column of the stream."""
        own = self.leaves[0]
        kept = {column.index for key in self.keys if isinstance(column := unwidened(key), Column)}
        places = [index for index, place in enumerate(own.columns) if place in kept]
        return any(keeps_all(side, places) for side in union_sides(own.relation))

    def supports(self, expression: Expression) -> bool:
        """Return whether kernels can evaluate an expression over its rows."""
        return kernel_supports(moved(expression, self._places()), self._schema())

    def grouping(self) -> Relation:
        """Return the grouping of the block: the keys, then the aggregates."""
        places = self._places()
        relation: Relation = self.leaves[0].relation
        for leaf in self.leaves[1:]:
            relation = Join(relation, leaf.relation, "cross", None)
        conditions = [*self.leaves[0].filters, *self.conditions]
        if conditions:
            relation = Filter(relation, moved(conjunction(conditions), places))
        names = [key.name if isinstance(key, Column) else "key" for key in self.keys]
        names = unique_names([*names, *(call_name(call) for call in self.calls)])
        keys = tuple((name, moved(key, places)) for name, key in zip(names, self.keys, strict=False))
        calls = tuple(
            (name, map_parts(call, lambda part: moved(part, places) if isinstance(part, Column) else None))
            for name, call in zip(names[len(keys) :], self.calls, strict=True)
        )
        return Aggregate(relation, keys, calls)

    def _places(self) -> dict[int, int]:
        indexes = [index for leaf in self.leaves for index in leaf.columns]
        return {index: place for place, index in enumerate(indexes)}

    def _schema(self) -> Schema:
        return tuple(column for leaf in self.leaves for column in leaf.relation.schema)


class Blocks:
    """The blocks of a region.

    Raises 0A000 where `stream_join` is 'arrival' and a table can't be probed when a row comes.

    Attributes:
        keys, calls: of the query over its rows.
    """

    def __init__(
        self, region: Region, stream_join: str, keys: Sequence[Expression], calls: Sequence[AggregateCall]
    ) -> None:
        self.all: list[Block] = []
        self._same: dict[int, Column] = {}
        self._members: dict[int, list[Block | Leaf | Outer]] = {}
        self._conditions: dict[int, list[Expression]] = {}
        for part in region.regions():
            self._conditions[id(part)] = list(part.conditions)
            self._members[id(part)] = [self._begun(member, part) for member in part.members]
        if stream_join != "retroactive":
            for part in region.regions():
                self._find_same(part)
            for part in region.regions():
                self._cluster(region, part, [self.canonical(key) for key in keys], calls, stream_join == "arrival")
        if stream_join == "arrival":
            for leaf in (one for members in self._members.values() for one in members if isinstance(one, Leaf)):
                if leaf.is_of_tables:
                    raise _refused_arrival(leaf)
        self._regions = list(region.regions())
        self._outers = list(region.outer_joins())

    @property
    def above(self) -> list[Expression]:
        """The conditions that are evaluated over groups."""
        inner = [condition for region in self._regions for condition in self.conditions_of(region)]
        return [*inner, *(condition for outer in self._outers for condition in outer.conditions)]

    def conditions_of(self, region: Region) -> list[Expression]:
        """Return the conditions of a region that are evaluated over groups."""
        return self._conditions[id(region)]

    def members_of(self, region: Region) -> list[Block | Leaf | Outer]:
        """Return the members of a region, blocks in the place of their streams."""
        return self._members[id(region)]

    def canonical(self, expression: Expression) -> Expression:
        """Return an expression with stream columns in the place of table columns that are equal to
        them.
        """
        return map_expression(expression, self.canonical_column)

    def canonical_column(self, part: Expression) -> Expression | None:
        """Return the stream column that is equal to a table column, None without one."""
        return self._same.get(part.index) if isinstance(part, Column) else None

    def want(self, expression: Expression, forms: bool = False) -> None:
        """Add keys so that an expression can be evaluated over groups.

        forms: with what tells apart equal values that look different.
        """
        block = self._block_of(expression)
        keys: Sequence[Expression] = ()
        if block is not None:
            keys = self._keys_of(expression, block)
            for key in keys:
                block.want_key(key, expression)
                if forms:
                    block.want_apart(key, expression)
        for part in children(expression) if not keys else ():
            self.want(part, forms)

    def from_keys(self, expression: Expression, column: Callable[[Block, int], Expression]) -> Expression | None:
        """Return an expression from the columns of the keys that stand for it, None without any."""
        block = self._block_of(expression)
        if block is None:
            return None
        if expression in block.keys:
            return column(block, block.keys.index(expression))
        guard = guarded(expression)
        if guard is None or not set(guard.keys) <= set(block.keys):
            return None
        return guard.value(expression, *(column(block, block.keys.index(key)) for key in guard.keys))

    def home(self, call: AggregateCall) -> Block | None:
        """Return the block that can keep an aggregate, which reads its rows alone."""
        parts = children(call)
        found = {id(block): block for part in parts if (block := self._block_of(part)) is not None}
        if len(found) != 1 or not call.arguments:
            return None
        (block,) = found.values()
        for part in parts:
            constant = not columns_of(part)
            if not is_closed(part) or not is_made_of(part, is_strict if block.nullable else is_argument):
                return None
            if (not constant and self._block_of(part) is not block) or (constant and block.nullable):
                return None
            if not block.supports(part):
                return None
        return None if block.nullable and call.filter is not None else block

    def _block_of(self, expression: Expression) -> Block | None:
        """Return the one block that an expression reads."""
        columns = columns_of(expression)
        for block in self.all if columns else ():
            if columns <= block.columns:
                return block
        return None

    def _keys_of(self, expression: Expression, block: Block) -> Sequence[Expression]:
        """Return the keys of a block that stand for an expression; none if its parts have to."""
        if isinstance(expression, Column):
            return (expression,)
        if block.nullable or not is_closed(expression) or _is_day(expression):
            return ()
        guard = guarded(expression)
        keys = guard.keys if guard is not None else (expression,) if is_made_of(expression, is_safe) else ()
        is_fit = all(
            is_plainly_compared(key.type) and not key.type.has_own_order and block.supports(key) for key in keys
        )
        return keys if is_fit else ()

    def _begun(self, member: Leaf | Outer, region: Region) -> Block | Leaf | Outer:
        """Return a member with a stream as a block.

        Filters that no kernel can evaluate stay above it.
        """
        if isinstance(member, Outer) or not member.streams:
            return member
        block = Block([member])
        left = [part for part in member.filters if not block.supports(part)]
        self._conditions[id(region)] += left
        member.filters = [part for part in member.filters if part not in left]
        self.all.append(block)
        return block

    def _find_same(self, region: Region) -> None:
        """Note the table columns that are equal to stream columns in every row of the region."""
        streams = {
            index
            for member in region.members
            if isinstance(member, Leaf) and member.streams
            for index in member.columns
        }
        tables = {
            index
            for member in region.members
            if isinstance(member, Leaf) and not member.streams
            for index in member.columns
        }
        for condition in region.conditions:
            for ours, theirs in _both_ways(condition):
                if not isinstance(ours, Column) or not isinstance(theirs, Column) or ours.type != theirs.type:
                    continue
                if ours.type.has_own_order or ours.type.family in ("float4", "float8"):
                    continue
                if ours.index in streams and theirs.index in tables:
                    self._same.setdefault(theirs.index, ours)

    def _cluster(
        self,
        whole: Region,
        region: Region,
        keys: Sequence[Expression],
        calls: Sequence[AggregateCall],
        takes_all: bool,
    ) -> None:
        """Put tables of a region into its blocks."""
        members = self._members[id(region)]
        banned: set[int] = set()
        while True:
            found = self._linked(region, banned)
            needed = set() if takes_all else self._needed(whole, found, keys, calls)
            if not needed:
                break
            banned |= needed
        for block, tables in found:
            inside = frozenset(index for leaf in (*block.leaves, *tables) for index in leaf.columns)
            trial = Block([*block.leaves, *tables])
            own = [part for part in self._conditions[id(region)] if _is_inside(part, inside)]
            if not tables or not all(is_of_kernels(part) and trial.supports(part) for part in own):
                continue
            block.leaves += tables
            block.conditions += own
            self._conditions[id(region)] = [part for part in self._conditions[id(region)] if part not in own]
            members[:] = [member for member in members if member not in tables]
        self._conditions[id(region)] = [self._canonical_condition(part) for part in self._conditions[id(region)]]

    def _canonical_condition(self, condition: Expression) -> Expression:
        """Return a condition over stream columns, except the equality that makes them equal."""
        for ours, theirs in _both_ways(condition):
            if isinstance(theirs, Column) and self._same.get(theirs.index) == ours:
                return condition
        return self.canonical(condition)

    def _linked(self, region: Region, banned: set[int]) -> list[tuple[Block, list[Leaf]]]:
        """Return the tables that equalities link with each block, directly or through such
        tables.
        """
        members = self._members[id(region)]
        leaves = [one for one in members if isinstance(one, Leaf) and one.is_of_tables and one.relation.schema]
        free = [leaf for leaf in leaves if leaf.start not in banned]
        pairs = [
            (columns_of(ours), columns_of(theirs))
            for condition in self._conditions[id(region)]
            for ours, theirs in _both_ways(condition)
        ]
        result: list[tuple[Block, list[Leaf]]] = []
        for block in members:
            if not isinstance(block, Block):
                continue
            tables: list[Leaf] = []
            inside = set(block.columns)
            grown = True
            while grown:
                grown = False
                for leaf in free:
                    own = set(leaf.columns)
                    if any(ours and theirs and ours <= inside and theirs <= own for ours, theirs in pairs):
                        tables.append(leaf)
                        free.remove(leaf)
                        inside |= own
                        grown = True
                        break
            result.append((block, tables))
        return result

    def _needed(
        self,
        whole: Region,
        found: Sequence[tuple[Block, list[Leaf]]],
        keys: Sequence[Expression],
        calls: Sequence[AggregateCall],
    ) -> set[int]:
        """Return the starts of the tables whose columns are needed above.

        Columns that an aggregate reads together with the stream's do not count.
        """
        needed: set[int] = set()
        for block, tables in found:
            own, stream = {index for leaf in tables for index in leaf.columns}, block.columns
            inside = frozenset(own | stream)
            read: set[int] = {index for key in keys for index in columns_of(key)}
            mixed: set[int] = set()
            for call in calls:
                columns = {
                    index for part in children(map_parts(call, self.canonical_column)) for index in columns_of(part)
                }
                if columns <= inside and columns & stream and not call.distinct:
                    mixed |= columns
                else:
                    read |= columns
            for region in whole.regions():
                for condition in self._conditions[id(region)]:
                    if not _is_inside(condition, inside):
                        read |= columns_of(self._canonical_condition(condition))
            for outer in whole.outer_joins():
                read |= {index for condition in outer.conditions for index in columns_of(condition)}
            for leaf in tables:
                if read & set(leaf.columns) and not mixed & set(leaf.columns):
                    needed.add(leaf.start)
        return needed


def _both_ways(condition: Expression) -> list[tuple[Expression, Expression]]:
    pair = equality(condition) if is_closed(condition) else None
    return [] if pair is None else [pair, pair[::-1]]


def _is_day(expression: Expression) -> bool:
    """Tell whether a date is compared as a time, which every reader does in a zone of its own."""
    return isinstance(expression, Call) and expression.function in COMPARED_DAYS.values()


def _is_inside(condition: Expression, columns: frozenset[int]) -> bool:
    found = columns_of(condition)
    return bool(found) and found <= columns and is_closed(condition)


def call_name(call: AggregateCall) -> str:
    """Return a name for the column of an aggregate."""
    function = AGGREGATE_ROWS[call.function].shown_name
    argument = call.arguments[0] if call.arguments else None
    return f"{function}_{argument.name}" if isinstance(argument, Column) else function


def _refused_arrival(leaf: Leaf) -> Exception:
    names = ", ".join(identifier(name) for name in sorted(relation_names(leaf.relation))) or "values"
    hint = "Leave out stream_join, or choose retroactive: then the join is made with the groups."
    return refused(
        "stream_join = arrival for a join that has to be above the groups of its streams",
        f"the join with {names}",
        RULE_B,
        hint,
    )
