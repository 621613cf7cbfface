"""Before and after of the rule `share_aggregates`."""

from __future__ import annotations

from dataclasses import replace

from sql.tree.expressions import Column
from sql.tree.relations import Aggregate, Project
from tests.views.building import SALES, col, count_star, sales_per_shop, total
from views.plan.rules.share_aggregates import share_aggregates


def test_equal_calls_are_kept_once_whatever_their_place_in_the_text() -> None:
    n = col(SALES, "n")
    calls = (
        ("a", replace(total(n), position=8)),
        ("b", count_star()),
        ("c", replace(total(replace(n, position=30)), position=26)),
    )
    keys = (("shop", col(SALES, "shop")), ("again", replace(col(SALES, "shop"), position=4)))
    before = Aggregate(SALES, keys, calls)
    shared = Aggregate(SALES, keys[:1], calls[:2])
    places = (("shop", 0), ("again", 0), ("a", 1), ("b", 2), ("c", 1))
    after = Project(shared, tuple((name, Column(place, name, shared.schema[place].type)) for name, place in places))
    assert share_aggregates(before) == after


def test_different_calls_stay() -> None:
    before = sales_per_shop()
    assert share_aggregates(before) is before
