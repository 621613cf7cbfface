"""Which trees call a volatile function: its value is another one at each call, so a column that shows it is computed in one place only.

Enters: bound trees. Must not know engines.
"""

from __future__ import annotations

from sql.expressions import Call, Expression
from sql.functions import VOLATILE
from sql.relations import Relation
from sql.trees import all_relations, operator_expressions, subqueries_of, walk


def is_volatile(expression: Expression) -> bool:
    """Tell whether an expression calls one, also inside of a subquery."""
    if any(isinstance(node, Call) and node.function in VOLATILE for node in walk(expression)):
        return True
    return any(has_volatile(subquery.relation) for subquery in subqueries_of(expression))


def has_volatile(relation: Relation) -> bool:
    """Tell whether an operator of the tree calls one."""
    return any(is_volatile(item) for part in all_relations(relation) for item in operator_expressions(part))
