"""Before and after of the rule `distinct_to_grouping`."""

from __future__ import annotations

from sql.tree.relations import Aggregate, Distinct
from tests.views.building import SALES, col, project, sales_per_shop
from views.plan.rules.distinct_to_grouping import grouped


def test_distinct_over_a_stream_is_a_grouping_by_all_columns() -> None:
    shops = project(SALES, ("shop", col(SALES, "shop")))
    assert grouped(Distinct(shops)) == Aggregate(shops, (("shop", col(shops, "shop")),), ())


def test_distinct_above_a_grouping_stays() -> None:
    before = Distinct(sales_per_shop())
    assert grouped(before) is before
