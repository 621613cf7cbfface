"""Long lists of constants, looked up in tables, against the model: IN, OR of equalities, AND of
inequalities, both forms of CASE.
"""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal
from sql.types.datatypes import BOOL, FLOAT8, INT4, INT8, TEXT, SqlType, scaled_numeric
from tests.views.codegen.test_expressions import finish_step, same
from tests.views.random_expressions import SCHEMA, arrow_rows, python_rows, random_rows, random_value
from tests.views.reference import evaluate
from views.codegen.finish_kernel import generate_finish_kernel
from views.model.equalities import CONSTANTS_MIN, runs
from views.model.text import expression_text
from views.upkeep.export.finish import CompiledStep

ROWS = 200
EXPRESSIONS_AT_ONCE = 3
# an integer, both floats, decimals of known and of any scale, text, timestamp
COLUMNS = [2, 4, 5, 6, 8, 9, 12]
WORDS = ["", "twelve bytes", "thirteen byte", "http://example.org/a", "http://example.org/b", "http://example.org/aa"]


def constants(choose: random.Random, kind: SqlType, count: int) -> list[Literal]:
    """Return constants of which rows have some: with NULL, repeated ones, and texts that begin
    alike.
    """
    of = scaled_numeric(None) if kind.family == "numeric" else kind
    found = [Literal(random_value(choose, kind), of) for _ in range(count)]
    if kind.family in ("text", "varchar"):
        found += [Literal(word, of) for word in WORDS] + [Literal(f"t{number}", of) for number in range(count)]
    if kind.family.startswith("float"):
        found = [Literal(None if item.value is None else float(item.value), of) for item in found]  # type: ignore[arg-type]
    choose.shuffle(found)
    return found


def conditions(column: Column, items: list[Literal], choose: random.Random) -> list[Expression]:
    """Return the forms of a list."""
    equalities = tuple(Call("eq", (column, item) if choose.random() < 0.7 else (item, column), BOOL) for item in items)
    other = Call("is_null", (Column(2, "i4", INT4),), BOOL)
    within = Call("in_list", (column, *items), BOOL)
    pairs = tuple(
        Call(
            "and" if number % 3 else "or", (Call(choose.choice(("eq", "le", "ne")), (column, item), BOOL), small), BOOL
        )
        for number, item in enumerate(items * 2)
        for small in [Call("gt", (Column(2, "i4", INT4), Literal(number - 10, INT4)), BOOL)]
    )
    return [
        Call("or", pairs, BOOL),
        Call("and", tuple(Call("not", (pair,), BOOL) for pair in pairs), BOOL),
        within,
        Call("not", (within,), BOOL),
        Call("in_list", (column, *(item for item in items if item.value is not None)), BOOL),
        Call("or", equalities, BOOL),
        Call("or", (Call("or", equalities[:4], BOOL), other, *equalities[4:]), BOOL),
        Call("and", tuple(Call("ne", (column, item), BOOL) for item in items), BOOL),
        Call("and", (other, *(Call("ne", (column, item), BOOL) for item in items if item.value is not None)), BOOL),
    ]


