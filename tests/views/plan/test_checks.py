"""Refusals: each is 0A000 and names the rule, the part of the query, and what to write instead."""

from __future__ import annotations

import pytest

from sql.errors import SqlError
from sql.tree.expressions import Call, Column, Expression, OuterColumn, SortKey, Subquery
from sql.tree.relations import (
    Aggregate,
    Join,
    Limit,
    OutputColumn,
    Relation,
    Scan,
    Sort,
    Values,
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


def test_a_single_grouping_set_is_a_grouping() -> None:
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
