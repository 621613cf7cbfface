"""Plans that a state serves, and the stored form of what it is kept by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sql.tree.expressions import AggregateCall, Call, Case, Cast, Literal
from sql.tree.relations import Aggregate, Project, Relation
from sql.types.datatypes import BOOL, INT4, numeric
from tests.views.building import SALES, average, bound, col, compare, count_star, lit, project, total, where
from tests.views.plan.test_split import DEFINITION
from views.codegen.grouping import make_grouping
from views.model.plan import Plan
from views.plan.planner import plan_view
from views.share.reuse import NotCoveredError, cover, covered_grouping
from views.share.stored import restored_pipeline, stored_pipeline

SHOP, ITEM, N = col(SALES, "shop"), col(SALES, "item"), col(SALES, "n")


def plan_of(root: Relation, on_error: str = "reject") -> Plan:
    return plan_view(replace(DEFINITION, on_error=on_error), bound(root)).plan


def grouped(*aggregates: tuple[str, AggregateCall], below: Relation = SALES) -> Aggregate:
    """SELECT shop, item, aggregates FROM below GROUP BY shop, item."""
    return Aggregate(below, (("shop", SHOP), ("item", ITEM)), aggregates)


KEPT = plan_of(grouped(("mean", average(N)), ("count", count_star()), ("total", total(col(SALES, "price"))))).stream


def test_the_same_query_is_covered_and_needs_no_memory_of_the_old_one() -> None:
    again = grouped(("a", average(N)), ("b", count_star()), ("c", total(col(SALES, "price"))))
    assert cover(KEPT, plan_of(again)).kept is None


def test_keys_in_another_order_and_aggregates_of_the_same_states() -> None:
    query = Aggregate(SALES, (("item", ITEM), ("shop", SHOP)), (("t", total(N)), ("n", count_star())))
    plan = cover(KEPT, plan_of(query))
    assert plan.kept == KEPT == plan.maintained
    old = make_grouping(KEPT)
    read = covered_grouping(old, plan.stream)
    assert read.keys == (old.keys[1], old.keys[0])
    assert [(slot.input, slot.call.function) for slot in read.aggregates] == [(0, "sum"), (1, "count_star")]
    assert read.inputs == old.inputs and read.table == old.table


def test_conditions_on_keys_go_above() -> None:
    on_key = compare("gt", SHOP, Literal("a", SHOP.type))
    plan = cover(KEPT, plan_of(grouped(("n", count_star()), below=where(SALES, on_key))))
    assert plan.stream.filters == KEPT.filters == ()
    assert plan.finish.predicates == (on_key,)


@pytest.mark.parametrize(
    ("root", "reason"),
    [
        (grouped(("t", total(N)), below=where(SALES, compare("gt", N, lit(1)))), "which is not on keys alone"),
        (grouped(("m", AggregateCall("min", (N,), INT4))), "needs min(n)"),
        (grouped(("t", total(N, compare("gt", N, lit(1))))), "can't be told from what is kept"),
        (Aggregate(SALES, (("shop", SHOP),), (("n", count_star()),)), "it is grouped by shop, item"),
        (Aggregate(SALES, (), (("n", count_star()),)), "in another way"),
    ],
)
def test_what_is_not_covered(root: Relation, reason: str) -> None:
    with pytest.raises(NotCoveredError) as raised:
        cover(KEPT, plan_of(root))
    assert reason in raised.value.reason


def test_rows_that_were_left_out_do_not_come_back() -> None:
    kept = plan_of(grouped(("n", count_star()), below=where(SALES, compare("gt", N, lit(1))))).stream
    with pytest.raises(NotCoveredError) as raised:
        cover(kept, plan_of(grouped(("n", count_star()))))
    assert raised.value.reason == "The view has left out all rows without n > 1."
    with pytest.raises(NotCoveredError) as raised:
        cover(KEPT, plan_of(grouped(("n", count_star())), on_error="skip"))
    assert "on_error = reject" in raised.value.reason


def test_the_stored_form_comes_back() -> None:
    amount = Case(
        ((compare("gt", N, lit(1)), Cast(N, numeric(10, 2), explicit=True)),),
        Literal(None, numeric(10, 2)),
        numeric(10, 2),
    )
    root = grouped(
        ("t", total(amount, Call("is_not_null", (ITEM,), BOOL))),
        ("n", count_star()),
        below=where(SALES, compare("gt", col(SALES, "price"), Cast(lit(3), numeric(10, 2)))),
    )
    pipeline = plan_of(root).stream
    other = plan_of(project_of(grouped(("n", count_star())))).stream
    restored = restored_pipeline(stored_pipeline(pipeline), other)
    assert restored == replace(pipeline, groups=other.groups)


def project_of(grouping: Aggregate) -> Project:
    return project(grouping, ("shop", col(grouping, "shop")))
