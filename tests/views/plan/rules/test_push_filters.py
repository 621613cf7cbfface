"""Before and after of the rule `push_filters`."""

from __future__ import annotations

from sql.tree.relations import Filter, Project
from tests.views.building import SALES, add, col, compare, lit, project, sales_per_shop, where
from views.plan.rules.push_filters import push_filters


def test_a_filter_goes_below_a_projection_in_its_terms() -> None:
    doubled = project(SALES, ("twice", add(col(SALES, "n"), col(SALES, "n"))))
    before = where(doubled, compare("gt", col(doubled, "twice"), lit(3)))
    after = Project(Filter(SALES, compare("gt", add(col(SALES, "n"), col(SALES, "n")), lit(3))), doubled.items)
    assert push_filters(before) == after


def test_a_filter_goes_below_all_projections() -> None:
    inner = project(SALES, ("a", col(SALES, "n")))
    outer = project(inner, ("b", col(inner, "a")))
    before = where(outer, compare("gt", col(outer, "b"), lit(3)))
    after = Project(Project(Filter(SALES, compare("gt", col(SALES, "n"), lit(3))), inner.items), outer.items)
    assert push_filters(before) == after


def test_a_filter_on_a_grouping_stays() -> None:
    grouping = sales_per_shop()
    before = where(grouping, compare("gt", col(grouping, "total"), lit(3)))
    assert push_filters(before) is before
