"""Groupings that become several: which, and what they are together."""

from __future__ import annotations

import pytest

from sql.tree.expressions import AggregateCall
from sql.tree.relations import Aggregate, Join, Project, Relation, SetOperation
from sql.tree.walks import all_relations
from sql.types.datatypes import INT8, SqlType
from tests.views.building import SALES, col, count_star
from views.plan.rules.separate_groupings import separate_distinct, separate_sets

SHOP, ITEM, N = (col(SALES, name) for name in ("shop", "item", "n"))
KEYS = (("shop", SHOP), ("item", ITEM))
COUNT = ("count", count_star())
DEVIATION = ("deviation", AggregateCall("stddev_samp", (N,), SqlType("numeric")))
ITEMS = ("items", AggregateCall("count", (ITEM,), INT8, distinct=True))


def groupings(relation: Relation) -> list[Aggregate]:
    return [part for part in all_relations(relation) if isinstance(part, Aggregate)]


def test_each_grouping_set_is_a_grouping_of_its_own() -> None:
    whole = Aggregate(SALES, KEYS, (COUNT, DEVIATION), ((0, 1), (1,), ()))
    found = separate_sets(whole)
    assert isinstance(found, SetOperation) and (found.kind, found.all) == ("union", True)
    assert found.schema == whole.schema
    assert groupings(found) == [Aggregate(SALES, keys, (COUNT, DEVIATION)) for keys in (KEYS, KEYS[1:], ())]


@pytest.mark.parametrize("keys", [KEYS, ()])
def test_distinct_aggregates_are_beside_those_that_no_finer_groups_give(keys: tuple[tuple[str, object], ...]) -> None:
    whole = Aggregate(SALES, KEYS[: len(keys)], (DEVIATION, ITEMS, COUNT))
    found = separate_distinct(whole)
    assert isinstance(found, Project) and isinstance(found.input, Join)
    assert found.schema == whole.schema
    assert found.input.left == Aggregate(SALES, whole.keys, (ITEMS, COUNT))
    assert found.input.right == Aggregate(SALES, whole.keys, (DEVIATION,))
    assert found.input.kind == ("inner" if keys else "cross")


@pytest.mark.parametrize(
    "grouping",
    [
        Aggregate(SALES, KEYS, (COUNT, ITEMS), ((0,), (1,))),
        Aggregate(SALES, KEYS, (COUNT, ITEMS)),
        Aggregate(SALES, KEYS, (COUNT, DEVIATION)),
        Aggregate(SALES, KEYS, (COUNT, ("d", AggregateCall("stddev_samp", (N,), SqlType("numeric"), distinct=True)))),
        Aggregate(Aggregate(SALES, KEYS, (("n", count_star()),)), (), (DEVIATION,), ((), ())),
    ],
)
def test_others_stay_as_they_are(grouping: Aggregate) -> None:
    assert separate_distinct(separate_sets(grouping)) is grouping
