"""DISTINCT ON over a stream as a grouping: by its expressions, with the first row of each group in
the query's ORDER BY; and row_number() <= n, or LIMIT n, as a grouping with the n first rows.

    DISTINCT ON (k) k, x FROM s ORDER BY k, t        ->  first(x ORDER BY t) by k
    row_number() OVER (PARTITION BY k ORDER BY t) <= 3
                                                     ->  unnest(xs) beside first_rows(x, 3 ORDER BY t) AS xs by k
    FROM s ORDER BY t LIMIT 3                        ->  the same without keys

Bound a DISTINCT ON is a row_number of which the first is kept; a query with that row_number is the
same. The order belongs to the grouping; rows that are equal in it are in order of arrival. Over a
UNION ALL it is the first of the first rows of each side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sql.functions.comparisons import TURNED
from sql.tree.counted_rows import union_all
from sql.tree.expressions import (
    AggregateCall,
    Call,
    Cast,
    Column,
    Expression,
    Literal,
    OuterColumn,
    SortKey,
    WindowCall,
)
from sql.tree.relations import (
    Aggregate,
    Filter,
    Join,
    Limit,
    OutputColumn,
    Project,
    Relation,
    Sort,
    TableFunction,
    Window,
)
from sql.tree.walks import map_expression, open_columns
from sql.types.datatypes import BOOL, BYTEA, INT8, TEXT, array_of
from views.model.nodes import FIRST, FIRST_ROWS
from views.model.properties import is_ungrouped
from views.model.trees import columns_of, taken_apart
from views.plan.joins.join_graph import conjunction
from views.plan.rules.combine_groupings import union_sides

NUMBER = "number"
Columns = Sequence[tuple[str, Column]]


@dataclass(frozen=True)
class Bound:
    """A condition that no number above `last` passes.

    Attributes:
        is_all: each number up to it passes.
    """

    last: int
    is_all: bool


def first_rows(relation: Relation) -> Relation:
    """Return an operator as it is, or the grouping that a DISTINCT ON, a condition on row_number(),
    or a LIMIT is.
    """
    numbered = _numbered(relation) if isinstance(relation, Limit) else relation
    if not isinstance(numbered, Filter | Project):
        return relation
    window, conditions, items = taken_apart(numbered)
    if not isinstance(window, Window) or not is_ungrouped(window.input) or any(True for _ in open_columns(window)):
        return relation
    (_, call), *others = window.calls
    place = len(window.input.schema)
    bounds = [_bound(part, place) for part in conditions]
    rows_max = min((bound.last for bound in bounds if bound is not None), default=0)
    if others or call.function != "row_number" or not any(bounds):
        return relation
    # Above several rows stands their number; of one row it is known.
    several = 0 if rows_max == 1 and Bound(1, True) in bounds else max(rows_max, 1)
    left = [part for part, bound in zip(conditions, bounds, strict=True) if bound != Bound(several or 1, True)]
    sides = union_sides(window.input)
    asked = {index for part in (*items, *left) for index in columns_of(part)} if len(sides) == 1 else range(place)
    columns = [
        (column.name, Column(index, column.name, column.type))
        for index, column in enumerate(window.input.schema)
        if index in asked
    ]
    firsts = [_firsts(side, call, columns, several) for side in sides]
    found = firsts[0] if len(firsts) == 1 else _firsts_of_all(firsts, window, columns, several)
    known: dict[int, Expression] = {value.index: replace(value, index=at) for at, (_, value) in enumerate(columns)}
    known[place] = Column(len(found.schema) - 1, NUMBER, INT8) if several else Literal(1, INT8)

    def moved(expression: Expression) -> Expression:
        return map_expression(expression, lambda part: known[part.index] if isinstance(part, Column) else None)

    if left:
        found = Filter(found, conjunction([moved(part) for part in left]))
    names = [column.name for column in relation.schema]
    return Project(found, tuple(zip(names, (moved(item) for item in items), strict=True)))


def _numbered(limit: Limit) -> Relation:
    """Return the condition on a row_number() that a LIMIT of constants is."""
    counts = limit_counts(limit)
    if counts is None:
        return limit
    found, conditions, items = taken_apart(limit.input)
    below, keys = (found.input, found.keys) if isinstance(found, Sort) else (found, ())
    source = Filter(below, conjunction(conditions)) if conditions else below
    width = len(source.schema)
    window = Window(source, ((NUMBER, WindowCall("row_number", (), INT8, (), keys)),))
    kept = Filter(window, conjunction(numbers_between(Column(width, NUMBER, INT8), *counts)))
    return Project(kept, tuple(zip([column.name for column in limit.schema], items, strict=True)))


def limit_counts(limit: Limit) -> tuple[int, int] | None:
    """Return how many rows come before those of a LIMIT, and up to the last of them; None where
    these are no constants.
    """
    counts = [
        part.value if isinstance(part, Literal) else None for part in (limit.offset or Literal(0, INT8), limit.limit)
    ]
    offset, rows = counts
    if not isinstance(offset, int) or not isinstance(rows, int) or min(offset, rows) < 0:
        return None
    return offset, offset + rows


def numbers_between(number: Expression, before: int, last: int) -> list[Expression]:
    """Return the conditions that let the numbers after `before` up to `last` through."""
    after = [Call("gt", (number, Literal(before, INT8)), BOOL)] if before else []
    return [Call("le", (number, Literal(last, INT8)), BOOL), *after]


def _bound(condition: Expression, place: int) -> Bound | None:
    """Return the bound that a condition is for a number, the column at `place`."""
    if not isinstance(condition, Call) or len(condition.arguments) != 2:
        return None
    left, right = condition.arguments
    function = condition.function
    if isinstance(left, Literal):
        left, right, function = right, left, TURNED.get(function, function)
    if not isinstance(left, Column) or left.index != place or not isinstance(right, Literal):
        return None
    if not isinstance(right.value, int) or function not in ("eq", "le", "lt"):
        return None
    last = right.value - (function == "lt")
    return Bound(last, function != "eq" or last == 1)


def _firsts(relation: Relation, call: WindowCall, columns: Columns, several: int) -> Relation:
    """Return the first row of each group of a relation, or several ones with their numbers.

    All rows of one that is no stream's, or is grouped.
    """
    if not is_ungrouped(relation):
        return Project(relation, (*columns, (NUMBER, Literal(0, INT8)))) if several else relation
    order = deciding_keys(call.order_by, call.partition_by)
    if several:
        return numbered_rows(relation, call.partition_by, order, columns, several)
    keys = _named(call.partition_by)
    items: list[tuple[str, Expression]] = []
    firsts: list[tuple[str, AggregateCall]] = []
    for name, value in columns:
        if value in call.partition_by:
            found = call.partition_by.index(value)
        else:
            found = len(keys) + len(firsts)
            firsts.append((name, AggregateCall(FIRST, (value,), value.type, order_by=order)))
        items.append((name, Column(found, name, value.type)))
    return Project(Aggregate(relation, keys, tuple(firsts)), tuple(items))


def numbered_rows(
    relation: Relation,
    keys: Sequence[Expression],
    order: tuple[SortKey, ...],
    columns: Sequence[tuple[str, Expression]],
    rows_max: int,
) -> Relation:
    """Return columns of the first rows of each group of a stream's rows, then their numbers.

    order: what rows of one group can differ in.
    """
    values = [value for _, value in columns if value not in keys] or [Literal(True, BOOL)]
    calls: list[tuple[str, AggregateCall]] = []
    for place, value in enumerate(values):
        # There are no lists of lists.
        listed = Cast(value, TEXT) if value.type.is_array else value
        arguments = (listed, Literal(rows_max, INT8))
        calls.append((f"list{place}", AggregateCall(FIRST_ROWS, arguments, array_of(listed.type), order_by=order)))
    grouping = Aggregate(relation, _named(keys), tuple(calls))
    lists = tuple(Column(at, name, call.type) for at, (name, call) in enumerate(calls, len(keys)))
    schema = tuple(OutputColumn(one.name, one.type.element) for one in lists)
    outer = (("unnest", (OuterColumn(place, one.name, one.type),)) for place, one in enumerate(lists))
    source = TableFunction(tuple(outer), True, (*schema, OutputColumn(NUMBER, INT8)))
    start = len(grouping.schema)
    items: list[tuple[str, Expression]] = []
    for name, value in columns:
        if value in keys:
            items.append((name, Column(keys.index(value), name, value.type)))
            continue
        at = values.index(value)
        element = Column(start + at, name, schema[at].type)
        items.append((name, element if element.type == value.type else Cast(element, value.type)))
    items.append((NUMBER, Column(start + len(lists), NUMBER, INT8)))
    return Project(Join(grouping, source, "cross", None, lists), tuple(items))


def _firsts_of_all(sides: Sequence[Relation], window: Window, columns: Columns, several: int) -> Relation:
    """Return the first row of each group of the rows of all sides, or several with their numbers.

    Of equal ones that of an earlier side.
    """
    ((name, call),) = window.calls
    marks: list[tuple[str, Expression]] = [
        ("side", Literal(0, INT8)),
        *([(NUMBER, Column(len(columns), NUMBER, INT8))] if several else []),
    ]
    marked: list[Relation] = [
        Project(side, (*columns, ("side", Literal(number, INT8)), *marks[1:])) for number, side in enumerate(sides)
    ]
    last = tuple(SortKey(Column(at, mark, INT8)) for at, (mark, _) in enumerate(marks, len(columns)))
    numbers = Window(union_all(marked), ((name, replace(call, order_by=(*call.order_by, *last))),))
    number = Column(len(columns) + len(marks), name, INT8)
    return Filter(numbers, Call("le" if several else "eq", (number, Literal(several or 1, INT8)), BOOL))


def deciding_keys(order: Sequence[SortKey], keys: Sequence[Expression]) -> tuple[SortKey, ...]:
    """Return the sort keys that rows of one group can differ in, each once.

    Kernels know no order of jsonb, but that of the bytes which stand for it.
    """
    kept: dict[Expression, SortKey] = {}
    for key in order:
        if key.expression in keys:
            continue
        by_bytes = key.expression.type.family == "jsonb"
        value = Call("jsonb_order", (key.expression,), BYTEA) if by_bytes else key.expression
        kept.setdefault(value, replace(key, expression=value))
    return tuple(kept.values())


def _named(keys: Sequence[Expression]) -> tuple[tuple[str, Expression], ...]:
    return tuple((key.name if isinstance(key, Column) else f"key{number}", key) for number, key in enumerate(keys))
