"""Before and after of the rule `merge_projections`."""

from __future__ import annotations

from tests.views.building import SALES, add, col, lit, project
from views.plan.rules.merge_projections import merge_projections


def test_the_lower_expressions_are_put_in() -> None:
    lower = project(SALES, ("unused", col(SALES, "shop")), ("more", add(col(SALES, "n"), lit(1))))
    before = project(lower, ("most", add(col(lower, "more"), lit(2))))
    after = project(SALES, ("most", add(add(col(SALES, "n"), lit(1)), lit(2))))
    assert merge_projections(before) == after
