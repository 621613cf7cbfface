"""Before and after of the rule `count_values`."""

from __future__ import annotations

from dataclasses import replace

from sql.tree.expressions import AggregateCall, Column
from sql.tree.relations import Aggregate, Project, Relation
from sql.types.datatypes import INT4, INT8, scaled_numeric
from tests.views.building import SALES, col, count_star, total
from views.delta.rules.extremes import count_values

LARGEST = AggregateCall("max", (col(SALES, "n"),), INT4)
KEYS = (("shop", col(SALES, "shop")),)


def test_an_extreme_is_that_of_finer_groups() -> None:
    found = count_values(Aggregate(SALES, KEYS, (("largest", LARGEST), ("total", total(col(SALES, "n"))))))
    assert isinstance(found, Project) and isinstance(found.input, Aggregate)
    whole, finer = found.input, found.input.input
    assert finer == Aggregate(SALES, (*KEYS, ("distinct0", col(SALES, "n"))), (("total", total(col(SALES, "n"))),)), (
        "the value is a key"
    )
    (_, largest), (_, summed) = whole.aggregates
    assert largest == replace(LARGEST, arguments=(Column(1, "distinct0", INT4),))
    assert (summed.function, summed.arguments) == ("sum", (Column(2, "total", INT8),))
    assert [column.type for column in found.schema] == [SALES.schema[0].type, INT4, INT8]


def test_what_adds_up_stays_as_it_is() -> None:
    grouping = Aggregate(SALES, KEYS, (("n", count_star()), ("total", total(col(SALES, "price")))))
    assert count_values(grouping) is grouping
    assert grouping.aggregates[1][1].type.family == scaled_numeric(None).family


def test_groups_of_groups_stay_as_they_are() -> None:
    below: Relation = Aggregate(SALES, KEYS, (("n", count_star()),))
    above = Aggregate(below, (), (("most", AggregateCall("max", (Column(1, "n", INT8),), INT8)),))
    assert count_values(above) is above
