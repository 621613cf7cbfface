"""LATERAL beside a stream's rows, where nothing in it needs the row but its conditions and its
items, is a join or a projection.

    s, LATERAL (SELECT s.n + 1 AS m)                          ->  the columns of s, n + 1
    s, LATERAL (SELECT f * s.n AS v FROM t WHERE k = s.k)     ->  JOIN t ON k = s.k, with f * n
    s, LATERAL (SELECT max(x) AS m FROM t WHERE k = s.k)      ->  the columns of s, a scalar subquery (`join_subqueries`)

LEFT JOIN LATERAL as well, if its items are columns of the table. Everything else stays as it is,
and is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.functions.volatility import is_volatile
from sql.tree.expressions import Column, Expression, Literal, OuterColumn, Subquery
from sql.tree.relations import Aggregate, Filter, Join, Project, Relation, Values
from sql.tree.walks import open_columns, subqueries_of
from sql.types.datatypes import BOOL
from views.model.properties import is_ungrouped, scans
from views.model.trees import conjuncts, rewrite, substitute, taken_apart
from views.plan.joins.join_graph import conjunction

TRUE = Literal(True, BOOL)


def unnest_laterals(relation: Relation) -> Relation:
    """Return a lateral join of a stream's rows as a join or a projection."""
    if not isinstance(relation, Join) or relation.lateral is None or relation.kind not in ("inner", "cross", "left"):
        return relation
    if not is_ungrouped(relation.left) or scans(relation.right, "stream") or scans(relation.right, "view"):
        return relation
    always = relation.condition is None or relation.condition == TRUE
    base, conditions, items = taken_apart(relation.right)
    if isinstance(base, Aggregate) and not base.keys and base.sets is None and not conditions and always:
        return _with_values(relation, relation.lateral)
    parts = [*conditions, *items]
    if any(True for _ in open_columns(base)) or any(is_volatile(part) for part in parts):
        return relation
    if any(True for part in parts for _ in subqueries_of(part)):
        return relation
    return _joined(relation, relation.lateral, base, conditions, items)


def _with_values(join: Join, arguments: tuple[Expression, ...]) -> Relation:
    """Return the left rows with the values of the only row on the right."""
    columns = [Column(index, column.name, column.type) for index, column in enumerate(join.right.schema)]
    values = [
        Subquery("scalar", Project(join.right, ((column.name, column),)), arguments, column.type) for column in columns
    ]
    return _projected(join, join.left, values)


def _joined(
    join: Join,
    arguments: tuple[Expression, ...],
    base: Relation,
    conditions: list[Expression],
    items: list[Expression],
) -> Relation:
    """Return the join of the left rows with what is below the right side's filters and
    projections.
    """
    start = len(join.left.schema)

    def beside(expression: Expression) -> Expression:
        def placed(node: Expression) -> Expression | None:
            if isinstance(node, OuterColumn):
                return arguments[node.index]
            return Column(start + node.index, node.name, node.type) if isinstance(node, Column) else None

        return rewrite(expression, placed)

    values = [beside(item) for item in items]
    left = [Column(index, column.name, column.type) for index, column in enumerate(join.left.schema)]
    on = [beside(condition) for condition in conditions]
    if join.condition is not None and join.condition != TRUE:
        on += conjuncts(substitute(join.condition, [*left, *values]))
    if isinstance(base, Values) and len(base.rows) == 1 and not base.schema:
        if on and join.kind == "left":
            return join
        return _projected(join, Filter(join.left, conjunction(on)) if on else join.left, values)
    if join.kind == "left" and not all(isinstance(value, Column) and value.index >= start for value in values):
        return join
    kind = "left" if join.kind == "left" else "inner" if on else "cross"
    condition = conjunction(on) if on else TRUE if kind == "left" else None
    return _projected(join, Join(join.left, base, kind, condition), values)


def _projected(join: Join, below: Relation, values: Sequence[Expression]) -> Relation:
    names = [column.name for column in join.schema]
    columns = [Column(index, column.name, column.type) for index, column in enumerate(join.left.schema)]
    return Project(below, tuple(zip(names, [*columns, *values], strict=True)))
