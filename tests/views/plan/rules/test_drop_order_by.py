"""Before and after of the rule `drop_order_by`."""

from __future__ import annotations

from dataclasses import replace

from sql.tree.expressions import SortKey
from sql.tree.relations import Aggregate, Limit, Sort
from sql.types.datatypes import INT8
from tests.views.building import SALES, col, count_star, lit, project, sales_per_shop, top
from views.plan.rules.drop_order_by import drop_order_by


def test_order_by_at_the_top_goes() -> None:
    grouping = sales_per_shop()
    assert drop_order_by(Sort(grouping, (SortKey(col(grouping, "total")),))) == grouping


def test_order_by_under_limit_stays() -> None:
    before = top(sales_per_shop(), "total", 3)
    assert drop_order_by(before) == before


def test_order_by_under_a_projection_under_limit_stays() -> None:
    grouping = sales_per_shop()
    ordered = Sort(grouping, (SortKey(col(grouping, "total")),))
    before = Limit(project(ordered, ("shop", col(ordered, "shop"))), lit(3, INT8), None)
    assert drop_order_by(before) == before


def test_only_the_sort_next_to_the_limit_stays() -> None:
    grouping = sales_per_shop()
    inner = Sort(grouping, (SortKey(col(grouping, "shop")),))
    before = top(inner, "total", 3)
    sort = before.input
    assert isinstance(sort, Sort)
    assert drop_order_by(before) == replace(before, input=replace(sort, input=grouping))


def test_order_by_below_a_grouping_goes_even_under_limit() -> None:
    ordered = Sort(SALES, (SortKey(col(SALES, "n")),))
    grouping = Aggregate(ordered, (("shop", col(SALES, "shop")),), (("count", count_star()),))
    before = top(grouping, "count", 1)
    sort = before.input
    assert isinstance(sort, Sort)
    assert drop_order_by(before) == replace(before, input=replace(sort, input=replace(grouping, input=SALES)))
