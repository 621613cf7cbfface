"""Changes of bound trees that only the plan's rules make.

`sql.tree.walks` walks and rebuilds trees.

Enters and leaves: immutable expressions and relations; an unchanged part is returned as the same
object. Must not know what a rule wants, nor what a stream is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sql.bind.substitute import substitute_now
from sql.errors import SqlError
from sql.tree.expressions import AggregateCall, Call, Case, Cast, Column, Expression, OuterColumn, Subquery
from sql.tree.relations import Filter, Project, Relation
from sql.tree.walks import (
    Change,
    conjuncts,
    inputs,
    map_expression,
    map_parts,
    rewrite_bottom_up,
    walk,
    walk_relation,
    with_inputs,
)
from sql.tree.walks import children as expressions
from sql.tree.walks import children as parts
from sql.tree.walks import columns_of as column_references
from sql.tree.walks import map_expression as rewrite

__all__ = [
    "columns_of",
    "conjuncts",
    "expressions",
    "inputs",
    "meaning",
    "parts",
    "relation_uses_now",
    "rewrite",
    "rewrite_bottom_up",
    "substitute",
    "substitute_call",
    "substitute_now",
    "taken_apart",
    "uses_now",
    "walk",
    "walk_relation",
    "with_inputs",
]

# Putting an expression in can double it per level of nesting; no query written by hand comes near
# this.
EXPRESSION_NODES_MAX = 20_000


def substitute(expression: Expression, values: Sequence[Expression]) -> Expression:
    """Return the expression with column i replaced by `values[i]`.

    Raises 54001 when that makes it huge.
    """
    return map_expression(expression, _values_of_columns(values))


def substitute_call(call: AggregateCall, values: Sequence[Expression]) -> AggregateCall:
    """Return the aggregate with column i replaced by `values[i]` in all its expressions.

    Raises 54001 when that makes it huge.
    """
    return map_parts(call, _values_of_columns(values))


def _values_of_columns(values: Sequence[Expression]) -> Change:
    """Return the change of one tree that puts values in, and raises 54001 for too many of them."""
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

    return value


def meaning(expression: Expression) -> Expression:
    """Return the expression without what only errors and people read, so that equal values compare
    equal.
    """
    match expression:
        case Column():
            return Column(expression.index, "", expression.type)
        case OuterColumn():
            return OuterColumn(expression.index, "", expression.type)
        case Call():
            return Call(expression.function, tuple(meaning(part) for part in expression.arguments), expression.type)
        case Cast():
            return Cast(meaning(expression.operand), expression.type, expression.explicit, expression.zone)
        case Case():
            branches = tuple((meaning(condition), meaning(value)) for condition, value in expression.branches)
            return Case(branches, meaning(expression.default), expression.type)
        case Subquery():
            operands = tuple(meaning(part) for part in expression.operands)
            return replace(
                expression, operands=operands, arguments=tuple(meaning(part) for part in expression.arguments)
            )
    return expression


def columns_of(expression: Expression) -> frozenset[int]:
    """Return the indexes of the columns that an expression reads."""
    return frozenset(part.index for part in column_references(expression))


def uses_now(expression: Expression) -> bool:
    """Return whether an expression depends on the time of the statement, also inside of its
    subqueries.
    """
    return any(
        (isinstance(part, Call) and part.function == "now")
        or (isinstance(part, Subquery) and relation_uses_now(part.relation))
        for part in walk(expression)
    )


def relation_uses_now(relation: Relation) -> bool:
    """Return whether a tree depends on the time of the statement."""
    return any(uses_now(item) for part in walk_relation(relation) for item in expressions(part))


def taken_apart(relation: Relation) -> tuple[Relation, list[Expression], list[Expression]]:
    """Return what is below filters and projections, the conditions over its columns, and the
    items.
    """
    if isinstance(relation, Project):
        base, conditions, items = taken_apart(relation.input)
        return base, conditions, [substitute(item, items) for _, item in relation.items]
    if isinstance(relation, Filter):
        base, conditions, items = taken_apart(relation.input)
        return base, [*conditions, *conjuncts(substitute(relation.predicate, items))], items
    return relation, [], [Column(index, column.name, column.type) for index, column in enumerate(relation.schema)]


def columns_of_schema(relation: Relation) -> tuple[tuple[str, Expression], ...]:
    """Return a relation's columns as the items of a projection."""
    return tuple((column.name, Column(index, column.name, column.type)) for index, column in enumerate(relation.schema))
