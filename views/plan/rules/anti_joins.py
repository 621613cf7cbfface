"""An outer join of which only the rows that join nothing are kept is a NOT EXISTS, which a stream
answers from its groups.

    a LEFT JOIN s ON s.k = a.id AND c WHERE s.k IS NULL  ->  a WHERE NOT EXISTS (SELECT FROM s WHERE s.k = a.id AND c), with NULLs for s
    s RIGHT JOIN a ON s.k = a.id      WHERE s.k IS NULL  ->  likewise

What the condition compares is no NULL in a row that joins. Everything else stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.functions.volatility import is_volatile
from sql.tree.expressions import Call, Column, Expression, Literal, OuterColumn, Subquery
from sql.tree.relations import Filter, Join, Project, Relation
from sql.tree.walks import open_columns
from sql.types.datatypes import BOOL
from views.model.properties import is_ungrouped
from views.model.trees import conjuncts, rewrite, walk
from views.plan.joins.join_graph import conjunction

# None of them is true of a NULL.
COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


def anti_joins(relation: Relation) -> Relation:
    """Return a condition on an outer join with a stream's rows, which takes those without one, as
    NOT EXISTS.
    """
    if not isinstance(relation, Filter) or not isinstance(relation.input, Join):
        return relation
    join = relation.input
    if join.kind not in ("left", "right") or join.lateral is not None or join.condition is None:
        return relation
    kept, joined = (join.left, join.right) if join.kind == "left" else (join.right, join.left)
    if not is_ungrouped(joined) or is_ungrouped(kept) or not _may_move(join.condition, joined):
        return relation
    start = len(join.left.schema) if join.kind == "left" else 0
    places = range(start, start + len(joined.schema))
    missing = [part for part in conjuncts(relation.predicate) if _tested(part) in _compared(join.condition, places)]
    if not missing:
        return relation
    rest = [part for part in conjuncts(relation.predicate) if part not in missing]
    found = _without_match(join, kept, joined, places, missing[0])
    return Filter(found, conjunction(rest)) if rest else found


def _may_move(condition: Expression, joined: Relation) -> bool:
    """Tell whether a condition and a side of a join mean the same inside of a subquery: nothing
    there is of a query around them.
    """
    if is_volatile(condition) or any(isinstance(part, OuterColumn) for part in walk(condition)):
        return False
    return not any(True for _ in open_columns(joined))


def _tested(part: Expression) -> int | None:
    """Return the place of the column of which `part` says that it is NULL."""
    if isinstance(part, Call) and part.function == "is_null" and isinstance(part.arguments[0], Column):
        return part.arguments[0].index
    return None


def _compared(condition: Expression, places: Sequence[int]) -> frozenset[int]:
    """Return the places of those columns that are no NULL where the condition is true."""
    comparisons = [part for part in conjuncts(condition) if isinstance(part, Call) and part.function in COMPARISONS]
    columns = (side for part in comparisons for side in part.arguments if isinstance(side, Column))
    return frozenset(column.index for column in columns if column.index in places)


def _without_match(join: Join, kept: Relation, joined: Relation, places: Sequence[int], test: Expression) -> Relation:
    """Return the rows of `kept` that join nothing as rows of the join. test: what asked for
    them.
    """
    assert isinstance(test, Call) and join.condition is not None
    kept_start = 0 if join.kind == "left" else len(join.left.schema)
    arguments: list[Expression] = []

    def placed(node: Expression) -> Expression | None:
        if not isinstance(node, Column):
            return None
        if node.index in places:
            return Column(node.index - places[0], node.name, node.type, node.position)
        arguments.append(Column(node.index - kept_start, node.name, node.type))
        return OuterColumn(len(arguments) - 1, node.name, node.type, node.position)

    matches = Filter(joined, rewrite(join.condition, placed))
    exists = Subquery("exists", matches, tuple(arguments), BOOL, position=test.position, text=test.text)
    rows = Filter(kept, Call("not", (exists,), BOOL, test.position, test.text))
    columns: list[Expression] = [
        Literal(None, column.type) if index in places else Column(index - kept_start, column.name, column.type)
        for index, column in enumerate(join.schema)
    ]
    return Project(rows, tuple(zip((column.name for column in join.schema), columns, strict=True)))
