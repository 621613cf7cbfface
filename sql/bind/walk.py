"""Trees of expressions and relations as data: children, rebuilding, and mapping from the leaves up or from the top down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sql.expressions import AggregateCall, Call, Case, Cast, Column, Expression, SortKey, WindowCall
from sql.relations import Aggregate, Distinct, Filter, Join, Limit, Project, Relation, Scan, Sort, Values, Window

Mapping = Callable[[Expression], Expression | None]


def map_expression(expression: Expression, change: Mapping) -> Expression:
    """Return the tree with every topmost node replaced for which `change` returns something; the rest is rebuilt around them."""
    changed = change(expression)
    if changed is not None:
        return changed
    match expression:
        case Call():
            return replace(expression, arguments=tuple(map_expression(item, change) for item in expression.arguments))
        case Cast():
            return replace(expression, operand=map_expression(expression.operand, change))
        case Case():
            branches = tuple(
                (map_expression(when, change), map_expression(then, change)) for when, then in expression.branches
            )
            return replace(expression, branches=branches, default=map_expression(expression.default, change))
    return expression


def children(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct operands of an expression."""
    match expression:
        case Call():
            return expression.arguments
        case Cast():
            return (expression.operand,)
        case Case():
            return (*(item for branch in expression.branches for item in branch), expression.default)
    return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and everything in it."""
    yield expression
    for child in children(expression):
        yield from walk(child)


def columns_of(expression: Expression) -> Iterator[Column]:
    """Yield the column references in an expression."""
    return (node for node in walk(expression) if isinstance(node, Column))


def map_sort_key(key: SortKey, change: Mapping) -> SortKey:
    """Return the sort key with its expression mapped."""
    return replace(key, expression=map_expression(key.expression, change))


def map_aggregate(call: AggregateCall, change: Mapping) -> AggregateCall:
    """Return the aggregate with its arguments and filter mapped."""
    condition = None if call.filter is None else map_expression(call.filter, change)
    return replace(call, arguments=tuple(map_expression(item, change) for item in call.arguments), filter=condition)


def map_window(call: WindowCall, change: Mapping) -> WindowCall:
    """Return the window call with all its expressions mapped."""
    return replace(
        call,
        arguments=tuple(map_expression(item, change) for item in call.arguments),
        partition_by=tuple(map_expression(item, change) for item in call.partition_by),
        order_by=tuple(map_sort_key(key, change) for key in call.order_by),
        filter=None if call.filter is None else map_expression(call.filter, change),
    )


def inputs(relation: Relation) -> tuple[Relation, ...]:
    """Return the relations that an operator reads."""
    match relation:
        case Scan() | Values():
            return ()
        case Join():
            return (relation.left, relation.right)
    return (relation.input,)


def map_relation(relation: Relation, change: Mapping) -> Relation:
    """Return the tree with `change` applied to every expression of every operator."""
    match relation:
        case Scan():
            return relation
        case Values():
            return replace(
                relation, rows=tuple(tuple(map_expression(item, change) for item in row) for row in relation.rows)
            )
        case Join():
            condition = None if relation.condition is None else map_expression(relation.condition, change)
            left, right = map_relation(relation.left, change), map_relation(relation.right, change)
            return replace(relation, left=left, right=right, condition=condition)
    below = map_relation(relation.input, change)
    match relation:
        case Filter():
            return replace(relation, input=below, predicate=map_expression(relation.predicate, change))
        case Project():
            return Project(below, tuple((name, map_expression(item, change)) for name, item in relation.items))
        case Aggregate():
            keys = tuple((name, map_expression(item, change)) for name, item in relation.keys)
            return Aggregate(
                below, keys, tuple((name, map_aggregate(call, change)) for name, call in relation.aggregates)
            )
        case Window():
            return Window(below, tuple((name, map_window(call, change)) for name, call in relation.calls))
        case Distinct():
            return Distinct(below)
        case Sort():
            return Sort(below, tuple(map_sort_key(key, change) for key in relation.keys))
        case Limit():
            limit = None if relation.limit is None else map_expression(relation.limit, change)
            offset = None if relation.offset is None else map_expression(relation.offset, change)
            return Limit(below, limit, offset)


def relation_names(relation: Relation) -> frozenset[str]:
    """Return the names of all relations that the tree scans."""
    if isinstance(relation, Scan):
        return frozenset({relation.name})
    return frozenset[str]().union(*(relation_names(below) for below in inputs(relation)))
