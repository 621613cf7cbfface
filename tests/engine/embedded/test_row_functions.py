"""Functions on the values of a few rows, without the embedded engine."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from bench.function_page import bound
from engine.embedded.printed_parts import Part
from engine.embedded.printed_texts import text_function
from engine.embedded.row_functions import inner_function, row_function
from sql.bind import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.errors import SqlError
from sql.functions import sketches
from sql.functions.table import ROWS
from sql.parse.parse import parse
from sql.parse.statements.select import Select
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
    run = row_function(Call("add", (Column(0, "n", NUMERIC), Column(0, "n", NUMERIC)), NUMERIC))
    assert run is not None and run(((15, 1),)) == (30, 1)


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


class Texts:
    """A catalog of one relation, which has a text."""

    def relation(self, name: str) -> RelationDescription:
        return RelationDescription(name, "stream", 20_000, (ColumnDescription("c", TEXT),))

    def relation_names(self) -> Iterable[str]:
        return ("s",)


def shown(text: str) -> Expression:
    """Return the tree of an expression over the text."""
    (statement,) = parse(f"SELECT {text} FROM s")
    assert isinstance(statement, Select)
    root = bind_query(statement.query, Texts(), SessionSettings(time_zone="UTC")).root
    assert isinstance(root, Project)
    return root.items[0][1]


CHOSEN = ("Yes", "Ab C", "None")
LIKE = ("Abc", "Ab", "No", "No")


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("c ~ 'a+b'", ("xaab", "b", None), (True, False, None)),
        ("c !~* '^A'", ("abc", "b", None), (False, True, None)),
        ("initcap(CASE WHEN c = 'no' THEN 'yes' WHEN c IS NULL THEN 'none' ELSE c END)", ("no", "ab c", None), CHOSEN),
        ("array_to_string(array_remove(string_to_array(c, ','), 'x'), '-', '?')", ("a,x,b", "x", "", None), ("a-b", "", "", None)),
        ("array_positions(string_to_array(c, ','), 'x')", ("a,x,x", "", None), ([2, 3], [], None)),
        ("array_replace(string_to_array(c, ','), 'x', NULL)", ("a,x", "x", None), (["a", None], [None], None)),
        ("string_to_array(c, ',') @> ARRAY['a', 'b']", ("b,c,a", "a", "", None), (True, False, False, None)),
        ("string_to_array(c, ',') && ARRAY['a', NULL]", ("b,a", "c", None), (True, False, None)),
        ("initcap(CASE WHEN c LIKE '%b_' OR c ILIKE 'a%' THEN c ELSE 'no' END)", ("abc", "Ab", "x", None), LIKE),
        ("initcap(CASE WHEN c NOT IN ('a', 'b') THEN c END)", ("a", "c", None), (None, "C", None)),
        ("initcap(CASE WHEN c LIKE c || '%' AND length(c) BETWEEN 2 AND 3 THEN c END)", ("a", "cd", None), (None, "Cd", None)),
        ("concat_ws(c, 'a', NULL, 'b')", ("-", "", None), ("a-b", "ab", None)),
        ("c::interval", ("1 day 02:00", "-1 mon", None), ((0, 1, 7_200_000_000), (-1, 0, 0), None)),
        ("date_trunc('hour', c::interval)", ("1 day 02:03", "-00:30", None), ((0, 1, 7_200_000_000), (0, 0, 0), None)),
        ("c::time - time '01:00'", ("02:00", "00:30", None), ((0, 0, 3_600_000_000), (0, 0, -1_800_000_000), None)),
        ("c::time + interval '25 hours'", ("02:00", "23:30", None), (10_800_000_000, 1_800_000_000, None)),
        ("c::date + c::time", (None,), (None,)),
        ("trim_array(string_to_array(c, ','), 1)", ("a,b", "a", None), (["a"], [], None)),
        ("c::bytea || '\\x00'::bytea", ("ab", "", None), (b"ab\0", b"\0", None)),
        ("c::char(3)", ("ab", "abc", None), ("ab ", "abc", None)),
        ("(c::jsonb ->> 'a')::interval", ('{"a": "1 day"}', "{}", None), ((0, 1, 0), None, None)),
    ],
)  # fmt: skip
def test_texts_for_duckdb_mean_the_same_on_values(
    text: str, values: tuple[str | None, ...], expected: tuple[object, ...]
) -> None:
    """The answers are PostgreSQL's; `test_function_table.py` asks it for all functions."""
    run = row_function(shown(text))
    assert run is not None
    assert tuple(run((value,)) for value in values) == expected


def test_errors_of_texts_for_duckdb() -> None:
    for text, value, sqlstate in (
        ("trim_array(string_to_array(c, ','), 3)", "a", "2202E"),
        ("c::interval", "day", "22007"),
        ("c::uuid", "x", "22P02"),
        ('c::name::"char"::int4 + 2147483647', "a", "22003"),
    ):
        run = row_function(shown(text))
        assert run is not None, text
        with pytest.raises(SqlError) as error:
            run((value,))
        assert error.value.sqlstate == sqlstate, text


def test_what_only_duckdb_computes() -> None:
    for text in ("array_fill(c, ARRAY[2])", "extract(epoch FROM c::interval)", "c::regclass"):
        assert row_function(shown(text)) is None, text


@pytest.mark.parametrize(
    "text",
    ["operand_0 +", "CASE WHEN operand_0 THEN 1 END", "nothing(operand_0)", "operand_0 < 1", "(operand_0).x", "'a' ~ 'b'",
     "CAST(operand_0 AS DOUBLE)", "operand_1", "[1, 'a']", "list_filter(operand_0, lambda x: x)", "text_left(operand_0, operand_0)"],
)  # fmt: skip
def test_texts_that_are_not_known(text: str) -> None:
    with pytest.raises(LookupError):
        text_function(text, [Part(lambda row: row[0], "VARCHAR")])
