"""The clauses after the select list: DISTINCT, DISTINCT ON, ORDER BY, LIMIT, WITH TIES.

A sort key or DISTINCT ON expression that is no output column becomes a hidden one, which is
projected away at the end. DISTINCT ON keeps the first row of each partition by row_number; WITH
TIES keeps the rows with the rank of the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sql.errors import SqlError
from sql.tree.expressions import Call, Column, Expression, Literal, SortKey, WindowCall
from sql.tree.relations import Distinct, Filter, Limit, Project, Relation, Sort, Window, project
from sql.types.casts import require_equality
from sql.types.datatypes import BOOL, INT8

Items = tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """The bound LIMIT and OFFSET of a query."""

    limit: Expression | None
    offset: Expression | None
    with_ties: bool = False


@dataclass(frozen=True, slots=True)
class Finish:
    """The bound clauses after the select list of a query.

    Attributes:
        order_places, on_places: the places of the items.
    """

    order: Sequence[SortKey]
    order_places: Sequence[int]
    distinct: bool
    on: Sequence[Expression]
    on_places: Sequence[int]
    counts: Counts


def finish(relation: Relation, named: Items, wanted: Finish) -> Relation:
    """Return the output columns of a query, distinct, in order and cut."""
    keys, hidden = placed_keys(wanted.order, named)
    if wanted.distinct:
        require_equality([item.type for _, item in named])
        for key, position in zip(keys, wanted.order_places, strict=True):
            if isinstance(key.expression, Column) and key.expression.index >= len(named):
                message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list"
                raise SqlError("42P10", message, position)
    on: list[Column] = []
    for expression in wanted.on:
        found, hidden = placed(expression, named, hidden)
        on.append(found)
    projected = project(relation, (*named, *hidden))
    if wanted.distinct:
        projected = Distinct(projected)
    if on:
        check_distinct_on(keys, on, wanted)
        projected = first_of_each(projected, on, keys)
    ordered = cut(Sort(projected, keys) if keys else projected, keys, wanted.counts)
    return without_hidden(ordered, len(named))


def placed_keys(order: Sequence[SortKey], named: Items) -> tuple[tuple[SortKey, ...], Items]:
    """Return the keys over the output columns and hidden ones, and the hidden ones."""
    hidden: Items = ()
    keys = []
    for key in order:
        found, hidden = placed(key.expression, named, hidden)
        keys.append(replace(key, expression=found))
    return tuple(keys), hidden


def placed(expression: Expression, named: Items, hidden: Items) -> tuple[Column, Items]:
    """Return the output column, or the hidden one, that an expression is."""
    known = (*named, *hidden)
    for index, (name, item) in enumerate(known):
        if item == expression:
            return Column(index, name, expression.type), hidden
    name = f"?order{len(hidden)}?"
    return Column(len(known), name, expression.type), (*hidden, (name, expression))


def check_distinct_on(keys: Sequence[SortKey], on: Sequence[Column], wanted: Finish) -> None:
    """Raise 42P10 unless ORDER BY begins with the expressions of DISTINCT ON."""
    message = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions"
    seen: list[Expression] = []
    skipped = False
    for key in keys:
        if key.expression in seen:
            continue
        if key.expression not in on:
            skipped = True
        elif skipped:
            raise SqlError("42P10", message, wanted.on_places[on.index(key.expression)])
        else:
            seen.append(key.expression)
    for item, position in zip(on, wanted.on_places, strict=True):
        if skipped and item not in seen:
            raise SqlError("42P10", message, position)


def first_of_each(relation: Relation, on: Sequence[Column], keys: Sequence[SortKey]) -> Relation:
    """Return the first row, in the order of `keys`, of those that are equal in `on`."""
    number = WindowCall("row_number", (), INT8, tuple(dict.fromkeys(on)), tuple(keys))
    numbered = Window(relation, (("?row?", number),))
    place = Column(len(relation.schema), "?row?", INT8)
    first = Filter(numbered, Call("eq", (place, Literal(1, INT8)), BOOL))
    return without_hidden(first, len(relation.schema))


def cut(relation: Relation, keys: Sequence[SortKey], counts: Counts) -> Relation:
    """Return the rows that LIMIT and OFFSET leave of a sorted relation."""
    if counts.with_ties:
        assert counts.limit is not None, "checked when it was bound"
        return with_ties(relation, keys, counts.limit, counts.offset)
    if counts.limit is None and counts.offset is None:
        return relation
    return Limit(relation, counts.limit, counts.offset)


def with_ties(relation: Relation, keys: Sequence[SortKey], limit: Expression, offset: Expression | None) -> Relation:
    """Return `limit` rows after `offset` ones, and all that are equal to the last of them in the
    order of `keys`.
    """
    below = relation.input if isinstance(relation, Sort) else relation
    width = len(below.schema)
    order = tuple(keys)
    number, rank = WindowCall("row_number", (), INT8, (), order), WindowCall("rank", (), INT8, (), order)
    ranked = Window(below, (("?row?", number), ("?rank?", rank)))
    last = limit if offset is None else Call("add", (limit, offset), INT8)
    conditions = [
        Call("le", (Column(width + 1, "?rank?", INT8), last), BOOL),
        Call("gt", (limit, Literal(0, INT8)), BOOL),
    ]
    if offset is not None:
        conditions.append(Call("gt", (Column(width, "?row?", INT8), offset), BOOL))
    kept = Filter(ranked, Call("and", tuple(conditions), BOOL))
    return Sort(without_hidden(kept, width), order)


def without_hidden(relation: Relation, width: int) -> Relation:
    """Return the first `width` columns of a relation."""
    schema = relation.schema
    if len(schema) == width:
        return relation
    items = tuple((column.name, Column(index, column.name, column.type)) for index, column in enumerate(schema[:width]))
    return Project(relation, items)
