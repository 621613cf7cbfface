"""Before and after of the rule `drop_single_sets`."""

from __future__ import annotations

from dataclasses import replace

from sql.tree.expressions import AggregateCall
from sql.tree.relations import Aggregate
from sql.types.datatypes import INT4
from tests.views.building import SALES, col, count_star
from views.plan.rules.drop_single_sets import drop_single_sets

KEYS = (("shop", col(SALES, "shop")), ("item", col(SALES, "item")))
PLAIN = Aggregate(SALES, KEYS, (("count", count_star()),))


def test_one_set_of_all_keys_is_a_plain_grouping() -> None:
    assert drop_single_sets(replace(PLAIN, sets=((1, 0),))) == PLAIN
    assert drop_single_sets(PLAIN) is PLAIN


def test_other_sets_stay() -> None:
    for sets in (((0,),), ((0, 1), (0,)), ((0, 1), (0, 1)), ()):
        grouping = replace(PLAIN, sets=sets)
        assert drop_single_sets(grouping) == grouping


def test_the_set_stays_where_its_number_is_asked_for() -> None:
    asking = (("grouping", AggregateCall("grouping", (col(SALES, "shop"),), INT4)),)
    grouping = Aggregate(SALES, KEYS, asking, ((0, 1),))
    assert drop_single_sets(grouping) == grouping
