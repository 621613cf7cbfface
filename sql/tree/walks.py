"""Bound trees as data: children, walks and rebuilding, which every rule over trees is made of.

Enters and leaves: immutable expressions and relations; an unchanged part is returned as the same
object. A `Subquery` is a closure: its operands and arguments are ordinary children; its relation is
another scope, which only `map_relation`, `all_relations` and the functions that call these enter.
Must not know what a rule wants, nor how anything is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sql import interrupts
from sql.tree.expressions import (
    AggregateCall,
    Call,
    Case,
    Cast,
    Column,
    Expression,
    Literal,
    OuterColumn,
    Parameter,
    SortKey,
    Subquery,
    WindowCall,
)
from sql.tree.relations import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Limit,
    Project,
    Recursive,
    Relation,
    Scan,
    SetOperation,
    Shared,
    Sort,
    TableFunction,
    Values,
    Window,
)

# Returns the node for the place of a node, None to look into the node.
Change = Callable[[Expression], Expression | None]
RelationStep = Callable[[Relation], Relation]


# Expressions


def children(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct operands of an expression.

    Of a subquery the operands that are evaluated outside of it.
    """
    match expression:
        case Column() | OuterColumn() | Literal() | Parameter():
            return ()
        case Call():
            return expression.arguments
        case Cast():
            return (expression.operand,)
        case Case():
            return (*(item for branch in expression.branches for item in branch), expression.default)
        case Subquery():
            return (*expression.operands, *expression.arguments)


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and all expressions in it, outermost first."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, Column | Literal):
            continue
        waiting.extend(reversed(children(node)))


def height(expression: Expression) -> int:
    """Return the number of nodes on the longest way into an expression."""
    found = 0
    waiting = [(expression, 1)]
    while waiting:
        node, depth = waiting.pop()
        found = max(found, depth)
        waiting.extend((child, depth + 1) for child in children(node))
    return found


def columns_of(expression: Expression) -> Iterator[Column]:
    """Yield the column references in an expression."""
    return (node for node in walk(expression) if isinstance(node, Column))


def subqueries_of(expression: Expression) -> Iterator[Subquery]:
    """Yield the subqueries in an expression, not those inside their relations."""
    return (node for node in walk(expression) if isinstance(node, Subquery))


def map_expression(expression: Expression, change: Change, within: RelationStep | None = None) -> Expression:
    """Return the tree with every topmost node replaced for which `change` returns something.

    within: the change of the relations of subqueries, None to leave the relations as they are.
    """
    changed = change(expression)
    if changed is not None:
        return changed
    match expression:
        case Column() | OuterColumn() | Literal() | Parameter():
            return expression
        case Call():
            arguments = map_all(expression.arguments, change, within)
            return expression if arguments is expression.arguments else replace(expression, arguments=arguments)
        case Cast():
            operand = map_expression(expression.operand, change, within)
            return expression if operand is expression.operand else replace(expression, operand=operand)
        case Case():
            return map_case(expression, change, within)
        case Subquery():
            return map_subquery(expression, change, within)


def map_all(
    items: tuple[Expression, ...], change: Change, within: RelationStep | None = None
) -> tuple[Expression, ...]:
    """Return the expressions mapped; the same tuple when none has changed."""
    found = tuple(map_expression(item, change, within) for item in items)
    return items if all(new is old for new, old in zip(found, items, strict=True)) else found


def map_case(expression: Case, change: Change, within: RelationStep | None) -> Case:
    """Return a CASE with its conditions and results mapped."""
    parts = children(expression)
    found = map_all(parts, change, within)
    if found is parts:
        return expression
    branches = tuple((found[index], found[index + 1]) for index in range(0, len(found) - 1, 2))
    return replace(expression, branches=branches, default=found[-1])


def map_subquery(expression: Subquery, change: Change, within: RelationStep | None) -> Subquery:
    """Return a subquery with its operands and arguments mapped, and its relation by `within`."""
    operands = map_all(expression.operands, change, within)
    arguments = map_all(expression.arguments, change, within)
    relation = expression.relation if within is None else within(expression.relation)
    if operands is expression.operands and arguments is expression.arguments and relation is expression.relation:
        return expression
    return replace(expression, operands=operands, arguments=arguments, relation=relation)


def map_sort_key(key: SortKey, change: Change, within: RelationStep | None = None) -> SortKey:
    """Return the sort key with its expression mapped."""
    return replace(key, expression=map_expression(key.expression, change, within))


