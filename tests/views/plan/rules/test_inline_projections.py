"""Before and after of the rule `inline_projections`."""

from __future__ import annotations

from sql.tree.relations import Aggregate
from tests.views.building import SALES, add, col, compare, lit, project, sales_per_shop, total
from views.plan.rules.inline_projections import inline_projections


def test_keys_arguments_and_filters_address_the_stream() -> None:
    lower = project(SALES, ("more", add(col(SALES, "n"), lit(1))), ("shop", col(SALES, "shop")))
    condition = compare("gt", col(lower, "more"), lit(5))
    before = Aggregate(lower, (("shop", col(lower, "shop")),), (("sum", total(col(lower, "more"), condition)),))
    more = add(col(SALES, "n"), lit(1))
    after = Aggregate(SALES, (("shop", col(SALES, "shop")),), (("sum", total(more, compare("gt", more, lit(5)))),))
    assert inline_projections(before) == after


def test_a_second_grouping_keeps_its_projection() -> None:
    first = sales_per_shop()
    lower = project(first, ("total", col(first, "total")))
    before = Aggregate(lower, (("total", col(lower, "total")),), ())
    assert inline_projections(before) is before
