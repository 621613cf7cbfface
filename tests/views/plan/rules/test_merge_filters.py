"""Before and after of the rule `merge_filters`."""

from __future__ import annotations

from sql.tree.expressions import Call
from sql.tree.relations import Filter
from sql.types.datatypes import BOOL
from tests.views.building import SALES, col, compare, lit, where
from views.plan.rules.merge_filters import merge_filters


def test_the_lower_filter_comes_first() -> None:
    lower, middle, upper = (compare("gt", col(SALES, "n"), lit(value)) for value in (1, 2, 3))
    before = where(where(where(SALES, lower), middle), upper)
    assert merge_filters(before) == Filter(SALES, Call("and", (lower, middle, upper), BOOL))
