"""Tables above a stream's first grouping say which of its groups can count; others are not kept.

    (SELECT k, sum(v) FROM s GROUP BY k) g JOIN t ON t.k = g.k AND t.name = 'x'
    ->  (SELECT k, sum(v) FROM s WHERE k IN (SELECT k FROM t WHERE name = 'x') GROUP BY k) g JOIN t ...

Enters: a prepared tree of a view that freezes its tables, since a group that counts only after a
change would have lost its rows. Leaves: an equal tree, with semi-joins below first groupings. What
rows count is handed down from the root: over joins and conditions, and into subqueries that
compare with the row around them. A grouping that is asked in several places keeps all groups.
What may fail says nothing: PostgreSQL may never evaluate it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ringbuffer.groups.hash_table import JOINS_MAX
from sql.emit.failing import can_fail, relation_can_fail
from sql.functions.table import AGGREGATE_ROWS, added_in_order
from sql.names.relation_keys import shown_key
from sql.tree.expressions import Call, Column, Expression, OuterColumn, Subquery
from sql.tree.relations import Aggregate, Distinct, Filter, Join, Project, Relation, Sort
from sql.tree.walks import all_relations, children, map_expression, map_parts, open_columns, subqueries_of
from sql.tree.walks import scans as leaves
from sql.types.datatypes import BOOL
from views.model.properties import is_first_grouping, scans
from views.model.steps import unique_names
from views.model.text import expression_text
from views.model.trees import (
    columns_of,
    columns_of_schema,
    conjuncts,
    inputs,
    relation_uses_now,
    rewrite,
    walk_relation,
    with_inputs,
)
from views.plan.hand_over import is_same_for_all
from views.plan.joins.join_graph import conjunction

# Of what says which rows count: it has the conditions of all levels above, more than once where
# several of its parts are compared with them.
OPERATORS_MAX = 200


@dataclass(frozen=True)
class Demand:
    """A promise about the rows of a relation: only those count whose columns are a row of `wanted`.

    wanted: reads tables alone.
    """

    columns: tuple[int, ...]
    wanted: Relation


@dataclass(frozen=True)
class Around:
    """The rows for which a subquery is evaluated, and its arguments over these."""

    rows: Relation
    arguments: tuple[Expression, ...]


# About a relation: which of its rows count, and conditions that all rows meet that count.
Demands = tuple[Demand, ...]
Conditions = tuple[Expression, ...]


def reduce_groups(root: Relation) -> tuple[Relation, list[str]]:
    """Return the tree with semi-joins below its first groupings, and for people, what they leave
    out.
    """
    reduction = Reduction(root)
    return reduction.visit(root), reduction.notices


class Reduction:
    """The walk down one tree."""

    def __init__(self, root: Relation) -> None:
        self._uses = Counter(groupings_in(root))
        self.notices: list[str] = []

    def visit(
        self, relation: Relation, demands: Demands = (), conditions: Conditions = (), around: Around | None = None
    ) -> Relation:
        """Return a relation that has the same rows as before, as far as they count.

        around: of the subquery whose rows it has.
        """
        if not scans(relation, "stream"):
            return relation
        match relation:
            case Aggregate() if is_first_grouping(relation):
                return self._reduced(relation, demands)
            case Aggregate():
                keys = [] if relation.sets is not None else [key for _, key in relation.keys]
                return replace(relation, input=self.visit(relation.input, below(demands, keys), (), around))
            case Project() if scans(relation.input, "stream"):
                items = [item for _, item in relation.items]
                return replace(relation, input=self.visit(relation.input, below(demands, items), (), around))
            case Project():
                return self._with_subqueries(relation, relation.input)
            case Filter():
                return self._filter(relation, demands, conditions, around)
            case Join() if relation.lateral is None:
                return self._join(relation, demands, conditions, around)
            case Sort() | Distinct():
                return replace(relation, input=self.visit(relation.input, demands, conditions, around))
            case Join():
                return relation
        return with_inputs(relation, [self.visit(part, around=around) for part in inputs(relation)])

    def _reduced(self, grouping: Aggregate, demands: Demands) -> Aggregate:
        """Return a first grouping of the rows that count."""
        if grouping.sets is not None or self._uses[grouping] > 1:
            return grouping
        source = grouping.input
        joins_count = sum(isinstance(part, Join) for part in walk_relation(source))
        for demand in dict.fromkeys(demands):
            if max(demand.columns) < len(grouping.keys) and joins_count < JOINS_MAX:
                joins_count += 1
                operands = [grouping.keys[column][1] for column in demand.columns]
                source = met(source, operands, demand.wanted)
                keys = ", ".join(map(expression_text, operands))
                tables = ", ".join(dict.fromkeys(map(shown_key, scans(demand.wanted, "table"))))
                self.notices.append(f"groups are kept only for those {keys} that rows of {tables or 'a query'} ask for")
        return replace(grouping, input=source)

    def _filter(self, relation: Filter, demands: Demands, conditions: Conditions, around: Around | None) -> Relation:
        own = conjuncts(relation.predicate)
        if scans(relation.input, "stream"):
            more = (*demands, *membership(own), *compared_around(own, around))
            return replace(relation, input=self.visit(relation.input, more, (*conditions, *own), around))
        known = [part for part in own if not reads_stream(part)]
        rows = among(filtered(relation.input, known), demands)
        return Filter(relation.input, conjunction([self._condition(part, rows) for part in own]))

    def _condition(self, condition: Expression, rows: Relation) -> Expression:
        """Return a condition on tables' rows with its subqueries over a stream reduced.

        rows: those that meet all other conditions.
        """
        if isinstance(condition, Subquery) and condition.kind == "any" and condition.comparison == "eq":
            demands = demanded(range(len(condition.operands)), condition.operands, rows)
            return self._subquery(condition, rows, demands)

        def change(part: Expression) -> Expression | None:
            return self._subquery(part, rows) if isinstance(part, Subquery) else None

        return map_expression(condition, change)

    def _subquery(self, subquery: Subquery, rows: Relation, demands: Demands = ()) -> Subquery:
        around = Around(rows, subquery.arguments)
        return replace(subquery, relation=self.visit(subquery.relation, demands, (), around))

    def _with_subqueries(self, relation: Relation, rows: Relation) -> Relation:
        """Return an operator on tables' rows with the subqueries in its expressions reduced."""

        def change(part: Expression) -> Expression | None:
            return self._subquery(part, rows) if isinstance(part, Subquery) else None

        return map_parts(relation, change)

    def _join(self, join: Join, demands: Demands, conditions: Conditions, around: Around | None) -> Relation:
        width = len(join.left.schema)
        places = range(width), range(width, len(join.schema))
        of_stream = [bool(scans(side, "stream")) for side in (join.left, join.right)]
        is_inner = join.kind in ("inner", "cross")
        # A side that is filled with NULLs where nothing matches is not kept.
        is_kept = [is_inner or join.kind == "left", is_inner or join.kind == "right"]
        own = conjuncts(join.condition) if join.condition is not None else ()
        known = (*conditions, *own) if is_inner else own
        if is_inner:
            demands = (*demands, *membership(own), *compared_around(own, around))
        sides = [join.left, join.right]
        for number, side in enumerate(sides):
            if not of_stream[number]:
                continue
            mine, other = places[number], places[1 - number]
            passed = tuple(inside(demands, mine)) if is_kept[number] else ()
            if not of_stream[1 - number] and is_kept[1 - number]:
                rows = sides[1 - number]
                if is_inner:
                    rows = filtered(rows, [at(part, other) for part in known if is_on(part, other)])
                rows = among(rows, tuple(inside(demands, other)))
                pairs = list(equalities(known, mine, other))
                passed += demanded([ours for ours, _ in pairs], [theirs for _, theirs in pairs], rows)
            left = tuple(at(part, mine) for part in known if is_on(part, mine)) if is_inner else ()
            sides[number] = self.visit(side, passed, left, around)
        return replace(join, left=sides[0], right=sides[1])


