"""Long kernels: few branches, the same answers, nothing evaluated that SQL does not evaluate, and a
bound.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sql.errors import SqlError
from sql.tree.expressions import Call, Case, Column, Expression, Literal
from sql.types.datatypes import BOOL, INT4, TEXT
from tests.views.codegen.test_expressions import finish_step
from tests.views.random_expressions import SCHEMA, arrow_rows, python_rows
from views.codegen.finish_kernel import generate_finish_kernel
from views.upkeep.export.finish import CompiledStep

X = Column(2, "i4", INT4)


@pytest.fixture
def flat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have short kernels written as long ones are, which are compiled sooner."""
    monkeypatch.setattr("views.codegen.modules.FLAT_LINES", 0)


def integer(value: int) -> Literal:
    return Literal(value, INT4)


def call(function: str, *arguments: Expression) -> Call:
    kind = BOOL if function in ("gt", "eq", "and", "or", "lt") else INT4
    return Call(function, arguments, kind)


def computed_case(count: int) -> Case:
    """Return CASE WHEN x + 0 > count THEN x * 1 ... ELSE NULL END."""
    branches = tuple(
        (call("gt", call("add", X, integer(number)), integer(count)), call("multiply", X, integer(number)))
        for number in range(count)
    )
    return Case(branches, Literal(None, INT4), INT4)


def pairs(count: int) -> Call:
    """Return x + 1 > 3 AND x * 1 < 1 OR ..."""
    both = tuple(
        call(
            "and",
            call("gt", call("add", X, integer(number)), integer(3)),
            call("lt", call("multiply", X, integer(number)), integer(number)),
        )
        for number in range(count)
    )
    return call("or", *both)


def chain(count: int) -> Expression:
    """Return x + 0 - 1 + 2 ..."""
    result: Expression = X
    for number in range(count):
        result = call("subtract" if number % 2 else "add", result, integer(number))
    return result


def step_of(x: Expression, folder: Path) -> CompiledStep:
    return CompiledStep(finish_step([x]), folder)


def rows_of(*values: int | None) -> list[tuple[Any, ...]]:
    return [tuple(value if at == 2 else None for at in range(len(SCHEMA))) for value in values]


@pytest.mark.parametrize("make", [computed_case, pairs, chain])
def test_a_long_kernel_has_as_many_branches_as_a_short_one(make: Any) -> None:
    counts = []
    for size in (80, 160):
        text = generate_finish_kernel(finish_step([make(size)])).text
        counts.append(sum(line.lstrip().startswith(("if ", "for ", "else")) for line in text.splitlines()))
    assert counts[0] == counts[1] < 30, counts


def test_answers(tmp_path: Path, flat: None) -> None:
    count = 20
    step = CompiledStep(finish_step([computed_case(count), pairs(count), chain(count)]), tmp_path)
    found = python_rows(step.run_table(arrow_rows(rows_of(5, -7, None, 200)), 0), step.step.output)

    def expected(x: int) -> tuple[Any, ...]:
        first = next((x * number for number in range(count) if x + number > count), None)
        any_pair = any(x + number > 3 and x * number < number for number in range(count))
        return first, any_pair, x + sum(-number if number % 2 else number for number in range(count))

    assert found == [expected(5), expected(-7), (None, None, None), expected(200)]


@pytest.mark.turns(2, 1)
def test_what_is_not_evaluated_does_not_fail(tmp_path: Path, flat: None) -> None:
    # A division by x, after conditions that are false for 0.
    dividing = call("divide", integer(1), X)
    branches = [
        (call("and", call("gt", X, integer(number)), call("gt", dividing, integer(5))), dividing) for number in range(9)
    ]
    branches += [(call("gt", X, integer(number)), call("add", dividing, integer(number))) for number in range(9)]
    step = step_of(Case(tuple(branches), integer(-1), INT4), tmp_path)
    assert python_rows(step.run_table(arrow_rows(rows_of(0, -3, None)), 0), step.step.output) == [(-1,)] * 3
    either = call("or", call("lt", X, integer(-1)), call("eq", X, integer(0)))
    failing = step_of(Case((*branches, (either, dividing)), integer(-1), INT4), tmp_path)
    assert python_rows(failing.run_table(arrow_rows(rows_of(-1, -2)), 0), step.step.output) == [(-1,), (0,)]
    with pytest.raises(SqlError, match="division by zero") as raised:
        failing.run_table(arrow_rows(rows_of(-3, 0)), 0)
    assert raised.value.sqlstate == "22012"


def test_the_first_error_is_the_one_told(tmp_path: Path, flat: None) -> None:
    overflow = call("multiply", chain(9), integer(2_000_000_000))
    dividing = call("divide", integer(1), X)
    with pytest.raises(SqlError, match="integer out of range"):
        step_of(call("add", overflow, call("divide", integer(1), integer(0))), tmp_path).run_table(
            arrow_rows(rows_of(9)), 0
        )
    with pytest.raises(SqlError, match="division by zero"):
        step_of(call("add", dividing, overflow), tmp_path).run_table(arrow_rows(rows_of(0)), 0)


@pytest.mark.turns(2, 1)
def test_what_is_too_long_is_refused_at_once() -> None:
    with pytest.raises(SqlError, match="statement too complex") as raised:
        generate_finish_kernel(finish_step([computed_case(6000)]))
    assert raised.value.sqlstate == "54001"
    assert "10,000" in str(raised.value.detail)


@pytest.mark.turns(2, 1)
def test_texts_are_joined_where_they_are_wanted_alone(tmp_path: Path, flat: None) -> None:
    texts = tuple(
        (
            call("gt", X, integer(number)),
            Call("concat", (Literal(f"more than twelve bytes {number}", TEXT), Literal("!", TEXT)), TEXT),
        )
        for number in range(15, 0, -1)
    )
    step = step_of(Case(texts, Literal("", TEXT), TEXT), tmp_path)
    found = python_rows(step.run_table(arrow_rows(rows_of(10, 0, None)), 0), step.step.output)
    assert found == [("more than twelve bytes 9!",), ("",), ("",)]
