"""The points from which on the rows and the columns of a query count, where aggregates of groups
have counted from different ones.

Enters: marks of the columns of groups, one for each point, and what stands above the groups. Leaves
the marks of what each column is made of, and of what chooses the rows. An aggregate, and a window
call, is of the rows that it is given as well. What is not known to leave a column alone counts for
it. Must not know states.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from sql.tree.expressions import Column, Expression, Subquery
from sql.tree.relations import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Limit,
    Project,
    Relation,
    Scan,
    SetOperation,
    Shared,
    Sort,
    Window,
)
from sql.tree.walks import children, inputs, walk
from views.model.nodes import FinishStep
from views.model.plan import Plan

Marks = frozenset[Hashable]
NONE: Marks = frozenset()


@dataclass(frozen=True)
class Marked:
    """The marks of a relation.

    Attributes:
        rows: of what chooses its rows.
        columns: of what each column is made of.
    """

    rows: Marks
    columns: tuple[Marks, ...]

    @property
    def all(self) -> Marks:
        """All marks."""
        return self.rows.union(*self.columns)


OfScan = Callable[[Scan], Marked]


def unmarked(relation: Relation) -> Marked:
    """Return the marks of rows that no aggregate has a part in."""
    return Marked(NONE, (NONE,) * len(relation.schema))


def plan_marks(plan: Plan, groups: Sequence[Marks]) -> Marked:
    """Return the marks of the rows of a plan with one stream pipeline. groups: of its columns."""
    found = _step(plan.finish, Marked(NONE, tuple(groups)))
    if plan.upper is not None:
        below = found
        found = marked(plan.upper.relation, lambda scan: below if scan.kind == "groups" else unmarked(scan))
    return found if plan.tail is None else _step(plan.tail, found)


def marked(relation: Relation, of_scan: OfScan) -> Marked:
    """Return the marks of a relation. of_scan: those of leaves."""

    def of(node: object, below: Marked) -> Marks:
        return _of(children(node), below, of_scan)

    if isinstance(relation, Scan):
        return of_scan(relation)
    match relation:
        case Filter():
            below = marked(relation.input, of_scan)
            return Marked(below.rows | of(relation, below), below.columns)
        case Project():
            below = marked(relation.input, of_scan)
            return Marked(below.rows, tuple(_of([item], below, of_scan) for _, item in relation.items))
        case Aggregate():
            below = marked(relation.input, of_scan)
            keys = tuple(_of([key], below, of_scan) for _, key in relation.keys)
            made = tuple(below.rows | of(call, below) for _, call in relation.aggregates)
            return Marked(below.rows.union(*keys), (*keys, *made))
        case Window():
            below = marked(relation.input, of_scan)
            return Marked(below.rows, (*below.columns, *(below.rows | of(call, below) for _, call in relation.calls)))
        case Distinct():
            below = marked(relation.input, of_scan)
            return Marked(below.all, below.columns)
        case Shared() | Sort():
            return marked(relation.input, of_scan)
        case Limit():
            below = marked(relation.input, of_scan)
            order = of(relation.input, below) if isinstance(relation.input, Sort) else NONE
            return Marked(below.rows | order | of(relation, below), below.columns)
        case Join():
            return _joined(relation, of_scan)
        case SetOperation():
            left, right = marked(relation.left, of_scan), marked(relation.right, of_scan)
            columns = tuple(one | other for one, other in zip(left.columns, right.columns, strict=True))
            is_plain = relation.kind == "union" and relation.all
            return Marked(left.rows | right.rows if is_plain else left.all | right.all, columns)
    found = NONE.union(*(marked(one, of_scan).all for one in inputs(relation)))
    return Marked(found, (found,) * len(relation.schema))


def _joined(relation: Join, of_scan: OfScan) -> Marked:
    left, right = marked(relation.left, of_scan), marked(relation.right, of_scan)
    given = _of(relation.lateral or (), left, of_scan)
    columns = (*left.columns, *(one | given for one in right.columns))
    both = Marked(left.rows | right.rows | given, columns)
    condition = () if relation.condition is None else (relation.condition,)
    chosen = _of(condition, both, of_scan)
    if relation.kind not in ("inner", "cross"):
        # Whether a column is NULL depends on whether there is a row for it.
        columns = tuple(one | both.rows | chosen for one in columns)
    return Marked(both.rows | chosen, columns)


def _step(step: FinishStep, below: Marked) -> Marked:
    chosen = _of(step.predicates, below, unmarked)
    return Marked(below.rows | chosen, tuple(_of([item], below, unmarked) for _, item in step.items))


def _of(expressions: Iterable[Expression], below: Marked, of_scan: OfScan) -> Marks:
    """Return the marks of expressions over rows."""
    found = NONE
    for expression in expressions:
        for part in walk(expression):
            if isinstance(part, Column):
                found |= below.columns[part.index]
            elif isinstance(part, Subquery):
                found |= marked(part.relation, of_scan).all
    return found