def met(source: Relation, operands: Sequence[Expression], wanted: Relation) -> Relation:
    """Return the rows of `source` whose operands are a row of `wanted`."""
    columns = [Column(place, column.name, column.type) for place, column in enumerate(wanted.schema)]
    rows = Distinct(Filter(wanted, conjunction([Call("is_not_null", (column,), BOOL) for column in columns])))
    width = len(source.schema)
    conditions = [
        Call("eq", (operand, replace(column, index=width + column.index)), BOOL)
        for operand, column in zip(operands, columns, strict=True)
    ]
    return Project(Join(source, rows, "inner", conjunction(conditions)), columns_of_schema(source))


def groupings_in(relation: Relation) -> Iterator[Relation]:
    """Yield the first groupings of a tree, each as often as it stands there."""
    if is_first_grouping(relation):
        yield relation
        return
    for part in inputs(relation):
        yield from groupings_in(part)
    for item in children(relation):
        for subquery in subqueries_of(item):
            yield from groupings_in(subquery.relation)


def below(demands: Demands, items: Sequence[Expression]) -> Demands:
    """Return the demands on the rows of which `items` are computed, where these are columns."""
    found = []
    for demand in demands:
        read = [items[column] if column < len(items) else None for column in demand.columns]
        columns = [item.index for item in read if isinstance(item, Column)]
        if len(columns) == len(read):
            found.append(Demand(tuple(columns), demand.wanted))
    return tuple(found)


def inside(demands: Demands, places: range) -> Iterator[Demand]:
    """Yield the demands on one side of a join, as demands on its own rows."""
    for demand in demands:
        if all(column in places for column in demand.columns):
            yield Demand(tuple(column - places.start for column in demand.columns), demand.wanted)


def membership(conditions: Conditions) -> Demands:
    """Return the demands of conditions that columns are among the rows of a query over tables."""
    found: Demands = ()
    for part in conditions:
        if isinstance(part, Subquery) and part.kind == "any" and part.comparison == "eq" and not part.arguments:
            columns = [operand for operand in part.operands if isinstance(operand, Column)]
            if len(columns) == len(part.operands):
                found += demand([column.index for column in columns], part.relation)
    return found


