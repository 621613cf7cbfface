"""Constants that can't be computed fail a statement before it reads a row, as PostgreSQL's planner does (eval_const_expressions).

Enters: a bound relation without open parameters, and what evaluates a constant. Leaves: nothing, or the error of the first constant that
fails. What PostgreSQL does not compute is passed over: items that nothing above reads, what follows a false part of AND or a true one
of OR, branches of CASE and arguments of COALESCE that constants before them decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sql.emit.failing import fails_by_itself
from sql.tree.expressions import Call, Case, Cast, Expression, Literal, Subquery
from sql.tree.relations import Aggregate, Filter, Join, Limit, Project, Relation, Sort, Values, Window
from sql.tree.volatility import is_constant, is_fixed
from sql.tree.walks import (
    aggregate_expressions,
    all_relations,
    children,
    columns_of,
    inputs,
    operator_expressions,
    subqueries_of,
    walk,
)

# Whether a constant is true, or there at all if it is no boolean; None for NULL.
Evaluate = Callable[[Expression], bool | None]


def check_constants(root: Relation, evaluate: Evaluate) -> None:
    """Evaluate the constants of a query that may fail. Raises what `evaluate` does."""
    if any(_has_failing(item) for part in all_relations(root) for item in operator_expressions(part)):
        _check_relation(root, frozenset(range(len(root.schema))), evaluate)


def is_one_row(root: Relation) -> bool:
    """Tell whether a query computes expressions once, as SELECT without FROM does, and nothing else."""
    below = root.input if isinstance(root, Project) else root
    is_row = isinstance(below, Values) and len(below.rows) == 1 and (below is root or not below.schema)
    return is_row and not any(any(subqueries_of(item)) for item in operator_expressions(root))


def _has_failing(expression: Expression) -> bool:
    """Tell whether there is a constant in an expression that may fail."""
    nodes = list(walk(expression))
    constant: dict[int, bool] = {}
    # Whatever a node is made of comes after it.
    for node in reversed(nodes):
        fixed = isinstance(node, Literal)
        if isinstance(node, Call | Cast | Case):
            fixed = is_fixed(node, True) and all(constant[id(part)] for part in children(node))
            if fixed and fails_by_itself(node):
                return True
        constant[id(node)] = fixed
    return False


def _check_relation(relation: Relation, needed: frozenset[int], evaluate: Evaluate) -> None:
    """Check what computes the columns `needed` of a relation."""
    match relation:
        case Project():
            items = [item for place, (_, item) in enumerate(relation.items) if place in needed]
            _check_all(items, evaluate)
            _check_relation(relation.input, _read(items), evaluate)
        case Filter():
            _check(relation.predicate, evaluate, is_condition=True)
            _check_relation(relation.input, needed | _read([relation.predicate]), evaluate)
        case Sort() | Limit() | Window():
            expressions = operator_expressions(relation)
            _check_all(expressions, evaluate)
            width = len(relation.input.schema)
            _check_relation(
                relation.input, frozenset(place for place in needed if place < width) | _read(expressions), evaluate
            )
        case Join():
            expressions = operator_expressions(relation)
            _check_all(expressions, evaluate, is_condition=relation.kind in ("inner", "cross"))
            read, width = needed | _read(expressions), len(relation.left.schema)
            _check_relation(relation.left, frozenset(place for place in read if place < width), evaluate)
            _check_relation(relation.right, frozenset(place - width for place in read if place >= width), evaluate)
        case Aggregate():
            keys = [key for _, key in relation.keys]
            calls = [call for place, (_, call) in enumerate(relation.aggregates, len(keys)) if place in needed]
            expressions = (*keys, *(part for call in calls for part in aggregate_expressions(call)))
            _check_all(expressions, evaluate)
            _check_relation(relation.input, _read(expressions), evaluate)
        case _:
            _check_all(operator_expressions(relation), evaluate)
            for below in inputs(relation):
                _check_relation(below, frozenset(range(len(below.schema))), evaluate)


def _read(expressions: Iterable[Expression]) -> frozenset[int]:
    return frozenset(column.index for item in expressions for column in columns_of(item))


def _check_all(expressions: Iterable[Expression], evaluate: Evaluate, is_condition: bool = False) -> None:
    for item in expressions:
        _check(item, evaluate, is_condition)


def _check(node: Expression, evaluate: Evaluate, is_condition: bool = False) -> None:
    """Check an expression. is_condition: rows are chosen by it, for which PostgreSQL computes stable functions, too, to estimate them."""
    if not _has_failing(node) and not any(isinstance(part, Subquery) for part in walk(node)):
        return
    match node:
        case _ if is_constant(node, is_condition):
            evaluate(node)
        case Call(function="and" | "or") | Call(function="coalesce"):
            _check_in_order(node, evaluate, is_condition)
        case Case():
            _check_case(node, evaluate, is_condition)
        case Subquery():
            _check_all(children(node), evaluate)
            needed = () if node.kind == "exists" else range(len(node.relation.schema))
            _check_relation(node.relation, frozenset(needed), evaluate)
        case _:
            _check_all(children(node), evaluate, is_condition)


def _check_in_order(node: Call, evaluate: Evaluate, is_condition: bool) -> None:
    """Check the operands up to a constant that decides the whole."""
    for part in node.arguments:
        if not is_constant(part, is_condition):
            _check(part, evaluate, is_condition)
            continue
        value = part.value if isinstance(part, Literal) else evaluate(part)
        if value is not None and (node.function == "coalesce" or value == (node.function == "or")):
            return


def _check_case(node: Case, evaluate: Evaluate, is_condition: bool) -> None:
    """Check the branches that constant conditions leave."""
    for condition, result in node.branches:
        if not is_constant(condition, is_condition):
            _check(condition, evaluate, is_condition)
            _check(result, evaluate, is_condition)
            continue
        value = condition.value if isinstance(condition, Literal) else evaluate(condition)
        if value is True:
            _check(result, evaluate, is_condition)
            return
    _check(node.default, evaluate, is_condition)
