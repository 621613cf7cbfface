"""Decimals of known magnitude in kernels against Python's own, at the ends of their ranges."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ringbuffer.memory.columns import NUMERIC_DIGITS_MAX
from sql.functions.comparisons import COMPARISONS
from sql.tree.expressions import Call, Column, Expression, Literal
from sql.tree.relations import OutputColumn, Schema
from sql.types.datatypes import BOOL, numeric, scaled_numeric
from views.codegen.columns import InputColumns
from views.codegen.finish_kernel import generate_finish_kernel
from views.model.nodes import FinishStep
from views.model.text import expression_text
from views.upkeep.export.finish import CompiledStep

PRECISIONS = ((15, 2), (4, 4), (18, 0), (9, 5), (18, 18), (30, 2))
SCHEMA: Schema = tuple(OutputColumn(f"c{place}", numeric(*one)) for place, one in enumerate(PRECISIONS))
COLUMNS = [Column(index, column.name, column.type) for index, column in enumerate(SCHEMA)]
ARITHMETIC = ("add", "subtract", "multiply")
ROWS = 60
Row = tuple[Decimal | None, ...]


@pytest.fixture(autouse=True)
def of_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let finish steps take their columns as those of a stream, whose precisions hold."""
    monkeypatch.setattr("views.codegen.finish_kernel.InputColumns", partial(InputColumns, stored=True))


def step_of(items: list[Expression]) -> FinishStep:
    named = tuple((f"r{index}", item) for index, item in enumerate(items))
    return FinishStep(SCHEMA, (), named, tuple(OutputColumn(name, item.type) for name, item in named))


def scale_of(expression: Expression) -> int:
    scale = expression.type.display_scale
    assert scale is not None
    return scale


def made(choose: random.Random, depth: int) -> Expression:
    """Return an expression whose values have at most 38 digits."""
    if depth == 0 or choose.random() < 0.2:
        if choose.random() < 0.3:
            return Literal(
                choose.choice([Decimal(1), Decimal("-0.05"), Decimal(0), Decimal("99.99")]), scaled_numeric(2)
            )
        return choose.choice(COLUMNS)
    function = choose.choice(ARITHMETIC)
    left, right = made(choose, depth - 1), made(choose, depth - 1)
    scales = scale_of(left), scale_of(right)
    scale = sum(scales) if function == "multiply" else max(scales)
    if scale > NUMERIC_DIGITS_MAX:
        return left
    return Call(function, (left, right), scaled_numeric(scale))


def value(expression: Expression, row: Row) -> Any:
    """Return the value of an expression. Raises OverflowError for more than 38 digits."""
    if isinstance(expression, Literal):
        return expression.value
    if isinstance(expression, Column):
        return row[expression.index]
    assert isinstance(expression, Call)
    left, right = (value(part, row) for part in expression.arguments)
    if left is None or right is None:
        return None
    if expression.function in COMPARISONS:
        signs = {"eq": left == right, "ne": left != right, "lt": left < right}
        return {**signs, "le": left <= right, "gt": left > right, "ge": left >= right}[expression.function]
    result = {"add": left + right, "subtract": left - right, "multiply": left * right}[expression.function]
    if abs(result.scaleb(scale_of(expression))) >= 10**NUMERIC_DIGITS_MAX:
        raise OverflowError
    return result


def some_rows(choose: random.Random) -> list[Row]:
    def some(precision: int, scale: int) -> Decimal | None:
        most = 10**precision - 1
        unscaled = choose.choice([0, 1, -1, most, -most, choose.randint(-most, most), choose.randint(-9, 9), None])
        return None if unscaled is None else Decimal(unscaled).scaleb(-scale)

    return [tuple(some(*one) for one in PRECISIONS) for _ in range(ROWS)]


@pytest.mark.turns(3)
@pytest.mark.parametrize("seed", range(3))
def test_arithmetic_and_comparisons(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)
    numbers = [made(choose, 2) for _ in range(12)]
    pairs = [Call(name, (choose.choice(numbers), choose.choice(numbers)), BOOL) for name in COMPARISONS]
    items: list[Expression] = [*numbers, *pairs]
    with localcontext() as context:
        context.prec = 120
        good, wanted = [], []
        for row in some_rows(choose):
            try:
                wanted.append([value(item, row) for item in items])
            except OverflowError:
                continue
            good.append(row)
    assert len(good) > ROWS // 4
    arrays = {
        column.name: pa.array([row[place] for row in good], pa.decimal128(NUMERIC_DIGITS_MAX, PRECISIONS[place][1]))
        for place, column in enumerate(SCHEMA)
    }
    found = CompiledStep(step_of(items), tmp_path).run_table(pa.table(arrays), 0).to_pylist()
    for row, answers, right in zip(good, found, wanted, strict=True):
        for item, got, want in zip(items, answers.values(), right, strict=True):
            assert got == want, f"{expression_text(item)} of {row}"


def test_what_can_not_overflow_is_not_checked() -> None:
    price, discount = COLUMNS[0], COLUMNS[3]
    sold = Call(
        "multiply",
        (price, Call("subtract", (Literal(1, scaled_numeric(0)), discount), scaled_numeric(5))),
        scaled_numeric(7),
    )
    text = generate_finish_kernel(step_of([sold])).text
    assert "error" not in text.split("def ")[1]


def test_products_that_may_have_more_than_38_digits_are_checked() -> None:
    product = Call(
        "multiply", (COLUMNS[2], Call("multiply", (COLUMNS[2], COLUMNS[2]), scaled_numeric(0))), scaled_numeric(0)
    )
    assert "numeric_multiply" in generate_finish_kernel(step_of([product])).text
