"""SELECT ... FROM ... WHERE ... GROUP BY ... HAVING ... WINDOW ... to a relation, with its ORDER BY, DISTINCT and LIMIT.

The operators are stacked as PostgreSQL evaluates them: Filter, Aggregate, Filter (HAVING), Window, Project, Distinct, Sort, Limit.
Keys and arguments of an Aggregate address the FROM clause's columns directly, because continuous views are split there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sql.bind import grouping
from sql.bind.context import BindContext
from sql.bind.expressions import Binder, settle
from sql.bind.from_clause import bind_from
from sql.bind.limits import bind_limits
from sql.bind.naming import output_name
from sql.bind.scope import Scope, placed
from sql.bind.virtual import WINDOWS, VirtualColumns
from sql.errors import SqlError, not_supported
from sql.expressions import Column, Expression, SortKey
from sql.relations import Aggregate, Distinct, Filter, OutputColumn, Project, Relation, Sort, Window
from sql.syntax import Constant, Name, Query, SelectBody, SortItem, Star, Target
from sql.syntax import Expression as Syntax
from sql.trees import map_expression, map_window, walk


@dataclass(frozen=True, slots=True)
class Output:
    """One output column while its SELECT is bound. syntax None: it came from a star."""

    name: str
    expression: Expression
    syntax: Syntax | None
    position: int


def bind_select(query: Query, body: SelectBody, context: BindContext) -> Relation:
    """Return the relation of a SELECT with the clauses of its query."""
    relation, scope = bind_from(body.from_items, context)
    virtual = VirtualColumns()
    binder = Binder(
        scope, context, "SELECT", virtual, aggregates_allowed=True, windows_allowed=True, windows=dict(body.windows)
    )
    outputs = [output for target in body.targets for output in bind_target(target, binder)]
    where = None
    if body.where is not None:
        where = Binder(scope, context, "WHERE", virtual).bind_boolean(body.where)
    having = None
    if body.having is not None:
        having = replace(binder, clause="HAVING", windows_allowed=False).bind_boolean(body.having)
    order = [bind_order(item, outputs, replace(binder, clause="ORDER BY")) for item in query.order_by]
    keys = bind_group_by(body, outputs, scope, context, virtual)
    limits = bind_limits(query, context)
    for name, definition in body.windows:
        check_window(name, definition.base, body)
    if where is not None:
        relation = Filter(relation, where)
    expressions = [output.expression for output in outputs] + [key.expression for key in order]
    if body.group_by or virtual.aggregates or having is not None:
        relation, expressions = group(relation, keys, having, virtual, expressions, scope)
    relation, expressions = add_windows(relation, virtual, expressions)
    order = [replace(key, expression=item) for key, item in zip(order, expressions[len(outputs) :], strict=True)]
    named = tuple((output.name, item) for output, item in zip(outputs, expressions, strict=False))
    return finish(relation, named, order, body.distinct, [item.position for item in query.order_by], limits)


def bind_target(target: Target, binder: Binder) -> list[Output]:
    """Return the output columns of one item of the target list."""
    node = target.expression
    if isinstance(node, Star):
        return expand_star(node, binder.scope)
    expression = settle(binder.bind(node), binder.context)
    if expression.type.family == "interval":
        raise not_supported("interval as a value", target.position)
    return [Output(target.alias or output_name(node), expression, node, target.position)]


def expand_star(node: Star, scope: Scope) -> list[Output]:
    """Return the columns of * or table.*."""
    if node.qualifier:
        columns = list(scope.table(node.qualifier, node.position).columns)
    else:
        if not scope.tables:
            raise SqlError("42601", "SELECT * with no tables specified is not valid", node.position)
        columns = scope.visible
    return [Output(column.name, placed(column.expression, node.position), None, node.position) for column in columns]


def bind_group_by(
    body: SelectBody, outputs: list[Output], scope: Scope, context: BindContext, virtual: VirtualColumns
) -> list[tuple[str, Expression]]:
    """Return the grouping keys with names; ordinals and output aliases stand for output columns."""
    binder = Binder(scope, context, "GROUP BY", virtual)
    keys: list[tuple[str, Expression]] = []
    for item in body.group_by:
        expression = group_item(item, outputs, binder)
        grouping.check_key(expression, virtual, item.position)
        if all(expression != known for _, known in keys):
            named = next((output.name for output in outputs if output.expression == expression), output_name(item))
            keys.append((named, expression))
    return keys


def group_item(item: Syntax, outputs: list[Output], binder: Binder) -> Expression:
    if isinstance(item, Name) and len(item.parts) == 1:
        # In GROUP BY an input column wins over an output column of the same name.
        column = binder.scope.bare(item.parts[0], item.position)
        if column is not None:
            return column
        found = output_named(item, outputs, "GROUP BY")
        if found is not None:
            return found
    if isinstance(item, Constant):
        return ordinal(item, outputs, "GROUP BY")
    return binder.bind_value(item)


def output_named(item: Name, outputs: list[Output], clause: str) -> Expression | None:
    """Return the output column that a bare name means, None when there is none."""
    found = [output.expression for output in outputs if output.name == item.parts[0]]
    if any(expression != found[0] for expression in found[1:]):
        raise SqlError("42702", f'{clause} "{item.parts[0]}" is ambiguous', item.position)
    return found[0] if found else None


def ordinal(item: Constant, outputs: list[Output], clause: str) -> Expression:
    """Return the output column that a number stands for."""
    if item.kind != "integer":
        raise SqlError("42601", f"non-integer constant in {clause}", item.position)
    if not 1 <= int(item.value) <= len(outputs):
        raise SqlError("42P10", f"{clause} position {item.value} is not in select list", item.position)
    return outputs[int(item.value) - 1].expression


def bind_order(item: SortItem, outputs: list[Output], binder: Binder) -> SortKey:
    """Return the sort key of an ORDER BY item; here an output column wins over an input column of the same name."""
    node = item.expression
    expression: Expression | None = None
    if isinstance(node, Name) and len(node.parts) == 1:
        expression = output_named(node, outputs, "ORDER BY")
    elif isinstance(node, Constant):
        expression = ordinal(node, outputs, "ORDER BY")
    if expression is None:
        expression = binder.bind_value(node)
    if expression.type.family == "interval":
        raise not_supported("interval as a value", item.position)
    nulls_first = item.descending if item.nulls_first is None else item.nulls_first
    return SortKey(expression, item.descending, nulls_first)


def check_window(name: str, base: str | None, body: SelectBody) -> None:
    """A named window may refer only to those before it."""
    earlier = []
    for other, _ in body.windows:
        if other == name:
            break
        earlier.append(other)
    if base is not None and base not in earlier:
        raise SqlError("42704", f'window "{base}" does not exist')


def group(
    relation: Relation,
    keys: list[tuple[str, Expression]],
    having: Expression | None,
    virtual: VirtualColumns,
    expressions: list[Expression],
    scope: Scope,
) -> tuple[Relation, list[Expression]]:
    """Put Aggregate (and HAVING) on the relation; return the expressions over its output."""
    regroup = grouping.Regrouping(keys, scope)
    found = [regroup.expression(item) for item in expressions]
    condition = None if having is None else regroup.expression(having)
    virtual.windows = [(name, map_window(call, regroup.change)) for name, call in virtual.windows]
    relation = Aggregate(relation, tuple(keys), tuple(virtual.aggregates))
    return (relation if condition is None else Filter(relation, condition)), found


def add_windows(
    relation: Relation, virtual: VirtualColumns, expressions: list[Expression]
) -> tuple[Relation, list[Expression]]:
    """Put Window on the relation if there are window calls; return the expressions over its output."""
    if not virtual.windows:
        return relation, expressions
    width = len(relation.schema)

    def placed_window(node: Expression) -> Expression | None:
        if isinstance(node, Column) and node.index >= WINDOWS:
            return Column(width + node.index - WINDOWS, node.name, node.type, node.position)
        return None

    windowed = Window(relation, tuple(virtual.windows))
    return windowed, [map_expression(item, placed_window) for item in expressions]


def finish(
    relation: Relation,
    named: tuple[tuple[str, Expression], ...],
    order: list[SortKey],
    distinct: bool,
    positions: list[int],
    limits: Callable[[Relation], Relation],
) -> Relation:
    """Put Project, Distinct, Sort and Limit on the relation; sort keys that are no output columns are projected away again."""
    places = [place_of(key.expression, named) for key in order]
    hidden: list[tuple[str, Expression]] = []
    keys = []
    for key, place, position in zip(order, places, positions, strict=True):
        if place is None:
            if distinct:
                message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list"
                raise SqlError("42P10", message, position)
            place = len(named) + len(hidden)
            hidden.append((f"?order{len(hidden)}?", key.expression))
        keys.append(replace(key, expression=Column(place, (*named, *hidden)[place][0], key.expression.type)))
    projected = project(relation, (*named, *hidden))
    if distinct:
        projected = Distinct(projected)
    if not keys:
        return limits(projected)
    ordered = limits(Sort(projected, tuple(keys)))
    if hidden:
        ordered = Project(
            ordered, tuple((name, Column(index, name, item.type)) for index, (name, item) in enumerate(named))
        )
    return ordered


def place_of(expression: Expression, named: tuple[tuple[str, Expression], ...]) -> int | None:
    return next((index for index, (_, item) in enumerate(named) if item == expression), None)


def project(relation: Relation, items: tuple[tuple[str, Expression], ...]) -> Relation:
    """Return the projection, which is the relation itself when it changes nothing."""
    same = tuple(OutputColumn(name, item.type) for name, item in items) == relation.schema
    if (
        same
        and all(isinstance(item, Column) and item.index == index for index, (_, item) in enumerate(items))
        and items
    ):
        return relation
    return Project(relation, items)


def uses_column(expression: Expression) -> bool:
    """Tell whether an expression depends on its row."""
    return any(isinstance(node, Column) for node in walk(expression))
