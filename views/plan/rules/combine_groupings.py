"""A first grouping that one state can't answer becomes finer groupings of one stream each, and a
grouping of what they yield.

    GROUP BY k over (s UNION ALL r)     ->  the groups of s and those of r, counts and sums added up by k
    array_agg(x) over (s UNION ALL r)   ->  the lists of s and those of r, one behind the other
    first(x) over (s UNION ALL r)       ->  the first of those of s and of r, in the order of the call, s before r
    hll_agg(x) over (s UNION ALL r)     ->  the sketches of s and those of r, combined
    GROUP BY ROLLUP (k, l) over s       ->  groups by k, l, and ROLLUP over them
    count(DISTINCT x), sum(y) by k      ->  groups by k, x, and the distinct x of each k over them

Filters, projections and joins with tables between the grouping and the UNION ALL go into each side
of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import reduce

from sql.functions.table import AGGREGATE_ROWS
from sql.tree.counted_rows import typed, union_all
from sql.tree.expressions import AggregateCall, Call, Case, Cast, Column, Expression, Literal, SortKey
from sql.tree.relations import Aggregate, Filter, Join, Project, Relation, SetOperation
from sql.tree.walks import open_columns
from sql.types.datatypes import BOOL, FLOAT8, INT8
from views.codegen.values import has_order
from views.model.exact_sums import EXACT_FAMILIES, quotient, sum_type
from views.model.properties import is_ungrouped, properties
from views.model.trees import meaning
from views.share.reweighting import CHOICES, COUNTS, FLOATS, REPEATED

# What the same function makes of its own results, each taken once.
REPEATED_ONCE = (*REPEATED, "bit_xor")
# Of which only those of different values are made of finer groups.
STATISTICS = frozenset(name for name, row in AGGREGATE_ROWS.items() if row.final == "variance")
# What adds up, and is 0 for no rows.
ADDED_UP = (*COUNTS, "regr_count")
COMBINED = (*ADDED_UP, *REPEATED_ONCE, "sum", "avg", "grouping")


def split_unions(relation: Relation) -> Relation:
    """Return an operator as it is, or a grouping of the groups of each side in the place of one
    over a UNION ALL.
    """
    if not isinstance(relation, Aggregate) or not (can_combine(relation) or _can_append(relation)):
        return relation
    sides = union_sides(relation.input)
    return Combination(relation).over(sides) if len(sides) > 1 else relation


def combine_groupings(relation: Relation) -> Relation:
    """Return an operator as it is, or a grouping of finer groups in the place of one with several
    sets or DISTINCT.
    """
    if not isinstance(relation, Aggregate) or not can_combine(relation):
        return relation
    several = relation.sets is not None and relation.sets != (tuple(range(len(relation.keys))),)
    distinct = any(is_of_values(call) for _, call in relation.aggregates)
    return Combination(relation).over([relation.input]) if several or distinct else relation


def union_sides(relation: Relation) -> list[Relation]:
    """Return what UNION ALL puts together below filters, projections and joins.

    The relation alone when there is none.
    """
    if not is_ungrouped(relation):
        return [relation]
    match relation:
        case SetOperation(kind="union", all=True):
            types = [column.type for column in relation.schema]
            return [typed(side, types) for part in (relation.left, relation.right) for side in union_sides(part)]
        case Filter() | Project():
            return [replace(relation, input=side) for side in union_sides(relation.input)]
        case Join() if relation.lateral is None:
            if relation.kind in ("inner", "cross", "left") and not properties(relation.right).contains_stream:
                return [replace(relation, left=side) for side in union_sides(relation.left)]
            if relation.kind in ("inner", "cross", "right") and not properties(relation.left).contains_stream:
                return [replace(relation, right=side) for side in union_sides(relation.right)]
    return [relation]


def is_list(call: AggregateCall) -> bool:
    """Return whether an aggregate lists values in the order of the rows."""
    return call.function == "array_agg" and not call.distinct and not call.order_by


def is_combined(call: AggregateCall) -> bool:
    """Return whether an aggregate can be made of those of finer groups."""
    if call.distinct and call.function in STATISTICS and not call.order_by:
        return True
    if call.order_by or call.function not in COMBINED or (call.distinct and len(call.arguments) > 1):
        # Finer groups have a key of their own for a value, and none for a pair.
        return False
    if call.function in ("sum", "avg"):
        family = call.arguments[0].type.family
        return family in (*EXACT_FAMILIES, *FLOATS) or (call.distinct and family == "interval")
    return True


@dataclass
class Combination:
    """The parts of a grouping as they are found.

    Attributes:
        of_values: tells which aggregates are made of their different values.
        finer: keys of the sides' groupings after the grouping's own.
    """

    grouping: Aggregate
    of_values: Callable[[AggregateCall], bool] = lambda call: is_of_values(call)
    finer: list[Expression] = field(default_factory=list)
    calls: list[tuple[str, AggregateCall]] = field(default_factory=list)

    def over(self, sides: list[Relation]) -> Relation:
        """Return the grouping over groupings of the sides."""
        for _, call in self.grouping.aggregates:
            if self.of_values(call):
                self._finer_key(call)
        # All places of columns are known only now: keys, finer keys, then what is aggregated, and
        # the number of the side.
        wanted = [self._wanted(name, call) for name, call in self.grouping.aggregates]
        keys = self.grouping.keys
        finer = tuple((f"distinct{index}", key) for index, key in enumerate(self.finer))
        parts: list[Relation] = [Aggregate(side, (*keys, *finer), tuple(self.calls)) for side in sides]
        if any(how in ("list", "choice") for _, how in wanted):
            number = Column(len(parts[0].schema), "side", INT8)
            parts = [_numbered(part, place) for place, part in enumerate(parts)]
            wanted = [(_by_side(calls, how, number, len(sides)), how) for calls, how in wanted]
        groups = union_all(parts)
        own = tuple((name, Column(index, name, key.type)) for index, (name, key) in enumerate(keys))
        upper = tuple(call for calls, _ in wanted for call in calls)
        whole = Aggregate(groups, own, upper, self.grouping.sets)
        items: list[tuple[str, Expression]] = [*own]
        place = len(own)
        for (name, call), (calls, how) in zip(self.grouping.aggregates, wanted, strict=True):
            found = [Column(place + n, part, one.type) for n, (part, one) in enumerate(calls)]
            place += len(calls)
            items.append((name, _value(call, how, found)))
        return Project(whole, tuple(items))

    def _finer_key(self, call: AggregateCall) -> int:
        """Return the place among the finer keys of what a DISTINCT aggregate takes: NULL, which it
        skips, where its filter fails.
        """
        (argument,) = call.arguments
        if call.filter is not None:
            argument = Case(((call.filter, argument),), Literal(None, argument.type), argument.type)
        found = [meaning(key) for key in self.finer]
        if meaning(argument) not in found:
            self.finer.append(argument)
            return len(self.finer) - 1
        return found.index(meaning(argument))

    def _wanted(self, name: str, call: AggregateCall) -> tuple[list[tuple[str, AggregateCall]], str]:
        """Return the aggregates above that an aggregate is made from, and how: 'count', 'quotient',
        'list', 'choice', or as it comes.
        """
        if call.function == "grouping":
            keys = [meaning(key) for _, key in self.grouping.keys]
            places = [keys.index(meaning(argument)) for argument in call.arguments]
            columns = tuple(
                Column(place, self.grouping.keys[place][0], argument.type)
                for place, argument in zip(places, call.arguments, strict=True)
            )
            return [(name, replace(call, arguments=columns))], ""
        if self.of_values(call):
            index = self._finer_key(call)
            column = Column(len(self.grouping.keys) + index, f"distinct{index}", call.arguments[0].type)
            return [(name, replace(call, arguments=(column,), filter=None))], ""
        if is_list(call):
            return [(name, AggregateCall("first", (self._part(name, call),), call.type))], "list"
        if call.function in CHOICES:
            return [(name, self._chosen(name, call))], "choice"
        if call.function in REPEATED_ONCE:
            return [(name, replace(call, distinct=False, arguments=(self._part(name, call),), filter=None))], ""
        if is_sketch(call):
            return [(name, AggregateCall("combine", (self._part(name, call),), call.type))], ""
        if call.function != "avg":
            return [self._summed(name, call)], "count" if call.function in ADDED_UP else ""
        (argument,) = call.arguments
        if argument.type.family in FLOATS:
            total = replace(call, function="sum", type=FLOAT8, arguments=(_float8(argument),))
        else:
            total = replace(call, function="sum", type=sum_type(argument.type))
        count = replace(call, function="count", type=INT8)
        return [self._summed(f"{name}_sum", total), self._summed(f"{name}_count", count)], "quotient"

    def _chosen(self, name: str, call: AggregateCall) -> AggregateCall:
        """Return the choice among the rows that the sides have chosen, of which some have none."""
        value = self._part(name, call)
        rows = self._part(f"{name}_rows", AggregateCall("count_star", (), INT8, call.filter))
        order = tuple(
            replace(key, expression=self._part(f"{name}_key{place}", _with_value(call, key.expression)))
            for place, key in enumerate(call.order_by)
        )
        some = Call("gt", (rows, Literal(0, INT8)), BOOL)
        return replace(call, arguments=(value,), filter=some, order_by=order)

    def _summed(self, name: str, call: AggregateCall) -> tuple[str, AggregateCall]:
        part = self._part(name, call)
        kind = part.type if part.type.family in FLOATS else sum_type(part.type)
        return name, AggregateCall("sum", (part,), kind)

    def _part(self, name: str, call: AggregateCall) -> Column:
        """Return the column of an aggregate of the sides' groupings."""
        call = replace(call, distinct=False)
        known = [_key(one) for _, one in self.calls]
        if _key(call) not in known:
            self.calls.append((name, call))
            known.append(_key(call))
        index = known.index(_key(call))
        return Column(len(self.grouping.keys) + len(self.finer) + index, self.calls[index][0], call.type)


