"""The rules of split maintenance in words, and the error of a query that has no plan as a
continuous view.
"""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.tree.expressions import Expression
from views.model.text import expression_text

RULE_A = (
    "Rule (a): the first pipeline breaker above a stream must be a grouping, since that is what is kept of its tuples."
)
RULE_B = "Rule (b): a join below the grouping puts the stream on the probe side of a table: an inner join, or a LEFT JOIN from the stream."
RULE_C = "Rule (c): a join of streams needs both of them grouped below the join."


def refused(what: str, part: str, rule: str | None, hint: str | None, position: int | None = None) -> SqlError:
    """Return the 0A000 of a query that has no plan: what it is, the part of the query, the rule,
    what to write instead.
    """
    place = f"The part of the query: {part}."
    detail = place if rule is None else f"{rule} {place}"
    return SqlError("0A000", f"{what} is not supported yet", detail=detail, hint=hint, position=position)


def refused_outer_condition(condition: Expression) -> SqlError:
    """Return the 0A000 of a LEFT JOIN from a stream whose condition compares both sides otherwise
    than by equality.
    """
    hint = "Keep equalities and conditions on one side in ON; an inner join may have any condition."
    part = f"LEFT JOIN ... ON {expression_text(condition)}"
    return refused("a LEFT JOIN from a stream on other than equal columns", part, RULE_B, hint)


def not_in_kernels(what: str, position: int | None) -> SqlError:
    """Return the 0A000 of what kernels do not compute per row, but the engines above a grouping
    do.
    """
    groups = "(SELECT ..., count(*) AS n FROM ... GROUP BY ...) g"
    hint = f"Group by the columns that it is computed of, and compute it above: SELECT ... FROM {groups}"
    return not_supported(f"{what} in a continuous view", position, hint=hint)
