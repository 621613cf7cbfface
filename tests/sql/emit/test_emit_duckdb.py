"""DuckDB's text of trees: merged SELECTs, unambiguous names, constants in their physical form."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from sql.emit.duckdb import DuckDbExpressions, emit_duckdb
from sql.emit.layout import laid_out
from sql.errors import SqlError
from sql.tree.expressions import AggregateCall, Call, Cast, Column, Literal, SortKey
from sql.tree.relations import Aggregate, Filter, Join, Limit, OutputColumn, Project, Relation, Scan, Sort, Values
from sql.types.datatypes import (
    BOOL,
    DATE,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    TEXT,
    TIMESTAMPTZ,
    VARCHAR,
    numeric,
    scaled_numeric,
)

SCAN = Scan("v", "view", (OutputColumn("k", INT4), OutputColumn("x", numeric(10, 2)), OutputColumn("K", TEXT)))
K, X = Column(0, "k", INT4), Column(1, "x", numeric(10, 2))


def text(root: Relation) -> str:
    return laid_out(emit_duckdb(root, {"v": "v"}))


def test_filter_project_sort_and_limit_are_one_select() -> None:
    positive = Filter(SCAN, Call("gt", (K, Literal(0, INT4)), BOOL))
    root = Limit(
        Sort(Project(positive, (("a", K), ("b", X))), (SortKey(Column(1, "b", X.type), True),)), Literal(5, INT8), None
    )
    assert text(root) == (
        'SELECT t1."k" AS "a", t1."x" AS "b"\nFROM "v" AS t1\nWHERE (t1."k" > 0)\nORDER BY t1."x" DESC NULLS LAST\nLIMIT 5'
    )


@pytest.mark.parametrize(("length", "is_measured"), [(40, False), (512, False), (513, True), (None, True)])
def test_rows_of_a_join_are_measured_unless_their_types_say_enough(length: int | None, is_measured: bool) -> None:
    named = Scan("v", "view", (OutputColumn("k", INT4), OutputColumn("name", replace(VARCHAR, length=length))))
    join = Join(named, Scan("v", "view", (OutputColumn("k", INT4),)), "inner", Literal(True, BOOL))
    assert ("wide_rows_fit" in text(join)) == is_measured


def test_aliases_are_no_names_of_columns() -> None:
    assert text(Scan("v", "view", (OutputColumn("T12", INT4),))).endswith('FROM "v" AS tt1')


def test_a_constant_is_no_sort_key() -> None:
    root = Sort(Project(SCAN, (("a", Literal(-5, INT4)), ("b", X))), (SortKey(Column(0, "a", INT4)), SortKey(X)))
    assert text(root).endswith('ORDER BY t1."x" NULLS LAST')


def test_the_order_of_a_distinct_aggregate_is_an_argument() -> None:
    name = Column(2, "K", TEXT)
    condition = Call("gt", (K, Literal(0, INT4)), BOOL)
    call = AggregateCall(
        "string_agg", (name, Literal(",", TEXT)), TEXT, distinct=True, filter=condition, order_by=(SortKey(name),)
    )
    kept = 'CASE WHEN t2."?below 0?" THEN t2."K_2" END'
    assert f"string_agg(DISTINCT {kept}, ',' ORDER BY {kept} NULLS LAST)" in text(Aggregate(SCAN, (), (("s", call),)))


def test_names_are_unique_whatever_their_case() -> None:
    assert text(SCAN).startswith('SELECT t1."k" AS "k", t1."x" AS "x", t1."K_2" AS "K_2"')


def test_a_computed_key_has_a_subquery_of_its_own() -> None:
    key = Call("add", (K, Literal(1, INT4)), INT4)
    root = Aggregate(SCAN, (("j", key),), (("s", AggregateCall("sum", (X,), scaled_numeric(2))),))
    assert text(root) == (
        'SELECT t2."j" AS "j", CAST(sum(t2."x") AS DECIMAL(38,2)) AS "s"\n'
        'FROM (\n  SELECT t1."x" AS "x", add(t1."k", 1) AS "j"\n  FROM "v" AS t1\n) AS t2\nGROUP BY t2."j"'
    )


def test_the_order_of_a_subquery_is_repeated_outside() -> None:
    first = Limit(Sort(SCAN, (SortKey(K),)), Literal(3, INT8), None)
    root = Filter(first, Call("is_not_null", (X,), BOOL))
    assert text(root).endswith('WHERE (t2."x" IS NOT NULL)\nORDER BY t2."k" NULLS LAST')


def test_a_select_without_from() -> None:
    assert text(Project(Values(((),), ()), (("x", Literal(1, INT4)),))) == 'SELECT 1 AS "x"'
    assert (
        text(Values((), (OutputColumn("a", INT8),)))
        == 'SELECT t1."a" AS "a"\nFROM (SELECT CAST(NULL AS BIGINT) AS "a" WHERE FALSE) AS t1'
    )


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        (Literal(-5, INT4), "(-5)"),
        (Literal(-(2**31), INT4), "CAST(-2147483648 AS INTEGER)"),
        (Literal(7, INT2), "CAST(7 AS SMALLINT)"),
        (Literal(0.1, FLOAT8), "CAST('0.1' AS DOUBLE)"),
        (Literal(float("nan"), FLOAT8), "CAST('nan' AS DOUBLE)"),
        (Literal(Decimal("1.5"), scaled_numeric(3)), "CAST('1.500' AS DECIMAL(38,3))"),
        (Literal(Decimal("-0.05"), scaled_numeric(None)), "{'unscaled': CAST('-5' AS DECIMAL(38,0)), 'scale': CAST(2 AS SMALLINT)}"),
        (Literal("it's \\", TEXT), "'it''s \\'"),
        (Literal(0, DATE), "DATE '1970-01-01'"),
        (Literal(-1_000_000, DATE), "(DATE '1970-01-01' + (-1000000))"),
        (Literal(500_000, TIMESTAMPTZ), "TIMESTAMPTZ '1970-01-01 00:00:00.5+00'"),
        (Literal(None, numeric(5, 1)), "CAST(NULL AS DECIMAL(38,1))"),
    ],
)  # fmt: skip
def test_constants(literal: Literal, expected: str) -> None:
    assert DuckDbExpressions(()).text(literal) == expected


def test_numerics_of_two_scales_meet_in_one_form() -> None:
    printer = DuckDbExpressions(("x", "y"))
    one, other = Column(0, "x", numeric(10, 2)), Column(1, "y", scaled_numeric(None))
    assert (
        printer.text(Call("eq", (one, Literal(Decimal(1), scaled_numeric(0))), BOOL))
        == "(x = CAST('1.00' AS DECIMAL(38,2)))"
    )
    assert printer.text(Call("eq", (one, other), BOOL)) == "(numeric_key(numeric_pack_2(x)) = numeric_key(y))"
    assert printer.text(Call("multiply", (one, one), scaled_numeric(4))) == "(x * x)"


def test_what_may_raise_stays_behind_its_guard() -> None:
    printer = DuckDbExpressions(("k",))
    zero = Literal(0, INT4)
    guard = Call("ne", (K, zero), BOOL)
    risky = Call("gt", (Call("divide", (Literal(10, INT4), K), INT4), zero), guard.type)
    assert printer.text(Call("and", (guard, risky), guard.type)) == (
        "CASE WHEN NOT (k <> 0) THEN FALSE ELSE ((k <> 0) AND ((10 // k) > 0)) END"
    )
    assert printer.text(Call("and", (guard, guard), guard.type)) == "((k <> 0) AND (k <> 0))"


def test_a_missing_entry_names_function_and_types() -> None:
    with pytest.raises(SqlError, match=r"0A000: function gamma\(numeric\(10,2\)\) is not supported yet"):
        DuckDbExpressions(("k", "x")).text(Call("gamma", (X,), scaled_numeric(None)))
    with pytest.raises(SqlError, match="0A000: cast from date to integer is not supported yet"):
        DuckDbExpressions(("d",)).text(Cast(Column(0, "d", DATE), INT4))
    with pytest.raises(SqlError, match="22003"):
        DuckDbExpressions(("x",)).text(Call("multiply", (Column(0, "x", scaled_numeric(30)),) * 2, scaled_numeric(60)))


@pytest.mark.parametrize("depth", [20, 60])
def test_what_rules_write_twice_at_each_level_is_refused(depth: int) -> None:
    node: Call | Literal = Literal(1, INT4)
    for _ in range(depth):
        node = Call("nullif", (node, Literal(2, INT4)), INT4)
    with pytest.raises(SqlError) as raised:
        DuckDbExpressions(()).text(node)
    assert raised.value.sqlstate == "54001"
