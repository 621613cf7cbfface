"""Spark's text of trees, where it differs from DuckDB's, and what Spark is said to support."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sql.emit.spark import SparkExpressions, emit_spark, spark_supports
from sql.tree.expressions import AggregateCall, Call, Cast, Column, Literal, SortKey, WindowCall
from sql.tree.relations import Aggregate, OutputColumn, Scan, Window
from sql.types.datatypes import BOOL, DATE, INT2, INT8, TEXT, TIMESTAMP, TIMESTAMPTZ, numeric, scaled_numeric

GROUPS = Scan(
    "groups", "groups", (OutputColumn("a b", TEXT), OutputColumn("n", INT8), OutputColumn("x", scaled_numeric(None)))
)
NAME, COUNT, AVERAGE = Column(0, "a b", TEXT), Column(1, "n", INT8), Column(2, "x", scaled_numeric(None))


def test_names_are_quoted_with_backticks() -> None:
    root = Aggregate(GROUPS, (("a b", NAME),), (("m", AggregateCall("max", (COUNT,), INT8)),))
    assert emit_spark(root, {"groups": "groups"}) == (
        "SELECT t1.`a b` AS `a b`, max(t1.`n`) AS `m`\nFROM `groups` AS t1\nGROUP BY t1.`a b`"
    )


def test_variable_numerics_are_ordered_by_their_keys() -> None:
    rank = WindowCall("rank", (), INT8, order_by=(SortKey(AVERAGE, True, True),))
    assert "rank() OVER (ORDER BY numeric_key(t1.`x`) DESC NULLS FIRST) AS `r`" in emit_spark(
        Window(GROUPS, (("r", rank),)), {"groups": "groups"}
    )


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        (Literal(-5, INT2), "(-5S)"),
        (Literal(5, INT8), "5L"),
        (Literal("a\\'b", TEXT), "'a\\\\\\'b'"),
        (Literal(Decimal("1.50"), scaled_numeric(None)), "numeric_pack(CAST('1.50' AS DECIMAL(38,2)), 2)"),
        (Literal(0, DATE), "DATE'1970-01-01'"),
        (Literal(0, TIMESTAMP), "TIMESTAMP_NTZ'1970-01-01 00:00:00'"),
        (Literal(0, TIMESTAMPTZ), "TIMESTAMP'1970-01-01 00:00:00Z'"),
        (Literal(None, TIMESTAMP), "CAST(NULL AS TIMESTAMP_NTZ)"),
    ],
)
def test_constants(literal: Literal, expected: str) -> None:
    assert SparkExpressions(()).text(literal) == expected


def test_patterns_escape_only_what_must_be() -> None:
    like = Call("like", (NAME, Literal("a\\b\\%_!", TEXT), Literal("\\", TEXT)), BOOL)
    assert SparkExpressions(("c",)).text(like) == "(c LIKE 'ab\\\\%_!' ESCAPE '\\\\')"


def test_integer_division_is_cast_back() -> None:
    call = Call("divide", (Column(0, "a", INT2), Column(1, "b", INT2)), INT2)
    assert SparkExpressions(("a", "b")).text(call) == "CAST((a div b) AS SMALLINT)"


def test_support_is_known_before_running() -> None:
    assert spark_supports(Call("divide", (AVERAGE, AVERAGE), scaled_numeric(None)), 3)
    assert spark_supports(Cast(Column(0, "a", TEXT), numeric(10, 2)), 1)
    assert not spark_supports(Cast(Column(0, "a", TEXT), DATE), 1)
    assert not spark_supports(Call("frobnicate", (COUNT,), INT8), 3)
