"""Conditions on row_number() that keep the first row make a grouping of it."""

from __future__ import annotations

import pytest

from sql.tree.expressions import Column, Expression, SortKey, WindowCall
from sql.tree.relations import Aggregate, Project, Window
from sql.tree.walks import all_relations
from sql.types.datatypes import INT8
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
    "condition",
    [
        compare("le", NUMBER, TWO),
        compare("lt", NUMBER, ONE),
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
