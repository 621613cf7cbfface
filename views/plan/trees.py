"""Walking and rebuilding bound trees: the few moves that every rule is made of.

Enters and leaves: immutable expressions and relations; an unchanged part is returned as the same object. Must not know what a rule
wants, nor what a stream is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sql.datatypes import TIMESTAMPTZ
from sql.errors import SqlError
from sql.expressions import AggregateCall, Call, Case, Cast, Column, Expression, Literal, Parameter, SortKey, WindowCall
from sql.relations import Aggregate, Filter, Join, Limit, Project, Relation, Scan, Sort, Values, Window

# Putting an expression in can double it per level of nesting; no query written by hand comes near this.
EXPRESSION_NODES_MAX = 20_000

Replacement = Callable[[Expression], Expression | None]


def parts(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct operands of an expression."""
    if isinstance(expression, Call):
        return expression.arguments
    if isinstance(expression, Cast):
        return (expression.operand,)
    if isinstance(expression, Case):
        return (*(part for branch in expression.branches for part in branch), expression.default)
    return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and everything in it, outermost first."""
    yield expression
    for part in parts(expression):
        yield from walk(part)


def rewrite(expression: Expression, replacement: Replacement) -> Expression:
    """Return the expression with every outermost part for which `replacement` returns something replaced by that."""
    found = replacement(expression)
    if found is not None:
        return found
    if isinstance(expression, Column | Literal | Parameter):
        return expression
    if isinstance(expression, Call):
        arguments = tuple(rewrite(part, replacement) for part in expression.arguments)
        same = all(new is old for new, old in zip(arguments, expression.arguments, strict=True))
        return expression if same else replace(expression, arguments=arguments)
    if isinstance(expression, Cast):
        operand = rewrite(expression.operand, replacement)
        return expression if operand is expression.operand else replace(expression, operand=operand)
    branches = tuple(
        (rewrite(condition, replacement), rewrite(value, replacement)) for condition, value in expression.branches
    )
    return replace(expression, branches=branches, default=rewrite(expression.default, replacement))


def rewrite_aggregate(call: AggregateCall, replacement: Replacement) -> AggregateCall:
    """Return an aggregate with its arguments and filter rewritten."""
    condition = None if call.filter is None else rewrite(call.filter, replacement)
    return replace(call, arguments=tuple(rewrite(part, replacement) for part in call.arguments), filter=condition)


def rewrite_key(key: SortKey, replacement: Replacement) -> SortKey:
    """Return a sort key with its expression rewritten."""
    return replace(key, expression=rewrite(key.expression, replacement))


def rewrite_window(call: WindowCall, replacement: Replacement) -> WindowCall:
    """Return a window call with all its expressions rewritten."""
    return replace(
        call,
        arguments=tuple(rewrite(part, replacement) for part in call.arguments),
        partition_by=tuple(rewrite(part, replacement) for part in call.partition_by),
        order_by=tuple(rewrite_key(key, replacement) for key in call.order_by),
        filter=None if call.filter is None else rewrite(call.filter, replacement),
    )


def aggregate_expressions(call: AggregateCall) -> tuple[Expression, ...]:
    """Return what an aggregate evaluates per row."""
    return call.arguments if call.filter is None else (*call.arguments, call.filter)


def window_expressions(call: WindowCall) -> tuple[Expression, ...]:
    """Return what a window call evaluates per row."""
    condition = () if call.filter is None else (call.filter,)
    return (*call.arguments, *call.partition_by, *(key.expression for key in call.order_by), *condition)


def substitute(expression: Expression, values: Sequence[Expression]) -> Expression:
    """Return the expression with column i replaced by `values[i]`. Raises 54001 when that makes it huge."""
    nodes_count = 0

    def value(part: Expression) -> Expression | None:
        nonlocal nodes_count
        if not isinstance(part, Column):
            return None
        nodes_count += sum(1 for _ in walk(values[part.index]))
        if nodes_count > EXPRESSION_NODES_MAX:
            hint = "Nest fewer subqueries whose columns are used several times above."
            raise SqlError("54001", "statement too complex", hint=hint)
        return values[part.index]

    return rewrite(expression, value)


def meaning(expression: Expression) -> Expression:
    """Return the expression without what only errors and people read, so that equal values compare equal."""
    if isinstance(expression, Column):
        return Column(expression.index, "", expression.type)
    if isinstance(expression, Call):
        return Call(expression.function, tuple(meaning(part) for part in expression.arguments), expression.type)
    if isinstance(expression, Cast):
        return Cast(meaning(expression.operand), expression.type, expression.explicit, expression.zone)
    if isinstance(expression, Case):
        branches = tuple((meaning(condition), meaning(value)) for condition, value in expression.branches)
        return Case(branches, meaning(expression.default), expression.type)
    return expression


def columns_of(expression: Expression) -> frozenset[int]:
    """Return the indexes of the columns that an expression reads."""
    return frozenset(part.index for part in walk(expression) if isinstance(part, Column))


def uses_now(expression: Expression) -> bool:
    """Return whether an expression depends on the time of the statement."""
    return any(isinstance(part, Call) and part.function == "now" for part in walk(expression))


def conjuncts(predicate: Expression) -> tuple[Expression, ...]:
    """Return the conditions that AND joins at the top of a predicate, from left to right."""
    if isinstance(predicate, Call) and predicate.function == "and":
        return tuple(condition for part in predicate.arguments for condition in conjuncts(part))
    return (predicate,)


def inputs(relation: Relation) -> tuple[Relation, ...]:
    """Return the direct inputs of an operator."""
    if isinstance(relation, Scan | Values):
        return ()
    if isinstance(relation, Join):
        return (relation.left, relation.right)
    return (relation.input,)


def with_inputs(relation: Relation, new: tuple[Relation, ...]) -> Relation:
    """Return an operator over other inputs."""
    if isinstance(relation, Scan | Values) or all(a is b for a, b in zip(new, inputs(relation), strict=True)):
        return relation
    if isinstance(relation, Join):
        return replace(relation, left=new[0], right=new[1])
    return replace(relation, input=new[0])


def rewrite_bottom_up(relation: Relation, step: Callable[[Relation], Relation]) -> Relation:
    """Return the tree with `step` applied to every operator, inputs first."""
    return step(with_inputs(relation, tuple(rewrite_bottom_up(part, step) for part in inputs(relation))))


def walk_relation(relation: Relation) -> Iterator[Relation]:
    """Yield an operator and everything below it, the top first."""
    yield relation
    for part in inputs(relation):
        yield from walk_relation(part)


def expressions(relation: Relation) -> tuple[Expression, ...]:
    """Return what one operator evaluates itself."""
    if isinstance(relation, Filter):
        return (relation.predicate,)
    if isinstance(relation, Project):
        return tuple(item for _, item in relation.items)
    if isinstance(relation, Aggregate):
        keys = tuple(key for _, key in relation.keys)
        return (*keys, *(part for _, call in relation.aggregates for part in aggregate_expressions(call)))
    if isinstance(relation, Window):
        return tuple(part for _, call in relation.calls for part in window_expressions(call))
    if isinstance(relation, Sort):
        return tuple(key.expression for key in relation.keys)
    if isinstance(relation, Limit):
        return tuple(bound for bound in (relation.limit, relation.offset) if bound is not None)
    if isinstance(relation, Join):
        return () if relation.condition is None else (relation.condition,)
    if isinstance(relation, Values):
        return tuple(value for row in relation.rows for value in row)
    return ()


def rewrite_expressions(relation: Relation, replacement: Replacement) -> Relation:
    """Return one operator with the expressions that it evaluates itself rewritten."""
    if isinstance(relation, Filter):
        return replace(relation, predicate=rewrite(relation.predicate, replacement))
    if isinstance(relation, Project):
        return replace(relation, items=tuple((name, rewrite(item, replacement)) for name, item in relation.items))
    if isinstance(relation, Aggregate):
        return replace(
            relation,
            keys=tuple((name, rewrite(key, replacement)) for name, key in relation.keys),
            aggregates=tuple((name, rewrite_aggregate(call, replacement)) for name, call in relation.aggregates),
        )
    if isinstance(relation, Window):
        return replace(
            relation, calls=tuple((name, rewrite_window(call, replacement)) for name, call in relation.calls)
        )
    if isinstance(relation, Sort):
        return replace(relation, keys=tuple(rewrite_key(key, replacement) for key in relation.keys))
    if isinstance(relation, Limit):
        limit = None if relation.limit is None else rewrite(relation.limit, replacement)
        offset = None if relation.offset is None else rewrite(relation.offset, replacement)
        return replace(relation, limit=limit, offset=offset)
    if isinstance(relation, Join):
        condition = None if relation.condition is None else rewrite(relation.condition, replacement)
        return replace(relation, condition=condition)
    if isinstance(relation, Values):
        return replace(
            relation, rows=tuple(tuple(rewrite(value, replacement) for value in row) for row in relation.rows)
        )
    return relation


def substitute_now(relation: Relation, now_us: int) -> Relation:
    """Return the tree with every now() replaced by the literal `now_us`, microseconds since 1970 UTC."""
    literal = Literal(now_us, TIMESTAMPTZ)

    def now(part: Expression) -> Expression | None:
        return literal if isinstance(part, Call) and part.function == "now" else None

    return rewrite_bottom_up(relation, lambda operator: rewrite_expressions(operator, now))