def _value(call: AggregateCall, how: str, found: list[Column]) -> Expression:
    """Return an aggregate's value of the aggregates that it is made from."""
    if how == "quotient":
        if found[0].type.family in FLOATS:
            return Call("divide", (found[0], Cast(Cast(found[1], INT8), FLOAT8)), call.type)
        return quotient(found[0], found[1], call.type)
    if how == "list":
        lists: list[Expression] = [*found]
        return reduce(lambda one, other: Call("array_cat", (one, other), call.type), lists)
    value = found[0] if found[0].type == call.type else Cast(found[0], call.type)
    return Call("coalesce", (value, Literal(0, INT8)), INT8) if how == "count" else value


def _numbered(groups: Relation, side: int) -> Relation:
    """Return the groups of a side with its number."""
    columns = [(column.name, Column(place, column.name, column.type)) for place, column in enumerate(groups.schema)]
    return Project(groups, (*columns, ("side", Literal(side, INT8))))


def _with_value(call: AggregateCall, value: Expression) -> AggregateCall:
    return replace(call, arguments=(value,), type=value.type)


def _by_side(
    calls: list[tuple[str, AggregateCall]], how: str, number: Column, sides: int
) -> list[tuple[str, AggregateCall]]:
    """Return aggregates that know the sides: of a list one of the group of each side, of which
    there is at most one; a choice takes the rows of the first side before those of the next.
    """
    if how not in ("list", "choice"):
        return calls
    ((name, call),) = calls
    if how == "choice":
        return [(name, replace(call, order_by=(*call.order_by, SortKey(number))))]
    conditions = [Call("eq", (number, Literal(side, INT8)), BOOL) for side in range(sides)]
    return [(f"{name}_{side}", replace(call, filter=condition)) for side, condition in enumerate(conditions)]


