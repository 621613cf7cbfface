"""Many constants in a row, and long chains of set operations, mean in the embedded engine what they
mean in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from engine.embedded.query_engine import QueryEngine
from sql.bind.expressions.rows import NESTED_MAX
from sql.emit.duckdb import emit_duckdb
from sql.emit.duckdb_optimizer import CONDITIONS_MAX, few_conditions
from sql.functions.long_constants import LONG_IN_ITEMS, LONG_ITEMS, SEPARATORS
from sql.tree.relations import Values
from tests.engine.answers import bound_root, difference, engine_answer, oracle_answer

# Constants by their type.
ITEMS = {
    "integer": ["1", "-2147483648", "2147483647", "0"],
    "bigint": ["9223372036854775807", "-9223372036854775808", "3"],
    "smallint": ["1::int2", "-32768::int2"],
    "plain numeric": ["1.5::numeric", "1e30::numeric", "-0.001::numeric", "'NaN'::numeric", "'-Infinity'::numeric"],
    "numeric": ["1.5", "-0.25", "12345678901234567890.123", "7"],
    "float": ["1.5::float8", "'NaN'::float8", "'-Infinity'::float8", "1e-300::float8", "-0.0::float8"],
    "real": ["1.5::real", "'Infinity'::real", "0.1::real"],
    "boolean": ["true", "false"],
    "date": ["date '2024-02-29'", "date '0001-01-01'", "date '9999-12-31'", "date '0044-03-15 BC'"],
    "infinite date": ["date '2024-02-29'", "date 'infinity'"],
    "timestamp": ["timestamp '2024-02-29 12:34:56.789'", "timestamp '1969-12-31 23:59:59.999999'"],
    "timestamptz": ["timestamptz '2024-02-29 12:34:56+02'"],
    "interval": ["interval '1 month 2 days'", "interval '-1 second'"],
    "text": ["'a'", "''", "'NULL'", "'it''s'", "'a,b'", "'[x]'", "'\"'", "E'\\\\'", "' '", "'é'"],
    "separators": [f"E'\\x{ord(mark):02x}x'" for mark in SEPARATORS],
    "varchar": ["'abc'::varchar(5)", "'d'::varchar(5)"],
    "char": ["'ab'::char(4)", "'c'::char(4)"],
    "bytea": ["'\\x00ff'::bytea"],
    "array": ["'{1,2}'::int[]", "'{}'::int[]"],
    "computed": ["1 + 1", "2"],
}


def drawn(kind: str, count: int, nulls: bool) -> list[str]:
    """Return so many constants of a type, some of them NULL, the first one not."""
    chance = Random(f"{kind} {count} {nulls}")
    items = [chance.choice(ITEMS[kind]) for _ in range(count)]
    return [ITEMS[kind][0], *("NULL" if nulls and chance.random() < 0.1 else item for item in items[1:])]


def failure(
    oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: Mapping[str, pa.Table], query: str
) -> str | None:
    """Return what differs."""
    return difference(oracle_answer(oracle, query), engine_answer(engine.run, query, inputs), ordered=True)


@pytest.mark.turns(12)
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("kind", ITEMS)
def test_rows_and_arrays(
    kind: str, nulls: bool, oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: dict[str, pa.Table]
) -> None:
    for count in (LONG_ITEMS - 1, LONG_ITEMS, 3 * LONG_ITEMS):
        items = drawn(kind, count, nulls)
        rows = ", ".join(f"({index}, {item})" for index, item in enumerate(items))
        assert failure(oracle, engine, inputs, f"SELECT * FROM (VALUES {rows}) v (i, x)") is None
        assert failure(oracle, engine, inputs, f"VALUES {rows}") is None
        if kind not in ("array", "interval", "timestamptz"):
            array = f"ARRAY[{', '.join(items)}]"
            assert failure(oracle, engine, inputs, f"SELECT {array}, array_length({array}, 1)") is None


# What rows compute, by their number.
COMPUTED = [
    "1 + 1",
    "abs(-1)",
    "{i} + 1",
    "{i} * 3 - ({i} + 2)",
    "'x' || 'y{i}'",
    "'x' || {i}",
    "abs(-{i})",
    "date '2024-01-01' + {i}",
    "timestamp '2024-01-01' + interval '{i} days'",
    "CASE WHEN {i} > 5 THEN {i} ELSE 0 END",
    "nullif({i}, 7)",
    "{i}.5::float8 / 2",
    "{i}.25 + {i}",
    "round({i}.555, 1)",
    "upper('a{i}')",
    "substring('abcdefgh', {i} % 5 + 1)",
    "'abc' LIKE '%{i}'",
    "'2024-01-{d}'::date",
    "extract(year from date '2024-01-01' + {i})",
    "ARRAY[{i}, {i} + 1]",
    "({i}, {i} + 1) = ({i}, 5)",
    "{i} IN (1, 2, {i} + 1)",
    "{i} BETWEEN 3 AND 50",
    "(SELECT {i})",
    "coalesce(NULL, {i})",
    "1 / (150 - {i})",
    "2147483500 + {i}",
    "'{i}'::int4",
    "'{i}'::int2 * 300::int2",
]


@pytest.mark.turns(12)
@pytest.mark.parametrize("item", COMPUTED)
def test_rows_that_compute(
    item: str, oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: dict[str, pa.Table]
) -> None:
    def written(index: int) -> str:
        return item.replace("{i}", str(index)).replace("{d}", f"{index % 28 + 1:02}")

    for count in (LONG_ITEMS, 2 * LONG_ITEMS):
        rows = ", ".join(f"({index}, {written(index)})" for index in range(count))
        assert failure(oracle, engine, inputs, f"SELECT * FROM (VALUES {rows}) v (i, x)") is None
        equal = ", ".join(f"({written(1)})" for _ in range(count))
        assert (
            failure(oracle, engine, inputs, f"SELECT count(*), count(x), min(x::text) FROM (VALUES {equal}) v (x)")
            is None
        )
        # One of another kind among them.
        odd = f"{rows}, (-1, {written(1)}), (-2, NULL)"
        assert failure(oracle, engine, inputs, f"SELECT * FROM (VALUES {odd}) v (i, x)") is None


@pytest.mark.turns(12)
@pytest.mark.parametrize(("first", "second"), [(30, 70), (70, 30), (0, 199), (199, 0), (99, 100)])
def test_the_first_constant_that_fails_is_told(
    first: int, second: int, oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: dict[str, pa.Table]
) -> None:
    items = [f"{index} + 1" for index in range(200)]
    items[first], items[second] = "1 / 0", "2147483647 + 1"
    for query in (
        f"SELECT * FROM (VALUES {', '.join(f'({item})' for item in items)}) v (x)",
        f"SELECT {', '.join(items)} FROM t",
    ):
        assert failure(oracle, engine, inputs, query) is None
        answer = engine_answer(engine.run, query, inputs)
        assert ("22012" if first < second else "22003") in str(answer)


def test_rows_that_compute_are_planned_once(engine: QueryEngine) -> None:
    rows = ", ".join(f"({index} + {index} * 2, abs({index}))" for index in range(2 * LONG_ITEMS))
    text = emit_duckdb(bound_root(f"VALUES {rows}"), {})
    assert text.count("add") + text.count("+") < LONG_ITEMS / 10


@pytest.mark.turns(12)
@pytest.mark.parametrize("negated", ["", "NOT "])
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("kind", ["integer", "bigint", "numeric", "text", "varchar", "char", "date", "float"])
def test_lists_of_in(
    kind: str,
    nulls: bool,
    negated: str,
    oracle: psycopg.Connection[Any],
    engine: QueryEngine,
    inputs: dict[str, pa.Table],
) -> None:
    others = {"integer": "12", "bigint": "12", "numeric": "12.25", "text": "'x'", "varchar": "'x'", "char": "'x'"}
    wanted = [*ITEMS[kind], others.get(kind, "NULL"), "NULL"]
    listed = ", ".join(drawn(kind, LONG_IN_ITEMS, nulls))
    asked = ", ".join(f"({index}, {item})" for index, item in enumerate(wanted))
    query = f"SELECT i, x {negated}IN ({listed}) FROM (VALUES {asked}) v (i, x) ORDER BY i"
    assert failure(oracle, engine, inputs, query) is None
    # Where it is a condition, in a CASE, and below an aggregate.
    query = (
        f"SELECT count(*), sum(CASE WHEN x {negated}IN ({listed}) THEN i ELSE 0 END),"
        f" count(*) FILTER (WHERE x {negated}IN ({listed}))"
        f" FROM (VALUES {asked}) v (i, x) WHERE x {negated}IN ({listed}) OR i = 0"
    )
    assert failure(oracle, engine, inputs, query) is None


@pytest.mark.turns(12)
@pytest.mark.parametrize("operation", ["UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"])
def test_chains_of_set_operations(
    operation: str, oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: dict[str, pa.Table]
) -> None:
    chance = Random(operation)
    for count in (2, 3, 4, 5, 8):
        sides = []
        for _ in range(count):
            rows = ", ".join(chance.choice(["(1)", "(2)", "(2)", "(3)", "(NULL)"]) for _ in range(8))
            sides.append(f"(VALUES {rows})")
        sides[0] = "(VALUES " + ", ".join(["(1)", "(2)", "(3)", "(4)", "(NULL)"] * 4) + ")"
        query = f"SELECT x FROM ({f' {operation} '.join(sides)}) q (x) ORDER BY x"
        assert failure(oracle, engine, inputs, query) is None
        mixed = f" {operation} ".join(sides[:-1]) + f" UNION ALL {sides[-1]} {operation} {sides[0]}"
        assert failure(oracle, engine, inputs, f"SELECT x FROM ({mixed}) q (x) ORDER BY x") is None


@pytest.mark.turns(12)
@pytest.mark.parametrize("operation", ["UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL"])
def test_chains_are_not_nested(operation: str) -> None:
    text = emit_duckdb(bound_root(f" {operation} ".join(["SELECT 1"] * 128)), {})
    depth = deepest = 0
    for mark in text:
        depth += {"(": 1, ")": -1}.get(mark, 0)
        deepest = max(deepest, depth)
    # DuckDB plans 200 operations in one another for seconds, and 1,000 for minutes, which nothing
    # can end.
    assert deepest < 16


def test_constants_are_data() -> None:
    rows = ", ".join(f"({index}, 'x', 1.5, date '2024-01-01', NULL::int)" for index in range(LONG_ITEMS))
    root = bound_root(f"VALUES {rows}")
    assert isinstance(root, Values)
    assert "VALUES" not in emit_duckdb(root, {})
    listed = ", ".join(map(str, range(LONG_IN_ITEMS)))
    assert "IN (SELECT" in emit_duckdb(bound_root(f"SELECT 7 IN ({listed})"), {})


# Conditions by what stands between them; each is NULL for some rows.
CONDITIONS = {
    "OR of ANDs": (" OR ", "(i = {n} AND l = {n})"),
    "OR": (" OR ", "i > {n}"),
    "AND of ORs": (" AND ", "(i <> {n} OR l IS DISTINCT FROM {n})"),
    "AND": (" AND ", "i <> {n}"),
}


@pytest.mark.turns(12)
@pytest.mark.parametrize("count", [CONDITIONS_MAX, CONDITIONS_MAX + 1, 10 * CONDITIONS_MAX])
@pytest.mark.parametrize("kind", CONDITIONS)
def test_many_conditions(
    kind: str, count: int, oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: dict[str, pa.Table]
) -> None:
    word, text = CONDITIONS[kind]
    conditions = word.join(text.format(n=7 * number) for number in range(-count // 2, count // 2 + 1))
    for query in (
        f"SELECT id FROM t WHERE {conditions} ORDER BY 1",
        f"SELECT id, ({conditions}) IS NULL, NOT ({conditions}) FROM t ORDER BY 1",
        f"SELECT t.id, u.id FROM t JOIN t u ON t.id = u.id AND ({conditions.replace('i ', 't.i ').replace('l ', 'u.l ')}) ORDER BY 1",
    ):
        assert failure(oracle, engine, inputs, query) is None


def test_few_conditions_are_a_few_in_all() -> None:
    texts: Sequence[str] = [f"c{number}" for number in range(CONDITIONS_MAX**2 + 1)]
    few = few_conditions(texts, " AND ")
    assert len(few) == 2
    assert " AND ".join(few).replace("COALESCE(", "").replace(", NULL)", "") == " AND ".join(texts)


@pytest.mark.turns(12)
@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
def test_long_rows_are_compared_as_short_ones(
    operator: str, oracle: psycopg.Connection[Any], engine: QueryEngine, inputs: dict[str, pa.Table]
) -> None:
    chance = Random(operator)
    for count in (NESTED_MAX, NESTED_MAX + 1, 10 * NESTED_MAX):
        for others in (
            {},
            {count - 1: "2"},
            {count // 2: "NULL"},
            {count // 2: "0", 0: "1"},
            {0: "NULL"},
            {count - 1: "NULL"},
        ):
            left, right = ["i"] * count, ["i"] * count
            chance.choice((left, right))[:] = [others.get(index, "i") for index in range(count)]
            query = f"SELECT i, ({', '.join(left)}) {operator} ({', '.join(right)}) FROM t ORDER BY id"
            assert failure(oracle, engine, inputs, query) is None