def compared_around(conditions: Conditions, around: Around | None) -> Demands:
    """Return the demands of conditions that columns are equal to ones of the row around."""
    if around is None:
        return ()
    columns: list[int] = []
    wanted: list[Expression] = []
    for part in conditions:
        for ours, theirs in sides_of(part):
            if isinstance(ours, Column) and isinstance(theirs, OuterColumn):
                columns.append(ours.index)
                wanted.append(around.arguments[theirs.index])
    return demanded(columns, wanted, around.rows)


def equalities(conditions: Conditions, mine: range, other: range) -> Iterator[tuple[int, Expression]]:
    """Yield columns of one side of a join with what they are equal to on the other."""
    for part in conditions:
        for ours, theirs in sides_of(part):
            if isinstance(ours, Column) and ours.index in mine and is_on(theirs, other):
                yield ours.index - mine.start, at(theirs, other)
                break


def sides_of(condition: Expression) -> Iterator[tuple[Expression, Expression]]:
    """Yield both sides of an equality of values of one type, in both orders."""
    if isinstance(condition, Call) and condition.function == "eq":
        one, other = condition.arguments
        if one.type.family == other.type.family:
            yield one, other
            yield other, one


def demanded(columns: Sequence[int], items: Sequence[Expression], rows: Relation) -> Demands:
    """Return the demand that columns are equal to items over a row of `rows`, where tables alone
    say so.
    """
    if not columns:
        return ()
    names = unique_names([item.name if isinstance(item, Column) else "key" for item in items])
    return demand(columns, Project(rows, tuple(zip(names, items, strict=True))))


def demand(columns: Sequence[int], wanted: Relation) -> Demands:
    """Return the demand that columns are a row of a relation, where that is known."""
    wanted = without_failing(wanted)
    is_small = sum(1 for _ in islice(all_relations(wanted), OPERATORS_MAX + 1)) <= OPERATORS_MAX
    return (Demand(tuple(columns), wanted),) if is_small and is_frozen(wanted) and not relation_can_fail(wanted) else ()


def without_failing(relation: Relation) -> Relation:
    """Return a relation with these rows, and those that only failing conditions leave out."""
    match relation:
        case Filter():
            safe = [part for part in conjuncts(relation.predicate) if not can_fail(part)]
            rows = without_failing(relation.input)
            return Filter(rows, conjunction(safe)) if safe else rows
        case Project() | Distinct():
            return replace(relation, input=without_failing(relation.input))
        case Join(kind="inner" | "cross", lateral=None):
            safe = [part for part in conjuncts(relation.condition) if not can_fail(part)] if relation.condition else []
            left, right = without_failing(relation.left), without_failing(relation.right)
            return Join(left, right, "inner", conjunction(safe)) if safe else Join(left, right, "cross", None)
    return relation


def is_frozen(relation: Relation) -> bool:
    """Tell whether a relation has the same rows whenever it is read, and in any engine, if its
    tables have.
    """
    if not all(scan.kind == "table" for scan in leaves(relation)) or any(True for _ in open_columns(relation)):
        return False
    if any(depends_on_order(part) for part in all_relations(relation)):
        return False
    return is_same_for_all(relation) and not relation_uses_now(relation)


def depends_on_order(part: Relation) -> bool:
    """Tell whether a grouping's rows may depend on the order of those that it reads, which each
    engine reads in its own.

    LIMIT and windows count among what may fail.
    """
    if not isinstance(part, Aggregate):
        return False
    rows = [(AGGREGATE_ROWS.get(call.function), call) for _, call in part.aggregates]
    return any(row is None or row.ordered or added_in_order(call) for row, call in rows)


def filtered(rows: Relation, conditions: Sequence[Expression]) -> Relation:
    """Return the rows of tables that meet those conditions that say the same to everybody."""
    known = [part for part in conditions if is_frozen(Filter(rows, part))]
    return Filter(rows, conjunction(known)) if known else rows


def among(rows: Relation, demands: Demands) -> Relation:
    """Return the rows of tables that count."""
    for demand in demands:
        columns = [Column(place, rows.schema[place].name, rows.schema[place].type) for place in demand.columns]
        rows = Filter(rows, is_among(columns, demand.wanted))
    return rows


def is_among(operands: Sequence[Expression], wanted: Relation) -> Subquery:
    """Return the condition that values are a row of a relation."""
    return Subquery("any", wanted, (), BOOL, tuple(operands), "eq")


def is_on(part: Expression, places: range) -> bool:
    """Tell whether a condition reads one side of a join, and nothing else."""
    columns = columns_of(part)
    return bool(columns) and all(column in places for column in columns) and not reads_stream(part)


def at(part: Expression, places: range) -> Expression:
    """Return an expression on one side of a join over the rows of that side."""

    def change(node: Expression) -> Expression | None:
        return replace(node, index=node.index - places.start) if isinstance(node, Column) else None

    return rewrite(part, change)


def reads_stream(part: Expression) -> bool:
    """Tell whether an expression has a subquery over a stream."""
    return any(scans(subquery.relation, "stream") for subquery in subqueries_of(part))