def is_of_values(call: AggregateCall) -> bool:
    """Tell whether an aggregate is made of its different values, each of them once: also an extreme
    of values whose order kernels don't know.
    """
    if call.function in REPEATED:
        return call.arguments[0].type.is_array and not has_order(call.arguments[0].type)
    return call.distinct


def can_combine(grouping: Aggregate) -> bool:
    """Return whether a grouping is a stream's first, and its aggregates can be made of finer
    ones.
    """
    return _is_first(grouping) and all(is_combined(call) for _, call in grouping.aggregates)


def _can_append(grouping: Aggregate) -> bool:
    """Return whether some aggregates of a first grouping are lists, sketches or chosen rows, of
    which each side has one.
    """
    calls = [call for _, call in grouping.aggregates]
    if grouping.sets is not None or any(map(is_of_values, calls)) or not _is_first(grouping):
        return False
    return all(is_list(call) or is_sketch(call) or call.function in CHOICES or is_combined(call) for call in calls)


def _is_first(grouping: Aggregate) -> bool:
    return is_ungrouped(grouping.input) and not any(True for _ in open_columns(grouping))


def is_sketch(call: AggregateCall) -> bool:
    """Tell whether an aggregate makes a sketch, which combine() puts together."""
    row = AGGREGATE_ROWS.get(call.function)
    return row is not None and row.is_sketch


def _key(call: AggregateCall) -> AggregateCall:
    condition = None if call.filter is None else meaning(call.filter)
    return replace(call, arguments=tuple(meaning(part) for part in call.arguments), filter=condition)


def _float8(expression: Expression) -> Expression:
    return expression if expression.type == FLOAT8 else Cast(expression, FLOAT8)