def map_aggregate(call: AggregateCall, change: Change, within: RelationStep | None = None) -> AggregateCall:
    """Return the aggregate with its arguments, filter and order mapped."""
    return replace(
        call,
        arguments=map_all(call.arguments, change, within),
        filter=None if call.filter is None else map_expression(call.filter, change, within),
        order_by=tuple(map_sort_key(key, change, within) for key in call.order_by),
    )


def map_window(call: WindowCall, change: Change, within: RelationStep | None = None) -> WindowCall:
    """Return the window call with all its expressions mapped."""
    return replace(
        call,
        arguments=map_all(call.arguments, change, within),
        partition_by=map_all(call.partition_by, change, within),
        order_by=tuple(map_sort_key(key, change, within) for key in call.order_by),
        filter=None if call.filter is None else map_expression(call.filter, change, within),
    )


def aggregate_expressions(call: AggregateCall) -> tuple[Expression, ...]:
    """Return the expressions that an aggregate evaluates per row."""
    condition = () if call.filter is None else (call.filter,)
    return (*call.arguments, *condition, *(key.expression for key in call.order_by))


def window_expressions(call: WindowCall) -> tuple[Expression, ...]:
    """Return the expressions that a window call evaluates per row."""
    condition = () if call.filter is None else (call.filter,)
    return (*call.arguments, *call.partition_by, *(key.expression for key in call.order_by), *condition)


# Relations


def inputs(relation: Relation) -> tuple[Relation, ...]:
    """Return the direct inputs of an operator."""
    match relation:
        case Scan() | Values() | TableFunction():
            return ()
        case Join() | SetOperation():
            return (relation.left, relation.right)
        case Recursive():
            return (relation.start, relation.step)
        case Filter() | Project() | Aggregate() | Window() | Distinct() | Sort() | Limit() | Shared():
            return (relation.input,)


def with_inputs(relation: Relation, new: Sequence[Relation]) -> Relation:
    """Return an operator over other inputs."""
    if all(given is known for given, known in zip(new, inputs(relation), strict=True)):
        return relation
    match relation:
        case Scan() | Values() | TableFunction():
            return relation
        case Join() | SetOperation():
            return replace(relation, left=new[0], right=new[1])
        case Recursive():
            return replace(relation, start=new[0], step=new[1])
        case Filter() | Project() | Aggregate() | Window() | Distinct() | Sort() | Limit() | Shared():
            return replace(relation, input=new[0])


def operator_expressions(relation: Relation) -> tuple[Expression, ...]:
    """Return the expressions that one operator evaluates itself."""
    match relation:
        case Scan() | Distinct() | SetOperation() | Recursive() | Shared():
            return ()
        case Values():
            return tuple(value for row in relation.rows for value in row)
        case Filter():
            return (relation.predicate,)
        case Project():
            return tuple(item for _, item in relation.items)
        case Aggregate():
            keys = tuple(key for _, key in relation.keys)
            return (*keys, *(part for _, call in relation.aggregates for part in aggregate_expressions(call)))
        case Window():
            return tuple(part for _, call in relation.calls for part in window_expressions(call))
        case Sort():
            return tuple(key.expression for key in relation.keys)
        case Limit():
            return tuple(bound for bound in (relation.limit, relation.offset) if bound is not None)
        case Join():
            condition = () if relation.condition is None else (relation.condition,)
            return (*(relation.lateral or ()), *condition)
        case TableFunction():
            return tuple(argument for _, arguments in relation.calls for argument in arguments)


def map_operator(relation: Relation, change: Change, within: RelationStep | None = None) -> Relation:
    """Return one operator with the expressions that it evaluates itself mapped; its inputs stay."""
    match relation:
        case Scan() | Distinct() | SetOperation() | Recursive() | Shared():
            return relation
        case Values():
            return replace(relation, rows=tuple(map_all(row, change, within) for row in relation.rows))
        case Filter():
            return replace(relation, predicate=map_expression(relation.predicate, change, within))
        case Project():
            items = tuple((name, map_expression(item, change, within)) for name, item in relation.items)
            return replace(relation, items=items)
        case Aggregate():
            keys = tuple((name, map_expression(key, change, within)) for name, key in relation.keys)
            calls = tuple((name, map_aggregate(call, change, within)) for name, call in relation.aggregates)
            return replace(relation, keys=keys, aggregates=calls)
        case Window():
            windows = tuple((name, map_window(call, change, within)) for name, call in relation.calls)
            return replace(relation, calls=windows)
        case Sort():
            return replace(relation, keys=tuple(map_sort_key(key, change, within) for key in relation.keys))
        case Limit():
            limit = None if relation.limit is None else map_expression(relation.limit, change, within)
            offset = None if relation.offset is None else map_expression(relation.offset, change, within)
            return replace(relation, limit=limit, offset=offset)
        case Join():
            condition = None if relation.condition is None else map_expression(relation.condition, change, within)
            lateral = None if relation.lateral is None else map_all(relation.lateral, change, within)
            return replace(relation, condition=condition, lateral=lateral)
        case TableFunction():
            functions = tuple((name, map_all(arguments, change, within)) for name, arguments in relation.calls)
            return replace(relation, calls=functions)


