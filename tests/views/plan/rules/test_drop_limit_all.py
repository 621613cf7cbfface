"""Before and after of the rule `drop_limit_all`."""

from __future__ import annotations

from sql.tree.relations import Limit
from sql.types.datatypes import INT8
from tests.views.building import lit, sales_per_shop
from views.plan.rules.drop_limit_all import drop_limit_all


def test_a_limit_that_keeps_every_row_goes() -> None:
    grouping = sales_per_shop()
    assert drop_limit_all(Limit(grouping, None, None)) == grouping
    assert drop_limit_all(Limit(grouping, lit(None, INT8), lit(0, INT8))) == grouping


def test_a_limit_that_drops_rows_stays() -> None:
    for before in (Limit(sales_per_shop(), lit(0, INT8), None), Limit(sales_per_shop(), None, lit(1, INT8))):
        assert drop_limit_all(before) is before
