"""Bound trees by hand: a stream `sales(shop text, item text, n integer, price numeric(10,2), at
timestamp)` and short constructors.
"""

from __future__ import annotations

from dataclasses import replace

from sql.tree.expressions import AggregateCall, Call, Column, Expression, Literal, SortKey
from sql.tree.relations import Aggregate, BoundQuery, Filter, Limit, OutputColumn, Project, Relation, Scan, Sort
from sql.types.datatypes import BOOL, INT4, INT8, TEXT, TIMESTAMP, LiteralValue, SqlType, numeric, scaled_numeric
from views.model.properties import scans
from views.model.trees import expressions, uses_now, walk_relation

SALES = Scan(
    "sales",
    "stream",
    (
        OutputColumn("shop", TEXT),
        OutputColumn("item", TEXT),
        OutputColumn("n", INT4),
        OutputColumn("price", numeric(10, 2)),
        OutputColumn("at", TIMESTAMP),
    ),
)
VARIABLE = scaled_numeric(None)


def col(relation: Relation, name: str) -> Column:
    """Return the column called `name` of a relation's output."""
    for index, column in enumerate(relation.schema):
        if column.name == name:
            return Column(index, name, column.type)
    raise KeyError(name)


def lit(value: LiteralValue, kind: SqlType = INT4) -> Literal:
    return Literal(value, kind)


def compare(function: str, left: Expression, right: Expression) -> Call:
    return Call(function, (left, right), BOOL)


def add(left: Expression, right: Expression) -> Call:
    return Call("add", (left, right), left.type)


def divide(left: Expression, right: Expression) -> Call:
    return Call("divide", (left, right), VARIABLE if left.type.family == "numeric" else left.type)


def total(argument: Expression, condition: Expression | None = None) -> AggregateCall:
    """Return sum(argument)."""
    kind = INT8 if argument.type.family in ("int2", "int4") else argument.type.without_modifier()
    if argument.type.family == "int8":
        kind = scaled_numeric(0)
    return AggregateCall("sum", (argument,), kind, condition)


def average(argument: Expression) -> AggregateCall:
    return AggregateCall("avg", (argument,), VARIABLE)


def count_star(condition: Expression | None = None) -> AggregateCall:
    return AggregateCall("count_star", (), INT8, condition)


def sales_per_shop() -> Aggregate:
    """SELECT shop, sum(n) AS total FROM sales GROUP BY shop."""
    return Aggregate(SALES, (("shop", col(SALES, "shop")),), (("total", total(col(SALES, "n"))),))


def top(relation: Relation, name: str, count: int) -> Limit:
    """ORDER BY name DESC LIMIT count."""
    return Limit(
        Sort(relation, (SortKey(col(relation, name), descending=True, nulls_first=True),)), lit(count, INT8), None
    )


def project(relation: Relation, *items: tuple[str, Expression]) -> Project:
    return Project(relation, items)


def where(relation: Relation, predicate: Expression) -> Filter:
    return Filter(relation, predicate)


def bound(root: Relation) -> BoundQuery:
    """Return the bound query of a tree."""
    names = frozenset(name for kind in ("stream", "view", "table") for name in scans(root, kind))
    stable = any(uses_now(part) for operator in walk_relation(root) for part in expressions(operator))
    return BoundQuery(root, (), names, stable)


def renamed(scan: Scan, name: str, kind: str = "stream") -> Scan:
    return replace(scan, name=name, kind=kind)
