"""Before and after of the rule `push_key_conditions`."""

from __future__ import annotations

from dataclasses import replace

from sql.tree.expressions import Call, Expression
from sql.tree.relations import Aggregate, Filter
from sql.types.datatypes import BOOL, INT4, INT8, TEXT
from tests.views.building import SALES, add, col, compare, count_star, divide, lit, sales_per_shop, where
from views.plan.rules.push_key_conditions import push_key_conditions


def test_a_comparison_of_a_key_goes_below_and_the_rest_stays() -> None:
    grouping = sales_per_shop()
    on_key = compare("eq", col(grouping, "shop"), lit("a", TEXT))
    on_sum = compare("gt", col(grouping, "total"), lit(3, INT8))
    before = where(grouping, Call("and", (on_sum, on_key), BOOL))
    below = Filter(SALES, compare("eq", col(SALES, "shop"), lit("a", TEXT)))
    assert push_key_conditions(before) == Filter(replace(grouping, input=below), on_sum)


def test_the_key_expression_is_put_in() -> None:
    grouping = Aggregate(SALES, (("more", add(col(SALES, "n"), lit(1))),), (("count", count_star()),))
    before = where(grouping, compare("lt", col(grouping, "more"), lit(9)))
    below = Filter(SALES, compare("lt", add(col(SALES, "n"), lit(1)), lit(9)))
    assert push_key_conditions(before) == replace(grouping, input=below)


def test_a_condition_that_can_fail_stays_the_readers() -> None:
    grouping = Aggregate(SALES, (("n", col(SALES, "n")),), (("count", count_star()),))
    failing: Expression = compare("gt", divide(lit(1, INT4), col(grouping, "n")), lit(0))
    before = where(grouping, failing)
    assert push_key_conditions(before) is before


def test_a_second_grouping_is_left_alone() -> None:
    first = sales_per_shop()
    second = Aggregate(first, (("total", col(first, "total")),), (("count", count_star()),))
    before = where(second, compare("gt", col(second, "total"), lit(3, INT8)))
    assert push_key_conditions(before) is before
