"""Functions on the values of a few rows, without the embedded engine."""

from __future__ import annotations

import pytest

from bench.function_page import bound
from engine.embedded.row_functions import inner_function, row_function
from sql.errors import SqlError
from sql.functions import sketches
from sql.functions.table import ROWS
from sql.tree.expressions import Call, Cast, Column, Expression, Literal
from sql.tree.relations import Project
from sql.types.datatypes import BOOL, DATE, FLOAT8, INT4, NUMERIC, TEXT, TIMESTAMPTZ, SqlType

# Families whose values are the texts that clients see.
SHOWN = frozenset("text varchar json jsonb name inet cidr".split())
TEXT_COLUMN = Column(0, "t", TEXT)


def left_of(operand: Expression) -> Call:
    return Call("left", (operand, Literal(2, INT4)), TEXT)


def test_a_python_function_takes_values() -> None:
    run = row_function(Call("initcap", (TEXT_COLUMN,), TEXT))
    assert run is not None
    assert (run(("ab cd",)), run((None,))) == ("Ab Cd", None)


def test_a_kernel_runs_over_one_row() -> None:
    """Also among the operands of a Python function; long texts lie outside of sixteen bytes."""
    run = row_function(Call("initcap", (left_of(TEXT_COLUMN),), TEXT))
    assert run is not None
    assert (run(("äbc",)), run((None,))) == ("äB", None)
    long = row_function(Call("left", (TEXT_COLUMN, Literal(20, INT4)), TEXT))
    assert long is not None and long(("é" * 30,)) == "é" * 20
    made = row_function(Call("make_date", (Column(0, "y", INT4), Literal(2, INT4), Column(1, "d", INT4)), DATE))
    assert made is not None and made((1970, 3)) == 33
    with pytest.raises(SqlError, match="date field value out of range: 1971-02-30"):
        made((1971, 30))
    repeated = row_function(Call("repeat", (TEXT_COLUMN, Column(1, "n", INT4)), TEXT))
    assert repeated is not None and repeated(("ab", 100_000)) == "ab" * 100_000
    with pytest.raises(SqlError, match="requested length too large"):
        repeated(("ab", 2**31 - 1))


def test_a_text_that_calls_nothing_but_functions_of_ours() -> None:
    zone = Literal("Europe/Berlin", TEXT)
    moments = (Column(0, "a", TIMESTAMPTZ), Column(1, "b", TIMESTAMPTZ), zone)
    aged = row_function(Call("age", moments, SqlType("interval")))
    assert aged is not None and aged((86_400_000_000, 0)) == (0, 1, 0)
    splits = (TEXT_COLUMN, Literal(",", TEXT))
    split = row_function(Call("string_to_array", splits, SqlType("text[]")))
    assert split is not None and (split(("a,b",)), split((None,))) == (["a", "b"], None)


def test_lists_may_be_null_where_a_function_is_not_strict() -> None:
    numbers = SqlType("int4[]")
    run = row_function(Call("array_append", (Column(0, "l", numbers), Column(1, "n", INT4)), numbers))
    assert run is not None and (run(([1], None)), run((None, 2))) == ([1, None], [2])


def test_examples_of_the_table_have_the_answers_of_postgres() -> None:
    """Of every row that has a form for few rows."""
    known, wrong = 0, []
    for row in ROWS.values():
        root = None if row.example is None else bound(f"SELECT {row.example[0]}")
        if row in sketches.FUNCTIONS or row.example is None or not isinstance(root, Project):
            continue
        ((_, called),) = root.items
        run = inner_function(called if called.type.family in SHOWN else Cast(called, TEXT, zone="Europe/Berlin"))
        if run is None:
            continue
        found, known = run(()), known + 1
        if found != row.example[1] and called.type.family != "timestamptz":
            wrong.append(f"{row.example[0]}: {found!r}, not {row.example[1]!r}")
    assert not wrong, "\n".join(wrong)
    assert known >= 150


def test_a_function_that_duckdb_calls_by_a_rule() -> None:
    run = row_function(Call("regexp_part", (TEXT_COLUMN, Literal("it''s (.)", TEXT)), TEXT))
    assert run is not None
    assert (run(("it''s so",)), run(("no",))) == ("s", None)
    # DuckDB has its own.
    assert row_function(Call("atan", (Column(0, "f", FLOAT8),), FLOAT8)) is None


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


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("eq", (True, False, False)),
        ("ne", (False, True, True)),
        ("lt", (False, True, False)),
        ("ge", (True, False, True)),
    ],
)
def test_values_are_compared_as_duckdb_does(function: str, expected: tuple[bool, ...]) -> None:
    """NaN is equal to itself and the largest, moments and texts are in the order of their words."""
    nan = float("nan")
    for kind, same, small, large in (
        (FLOAT8, (nan, float("nan")), -1.5, nan),
        (FLOAT8, (0.0, -0.0), float("-inf"), 0.0),
        (INT4, (7, 7), -7, 0),
        (TEXT, ("é", "é"), "Z", "a"),
        (TIMESTAMPTZ, (5, 5), -5, 1 << 62),
        (SqlType("bpchar"), ("a ", "a"), "a", "b"),
    ):
        run = row_function(Call(function, (Column(0, "a", kind), Column(1, "b", kind)), BOOL))
        assert run is not None, (function, kind)
        assert (run(same), run((small, large)), run((large, small))) == expected, (function, kind)
        assert run((None, small)) is None
    lists = SqlType("int4[]")
    assert row_function(Call(function, (Column(0, "a", lists), Column(1, "b", lists)), BOOL)) is None


def test_quotients_of_integers_are_cut_off_and_fail_as_postgres_does() -> None:
    columns = (Column(0, "a", INT4), Column(1, "b", INT4))
    divide, rest = (row_function(Call(name, columns, INT4)) for name in ("divide", "modulo"))
    assert divide is not None and rest is not None
    assert [(divide(pair), rest(pair)) for pair in ((-7, 3), (7, -3), (-8, -3))] == [(-2, -1), (-2, 1), (2, -2)]
    assert rest((-(2**31), -1)) == 0
    for run, pair, message in (
        (divide, (1, 0), "division by zero"),
        (rest, (1, 0), "division by zero"),
        (divide, (-(2**31), -1), "integer out of range"),
    ):
        with pytest.raises(SqlError, match=message):
            run(pair)
