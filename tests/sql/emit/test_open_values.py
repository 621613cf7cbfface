"""Texts that are printed once for all values are those that are printed with the values."""

from __future__ import annotations

from typing import NoReturn

import pytest

from sql.bind import bind_query, substitute_parameters
from sql.emit.constant_failures import check_constants
from sql.emit.duckdb import DuckDbExpressions, emit_duckdb
from sql.emit.open_values import CHARACTERS_MAX, MARK, OPEN, OpenText, is_open, mark_of, may_stand
from sql.emit.strict_nulls import without_strict_nulls
from sql.errors import SqlError
from sql.names.relation_keys import relation_key
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.times.civil import DATE_INFINITY, TIMESTAMP_INFINITY
from sql.tree.expressions import Literal, Parameter
from sql.tree.relations import BoundQuery
from sql.tree.walks import scans
from tests.sql.emit.every_type import COLUMNS, EveryType
from tests.sql.sample_catalog import SETTINGS

OPERATORS = ("=", "<", ">=")
TEXTS = ("", "a", "it's", "$1", '"x"', "\\", "ü" * CHARACTERS_MAX, " a ")
NUMBERS = (0, 1, -1, 32767, -32768)
VALUES: dict[str, tuple[bool | int | float | str, ...]] = {
    "bool": (True, False),
    "int2": NUMBERS,
    "int4": (*NUMBERS, 2**31 - 1, -(2**31)),
    "int8": (*NUMBERS, 2**31, 2**63 - 1, -(2**63)),
    "float4": (0.0, -0.0, 1.5, float("nan"), float("-inf"), 1e-30),
    "float8": (0.0, -0.0, 1.5, float("nan"), float("inf"), 1e300),
    "text": TEXTS,
    "varchar": TEXTS,
    "bpchar": TEXTS,
    "uuid": ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",),
    "date": (0, -1, 20_000, DATE_INFINITY, -DATE_INFINITY, -2_000_000),
    "timestamp": (0, -1, 1_700_000_000_123_456, TIMESTAMP_INFINITY, -TIMESTAMP_INFINITY, -(10**17)),
    "timestamptz": (0, -1, 1_700_000_000_123_456, TIMESTAMP_INFINITY, -TIMESTAMP_INFINITY, -(10**17)),
}
SHAPES = (
    "SELECT id, c || 'x' AS c FROM t WHERE {0}",
    "SELECT id FROM t WHERE i > 3 AND (1 / i > 0) AND ({0} OR l = 5) ORDER BY c LIMIT 3",
    "SELECT a.id, CASE WHEN {1} THEN a.c ELSE a.v END FROM t a JOIN t o ON a.id = o.id AND {1}",
    "SELECT {2}, count(*) FILTER (WHERE {0}) FROM t GROUP BY {2} HAVING {0}",
    "SELECT id FROM t WHERE id IN (SELECT id FROM t WHERE NOT ({0})) UNION ALL SELECT i FROM t WHERE {0}",
    "WITH q AS (SELECT *, random() AS z FROM t) SELECT * FROM (SELECT a.id FROM q a, q o WHERE {1}) AS n",
)


def bound(text: str, kinds: tuple[object, ...] = ()) -> BoundQuery:
    (statement,) = parse(text)
    assert isinstance(statement, Select)
    return bind_query(statement.query, EveryType(), SETTINGS, kinds)  # type: ignore[arg-type]


def evaluate(*_: object) -> NoReturn:
    raise AssertionError("a constant is computed before the query runs")


@pytest.mark.turns(2)
@pytest.mark.parametrize("column", COLUMNS)
def test_a_text_for_all_values_is_that_with_each(column: str) -> None:
    opened = 0
    for operator in OPERATORS:
        for shape in SHAPES:
            condition, turned = f"{column} {operator} $1", f"$1 {operator} a.{column}"
            try:
                query = bound(shape.format(condition, turned, column))
            except SqlError:
                continue
            if not is_open(query.root):
                continue
            opened += 1
            names = {scan.name: scan.name for scan in scans(query.root)}
            text = OpenText(emit_duckdb(query.root, names), query.root)
            (kind,) = query.parameters
            for value in VALUES[str(kind.family)]:
                given = (Literal(value, kind),)
                assert may_stand(given)
                with_value = substitute_parameters(query.root, given)
                check_constants(with_value, evaluate, evaluate)
                assert without_strict_nulls(with_value) is with_value
                assert text.filled(given, DuckDbExpressions(()).literal) == emit_duckdb(with_value, names)
    assert (opened > 10) == (COLUMNS[column].family in OPEN), column


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM t WHERE i = 3",
        "SELECT id, $1::int FROM t WHERE i = $1",
        "SELECT id FROM t WHERE i = $1 + 1",
        "SELECT id FROM t WHERE i = 1 AND $1 = 2",
        "SELECT id FROM t WHERE i = $1 LIMIT $2",
        "SELECT id FROM t WHERE d::timestamp < $1::timestamp",
        "SELECT id FROM t WHERE d < $1::timestamp",
        "SELECT id FROM t WHERE c LIKE $1",
        "SELECT id FROM t WHERE n = $1",
        "SELECT id FROM t WHERE i = ANY ($1)",
        "SELECT id FROM t WHERE coalesce(i, $1) = $1",
    ],
)
def test_a_value_that_decides_is_no_open_one(text: str) -> None:
    assert not is_open(bound(text).root)


def test_a_null_and_a_long_text_may_not_stand() -> None:
    kind = COLUMNS["c"]
    assert may_stand((Literal("x", kind), Literal("", kind)))
    assert not may_stand((Literal("x", kind), Literal(None, kind)))
    assert not may_stand((Literal("x" * (CHARACTERS_MAX + 1), kind),))


def test_a_text_without_its_values_is_refused() -> None:
    query = bound("SELECT id FROM t WHERE i = $1")
    text = OpenText(emit_duckdb(query.root, {"t": "t"}), query.root)
    with pytest.raises(SqlError, match=r"parameter \$1 in this place"):
        text.filled((), DuckDbExpressions(()).literal)


def test_an_integer_of_another_width_is_open() -> None:
    query = bound("SELECT id FROM t WHERE l > $1 AND i = $2", (COLUMNS["s"], COLUMNS["l"]))
    assert is_open(query.root)


def test_keys_of_relations_stay_in_a_text_with_values() -> None:
    query = bound("SELECT id FROM t WHERE i = $1")
    for schema in ("o", "1", ""):
        key = MARK[0] + relation_key(schema, "1")
        text = OpenText(f"SELECT '{key}' WHERE 1 = {mark_of(Parameter(1, COLUMNS['i']))}", query.root)
        assert text.filled((Literal(7, COLUMNS["i"]),), DuckDbExpressions(()).literal) == f"SELECT '{key}' WHERE 1 = 7"
