"""Before and after of the rule `drop_distinct`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from sql.tree.expressions import AggregateCall
from sql.tree.relations import Aggregate
from sql.types.datatypes import INT8
from tests.views.building import SALES, col, project
from views.delta.rules.single_values import drop_distinct

ITEMS = AggregateCall("count", (col(SALES, "item"),), INT8, distinct=True)
BY_SHOP = Aggregate(SALES, (("shop", col(SALES, "shop")),), (("items", ITEMS),))
SHOP, ITEM, N = 0, 1, 2


def test_values_that_are_single_are_counted_as_rows() -> None:
    found = drop_distinct(BY_SHOP, lambda scan: (SHOP, ITEM))
    assert found == replace(BY_SHOP, aggregates=(("items", replace(ITEMS, distinct=False)),))


def test_others_are_not() -> None:
    assert drop_distinct(BY_SHOP, lambda scan: None) == BY_SHOP
    assert drop_distinct(BY_SHOP, lambda scan: (SHOP, N)) == BY_SHOP
    assert drop_distinct(BY_SHOP, lambda scan: (SHOP, ITEM, N)) == BY_SHOP


def test_keys_go_through_projections() -> None:
    turned = project(SALES, ("item", col(SALES, "item")), ("shop", col(SALES, "shop")))
    count = replace(ITEMS, arguments=(col(turned, "item"),))
    grouping = Aggregate(turned, (("shop", col(turned, "shop")),), (("items", count),))
    rule = partial(drop_distinct, of_scan=lambda scan: (SHOP, ITEM))
    assert rule(grouping) == replace(grouping, aggregates=(("items", replace(count, distinct=False)),))
    assert rule(SALES) is SALES
