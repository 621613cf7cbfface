"""Lateral joins that are none: a right side that reads no relation of its own is a projection of
the rows to its left.

The embedded engine plans lateral joins in a row in a time that grows with the fourth power of their
number, and nothing ends the planning.
"""

from __future__ import annotations

from sql.errors import SqlError
from sql.tree.expressions import Column, Expression, OuterColumn
from sql.tree.relations import Join, Project, Relation, Values
from sql.tree.walks import map_expression, subqueries_of

LATERALS_MAX = 40


def without_lateral(node: Join) -> Relation | None:
    """Return a lateral join as a projection, where that is the same."""
    row = node.right
    if node.lateral is None or node.kind not in ("cross", "inner") or node.condition is not None:
        return None
    if not isinstance(row, Project) or not isinstance(row.input, Values):
        return None
    if row.input.schema or len(row.input.rows) != 1 or any(any(subqueries_of(item)) for _, item in row.items):
        return None
    arguments = node.lateral

    def outer(expression: Expression) -> Expression | None:
        return arguments[expression.index] if isinstance(expression, OuterColumn) else None

    kept = ((column.name, Column(index, column.name, column.type)) for index, column in enumerate(node.left.schema))
    return Project(node.left, (*kept, *((name, map_expression(item, outer)) for name, item in row.items)))


def check_laterals(node: Join) -> None:
    """Raise 54001 for more lateral joins in a row than can be planned."""
    count = 0
    left: Relation = node
    while isinstance(left, Join | Project):
        count += isinstance(left, Join) and left.lateral is not None
        left = left.left if isinstance(left, Join) else left.input
    if count > LATERALS_MAX:
        detail = f"There may be {LATERALS_MAX} lateral joins in a row."
        raise SqlError("54001", "statement too complex", detail=detail, hint="Join fewer of them.")
