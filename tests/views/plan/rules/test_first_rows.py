"""Conditions on row_number(), and LIMIT, that keep first rows make a grouping of them."""

from __future__ import annotations

import pytest

from sql.tree.expressions import Call, Column, Expression, SortKey, WindowCall
from sql.tree.relations import Aggregate, Filter, Limit, Project, Sort, Window
from sql.tree.walks import all_relations
from sql.types.datatypes import BOOL, INT8
from tests.views.building import SALES, col, compare, lit, project, where
from views.model.trees import rewrite
from views.plan.rules.first_rows import first_rows

SHOP, N = col(SALES, "shop"), col(SALES, "n")
NUMBER = Column(len(SALES.schema), "number", INT8)
CALL = WindowCall("row_number", (), INT8, (SHOP,), (SortKey(N),))
NUMBERED = Window(SALES, (("number", CALL),))
ONE, TWO, NOTHING = lit(1, INT8), lit(2, INT8), lit(None, INT8)


@pytest.mark.parametrize(
    "condition",
    [
        compare("eq", NUMBER, ONE),
        compare("le", NUMBER, ONE),
        compare("lt", NUMBER, TWO),
        compare("eq", ONE, NUMBER),
        compare("ge", ONE, NUMBER),
        compare("gt", TWO, NUMBER),
    ],
)
def test_the_first_row_of_each_group_is_kept(condition: Expression) -> None:
    kept = where(project(NUMBERED, ("n", N), ("number", NUMBER)), compare("gt", Column(0, "n", N.type), ONE))
    found = first_rows(where(kept, _over_projection(condition)))
    assert isinstance(found, Project) and found.schema == kept.schema
    (grouping,) = (part for part in all_relations(found) if isinstance(part, Aggregate))
    assert grouping.keys == (("shop", SHOP),)
    assert [call.arguments for _, call in grouping.aggregates] == [(N,)]


@pytest.mark.parametrize(
    ("condition", "rows_max", "filters"),
    [
        (compare("le", NUMBER, TWO), 2, 0),
        (compare("lt", NUMBER, TWO), 0, 0),
        (compare("lt", NUMBER, ONE), 1, 1),
        (compare("eq", NUMBER, TWO), 2, 1),
        (compare("gt", TWO, NUMBER), 0, 0),
        (Call("and", (compare("le", NUMBER, TWO), compare("ge", NUMBER, TWO)), BOOL), 2, 1),
        (Call("and", (compare("le", NUMBER, TWO), compare("le", NUMBER, ONE)), BOOL), 0, 1),
    ],
)
def test_the_bound_says_how_many_rows_are_kept(condition: Expression, rows_max: int, filters: int) -> None:
    relation = where(NUMBERED, condition)
    found = first_rows(relation)
    assert found.schema == relation.schema
    parts = list(all_relations(found))
    (call, *_) = (call for part in parts if isinstance(part, Aggregate) for _, call in part.aggregates)
    assert call.arguments[1:] == ((lit(rows_max, INT8),) if rows_max else ())
    assert sum(isinstance(part, Filter) for part in parts) == filters


def test_a_limit_of_constants_keeps_rows_of_one_group() -> None:
    relation = Limit(Sort(SALES, (SortKey(N),)), lit(3, INT8), lit(2, INT8))
    found = first_rows(relation)
    assert found.schema == relation.schema
    (grouping,) = (part for part in all_relations(found) if isinstance(part, Aggregate))
    assert not grouping.keys
    assert all(call.arguments[1] == lit(5, INT8) for _, call in grouping.aggregates)
    for other in (Limit(SALES, None, TWO), Limit(SALES, N, None), Limit(grouping, TWO, None)):
        assert first_rows(other) is other


@pytest.mark.parametrize(
    "condition",
    [
        compare("ge", NUMBER, ONE),
        compare("ne", NUMBER, ONE),
        compare("eq", NOTHING, ONE),
        compare("eq", NUMBER, NOTHING),
        compare("eq", N, ONE),
        compare("eq", NUMBER, N),
    ],
)
def test_other_rows_make_no_grouping(condition: Expression) -> None:
    relation = where(NUMBERED, condition)
    assert first_rows(relation) is relation


def _over_projection(condition: Expression) -> Expression:
    """Return a condition on NUMBER over a projection that has it as its second column."""
    place = Column(1, "number", INT8)
    return rewrite(condition, lambda part: place if part == NUMBER else None)
