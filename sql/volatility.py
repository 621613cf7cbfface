"""Which trees are constants, and which call a volatile function.

The value of a volatile function is another one at each call, so a column that shows it is computed in one place only.

Enters: bound trees. Must not know engines.
"""

from __future__ import annotations

from sql.expressions import Call, Case, Cast, Column, Expression, Literal, OuterColumn, Parameter, Subquery
from sql.functions import NOW_FUNCTIONS, VOLATILE
from sql.relations import Relation
from sql.trees import all_relations, operator_expressions, subqueries_of, walk


def is_constant(node: Expression) -> bool:
    """Tell whether an expression has one value in every query: it is made of literals and immutable functions alone."""
    match node:
        case Literal():
            return True
        case Call():
            fixed = node.function not in VOLATILE and node.function not in NOW_FUNCTIONS
            return fixed and all(is_constant(argument) for argument in node.arguments)
        case Cast():
            return is_constant(node.operand)
        case Case():
            return all(is_constant(part) for branch in node.branches for part in branch) and is_constant(node.default)
        case Column() | OuterColumn() | Parameter() | Subquery():
            return False


def is_volatile(expression: Expression) -> bool:
    """Tell whether an expression calls one, also inside of a subquery."""
    return _calls_volatile(expression) or any(has_volatile(subquery.relation) for subquery in subqueries_of(expression))


def has_volatile(relation: Relation) -> bool:
    """Tell whether an operator of the tree calls one."""
    # What is inside of subqueries is among the relations: nothing is looked at twice.
    return any(_calls_volatile(item) for part in all_relations(relation) for item in operator_expressions(part))


def _calls_volatile(expression: Expression) -> bool:
    return any(isinstance(node, Call) and node.function in VOLATILE for node in walk(expression))
