"""WITH: its items in scope, each bound where it is used; a recursive one becomes `Recursive`.

An item sees the names of the place where it is written, wherever it is used (`Passage`). An item
that takes nothing from outside is bound once and shared. Leaves: relations; PostgreSQL's errors
about recursion that it can't do are in `sql.bind.queries.recursion`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from sql.bind.expressions.context import BindContext, KnownTable, Operand
from sql.bind.expressions.correlation import Mark, Passage, closures_between, nearest_closure
from sql.bind.queries.outputs import common_types, converted
from sql.bind.queries.recursion import check_order, check_recursion, is_recursive
from sql.bind.sharing import shared
from sql.errors import SqlError
from sql.parse.syntax import CommonTable, SetOperation
from sql.tree.relations import OutputColumn, Recursive, Relation, Scan, Schema
from sql.tree.walks import open_columns
from sql.types.casts import same_modifier
from sql.types.datatypes import TEXT, SqlType, scaled_numeric


@contextmanager
def common_tables(items: tuple[CommonTable, ...], context: BindContext) -> Iterator[None]:
    """Let the nodes that are bound inside name the items of a WITH.

    Each item is bound once for its errors, whether it is used or not.
    """
    if not items:
        yield
        return
    known = dict(context.common_tables)
    for index, item in enumerate(items):
        if any(other.name == item.name for other in items[:index]):
            raise SqlError("42712", f'WITH query name "{item.name}" specified more than once', item.position)
    check_order(items)
    for item in items:
        # A recursive item sees all of its WITH, another one those before it.
        visible = known if item.recursive else dict(known)
        known[item.name] = KnownTable(item, visible, context.outer)
    with context.inside(context.outer, known):
        later = context.later_tables
        for index, item in enumerate(items):
            context.later_tables = later | {other.name for other in items[index:]}
            mark = Mark.of(context.outer)
            common_relation(known[item.name], context)
            mark.release()
        context.later_tables = later
        yield


def common_relation(known: KnownTable, context: BindContext) -> Relation:
    """Return the rows of an item of WITH as they are seen here, its columns named."""
    if known.rows is not None:
        return Scan(known.rows[0], "recursive", known.rows[1])
    if known.relation is not None:
        return known.relation
    here = context.outer
    closure = nearest_closure(here)
    if closure is not None and closure in known.bound:
        relation, arguments = known.bound[closure]
        if tuple(closure.arguments[: len(arguments)]) == arguments:
            return relation
    outer = known.outer
    if here is not outer:
        outer = Passage(outer, closures_between(here, outer))
    with context.inside(outer, known.visible):
        if known.common.recursive and is_recursive(known.common):
            relation = bind_recursive(known, context)
        else:
            relation = context.queries.relation(known.common.query, context)
            column_names(relation.schema, known.common)
    relation = shared(known.common.name, relation)
    if not any(True for _ in open_columns(relation)):
        known.relation = relation
    elif closure is not None:
        known.bound[closure] = relation, tuple(closure.arguments)
    return relation


def column_names(schema: Schema, common: CommonTable) -> Schema:
    """Return the columns of an item of WITH under the names that it gives them."""
    names = common.column_aliases
    if len(names) > len(schema):
        message = f'WITH query "{common.name}" has {len(schema)} columns available but {len(names)} columns specified'
        raise SqlError("42P10", message, common.position)
    head = tuple(OutputColumn(name, column.type) for name, column in zip(names, schema, strict=False))
    return (*head, *schema[len(names) :])


def bind_recursive(known: KnownTable, context: BindContext) -> Recursive:
    """Return an item of WITH that refers to itself: a UNION whose left side begins and whose right
    side goes on.
    """
    common = known.common
    check_recursion(common)
    body = common.query.body
    assert isinstance(body, SetOperation), "checked with the recursion"
    name = context.recursive_name(common.name)
    with common_tables(common.query.common_tables, context):
        start = context.queries.body(body.left, context)
        kinds = [TEXT if column.type.family == "unknown" else column.type for column in start.relation.schema]
        step = bind_step(known, name, body, start, kinds, context)
        if step is None:
            # The digits after the point are not the same in each round.
            kinds = [scaled_numeric(None) if plain_numeric(kind) else kind for kind in kinds]
            step = bind_step(known, name, body, start, kinds, context)
            assert step is not None, "nothing is left that could differ"
    schema = recursive_schema(common, start, kinds)
    found = (converted(side, kinds, context) for side in (start, step))
    return Recursive(name, next(found), next(found), body.all, schema)


def bind_step(
    known: KnownTable, name: str, body: SetOperation, start: Operand, kinds: list[SqlType], context: BindContext
) -> Operand | None:
    """Return the recursive term, None when it needs numerics of another scale than those of
    `kinds`.
    """
    common = known.common
    schema = recursive_schema(common, start, kinds)
    visible = {**context.common_tables, common.name: replace(known, rows=(name, schema))}
    mark = Mark.of(context.outer)
    with context.inside(context.outer, visible):
        step = context.queries.body(body.right, context)
    begin = Operand(converted(start, kinds, context), start.places)
    overall = common_types(body, begin, step, context)
    for index, (kind, found) in enumerate(zip(kinds, overall, strict=True)):
        if kind.family != found.family or not same_modifier([kind, found]):
            message = (
                f'recursive query "{common.name}" column {index + 1} has type {kind.sql_name} in non-recursive term '
                f"but type {found.sql_name} overall"
            )
            hint = "Cast the output of the non-recursive term to the correct type."
            raise SqlError("42804", message, start.places[index], hint=hint)
    if any(kind != found for kind, found in zip(kinds, overall, strict=True)):
        mark.release()
        return None
    return step


def plain_numeric(kind: SqlType) -> bool:
    return kind.family == "numeric" and kind.precision is None


def recursive_schema(common: CommonTable, start: Operand, kinds: list[SqlType]) -> Schema:
    """Return the columns of a recursive item: the first term's names and types, or the names that
    the item gives.
    """
    typed = zip(start.relation.schema, kinds, strict=True)
    return column_names(tuple(OutputColumn(column.name, kind) for column, kind in typed), common)
