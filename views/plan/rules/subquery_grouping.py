"""Subqueries over a stream that ask about the outer row by equality: grouped by what they compare,
so that the stream is read once.

    EXISTS (SELECT * FROM s WHERE k = outer AND c)             ->  EXISTS of the distinct k of (s WHERE c), where k = outer
    (SELECT sum(v) FROM s WHERE k = outer AND c)               ->  the one row, if any, of (s WHERE c GROUP BY k) where k = outer
    (SELECT v FROM s WHERE k = outer ORDER BY t LIMIT 1)       ->  the one row, if any, of the first rows by k where k = outer; LATERAL, too
    LATERAL (SELECT v FROM s WHERE k = outer LIMIT n)          ->  the n first rows by k where k = outer
    x IN (SELECT v FROM s WHERE c)                             ->  IN the distinct v

Enters: bound queries. Leaves: the same queries with a grouping over the stream that no outer row
has a part in. Only what can't fail moves into it, since it sees rows that no outer row asks for.
Must not know kernels.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sql.tree.expressions import AggregateCall, Call, Case, Cast, Column, Expression, Literal, OuterColumn, Subquery
from sql.tree.relations import Aggregate, Distinct, Filter, Join, Limit, Project, Relation, Sort
from sql.tree.walks import (
    children,
    map_expression,
    map_parts,
    open_columns,
    relation_names,
    rewrite_everywhere,
    subqueries_of,
)
from sql.types.datatypes import BOOL, INT8, SqlType
from views.model.nodes import FIRST
from views.model.properties import cannot_fail, scans
from views.model.trees import parts, relation_uses_now, substitute, substitute_call, taken_apart, walk
from views.plan.joins.casts import widens
from views.plan.joins.join_graph import conjunction
from views.plan.rules.first_rows import NUMBER, deciding_keys, limit_counts, numbered_rows, numbers_between

# Of one value max yields that value; count of no row is no NULL.
COUNTS = ("count", "count_star")
TAKEN = (*COUNTS, "sum", "avg", "min", "max")
ORDERED = ("int2", "int4", "int8", "float4", "float8", "numeric", "text", "varchar", "date", "timestamp", "timestamptz")
CHOOSING = ("coalesce", "greatest", "least")


@dataclass
class Flat:
    """Filters and projections over `bottom`.

    Attributes:
        items: the columns that they yield, over those of `bottom`.
        conditions: all of them.
        keys: what equals a value of the outer row, and the conditions that say so in terms of the
            keys.
    """

    bottom: Relation
    items: list[Expression]
    conditions: list[Expression] = field(default_factory=list)
    keys: list[Expression] = field(default_factory=list)
    equalities: list[Expression] = field(default_factory=list)

    @property
    def source(self) -> Relation:
        """The rows that pass all conditions but those on the outer row."""
        return Filter(self.bottom, conjunction(self.conditions)) if self.conditions else self.bottom

    def picked(self, grouping: Relation) -> Relation:
        """Return the rows of a grouping by the keys, which are its first columns, that the outer
        row asks for.
        """
        return Filter(grouping, conjunction(self.equalities)) if self.equalities else grouping

    @property
    def named_keys(self) -> tuple[tuple[str, Expression], ...]:
        """The keys under names of their own."""
        return tuple((f"k{index}", key) for index, key in enumerate(self.keys))


def group_subqueries(root: Relation, stream_names: frozenset[str]) -> Relation:
    """Return the query with the subqueries over one of the streams that are of that kind in the
    other form.
    """

    def change(part: Expression) -> Expression | None:
        if not isinstance(part, Subquery) or not relation_names(part.relation) & stream_names:
            return None
        relation = _grouped(part, stream_names)
        return None if relation is part.relation else replace(part, relation=relation)

    def step(node: Relation) -> Relation:
        if isinstance(node, Join) and node.lateral is not None:
            node = replace(node, right=_with_first_row(node.right, stream_names))
        return map_parts(node, change)

    return rewrite_everywhere(root, step)


def _grouped(subquery: Subquery, stream_names: frozenset[str]) -> Relation:
    relation = _with_first_row(_with_grouped_scalars(subquery.relation), stream_names)
    if relation is not subquery.relation or subquery.kind not in ("exists", "any", "all"):
        return relation
    flat = flat_relation(relation)
    if flat is None or not relation_names(flat.bottom) & stream_names or _has_breaker(flat.bottom):
        return relation
    if subquery.kind == "exists":
        items = flat.named_keys or (("k0", Literal(True, BOOL)),)
        return flat.picked(Distinct(Project(flat.source, items)))
    if not all(_is_safe(item) for item in flat.items):
        return relation
    names = [column.name for column in relation.schema]
    values = tuple((f"v{index}", item) for index, item in enumerate(flat.items))
    picked = flat.picked(Distinct(Project(flat.source, (*flat.named_keys, *values))))
    columns = picked.schema[len(flat.keys) :]
    places = enumerate(columns, len(flat.keys))
    return Project(picked, tuple(zip(names, (Column(at, one.name, one.type) for at, one in places), strict=True)))


def _with_grouped_scalars(relation: Relation) -> Relation:
    """Return a subquery's relation with the aggregates of the rows that the outer row asks for
    taken out of a grouping by them.
    """
    if isinstance(relation, Filter | Project):
        below = _with_grouped_scalars(relation.input)
        return relation if below is relation.input else replace(relation, input=below)
    if not isinstance(relation, Aggregate) or relation.keys or relation.sets is not None:
        return relation
    flat = flat_relation(relation.input)
    if flat is None or not flat.keys or _has_breaker(flat.bottom):
        return relation
    calls = tuple((name, substitute_call(call, flat.items)) for name, call in relation.aggregates)
    if not calls or not all(_is_taken(call) for _, call in calls):
        return relation
    grouping = Aggregate(flat.source, flat.named_keys, calls)
    values = grouping.schema[len(flat.keys) :]
    # At most one group is picked. Without one an aggregate yields its value of no rows.
    columns = [Column(at, one.name, one.type) for at, one in enumerate(values, len(flat.keys))]
    largest = tuple((column.name, AggregateCall("max", (column,), column.type)) for column in columns)
    single = Aggregate(flat.picked(grouping), (), largest)
    items = [(name, _or_zero(call, Column(at, name, call.type))) for at, (name, call) in enumerate(relation.aggregates)]
    return Project(single, tuple(items))


def _with_first_row(relation: Relation, stream_names: frozenset[str]) -> Relation:
    """Return a subquery's relation with the first of the rows that the outer row asks for taken out
    of the first rows of all.
    """
    if isinstance(relation, Filter | Project):
        below = _with_first_row(relation.input, stream_names)
        return relation if below is relation.input else replace(relation, input=below)
    counts = limit_counts(relation) if isinstance(relation, Limit) else None
    if not isinstance(relation, Limit) or counts is None:
        return relation
    flat = flat_relation(relation.input.input if isinstance(relation.input, Sort) else relation.input)
    if flat is None or not relation_names(flat.bottom) & stream_names or _has_breaker(flat.bottom):
        return relation
    keys = relation.input.keys if isinstance(relation.input, Sort) else ()
    order = [replace(key, expression=substitute(key.expression, flat.items)) for key in keys]
    if not all(_is_safe(key.expression) for key in order) or any(_has_subquery(item) for item in flat.items):
        return relation
    deciding = deciding_keys(order, flat.keys)
    # What is made of the row's columns is made for the outer row alone.
    columns = {part.index: part for item in flat.items for part in walk(item) if isinstance(part, Column)}
    names = [column.name for column in relation.schema]
    if counts != (0, 1):
        if len(scans(flat.bottom, "stream")) != 1 or relation_uses_now(flat.source):
            return relation
        kept = [*flat.named_keys, *((column.name, column) for column in columns.values())]
        found = numbered_rows(flat.source, flat.keys, deciding, kept, max(counts[1], 1))
        number = Column(len(kept), NUMBER, INT8)
        found = Filter(flat.picked(found), conjunction(numbers_between(number, *counts)))
        return Project(found, tuple(zip(names, _moved(flat.items, columns, len(flat.keys)), strict=True)))
    firsts = [
        (column.name, AggregateCall(FIRST, (column,), column.type, order_by=deciding)) for column in columns.values()
    ]
    # Without keys there is a group of no rows, too.
    grouping = Aggregate(flat.source, flat.named_keys, (*firsts, ("rows", AggregateCall("count_star", (), INT8))))
    start = len(flat.keys)
    there = Call("gt", (Column(start + len(firsts), "rows", INT8), Literal(0, INT8)), BOOL)
    named = zip(names, _moved(flat.items, columns, start), strict=True)
    return Project(flat.picked(Filter(grouping, there)), tuple(named))


def _moved(items: list[Expression], columns: dict[int, Column], start: int) -> list[Expression]:
    """Return expressions over columns that are kept from the place `start` on."""
    places = {index: Column(at, column.name, column.type) for at, (index, column) in enumerate(columns.items(), start)}
    return [
        map_expression(item, lambda part: places[part.index] if isinstance(part, Column) else None) for item in items
    ]


def _or_zero(call: AggregateCall, value: Expression) -> Expression:
    return Call("coalesce", (value, Literal(0, INT8)), INT8) if call.function in COUNTS else value


def _is_taken(call: AggregateCall) -> bool:
    plain = call.function in TAKEN and not call.distinct and not call.order_by and call.type.family in ORDERED
    return plain and all(_is_safe(part) for part in children(call))


def flat_relation(relation: Relation) -> Flat | None:
    """Return filters and projections as one, their conditions on the outer row apart.

    None where these are no equalities of keys.
    """
    bottom, conditions, items = taken_apart(relation)
    flat = Flat(bottom, items)
    if any(True for _ in open_columns(bottom)):
        return None
    for condition in conditions:
        if _is_safe(condition):
            flat.conditions.append(condition)
        elif not _take_equality(condition, flat):
            return None
    return flat


def _take_equality(condition: Expression, flat: Flat) -> bool:
    """Note a key and its equality with something of the outer row.

    False if the condition is no such equality.
    """
    if not isinstance(condition, Call) or condition.function != "eq":
        return False
    for place in (0, 1):
        ours, theirs = condition.arguments[place], condition.arguments[1 - place]
        if _has(ours, Column) and _is_safe(ours) and not _has(theirs, Column) and not _has_subquery(theirs):
            key = Column(len(flat.keys), f"k{len(flat.keys)}", ours.type)
            flat.keys.append(ours)
            arguments = (key, theirs) if place == 0 else (theirs, key)
            flat.equalities.append(replace(condition, arguments=arguments))
            return True
    return False


def _is_safe(expression: Expression) -> bool:
    """Return whether an expression has nothing of the outer row, and a value for every row."""
    if _has(expression, OuterColumn) or _has_subquery(expression):
        return False
    if not _has(expression, Column) or cannot_fail(expression):
        return True
    if isinstance(expression, Cast):
        return _has_cast(expression.operand.type, expression.type) and _is_safe(expression.operand)
    known = isinstance(expression, Case) or (
        isinstance(expression, Call) and (cannot_fail(replace(expression, arguments=())) or _has_value(expression))
    )
    return known and all(_is_safe(part) for part in parts(expression))


def _has_cast(source: SqlType, target: SqlType) -> bool:
    """Return whether every value of a type has one of the other type."""
    # A date has its timestamp up to the year 294276.
    return widens(source, target) or (source.family, target.family) == ("date", "timestamp")


def _has_value(call: Call) -> bool:
    """Return whether a function that may fail has a value here, if its arguments have."""
    if call.function in CHOOSING:
        return True
    return (
        call.function in ("like", "ilike")
        and isinstance(call.arguments[1], Literal)
        and "\\" not in str(call.arguments[1].value)
    )


def _has(expression: Expression, kind: type[Column | OuterColumn]) -> bool:
    return any(isinstance(part, kind) for part in walk(expression))


def _has_subquery(expression: Expression) -> bool:
    return any(True for _ in subqueries_of(expression))


def _has_breaker(relation: Relation) -> bool:
    """Return whether the rows of a relation are groups already, so that another grouping gains
    nothing.
    """
    return isinstance(relation, Aggregate | Distinct)
