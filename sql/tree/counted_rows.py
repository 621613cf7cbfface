"""Rows with the number of times that each of them occurs, and set operations that are made of such.

s INTERSECT ALL r   ->  both by all columns with counts; each row as often as the smaller count says
s EXCEPT ALL r      ->  the same, with the difference of the counts
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sql.tree.expressions import AggregateCall, Call, Case, Cast, Column, Expression, Literal, OuterColumn
from sql.tree.relations import (
    Aggregate,
    Filter,
    Join,
    OutputColumn,
    Project,
    Relation,
    SetOperation,
    TableFunction,
)
from sql.types.datatypes import BOOL, INT8, SqlType, scaled_numeric

ONE = Literal(1, INT8)
ZERO = Literal(0, INT8)
# Of a sum of counts.
TOTAL = scaled_numeric(0)


def by_counts(relation: SetOperation, side_groups: Callable[[Relation], Relation]) -> Relation:
    """Return INTERSECT ALL or EXCEPT ALL by the counts of equal rows on both sides: each row as
    often as the smaller count, or the difference, says.

    side_groups: changes the grouping of a side.
    """
    schema = relation.schema
    width = len(schema)
    keys = tuple((column.name, Column(index, column.name, column.type)) for index, column in enumerate(schema))
    counted: list[Relation] = []
    for place, side in enumerate((relation.left, relation.right)):
        groups = Aggregate(
            typed(side, [column.type for column in schema]), keys, (("n", AggregateCall("count_star", (), INT8)),)
        )
        counts = [ZERO, ZERO]
        items: list[tuple[str, Expression]] = [*keys, ("n0", counts[0]), ("n1", counts[1])]
        items[width + place] = (f"n{place}", Column(width, "n", INT8))
        counted.append(Project(side_groups(groups), tuple(items)))
    sums = tuple(
        (f"n{place}", AggregateCall("sum", (Column(width + place, f"n{place}", INT8),), TOTAL)) for place in (0, 1)
    )
    # Of values that are equal but look different, one of the left side is shown.
    is_ours = Call("gt", (Column(width, "n0", INT8), ZERO), BOOL)
    firsts = {
        place: AggregateCall("first", (key,), key.type, is_ours)
        for place, (_, key) in enumerate(keys)
        if key.type.has_own_order
    }
    both = Aggregate(union_all(counted), keys, (*sums, *((f"key{place}", call) for place, call in firsts.items())))
    shown = list(keys)
    for number, (place, call) in enumerate(firsts.items()):
        shown[place] = (keys[place][0], Column(width + 2 + number, f"key{place}", call.type))
    ours, theirs = (Cast(Column(width + place, f"n{place}", TOTAL), INT8) for place in (0, 1))
    count: Expression = Call("subtract", (ours, theirs), INT8)
    if relation.kind == "intersect":
        count = Case(((Call("lt", (ours, theirs), BOOL), ours),), theirs, INT8)
    often = Project(both, (*shown, ("n", count)))
    there = Filter(often, Call("gt", (Column(width, "n", INT8), ZERO), BOOL))
    return as_often(there, keys, width)


def as_often(groups: Relation, columns: Sequence[tuple[str, Expression]], count: int) -> Relation:
    """Return rows of `columns`, each group as often as its column at `count` says, an int8."""
    return Project(repeated(groups, Column(count, "n", INT8)), tuple(columns))


def repeated(relation: Relation, count: Expression) -> Relation:
    """Return each row of a relation as often as an int8 says, with its number at the end."""
    numbers = TableFunction(
        (("generate_series", (ONE, OuterColumn(0, "n", INT8))),), False, (OutputColumn("number", INT8),)
    )
    return Join(relation, numbers, "cross", None, (count,))


def union_all(sides: list[Relation]) -> Relation:
    """Return the rows of relations of the same types."""
    whole = sides[0]
    for side in sides[1:]:
        whole = SetOperation("union", True, whole, side, sides[0].schema)
    return whole


def typed(relation: Relation, types: list[SqlType]) -> Relation:
    """Return a side of a set operation with the columns' types of the whole."""
    if [column.type for column in relation.schema] == types:
        return relation
    columns = [Column(index, column.name, column.type) for index, column in enumerate(relation.schema)]
    items = zip(columns, types, strict=True)
    return Project(relation, tuple((one.name, one if one.type == kind else Cast(one, kind)) for one, kind in items))
