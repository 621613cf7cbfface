"""Generated code against the model: random expressions over random rows, values and SQLSTATEs."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sql.errors import SqlError
from sql.tree.expressions import Expression
from sql.tree.relations import OutputColumn
from tests.shares import share
from tests.views.random_expressions import SCHEMA, ExpressionMaker, arrow_rows, python_rows, random_rows
from tests.views.reference import SqlFailureError, evaluate
from views.model.nodes import FinishStep
from views.model.text import expression_text
from views.upkeep.export.finish import CompiledStep

ROWS = 150
ITEMS = 6


def finish_step(items: list[Expression]) -> FinishStep:
    """Return a step that computes the items over all rows."""
    named = tuple((f"r{index}", item) for index, item in enumerate(items))
    return FinishStep(SCHEMA, (), named, tuple(OutputColumn(name, item.type) for name, item in named))


def same(left: Any, right: Any) -> bool:
    """Return whether two values are the same, digits of a decimal and the sign of a zero
    included.
    """
    if isinstance(left, Decimal) and isinstance(right, Decimal):
        return left.compare_total(right) == 0 or (not left and not right and left.as_tuple()[2] == right.as_tuple()[2])
    if isinstance(left, float | np.floating) and isinstance(right, float | np.floating):
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return bool(left == right) and (left is None) == (right is None)


def model(items: list[Expression], row: tuple[Any, ...]) -> tuple[Any, ...] | SqlFailureError:
    """Return the values of the items, or the first failure."""
    try:
        return tuple(evaluate(item, row) for item in items)
    except SqlFailureError as failure:
        return failure


@pytest.mark.turns(6)
@pytest.mark.parametrize("seed", share(range(12), lambda seed: seed < 6))
def test_random_expressions(seed: int, tmp_path: Path) -> None:
    check_random_expressions(seed, tmp_path)


@pytest.mark.turns(6)
@pytest.mark.parametrize("seed", share(range(20, 26), lambda seed: seed < 23))
def test_random_expressions_in_flat_functions(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("views.codegen.modules.FLAT_LINES", 0)
    check_random_expressions(seed, tmp_path)


def check_random_expressions(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)
    maker = ExpressionMaker(choose)
    items = [maker.any(3) for _ in range(ITEMS)]
    rows = random_rows(choose, ROWS)
    step = CompiledStep(finish_step(items), tmp_path)
    expected = [model(items, row) for row in rows]
    failures = [outcome for outcome in expected if isinstance(outcome, SqlFailureError)]
    if failures:
        with pytest.raises(SqlError) as raised:
            step.run_table(arrow_rows(rows), 0)
        assert raised.value.sqlstate == failures[0].sqlstate, raised.value
    good = [row for row, outcome in zip(rows, expected, strict=True) if not isinstance(outcome, SqlFailureError)]
    wanted = [outcome for outcome in expected if not isinstance(outcome, SqlFailureError)]
    found = python_rows(step.run_table(arrow_rows(good), 0), step.step.output)
    assert len(found) == len(wanted)
    for row, got, want in zip(good, found, wanted, strict=True):
        for item, left, right in zip(items, got, want, strict=True):
            assert same(left, right), f"seed {seed}: {expression_text(item)} of {row} is {left!r} instead of {right!r}"
