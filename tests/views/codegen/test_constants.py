"""Constants in kernels: calls over them are made when the code is written, and dates beside
constant time stamps are compared as dates, with the answers that their midnights give.
"""

from __future__ import annotations

import operator
from pathlib import Path

import pyarrow as pa
import pytest

from ringbuffer.scalar.calendars.calendar import DATE_INFINITY, DAY_US, TIMESTAMP_DAYS_END, TIMESTAMP_INFINITY
from sql.errors import SqlError
from sql.functions.comparisons import COMPARED_DAYS, COMPARISONS
from sql.tree.expressions import Call, Case, Column, Expression, Literal
from sql.tree.relations import OutputColumn, Schema
from sql.types.datatypes import BOOL, DATE, INT4, TIMESTAMP, numeric
from views.codegen.finish_kernel import generate_finish_kernel
from views.model.nodes import FinishStep
from views.upkeep.export.finish import CompiledStep

SCHEMA: Schema = (OutputColumn("d", DATE), OutputColumn("n", INT4))
DAY, NUMBER = (Column(index, item.name, item.type) for index, item in enumerate(SCHEMA))
DAYS = (-DATE_INFINITY, -3, -2, -1, 0, 1, 2, 40_000_000, 106_751_991, DATE_INFINITY)
MOMENTS = (
    -TIMESTAMP_INFINITY,
    -2 * DAY_US,
    1 - 2 * DAY_US,
    -DAY_US - 1,
    -1,
    0,
    1,
    DAY_US,
    TIMESTAMP_DAYS_END,
    TIMESTAMP_INFINITY,
)


def step_of(*items: Expression) -> FinishStep:
    named = tuple((f"r{index}", item) for index, item in enumerate(items))
    return FinishStep(SCHEMA, (), named, tuple(OutputColumn(name, item.type) for name, item in named))


def rows(days: tuple[int, ...], numbers: tuple[int, ...] | None = None) -> pa.Table:
    dates = pa.array(days, pa.int32()).cast(pa.date32())
    return pa.table({"d": dates, "n": pa.array(numbers or [0] * len(days), pa.int32())})


def midnight(day: int) -> int:
    """Return when a day begins, as a comparison with a time stamp takes it."""
    if abs(day) == DATE_INFINITY:
        return TIMESTAMP_INFINITY if day > 0 else -TIMESTAMP_INFINITY
    return day * DAY_US if day < TIMESTAMP_DAYS_END else TIMESTAMP_INFINITY - 1


def test_dates_are_compared_with_constant_time_stamps_as_their_midnights_are(tmp_path: Path) -> None:
    day = Call(COMPARED_DAYS["timestamp"], (DAY,), TIMESTAMP)
    items, wanted = [], []
    for number, moment in enumerate(MOMENTS):
        for turn, name in enumerate(COMPARISONS):
            constant, compare = Literal(moment, TIMESTAMP), getattr(operator, name)
            if (number + turn) % 2:
                items.append(Call(name, (day, constant), BOOL))
                wanted.append([compare(midnight(one), moment) for one in DAYS])
            else:
                items.append(Call(name, (constant, day), BOOL))
                wanted.append([compare(moment, midnight(one)) for one in DAYS])
    found = CompiledStep(step_of(*items), tmp_path).run_table(rows(DAYS), 0)
    for place, (item, answers) in enumerate(zip(items, wanted, strict=True)):
        assert found.column(place).to_pylist() == answers, item


def test_calls_over_constants_are_made_once() -> None:
    decimal = numeric(10, 2)
    sum_of = Call("add", (Literal(600, decimal), Literal(1, decimal)), decimal)
    text = generate_finish_kernel(step_of(Call("gt", (sum_of, sum_of), BOOL))).text
    assert "numeric_add" not in text


def test_a_call_over_constants_that_fails_is_made_for_the_rows_that_need_it(tmp_path: Path) -> None:
    failing = Call("divide", (Literal(1, INT4), Literal(0, INT4)), INT4)
    chosen = Case(((Call("gt", (NUMBER, Literal(5, INT4)), BOOL), failing),), NUMBER, INT4)
    step = CompiledStep(step_of(chosen), tmp_path)
    assert step.run_table(rows((0, 0), (1, 5)), 0).column(0).to_pylist() == [1, 5]
    with pytest.raises(SqlError, match="division by zero"):
        step.run_table(rows((0, 0), (1, 6)), 0)
