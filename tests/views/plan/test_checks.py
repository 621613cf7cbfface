"""Refusals: each is 0A000 and names the rule, the part of the query, and what to write instead."""

from __future__ import annotations

import pytest

from sql.errors import SqlError
from sql.tree.expressions import AggregateCall, Call, Column, Expression, OuterColumn, SortKey, Subquery, WindowCall
from sql.tree.relations import (
    Aggregate,
    Join,
    Limit,
    OutputColumn,
    Recursive,
    Relation,
    Scan,
    SetOperation,
    Sort,
    Values,
    Window,
)
from sql.types.datatypes import BOOL, INT8, JSON, TEXT, TIMESTAMPTZ
from tests.views.building import (
    SALES,
    bound,
    col,
    compare,
    count_star,
    lit,
    project,
    renamed,
    sales_per_shop,
    top,
    where,
)
from tests.views.plan.test_split import DEFINITION
from views.plan.planner import plan_view

TABLE = Scan("shops", "table", (OutputColumn("name", TEXT),))
OTHER = renamed(SALES, "returns")
COUNT = (("count", count_star()),)


def refusal(root: Relation) -> SqlError:
    with pytest.raises(SqlError) as failure:
        plan_view(DEFINITION, bound(root))
    assert failure.value.sqlstate == "0A000"
    return failure.value


def joined(left: Relation, right: Relation, kind: str = "inner", condition: Expression | None = None) -> Aggregate:
    both = Join(left, right, kind, condition or compare("eq", lit(1), lit(1)))
    return Aggregate(project(both, ("one", lit(1))), (), COUNT)


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
    for kind in ("right", "full"):
        error = refusal(joined(SALES, TABLE, kind))
        assert error.message == f"a {kind.upper()} JOIN that keeps a table's rows is not supported yet"
        assert "Rule (b)" in (error.detail or "")
    assert "Rule (b)" in (refusal(joined(TABLE, SALES, "left")).detail or "")
    assert "Rule (c)" in (refusal(joined(SALES, OTHER)).detail or "")
    assert "Rule (c)" in (refusal(joined(SALES, SALES)).detail or "")
    plan_view(DEFINITION, bound(joined(TABLE, SALES, "right")))


def test_a_left_join_on_other_than_equality_names_rule_b() -> None:
    condition = compare("lt", Column(0, "shop", TEXT), Column(len(SALES.schema), "name", TEXT))
    error = refusal(joined(SALES, TABLE, "left", condition))
    assert "Rule (b)" in (error.detail or "") and "shop < name" in (error.detail or "")


def test_subqueries_over_rows_of_the_stream_are_named() -> None:
    open_scalar = where(TABLE, compare("eq", Column(0, "name", TEXT), OuterColumn(0, "shop", TEXT)))
    subquery = Subquery("scalar", open_scalar, (col(SALES, "shop"),), TEXT, position=7)
    error = refusal(Aggregate(where(SALES, compare("eq", subquery, col(SALES, "shop"))), (), COUNT))
    assert error.message == "a subquery in an expression over a stream's rows is not supported yet"
    assert "(SELECT ... FROM shops)" in (error.detail or "") and error.position == 7
    inside = Subquery("exists", SALES, (), BOOL)
    error = refusal(where(Aggregate(OTHER, (), COUNT), inside))
    assert error.message == "a stream inside a subquery expression is not supported yet"


def test_set_operations_recursion_and_lateral_are_named() -> None:
    union = SetOperation("union", True, project(SALES, ("shop", col(SALES, "shop"))), TABLE, TABLE.schema)
    assert "UNION ALL over a stream" in refusal(union).message
    several = SetOperation("union", True, SALES, OTHER, SALES.schema)
    assert refusal(several).message == "UNION ALL of streams without a grouping is not supported yet"
    chosen = (("d", AggregateCall("first", (col(SALES, "n"),), col(SALES, "n").type, position=3)),)
    error = refusal(Aggregate(several, (), chosen))
    assert error.message == "first over UNION ALL of streams is not supported yet" and error.position == 3
    window = Window(several, (("n", WindowCall("row_number", (), INT8)),))
    assert "Rule (c)" in (refusal(Aggregate(window, (), COUNT)).detail or "")
    recursive = Recursive("r", SALES, Scan("r", "recursive", SALES.schema), False, SALES.schema)
    assert "WITH RECURSIVE over a stream" in refusal(Aggregate(recursive, (), COUNT)).message
    of_row = where(TABLE, compare("eq", OuterColumn(0, "n", INT8), lit(1, INT8)))
    lateral = Join(SALES, Limit(of_row, lit(3, INT8), None), "cross", None, (col(SALES, "n"),))
    assert "LATERAL over a stream" in refusal(Aggregate(lateral, (), COUNT)).message
    keys = (("shop", col(SALES, "shop")), ("item", col(SALES, "item")))
    plan_view(DEFINITION, bound(Aggregate(SALES, keys, COUNT, ((0, 1),))))


def test_build_sides_are_computed_once_and_have_keys_that_kernels_compare() -> None:
    stamped = Scan("stamps", "table", (OutputColumn("at", TIMESTAMPTZ), OutputColumn("id", JSON)))
    recent = where(stamped, compare("lt", col(stamped, "at"), Call("now", (), TIMESTAMPTZ)))
    limited = Limit(recent, lit(3, INT8), None)
    assert "now() in a part that is read once" in refusal(joined(SALES, limited)).message
    by_name = Join(SALES, stamped, "inner", compare("eq", Column(0, "shop", JSON), Column(6, "id", JSON)))
    assert "a column of type json in a join" in refusal(Aggregate(by_name, (), COUNT)).message


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
