"""Functions on the values of a few rows, without the embedded engine."""

from __future__ import annotations

import pytest

from engine.embedded.row_functions import row_function
from sql.errors import SqlError
from sql.tree.expressions import Call, Cast, Column, Expression, Literal
from sql.types.datatypes import DATE, INT4, NUMERIC, TEXT, TIMESTAMPTZ, SqlType

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
    assert row_function(Call("bit_length", (TEXT_COLUMN,), INT4)) is None


def test_numerics_are_pairs_and_special_ones_have_results_of_their_own() -> None:
    column = Column(0, "n", NUMERIC)
    run = row_function(Call("trim_scale", (column,), NUMERIC))
    assert run is not None
    assert (run(((1500, 3),)), run(((0, -1),))) == ((15, 1), (0, -1))
    assert row_function(Call("trim_scale", (column,), SqlType("numeric", display_scale=2))) is None


def test_dates_are_days_and_times_microseconds() -> None:
    given = (TEXT_COLUMN, Literal("YYYY-MM-DD", TEXT))
    run = row_function(Call("read_date", given, DATE))
    assert run is not None and run(("1970-01-03",)) == 2
    run = row_function(Call("read_timestamp", (*given, Literal("UTC", TEXT)), TIMESTAMPTZ))
    assert run is not None and run(("1970-01-02",)) == 86_400_000_000
    with pytest.raises(SqlError, match="date/time field value out of range"):
        run(("1970-13-02",))


def test_values_of_lists() -> None:
    lists = SqlType("text[]")
    run = row_function(
        Call("jsonb_exists_any", (Column(0, "j", SqlType("jsonb")), Column(1, "names", lists)), SqlType("bool"))
    )
    assert run is not None
    assert (run(('{"a": 1}', ["b", "a"])), run(('{"a": 1}', [])), run(("1", None))) == (True, False, None)


def test_integers_and_texts_are_computed_as_duckdb_does() -> None:
    """Bounds are those of PostgreSQL's types, case is that of ASCII letters alone."""
    number = Column(0, "n", INT4)
    run = row_function(Call("subtract", (number, Literal(1, INT4)), INT4))
    assert run is not None and (run((-(2**31) + 1,)), run((None,))) == (-(2**31), None)
    with pytest.raises(SqlError, match="integer out of range"):
        run((-(2**31),))
    run = row_function(Call("concat_op", (Call("upper", (TEXT_COLUMN,), TEXT), Cast(Column(1, "n", INT4), TEXT)), TEXT))
    assert run is not None and run(("aéß", -5)) == "Aéß-5"
    # A numeric is no integer.
    assert row_function(Call("add", (Column(0, "n", NUMERIC), Column(0, "n", NUMERIC)), NUMERIC)) is None