def once_each(work: RelationStep) -> RelationStep:
    """Return a function that does `work` on trees, once for each `Shared`."""
    done: dict[str, Relation] = {}

    def below(relation: Relation) -> Relation:
        interrupts.check()
        if not isinstance(relation, Shared):
            return work(relation)
        if relation.name not in done:
            done[relation.name] = work(relation)
        return done[relation.name]

    return below


def map_relation(relation: Relation, change: Change) -> Relation:
    """Return the tree with `change` applied to every expression of every operator, also inside of
    subqueries.

    Each operator has columns of its own, so `change` is for nodes that mean the same everywhere:
    parameters, now(), constants.
    """

    def mapped(part: Relation) -> Relation:
        return map_operator(with_inputs(part, [below(deeper) for deeper in inputs(part)]), change, below)

    below = once_each(mapped)
    return below(relation)


def rewrite_bottom_up(relation: Relation, step: RelationStep) -> Relation:
    """Return the tree with `step` applied to every operator, inputs first.

    Not inside of subqueries.
    """

    def rewritten(part: Relation) -> Relation:
        return step(with_inputs(part, [below(deeper) for deeper in inputs(part)]))

    below = once_each(rewritten)
    return below(relation)


def rewrite_everywhere(relation: Relation, step: RelationStep) -> Relation:
    """Return the tree with `step` applied to every operator, inputs first, also inside of
    subqueries.
    """

    def unchanged(_: Expression) -> None:
        return None

    def rewritten(part: Relation) -> Relation:
        rebuilt = with_inputs(part, [below(deeper) for deeper in inputs(part)])
        if any(True for item in operator_expressions(rebuilt) for _ in subqueries_of(item)):
            rebuilt = map_operator(rebuilt, unchanged, below)
        return step(rebuilt)

    below = once_each(rewritten)
    return below(relation)


def walk_relation(relation: Relation, known: set[str] | None = None) -> Iterator[Relation]:
    """Yield an operator and all operators below it, the top first, a `Shared` once, but none inside
    of subqueries.
    """
    known = set() if known is None else known
    waiting = [relation]
    while waiting:
        node = waiting.pop()
        if not is_known(node, known):
            yield node
            waiting.extend(reversed(inputs(node)))


def is_known(relation: Relation, known: set[str]) -> bool:
    """Tell whether a relation is a `Shared` that is among `known`, and add one that is not."""
    if not isinstance(relation, Shared):
        return False
    if relation.name in known:
        return True
    known.add(relation.name)
    return False


def all_relations(relation: Relation, known: set[str] | None = None) -> Iterator[Relation]:
    """Yield every operator of the tree, the top first, a `Shared` once, also inside of
    subqueries.
    """
    known = set() if known is None else known
    waiting = [relation]
    while waiting:
        # In a loop: generators in one another would pass each operator through all generators above
        # it.
        node = waiting.pop()
        if is_known(node, known):
            continue
        yield node
        below = list(inputs(node))
        for item in operator_expressions(node):
            below.extend(subquery.relation for subquery in subqueries_of(item))
        waiting.extend(reversed(below))


def scans(relation: Relation) -> tuple[Scan, ...]:
    """Return the leaves that read inputs, also inside of subqueries, each name once, without a
    recursive query's own rows.
    """
    found = (node for node in all_relations(relation) if isinstance(node, Scan) and node.kind != "recursive")
    return tuple({scan.name: scan for scan in found}.values())


def relation_names(relation: Relation) -> frozenset[str]:
    """Return the names of all relations that the tree reads, also inside of subqueries."""
    return frozenset(scan.name for scan in scans(relation))


def open_columns(relation: Relation, known: set[str] | None = None) -> Iterator[OuterColumn]:
    """Yield the outer columns that mean the closure around `relation`, not those of closures inside
    of it.
    """
    known = set() if known is None else known
    waiting = [relation]
    while waiting:
        operator = waiting.pop()
        if is_known(operator, known):
            continue
        for item in operator_expressions(operator):
            yield from (node for node in walk(item) if isinstance(node, OuterColumn))
        if isinstance(operator, Join) and operator.lateral is not None:
            waiting.append(operator.left)
        else:
            waiting.extend(reversed(inputs(operator)))
