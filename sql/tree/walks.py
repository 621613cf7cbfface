"""Bound trees as data: children, walks and rebuilding, which every rule over trees is made of.

Enters and leaves: immutable expressions and relations; an unchanged part is returned as the same
object. A `Subquery` is a closure: its operands and arguments are ordinary children; its relation is
another scope, which only `map_relation`, `all_relations` and the functions that call these enter.
Must not know what a rule wants, nor how anything is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from operator import is_
from typing import Any, TypeVar, cast

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
    WindowFrame,
)
from sql.tree.relations import (
    Aggregate,
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
Node = TypeVar("Node")

# The fields of nodes that hold expressions: one, or tuples of them, of names with them, of calls or
# of keys. Their order is that of a walk.
EXPRESSION_FIELDS: dict[type, tuple[str, ...]] = {
    Call: ("arguments",),
    Cast: ("operand",),
    Case: ("branches", "default"),
    Subquery: ("operands", "arguments"),
    SortKey: ("expression",),
    AggregateCall: ("arguments", "filter", "order_by"),
    WindowCall: ("arguments", "partition_by", "order_by", "filter", "frame"),
    WindowFrame: ("start", "end"),
    Values: ("rows",),
    Filter: ("predicate",),
    Project: ("items",),
    Aggregate: ("keys", "aggregates"),
    Window: ("calls",),
    Sort: ("keys",),
    Limit: ("limit", "offset"),
    Join: ("lateral", "condition"),
    TableFunction: ("calls",),
}
# Kinds of expressions; a look-up by type is quicker than isinstance.
EXPRESSIONS = frozenset({Column, OuterColumn, Literal, Parameter, Call, Cast, Case, Subquery})
# The fields of operators that hold their inputs; others have one, `input`.
INPUT_FIELDS: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((Scan, Values, TableFunction), ()),
    **dict.fromkeys((Join, SetOperation), ("left", "right")),
    Recursive: ("start", "step"),
}


# Expressions


def children(node: object) -> tuple[Expression, ...]:
    """Return the expressions that a node holds itself: an expression its direct operands, a
    subquery those that are evaluated outside of it, an operator, an aggregate or a window call what
    it evaluates per row.
    """
    if isinstance(node, Call):
        return node.arguments
    found: list[Expression] = []
    _collect([getattr(node, name) for name in EXPRESSION_FIELDS.get(type(node), ())], found)
    return tuple(found)


def _collect(values: Iterable[Any], found: list[Expression]) -> None:
    """Add the expressions in fields, or in a tuple in a field, to those that have been found."""
    for value in values:
        kind = type(value)
        if kind in EXPRESSIONS:
            found.append(value)
        elif kind is tuple:
            _collect(value, found)
        elif kind in EXPRESSION_FIELDS:
            found += children(value)


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and all expressions in it, outermost first."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, Column | Literal):
            continue
        waiting.extend(reversed(children(node)))


def conjuncts(predicate: Expression) -> tuple[Expression, ...]:
    """Return the conditions that AND joins at the top of a predicate, from left to right."""
    if isinstance(predicate, Call) and predicate.function == "and":
        return tuple(condition for part in predicate.arguments for condition in conjuncts(part))
    return (predicate,)


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
    found = map_parts(expression, change, within)
    if within is not None and isinstance(found, Subquery):
        relation = within(found.relation)
        return found if relation is found.relation else replace(found, relation=relation)
    return found


def map_parts(node: Node, change: Change, within: RelationStep | None = None) -> Node:
    """Return a node with the expressions that it holds itself mapped; an operator's inputs stay."""
    changed = {}
    for name in EXPRESSION_FIELDS.get(type(node), ()):
        known = getattr(node, name)
        found = map_all(known, change, within)
        if found is not known:
            changed[name] = found
    return cast(Node, replace(cast(Any, node), **changed)) if changed else node


def map_all(value: Node, change: Change, within: RelationStep | None = None) -> Node:
    """Return what a field holds, with the expressions in it mapped; the same object when none has
    changed.
    """
    if type(value) in EXPRESSIONS:
        return cast(Node, map_expression(cast(Expression, value), change, within))
    if not isinstance(value, tuple):
        return map_parts(value, change, within)
    found = [map_all(part, change, within) for part in value]
    return value if all(map(is_, found, value)) else cast(Node, tuple(found))


# Relations


def inputs(relation: Relation) -> tuple[Relation, ...]:
    """Return the direct inputs of an operator."""
    return tuple([getattr(relation, name) for name in INPUT_FIELDS.get(type(relation), ("input",))])


def with_inputs(relation: Relation, new: Sequence[Relation]) -> Relation:
    """Return an operator over other inputs."""
    if all(given is known for given, known in zip(new, inputs(relation), strict=True)):
        return relation
    names = INPUT_FIELDS.get(type(relation), ("input",))
    changed: dict[str, Any] = dict(zip(names, new, strict=True))
    return replace(relation, **changed)


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
        return map_parts(with_inputs(part, [below(deeper) for deeper in inputs(part)]), change, below)

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
        if any(True for item in children(rebuilt) for _ in subqueries_of(item)):
            rebuilt = map_parts(rebuilt, unchanged, below)
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
        for item in children(node):
            below.extend(subquery.relation for subquery in subqueries_of(item))
        waiting.extend(reversed(below))


def scans(relation: Relation) -> tuple[Scan, ...]:
    """Return the leaves that read inputs, also inside of subqueries, each name once, without a
    recursive query's own rows.
    """
    found = (node for node in all_relations(relation) if isinstance(node, Scan) and node.kind != "recursive")
    return tuple({scan.name: scan for scan in found}.values())


def calls(relation: Relation) -> Iterator[str]:
    """Yield the names of the functions that a tree calls, also inside of subqueries."""
    for part in all_relations(relation):
        if isinstance(part, TableFunction):
            yield from (name for name, _ in part.calls)
        yield from (node.function for item in children(part) for node in walk(item) if isinstance(node, Call))


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
        for item in children(operator):
            yield from (node for node in walk(item) if isinstance(node, OuterColumn))
        if isinstance(operator, Join) and operator.lateral is not None:
            waiting.append(operator.left)
        else:
            waiting.extend(reversed(inputs(operator)))
