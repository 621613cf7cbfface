"""UNION, INTERSECT and EXCEPT of streams' rows as groupings: of one side each, and what the
operation makes of their groups.

s UNION | INTERSECT | EXCEPT r   ->  the distinct rows of s, and those of r
s INTERSECT ALL r                ->  both by all columns with counts; each row as often as the smaller count says
s EXCEPT ALL r                   ->  the same, with the difference of the counts
"""

from __future__ import annotations

from sql.tree.expressions import AggregateCall, Call, Case, Cast, Column, Expression, Literal
from sql.tree.relations import (
    Aggregate,
    Distinct,
    Filter,
    Project,
    Relation,
    SetOperation,
)
from sql.types.datatypes import BOOL, INT8
from views.model.exact_sums import sum_type
from views.model.properties import is_ungrouped
from views.plan.rules.combine_groupings import as_often, split_unions, typed, union_all
from views.plan.rules.distinct_to_grouping import grouped

ZERO = Literal(0, INT8)


def group_set_operations(relation: Relation) -> Relation:
    """Return an operator as it is, or a set operation of streams over groupings of its sides."""
    if not isinstance(relation, SetOperation) or (relation.kind == "union" and relation.all):
        return relation
    sides = (relation.left, relation.right)
    if not any(is_ungrouped(side) for side in sides):
        return relation
    if not relation.all:
        left, right = (split_unions(grouped(Distinct(side))) if is_ungrouped(side) else side for side in sides)
        return SetOperation(relation.kind, False, left, right, relation.schema)
    return _as_often(relation)


def _as_often(relation: SetOperation) -> Relation:
    """Return INTERSECT ALL or EXCEPT ALL by the counts of equal rows on both sides."""
    schema = relation.schema
    width = len(schema)
    keys = tuple((column.name, Column(index, column.name, column.type)) for index, column in enumerate(schema))
    counted = []
    for place, side in enumerate((relation.left, relation.right)):
        groups = Aggregate(
            typed(side, [column.type for column in schema]), keys, (("n", AggregateCall("count_star", (), INT8)),)
        )
        counts = [ZERO, ZERO]
        items: list[tuple[str, Expression]] = [*keys, ("n0", counts[0]), ("n1", counts[1])]
        items[width + place] = (f"n{place}", Column(width, "n", INT8))
        counted.append(Project(split_unions(groups) if is_ungrouped(side) else groups, tuple(items)))
    sums = tuple(
        (f"n{place}", AggregateCall("sum", (Column(width + place, f"n{place}", INT8),), sum_type(INT8)))
        for place in (0, 1)
    )
    both = Aggregate(union_all(list(counted)), keys, sums)
    ours, theirs = (Cast(Column(width + place, f"n{place}", sum_type(INT8)), INT8) for place in (0, 1))
    count: Expression = Call("subtract", (ours, theirs), INT8)
    if relation.kind == "intersect":
        count = Case(((Call("lt", (ours, theirs), BOOL), ours),), theirs, INT8)
    repeated = Project(both, (*keys, ("n", count)))
    there = Filter(repeated, Call("gt", (Column(width, "n", INT8), ZERO), BOOL))
    return as_often(there, keys, width)