def cases(column: Column, items: list[Literal], choose: random.Random) -> list[Expression]:
    """Return a CASE of each type of results, constants and others."""
    found: list[Expression] = []
    condition = Call("eq", (Column(2, "i4", INT4), Literal(1, INT4)), BOOL)
    for kind in choose.sample((TEXT, INT8, FLOAT8, BOOL, scaled_numeric(2), scaled_numeric(None)), 2):
        branches: list[tuple[Expression, Expression]] = []
        for item in items:
            value = random_value(choose, kind)
            branches.append((Call("eq", (column, item), BOOL), Literal(value, kind)))
        default = Literal(random_value(choose, kind), kind)
        found.append(Case(tuple(branches), default, kind))
        middle = len(branches) // 2
        mixed = [*branches[:middle], (condition, Literal(random_value(choose, kind), kind)), *branches[middle:]]
        found.append(Case(tuple(mixed), Literal(None, kind), kind))
    scales = tuple(
        (Call("eq", (column, item), BOOL), Literal(Decimal(number) / 4, scaled_numeric(2)))
        if number % 2
        else (Call("eq", (column, item), BOOL), Cast(Literal(number, INT4), scaled_numeric(None)))
        for number, item in enumerate(items)
    )
    found.append(Case(scales, Cast(Literal(3, INT4), scaled_numeric(None)), scaled_numeric(None)))
    computed = tuple(
        (
            Call("in_list", (column, item, items[0]), BOOL),
            Cast(Column(2, "i4", INT4), INT8) if number % 2 else Literal(number, INT8),
        )
        for number, item in enumerate(items)
    )
    return [*found, Case(computed, Literal(-1, INT8), INT8)]


@pytest.mark.turns(7)
@pytest.mark.parametrize("index", COLUMNS)
def test_lists_and_cases_are_what_they_were_without_tables(index: int, tmp_path: Path) -> None:
    choose = random.Random(index)
    column = Column(index, SCHEMA[index].name, SCHEMA[index].type)
    items = constants(choose, column.type, 7)
    wanted = [*conditions(column, items, choose), *cases(column, items, choose)]
    rows = random_rows(choose, ROWS) + [
        with_value(row, index, choose.choice(items).value) for row in random_rows(choose, ROWS)
    ]
    # numba takes a time that grows faster than a kernel does.
    for start in range(0, len(wanted), EXPRESSIONS_AT_ONCE):
        some = wanted[start : start + EXPRESSIONS_AT_ONCE]
        step = CompiledStep(finish_step(some), tmp_path)
        found = python_rows(step.run_table(arrow_rows(rows), 0), step.step.output)
        for row, got in zip(rows, found, strict=True):
            for item, left in zip(some, got, strict=True):
                right = evaluate(item, row)
                assert same(left, right), f"{expression_text(item)[:300]} of {row} is {left!r} instead of {right!r}"


def with_value(row: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    """Return a row with one of the constants, if the column can hold it."""
    kind = SCHEMA[index].type
    if kind.family == "numeric" and value is not None and kind.display_scale is not None:
        if -value.as_tuple().exponent > kind.display_scale:
            return row
    return (*row[:index], value, *row[index + 1 :])


def test_a_longer_list_is_no_longer_code(tmp_path: Path) -> None:
    column = Column(9, "t", TEXT)

    def text(count: int) -> str:
        items = [Literal(f"word {number}", TEXT) for number in range(count)]
        branches = tuple((Call("eq", (column, item), BOOL), item) for item in items)
        made: list[Expression] = [Call("in_list", (column, *items), BOOL), Case(branches, Literal(None, TEXT), TEXT)]
        return generate_finish_kernel(finish_step(made)).text

    assert len(text(5000)) < len(text(CONSTANTS_MIN)) + 500


def test_which_branches_one_look_up_decides() -> None:
    kind = INT4
    columns = [Column(2, "i4", kind), Column(13, "other", kind)]

    def branch(column: int, value: int | None) -> tuple[Expression, Expression]:
        return Call("eq", (columns[column], Literal(value, kind)), BOOL), Literal(value, kind)

    def lengths(*branches: tuple[Expression, Expression]) -> list[int]:
        parts = runs(Case(branches, Literal(None, kind), kind))
        return [1 if isinstance(part, tuple) else len(part.constants) for part in parts]

    many = [branch(0, number) for number in range(CONSTANTS_MIN)]
    assert lengths(*many) == [CONSTANTS_MIN]
    assert lengths(*many[1:]) == [1] * (CONSTANTS_MIN - 1)
    assert lengths(*many, branch(1, 5), *many) == [CONSTANTS_MIN, 1, CONSTANTS_MIN]
    assert lengths(branch(0, None), *many) == [1, CONSTANTS_MIN]
