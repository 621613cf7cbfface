"""Spark's text of trees, where it differs from DuckDB's, and what Spark is said to support."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sql.emit.spark import SparkExpressions, emit_spark
from sql.errors import SqlError
from sql.tree.expressions import AggregateCall, Call, Cast, Column, Expression, Literal, SortKey, WindowCall
from sql.tree.relations import Aggregate, OutputColumn, Project, Relation, Scan, Window
from sql.types.datatypes import (
    DATE,
    INT2,
    INT8,
    INTERVAL,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlType,
    numeric,
    scaled_numeric,
)

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


def test_integer_division_is_cast_back() -> None:
    call = Call("divide", (Column(0, "a", INT2), Column(1, "b", INT2)), INT2)
    assert SparkExpressions(("a", "b")).text(call) == "CAST((a div b) AS SMALLINT)"


@pytest.mark.parametrize(
    "beyond",
    [
        Call("divide", (AVERAGE, AVERAGE), scaled_numeric(None)),
        Call("lower", (NAME,), TEXT),
        Call("greatest", (AVERAGE, AVERAGE), scaled_numeric(None)),
        Cast(NAME, numeric(10, 2)),
        Cast(NAME, SqlType("varchar", 2), True),
        Cast(COUNT, TEXT),
        AggregateCall("sum", (Column(3, "span", INTERVAL),), INTERVAL),
        AggregateCall("var_pop", (COUNT,), scaled_numeric(None)),
    ],
)
def test_what_spark_has_not_exactly_is_refused(beyond: Expression | AggregateCall) -> None:
    schema = (*GROUPS.schema, OutputColumn("span", INTERVAL))
    groups = Scan("groups", "groups", schema)
    root: Relation = (
        Aggregate(groups, (), (("a", beyond),))
        if isinstance(beyond, AggregateCall)
        else Project(groups, (("a", beyond),))
    )
    with pytest.raises(SqlError, match="0A000"):
        emit_spark(root, {"groups": "groups"})
