"""Where the cut goes: what runs in the stream pipeline, while groups are exported, in Spark, and
after it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from sql.catalog.catalog import SessionSettings
from sql.errors import SqlError
from sql.tree.expressions import AggregateCall, Call, Case, Cast, Column, Expression, Literal, SortKey, WindowCall
from sql.tree.relations import Aggregate, Distinct, Filter, Limit, Project, Relation, Scan, Sort, Window
from sql.types.datatypes import BOOL, INT4, INT8, TEXT, TIMESTAMPTZ, UNKNOWN, scaled_numeric
from tests.views.building import (
    SALES,
    VARIABLE,
    add,
    average,
    bound,
    col,
    compare,
    count_star,
    divide,
    lit,
    project,
    sales_per_shop,
    top,
    total,
    where,
)
from views.model.definition import ViewDefinition
from views.model.plan import Plan
from views.plan.planner import PlannedView, plan_view

DEFINITION = ViewDefinition("v", 16385, "CREATE VIEW v AS ...", "...", 17, (), SessionSettings())


def planned(root: Relation, *names: str, on_error: str = "reject") -> PlannedView:
    return plan_view(replace(DEFINITION, column_names=names, on_error=on_error), bound(root))


def plan_of(root: Relation) -> Plan:
    return planned(root).plan


def test_a_grouping_alone_is_finished_without_spark() -> None:
    grouping = sales_per_shop()
    plan = plan_of(grouping)
    assert (plan.upper, plan.tail) == (None, None)
    assert (plan.stream.stream, plan.stream.input, plan.stream.filters) == ("sales", SALES.schema, ())
    assert (plan.stream.keys, plan.stream.aggregates) == (grouping.keys, grouping.aggregates)
    assert plan.finish.output == plan.finish.input == plan.stream.groups == grouping.schema


def test_conditions_are_split_at_and_in_order() -> None:
    first, second = compare("gt", col(SALES, "n"), lit(1)), compare("lt", col(SALES, "n"), lit(9))
    filtered = where(SALES, Call("and", (first, second), BOOL))
    assert plan_of(replace(sales_per_shop(), input=filtered)).stream.filters == (first, second)


def test_having_and_expressions_are_done_while_groups_are_exported() -> None:
    grouping = sales_per_shop()
    having = compare("gt", col(grouping, "total"), lit(3, INT8))
    root = project(where(grouping, having), ("more", add(col(grouping, "total"), lit(1, INT8))))
    plan = plan_of(root)
    assert plan.upper is None
    assert plan.finish.predicates == (having,)
    assert plan.finish.items == root.items
    assert plan.finish.output == root.schema


def test_distinct_over_the_stream_is_the_grouping() -> None:
    plan = plan_of(Distinct(project(SALES, ("shop", col(SALES, "shop")))))
    assert plan.stream.keys == (("shop", col(SALES, "shop")),)
    assert plan.stream.aggregates == ()


def test_the_expressions_of_a_second_grouping_are_computed_before_spark() -> None:
    first = sales_per_shop()
    size = compare("gt", col(first, "total"), lit(10, INT8))
    more = add(col(first, "total"), lit(1, INT8))
    second = Aggregate(first, (("big", size),), (("sum", total(more)), ("count", count_star(size))))
    plan = plan_of(second)
    assert [item for _, item in plan.finish.items] == [
        size,
        more,
        Case(((size, Literal(True, BOOL)),), Literal(None, BOOL), BOOL),
    ]
    assert plan.upper is not None
    grouping = plan.upper.relation
    assert isinstance(grouping, Aggregate)
    assert grouping.input == Scan("groups", "groups", plan.finish.output)
    assert [key.index for _, key in grouping.keys if isinstance(key, Column)] == [0]
    assert [(call.function, call.filter) for _, call in grouping.aggregates] == [("sum", None), ("count", None)]
    assert plan.tail is None


def test_a_filtered_argument_keeps_its_guard() -> None:
    first = sales_per_shop()
    nonzero = compare("ne", col(first, "total"), lit(0, INT8))
    share = divide(lit(100, INT8), col(first, "total"))
    plan = plan_of(Aggregate(first, (), (("sum", total(share, nonzero)),)))
    assert [item for _, item in plan.finish.items] == [Case(((nonzero, share),), Literal(None, INT8), INT8)]


def test_a_second_grouping_that_only_counts_still_hands_over_a_column() -> None:
    plan = plan_of(Aggregate(sales_per_shop(), (), (("count", count_star()),)))
    assert [column.name for column in plan.finish.output] == ["shop"]


def test_an_average_above_is_a_sum_and_a_count_in_spark_and_a_quotient_after_it() -> None:
    first = sales_per_shop()
    second = Aggregate(first, (("shop", col(first, "shop")),), (("avg", average(col(first, "total"))),))
    plan = plan_of(second)
    assert plan.upper is not None
    assert plan.tail is not None
    grouping = plan.upper.relation
    assert isinstance(grouping, Aggregate)
    assert [(call.function, call.type) for _, call in grouping.aggregates] == [
        ("sum", scaled_numeric(0)),
        ("count", INT8),
    ]
    quotient = Call(
        "divide",
        (Column(1, "avg_sum", scaled_numeric(0)), Cast(Column(2, "avg_count", INT8), scaled_numeric(0))),
        VARIABLE,
    )
    assert plan.tail.items == (("shop", Column(0, "shop", TEXT)), ("avg", quotient))
    assert plan.tail.output == second.schema


def test_exact_quotients_above_sparks_last_breaker_go_to_the_tail() -> None:
    first = Aggregate(SALES, (("shop", col(SALES, "shop")),), (("sum", total(col(SALES, "price"))),))
    second = Aggregate(first, (), (("a", total(col(first, "sum"))), ("b", total(col(first, "sum")))))
    plan = plan_of(project(second, ("ratio", divide(col(second, "a"), col(second, "b")))))
    assert plan.tail is not None
    assert plan.tail.output[0].type == VARIABLE
    assert isinstance(plan.upper and plan.upper.relation, Aggregate)


def test_an_average_below_a_limit_stays_in_spark() -> None:
    first = sales_per_shop()
    second = Aggregate(first, (("shop", col(first, "shop")),), (("avg", average(col(first, "total"))),))
    plan = plan_of(top(second, "avg", 3))
    assert plan.tail is None
    assert plan.upper is not None
    assert isinstance(plan.upper.relation, Limit)


def test_a_sort_key_is_computed_before_spark_and_left_out_after_the_limit() -> None:
    grouping = sales_per_shop()
    key = add(col(grouping, "total"), lit(1, INT8))
    plan = plan_of(Limit(Sort(grouping, (SortKey(key),)), lit(3, INT8), None))
    assert [item for _, item in plan.finish.items] == [Column(0, "shop", TEXT), Column(1, "total", INT8), key]
    assert plan.upper is not None
    outer = plan.upper.relation
    assert isinstance(outer, Project)
    assert isinstance(outer.input, Limit)
    assert isinstance(outer.input.input, Sort)
    assert isinstance(outer.input.input.keys[0].expression, Column)
    assert outer.schema == grouping.schema


def test_a_window_is_computed_over_plain_columns() -> None:
    grouping = sales_per_shop()
    key = add(col(grouping, "total"), lit(1, INT8))
    call = WindowCall("rank", (), INT8, order_by=(SortKey(key, descending=True, nulls_first=True),))
    root = Window(grouping, (("place", call),))
    plan = plan_of(root)
    assert plan.upper is not None
    outer = plan.upper.relation
    assert isinstance(outer, Project)
    assert isinstance(outer.input, Window)
    assert outer.schema == root.schema
    assert [item for _, item in plan.finish.items][2] == key


def test_order_by_alone_is_dropped_with_a_notice() -> None:
    grouping = sales_per_shop()
    view = planned(Sort(grouping, (SortKey(col(grouping, "total")),)))
    assert view.plan.upper is None
    assert view.notices == (
        "ORDER BY without LIMIT is dropped: a continuous view has no order, give it in the SELECT that reads the view",
    )


def test_now_above_the_grouping_makes_every_read_a_refresh_and_below_it_a_notice() -> None:
    now = Call("now", (), TIMESTAMPTZ)
    later: Expression = compare("gt", now, Literal(0, TIMESTAMPTZ))
    above = planned(where(sales_per_shop(), later))
    assert above.time_dependent
    assert above.notices == ()
    below = planned(replace(sales_per_shop(), input=Filter(SALES, later)))
    assert not below.time_dependent
    assert len(below.notices) == 1


def test_column_names_are_postgresqls() -> None:
    grouping = sales_per_shop()
    assert [column.name for column in planned(grouping, "a").schema] == ["a", "total"]
    with pytest.raises(SqlError) as twice:
        planned(grouping, "total")
    assert (twice.value.sqlstate, twice.value.message) == ("42701", 'column "total" specified more than once')
    with pytest.raises(SqlError) as many:
        planned(grouping, "a", "b", "c")
    assert (many.value.sqlstate, many.value.message) == (
        "42601",
        "CREATE VIEW specifies more column names than columns",
    )


def test_a_constant_of_unknown_type_is_text() -> None:
    root = project(sales_per_shop(), ("?column?", Literal("x", UNKNOWN)))
    assert [column.type for column in planned(root).schema] == [TEXT]


def test_skip_reaches_the_stream_pipeline() -> None:
    assert planned(sales_per_shop(), on_error="skip").plan.stream.on_error == "skip"


def test_doubling_by_nesting_has_an_end() -> None:
    relation: Relation = project(SALES, ("n", col(SALES, "n")))
    for _ in range(40):
        relation = project(relation, ("n", add(col(relation, "n"), col(relation, "n"))))
    with pytest.raises(SqlError) as failure:
        planned(Aggregate(relation, (), (("sum", AggregateCall("sum", (col(relation, "n"),), INT8)),)))
    assert failure.value.sqlstate == "54001"
    assert col(relation, "n").type == INT4
