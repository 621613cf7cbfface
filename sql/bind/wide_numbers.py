"""Numeric constants of more than 38 digits: they may stand beside a float, whose double they become, and nowhere else.

PostgreSQL's numeric holds them; here what is left of them after binding is the client's 22003. Enters and leaves: a bound relation.
"""

from __future__ import annotations

from decimal import Decimal

from sql.bind.context import BindContext
from sql.errors import SqlError
from sql.tree.expressions import Expression, Literal
from sql.tree.relations import Relation
from sql.tree.walks import map_relation
from sql.values.literals import check_digits


def is_wide(value: Decimal) -> bool:
    """Tell whether `value` has more digits than a numeric can hold here."""
    try:
        check_digits(value, None)
    except SqlError:
        return True
    return False


def refuse_wide_numbers(root: Relation, context: BindContext) -> Relation:
    """Return `root`. Raises 22003, with the constant's position, for a wide constant that is still a numeric."""
    if context.wide_numbers:
        map_relation(root, _checked)
    return root


def _checked(node: Expression) -> Expression | None:
    if isinstance(node, Literal) and isinstance(node.value, Decimal):
        check_digits(node.value, node.position)
    return None
