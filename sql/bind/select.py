"""SELECT ... FROM ... WHERE ... GROUP BY ... HAVING ... WINDOW ... to a relation, with its ORDER BY, DISTINCT and LIMIT.

The operators are stacked as PostgreSQL evaluates them: Filter, Aggregate, Filter (HAVING), Window, set-returning functions, Project,
Distinct, Sort, Limit. Keys and arguments of an Aggregate address the FROM clause's columns directly, because continuous views are
split there.
"""

from __future__ import annotations

from dataclasses import replace

from sql.bind import grouping
from sql.bind.context import BindContext
from sql.bind.expressions import Binder
from sql.bind.finishing import Finish, finish
from sql.bind.from_clause import bind_from
from sql.bind.grouping_sets import Keys, bind_group_by
from sql.bind.limits import bind_counts
from sql.bind.operand import Operand
from sql.bind.outputs import Output, bind_order, bind_target, output_item
from sql.bind.places import start_of
from sql.bind.table_functions import add_sets
from sql.bind.virtual import WINDOWS, VirtualColumns
from sql.errors import SqlError
from sql.parse.syntax import Query, SelectBody
from sql.tree.expressions import AggregateCall, Column, Expression
from sql.tree.relations import Aggregate, Filter, Join, Relation, Scan, Window
from sql.tree.walks import map_all, map_expression, map_window

# As in PostgreSQL.
OUTPUTS_MAX = 1664

__all__ = ["bind_select", "bind_target"]


def bind_select(query: Query, body: SelectBody, context: BindContext, untyped: bool = False) -> Operand:
    """Return a SELECT with the clauses of its query; untyped: constants in its select list need no type yet."""
    joined, scope = bind_from(body.from_items, context)
    relation: Relation = joined
    binder = Binder(
        scope, context, "SELECT", VirtualColumns(), aggregates_allowed=True, windows_allowed=True,
        sets_allowed=True, windows=dict(body.windows),
    )  # fmt: skip
    untyped = untyped and not (query.order_by or body.distinct or body.distinct_on or body.group_by)
    outputs = [output for target in body.targets for output in bind_target(target, binder, untyped)]
    if len(outputs) > OUTPUTS_MAX:
        raise SqlError("54011", f"target lists can have at most {OUTPUTS_MAX} entries")
    if body.where is not None:
        relation = Filter(joined, Binder(scope, context, "WHERE", binder.virtual).bind_boolean(body.where))
    having = None
    if body.having is not None:
        plain = replace(binder, clause="HAVING", windows_allowed=False, sets_allowed=False)
        having = plain.bind_boolean(body.having)
    order = [bind_order(item, outputs, replace(binder, clause="ORDER BY")) for item in query.order_by]
    keys = bind_group_by(body, outputs, replace(binder, clause="GROUP BY"))
    on = [output_item(item, item.position, outputs, replace(binder, clause="DISTINCT ON")) for item in body.distinct_on]
    counts = bind_counts(query, scope, context)
    for name, definition in body.windows:
        check_window(name, definition.base, body)
    expressions = [*(output.expression for output in outputs), *(key.expression for key in order), *on]
    relation, expressions = grouped(relation, joined, keys, having, expressions, binder)
    relation, expressions = add_windows(relation, binder, expressions)
    relation, expressions = add_sets(relation, binder, expressions)
    width = len(outputs)
    named = tuple((output.name, item) for output, item in zip(outputs, expressions[:width], strict=True))
    ordered = expressions[width : width + len(order)]
    wanted = Finish(
        [replace(key, expression=item) for key, item in zip(order, ordered, strict=True)],
        [item.position for item in query.order_by],
        body.distinct,
        expressions[width + len(order) :],
        [start_of(item) for item in body.distinct_on],
        counts,
    )
    return Operand(finish(relation, named, wanted), tuple(map(place_of, outputs)))


def place_of(output: Output) -> int:
    """Return where an output column is written, for errors about its type."""
    return output.position if output.syntax is None else start_of(output.syntax)


def check_window(name: str, base: str | None, body: SelectBody) -> None:
    """A named window may refer only to those before it."""
    earlier = []
    for other, _ in body.windows:
        if other == name:
            break
        earlier.append(other)
    if base is not None and base not in earlier:
        raise SqlError("42704", f'window "{base}" does not exist')


def grouped(
    relation: Relation,
    joined: Relation,
    keys: Keys,
    having: Expression | None,
    expressions: list[Expression],
    binder: Binder,
) -> tuple[Relation, list[Expression]]:
    """Put Aggregate (and HAVING) on the relation if the query groups; return the expressions over its output."""
    virtual = binder.virtual
    assert virtual is not None, "a SELECT collects its aggregates"
    if not keys.written and not virtual.aggregates and having is None:
        return relation, expressions
    if virtual.aggregates:
        check_recursive_term(joined, virtual.aggregates[0][1])
    over = [*expressions, *([] if having is None else [having])]
    keys = grouping.with_dependent(keys, over, virtual, binder.scope)
    regroup = grouping.Regrouping(keys, virtual, binder.scope)
    found = [regroup.item(item) for item in expressions]
    condition = None if having is None else regroup.expression(having)
    virtual.windows = [(name, map_window(call, regroup.change)) for name, call in virtual.windows]
    virtual.sets = [
        (name, replace(call, arguments=map_all(call.arguments, regroup.change))) for name, call in virtual.sets
    ]
    relation = Aggregate(relation, keys.items, regroup.calls, keys.sets)
    return (relation if condition is None else Filter(relation, condition)), found


def check_recursive_term(relation: Relation, call: AggregateCall) -> None:
    """Raise 42P19 for an aggregate over the rows that a recursive query found last."""
    if isinstance(relation, Scan) and relation.kind == "recursive":
        message = "aggregate functions are not allowed in a recursive query's recursive term"
        raise SqlError("42P19", message, call.position)
    if isinstance(relation, Join):
        check_recursive_term(relation.left, call)
        check_recursive_term(relation.right, call)


def add_windows(relation: Relation, binder: Binder, expressions: list[Expression]) -> tuple[Relation, list[Expression]]:
    """Put Window on the relation; return the expressions over its output."""
    virtual = binder.virtual
    assert virtual is not None, "a SELECT collects its window calls"
    if not virtual.windows:
        return relation, expressions
    width = len(relation.schema)

    def placed_window(node: Expression) -> Expression | None:
        if isinstance(node, Column) and WINDOWS <= node.index < 2 * WINDOWS:
            return Column(width + node.index - WINDOWS, node.name, node.type, node.position)
        return None

    virtual.sets = [
        (name, replace(call, arguments=map_all(call.arguments, placed_window))) for name, call in virtual.sets
    ]
    windowed = Window(relation, tuple(virtual.windows))
    return windowed, [map_expression(item, placed_window) for item in expressions]
