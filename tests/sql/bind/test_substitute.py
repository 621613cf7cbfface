"""Parameters: inference, declared types, errors, and their values put into bound trees."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest

from sql.bind import bind_query, substitute_parameters
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.expressions import Literal
from sql.tree.relations import BoundQuery
from sql.types.datatypes import INT4, INT8, NUMERIC, TEXT, SqlType
from tests.sql.sample_catalog import SETTINGS, SampleCatalog
from tests.sql.tree_text import tree_text


def bind(query: str, types: Sequence[SqlType | None] | None = ()) -> BoundQuery:
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    return bind_query(statement.query, SampleCatalog(), SETTINGS, types)


@pytest.mark.parametrize(
    ("query", "families"),
    [
        ("select $1", ["text"]),
        ("select $2::int, $1::date", ["date", "int4"]),
        ("select a from s where c > $1 and b like $2 and h = $3 and f = $4", ["numeric", "text", "date", "bool"]),
        ("select coalesce(a, $1), $2 in (1, 2), case when $3 then 1 end from s", ["int4", "int4", "bool"]),
        ("select d + $1 from s", ["interval"]),
        ("select $1 + 1.5, length($2), date_trunc('day', $3::timestamp)", ["numeric", "text", "timestamp"]),
        ("select a from s limit $1 offset $2", ["int8", "int8"]),
        ("select a from s where $1", ["bool"]),
        ("values ($1, 1), (2, $2)", ["int4", "int4"]),
    ],
)
def test_types_are_found_where_parameters_are_used(query: str, families: list[str] | None) -> None:
    if families is None:
        with pytest.raises(SqlError):
            bind(query)
        return
    assert [kind.family for kind in bind(query).parameters] == families


def test_declared_types_win() -> None:
    bound = bind("select a + $1 from s", (INT8,))
    assert bound.parameters == (INT8,)
    assert bound.root.schema[0].type == INT8
    assert bind("select $1, $2::int", (None, None)).parameters == (TEXT, INT4)


@pytest.mark.parametrize(
    ("query", "types", "sqlstate"),
    [
        ("select $1 is null", (), "42P18"),
        ("select $2::int", (), "42P18"),
        ("select $1 + $1", (), "42725"),
        ("select $1::int", None, "42P02"),
        ("select $1::int, $1 || 'x'", (), None),
    ],
)
def test_errors(query: str, types: tuple[SqlType, ...] | None, sqlstate: str | None) -> None:
    if sqlstate is None:
        assert bind(query, types).parameters == (INT4,)
        return
    with pytest.raises(SqlError) as raised:
        bind(query, types)
    assert raised.value.sqlstate == sqlstate


def test_values_take_the_parameters_places() -> None:
    bound = bind("select c * $1 from s where a = $2 limit $3")
    values = (Literal(Decimal("1.5"), NUMERIC), Literal(3, INT4), Literal(None, INT8))
    assert tree_text(substitute_parameters(bound.root, values)) == [
        "Project ?column?=multiply(#2, 1.5:numeric)[None]",
        "  Filter eq(#0, 3:int4)",
        "    Scan stream s",
    ]


@pytest.mark.parametrize(("clause", "sqlstate"), [("limit", "2201W"), ("offset", "2201X")])
def test_negative_limits(clause: str, sqlstate: str) -> None:
    bound = bind(f"select a from s {clause} $1")
    with pytest.raises(SqlError) as raised:
        substitute_parameters(bound.root, (Literal(-1, INT8),))
    assert raised.value.sqlstate == sqlstate
