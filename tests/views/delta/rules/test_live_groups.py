"""Before and after of the rule `keep_live_groups`."""

from __future__ import annotations

from dataclasses import replace

from sql.tree.expressions import Column
from sql.tree.relations import Aggregate, Project
from sql.types.datatypes import INT8
from tests.views.building import SALES, col, compare, count_star, lit, sales_per_shop, total, where
from views.delta.rules.live_groups import keep_live_groups
from views.model.trees import columns_of_schema


def test_groups_have_rows() -> None:
    grouping = sales_per_shop()
    counted = replace(grouping, aggregates=(*grouping.aggregates, ("rows", count_star())))
    live = where(counted, compare("gt", Column(2, "rows", INT8), lit(0, INT8)))
    assert keep_live_groups(grouping) == Project(live, columns_of_schema(grouping))


def test_a_grouping_without_keys_has_its_row() -> None:
    grouping = Aggregate(SALES, (), (("total", total(col(SALES, "n"))),))
    assert keep_live_groups(grouping) is grouping


def test_groups_of_groups_stay_as_they_are() -> None:
    above = Aggregate(sales_per_shop(), (("total", Column(1, "total", INT8)),), ())
    assert keep_live_groups(above) is above
