"""Functions on the values of a few rows, without the embedded engine."""

from __future__ import annotations

import pytest

from engine.embedded.row_functions import row_function
from sql.errors import SqlError
from sql.tree.expressions import Call, Column, Expression, Literal
from sql.types.datatypes import DATE, FLOAT8, INT4, NUMERIC, TEXT, TIMESTAMP, SqlType

TEXT_COLUMN = Column(0, "t", TEXT)


def left_of(operand: Expression) -> Call:
    return Call("left", (operand, Literal(2, INT4)), TEXT)


def test_a_python_function_takes_values() -> None:
    run = row_function(Call("initcap", (TEXT_COLUMN,), TEXT))
    assert run is not None
    assert (run(("ab cd",)), run((None,))) == ("Ab Cd", None)


def test_a_kernel_takes_vectors_alone() -> None:
    """The engine computes it, also among the operands of a Python function."""
    assert row_function(left_of(TEXT_COLUMN)) is None
    assert row_function(Call("initcap", (left_of(TEXT_COLUMN),), TEXT)) is None


def test_a_function_that_duckdb_calls_by_a_rule() -> None:
    run = row_function(Call("regexp_part", (TEXT_COLUMN, Literal("it''s (.)", TEXT)), TEXT))
    assert run is not None
    assert (run(("it''s so",)), run(("no",))) == ("s", None)
    # DuckDB has its own.
    assert row_function(Call("md5", (TEXT_COLUMN,), TEXT)) is None


def test_numerics_are_pairs_and_special_ones_have_results_of_their_own() -> None:
    column = Column(0, "n", NUMERIC)
    run = row_function(Call("trim_scale", (column,), NUMERIC))
    assert run is not None
    assert (run(((1500, 3),)), run(((0, -1),))) == ((15, 1), (0, -1))
    assert row_function(Call("trim_scale", (column,), SqlType("numeric", display_scale=2))) is None


def test_moments_are_microseconds_and_dates_days() -> None:
    parts = tuple(Column(place, "i", INT4) for place in range(3))
    run = row_function(Call("make_date", parts, DATE))
    assert run is not None and run((1970, 1, 3)) == 2
    run = row_function(
        Call("make_timestamp", (*parts, Literal(0, INT4), Literal(0, INT4), Literal(0.5, FLOAT8)), TIMESTAMP)
    )
    assert run is not None and run((1970, 1, 2)) == 86_400_500_000
    with pytest.raises(SqlError, match="date field value out of range"):
        run((1970, 13, 2))


def test_values_of_lists() -> None:
    lists = SqlType("text[]")
    run = row_function(
        Call("jsonb_exists_any", (Column(0, "j", SqlType("jsonb")), Column(1, "names", lists)), SqlType("bool"))
    )
    assert run is not None
    assert (run(('{"a": 1}', ["b", "a"])), run(('{"a": 1}', [])), run(("1", None))) == (True, False, None)
