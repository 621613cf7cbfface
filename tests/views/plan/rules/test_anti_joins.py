"""Before and after of the rule `anti_joins`."""

from __future__ import annotations

import pytest

from sql.tree.expressions import Call, Column, Expression, Literal, OuterColumn, Subquery
from sql.tree.relations import Filter, Join, OutputColumn, Project, Scan
from sql.types.datatypes import BOOL, TEXT
from tests.views.building import SALES, col, compare, sales_per_shop
from views.plan.rules.anti_joins import anti_joins

SHOPS = Scan("shops", "table", (OutputColumn("name", TEXT), OutputColumn("town", TEXT)))
LEFT = Join(SHOPS, SALES, "left", compare("eq", Column(2, "shop", TEXT), Column(0, "name", TEXT)))
RIGHT = Join(SALES, SHOPS, "right", compare("eq", Column(0, "shop", TEXT), Column(5, "name", TEXT)))
UNSOLD = Call(
    "not",
    (
        Subquery(
            "exists",
            Filter(SALES, compare("eq", Column(0, "shop", TEXT), OuterColumn(0, "name", TEXT))),
            (Column(0, "name", TEXT),),
            BOOL,
        ),
    ),
    BOOL,
)


def is_null(index: int, name: str = "shop") -> Call:
    return Call("is_null", (Column(index, name, TEXT),), BOOL)


def nulls() -> list[tuple[str, Expression]]:
    return [(column.name, Literal(None, column.type)) for column in SALES.schema]


def shops() -> list[tuple[str, Expression]]:
    return [("name", col(SHOPS, "name")), ("town", col(SHOPS, "town"))]


def test_rows_without_a_match_are_those_of_which_none_exists() -> None:
    assert anti_joins(Filter(LEFT, is_null(2))) == Project(Filter(SHOPS, UNSOLD), (*shops(), *nulls()))
    assert anti_joins(Filter(RIGHT, is_null(0))) == Project(Filter(SHOPS, UNSOLD), (*nulls(), *shops()))


def test_other_conditions_stay_above() -> None:
    town = compare("eq", Column(1, "town", TEXT), Literal("Ulm", TEXT))
    found = anti_joins(Filter(LEFT, Call("and", (is_null(2), town), BOOL)))
    assert found == Filter(Project(Filter(SHOPS, UNSOLD), (*shops(), *nulls())), town)


@pytest.mark.parametrize(
    "before",
    [
        Filter(LEFT, is_null(3, "item")),
        Filter(LEFT, is_null(0, "name")),
        Filter(Join(SHOPS, SALES, "inner", LEFT.condition), is_null(2)),
        Filter(Join(SALES, SHOPS, "left", RIGHT.condition), is_null(5, "name")),
        Filter(Join(SHOPS, sales_per_shop(), "left", LEFT.condition), is_null(2)),
        Filter(LEFT, Call("not", (is_null(2),), BOOL)),
    ],
    ids=["what is not compared", "of the kept side", "inner", "a stream that is kept", "groups", "rows that join"],
)
def test_others_stay(before: Filter) -> None:
    assert anti_joins(before) is before
