"""Refusals: each is 0A000 and names the rule, the part of the query, and what to write instead."""

from __future__ import annotations

import pytest

from sql.datatypes import INT8, TEXT
from sql.errors import SqlError
from sql.expressions import AggregateCall, SortKey, WindowCall
from sql.relations import Aggregate, Join, Limit, OutputColumn, Relation, Scan, Sort, Values, Window
from tests.views.building import SALES, bound, col, compare, count_star, lit, project, renamed, sales_per_shop, top
from tests.views.plan.test_split import DEFINITION
from views.plan.planner import plan_view

TABLE = Scan("shops", "table", (OutputColumn("name", TEXT),))


def refusal(root: Relation) -> SqlError:
    with pytest.raises(SqlError) as failure:
        plan_view(DEFINITION, bound(root))
    assert failure.value.sqlstate == "0A000"
    return failure.value


def joined(left: Relation, right: Relation) -> Aggregate:
    both = Join(left, right, "inner", compare("eq", lit(1), lit(1)))
    return Aggregate(project(both, ("one", lit(1))), (), (("count", count_star()),))


def test_a_plain_select_names_rule_a_and_the_stream() -> None:
    error = refusal(project(SALES, ("shop", col(SALES, "shop"))))
    assert error.message == "a continuous view without a grouping is not supported yet"
    assert error.detail is not None
    assert error.detail.startswith("Rule (a): ")
    assert error.hint is not None
    assert "SELECT count(*) FROM sales" in error.hint


def test_order_by_with_limit_below_the_grouping_names_rule_d() -> None:
    error = refusal(Aggregate(top(SALES, "n", 3), (), (("count", count_star()),)))
    assert error.detail is not None
    assert "Rule (d)" in error.detail
    assert "ORDER BY n DESC LIMIT" in error.detail
    assert "Rule (d)" in (
        refusal(Aggregate(Limit(SALES, lit(3, INT8), None), (), (("count", count_star()),))).detail or ""
    )


def test_a_window_below_the_grouping_names_rule_a() -> None:
    call = WindowCall("row_number", (), INT8, order_by=(SortKey(col(SALES, "n")),))
    error = refusal(Aggregate(Window(SALES, (("r", call),)), (), (("count", count_star()),)))
    assert error.message == "a window function directly over a stream is not supported yet"
    assert "row_number() OVER (ORDER BY n)" in (error.detail or "")


def test_joins_name_their_rules() -> None:
    assert "Rule (b)" in (refusal(joined(SALES, TABLE)).detail or "")
    assert "Rule (c)" in (refusal(joined(SALES, renamed(SALES, "returns"))).detail or "")
    assert "Rule (c)" in (refusal(joined(SALES, SALES)).detail or "")


def test_a_distinct_aggregate_shows_the_two_groupings_to_write() -> None:
    call = AggregateCall("count", (col(SALES, "item"),), INT8, distinct=True, position=14)
    error = refusal(Aggregate(SALES, (("shop", col(SALES, "shop")),), (("count", call),)))
    assert error.position == 14
    assert error.hint == (
        "Group by the value first: SELECT shop, count(value) FROM (SELECT DISTINCT shop, item AS value FROM sales) d GROUP BY shop."
    )


def test_a_view_over_a_view_or_over_no_stream_is_named() -> None:
    view = renamed(SALES, "v", "view")
    assert refusal(Aggregate(view, (), (("count", count_star()),))).message == (
        "a continuous view over another view is not supported yet"
    )
    one_row = project(Values(((),), ()), ("one", lit(1)))
    assert refusal(one_row).message == "a view that reads no stream is not supported yet"


def test_limits_above_the_grouping_are_fine() -> None:
    grouping = sales_per_shop()
    ordered = Sort(grouping, (SortKey(col(grouping, "total")),))
    assert plan_view(DEFINITION, bound(Limit(ordered, lit(3, INT8), None))).plan.upper is not None
