"""Every expression beside the catalog has PostgreSQL's value, or is an error: expressions.txt, one
a line, asked of both servers.

The lines are operators by types, casts, aggregates and functions over edge values. Where PostgreSQL
has a value, Antumbra has the same text, or refuses it; where PostgreSQL raises an error, so does
Antumbra.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster
from tests.shares import share
from tests.system_catalog.tool_queries import dsn

EXPRESSIONS = (Path(__file__).parent / "expressions.txt").read_text().splitlines()
# Beside a relation of the catalog.
FROM = "FROM pg_namespace WHERE nspname = 'pg_catalog'"
# What differs on purpose or in every query: the reason, and parts of such expressions.
DIFFERENCES: dict[str, tuple[str, ...]] = {
    "Arrays have no lower bounds; what is made of a vector counts from 0 inside of a query, and is shown without.": (
        "vector",
        "[]",
    ),
    "What is joined with a vector counts from 1.": ("vector", "||"),
    "So does a vector to which a value is appended.": ("vector", "array_append("),
    "An array's texts lose the blanks of char(n).": ("array_to_string", "'ab '::char(5)"),
    "A sum of floats begins with 0.": ("sum(", "'-0'::float8"),
    "Deviations of floats that overflow.": ("stddev", "'1e308'::float8"),
    "A date is held to what 64 bits of microseconds hold.": ("::date", "2147483647"),
}
REFUSED_MAX = 0.06


def value(connection: psycopg.Connection[tuple[object, ...]], expression: str) -> str:
    """Return the text of the value, or the SQLSTATE of the error with a sign before it."""
    try:
        result = connection.execute(f"SELECT {expression} {FROM}").pgresult
    except psycopg.Error as error:
        return f"!{error.sqlstate}"
    assert result is not None
    found = result.get_value(0, 0)
    return "NULL" if found is None else found.decode()


def is_listed(expression: str) -> bool:
    """Tell whether an expression is one of the differences."""
    return any(all(part in expression for part in parts) for parts in DIFFERENCES.values())


@pytest.fixture(scope="module", params=share([3, 1], lambda step: step > 1), ids="every {}".format)
def answers(
    schema_server: AntumbraServer, postgres: PostgresCluster, request: pytest.FixtureRequest
) -> list[tuple[str, str, str]]:
    """Expressions with PostgreSQL's answers and ours: every third one, or all."""
    with postgres.connect() as oracle, psycopg.connect(dsn(schema_server.port), autocommit=True) as connection:
        return [(text, value(oracle, text), value(connection, text)) for text in EXPRESSIONS[:: request.param]]


def test_no_value_is_another_one(answers: list[tuple[str, str, str]]) -> None:
    wrong = [
        (text, known, ours)
        for text, known, ours in answers
        if ours != known and not ours.startswith("!") and not is_listed(text)
    ]
    assert not wrong
    internal = [(text, ours) for text, _, ours in answers if ours.startswith("!XX")]
    assert not internal
    values = [(text, ours) for text, known, ours in answers if not known.startswith("!")]
    refused = [text for text, ours in values if ours.startswith("!")]
    assert len(values) > 300
    assert len(refused) < len(values) * REFUSED_MAX, refused


def test_errors_of_values_are_those_of_postgres(answers: list[tuple[str, str, str]]) -> None:
    """Division by zero, overflow and the like have their own SQLSTATEs."""
    raised = [(text, known, ours) for text, known, ours in answers if known in ("!22012", "!22003", "!22008", "!22P02")]
    listed = [item for item in raised if not is_listed(item[0])]
    wrong = [(text, known, ours) for text, known, ours in listed if ours not in (known, "!0A000")]
    assert not wrong
    assert len(listed) > 6


@pytest.mark.parametrize("binary", [False, True])
def test_parameters_keep_their_digits(schema_server: AntumbraServer, binary: bool) -> None:
    statement = f"SELECT %s::numeric * 3, %s + 1.5, %s::float8 / 3 {FROM}"
    with psycopg.connect(dsn(schema_server.port), autocommit=True) as connection:
        values = (Decimal("0.123456789012"), Decimal("1.00000000001"), 1.0)
        row = connection.cursor(binary=binary).execute(statement, values, prepare=True).fetchone()
    assert row == (Decimal("0.370370367036"), Decimal("2.50000000001"), 1.0 / 3)


@pytest.mark.parametrize(
    ("kind", "text", "known"),
    [
        ("regclass", "pg_catalog.pg_class", "pg_class"),
        ("regclass", "1259", "pg_class"),
        ("regtype", "int4", "integer"),
        ("regprocedure", "now()", "now()"),
        ("regclass[]", "{pg_class,NULL,1247}", "{pg_class,NULL,pg_type}"),
        ("xid", "7", "7"),
        ("int2vector", "1 2", "1 2"),
    ],
)
def test_parameters_name_objects(schema_server: AntumbraServer, kind: str, text: str, known: str) -> None:
    with psycopg.connect(dsn(schema_server.port), autocommit=True) as connection:
        for statement in (f"SELECT %s::{kind}::text", f"SELECT %s::{kind}::text {FROM}"):
            assert connection.execute(statement.encode(), (text,)).fetchone() == (known,)
        connection.execute(f"PREPARE named({kind}) AS SELECT $1::text".encode())
        for argument in (f"'{text}'", f"CASE WHEN pg_backend_pid() > 0 THEN '{text}'::{kind} END"):
            assert connection.execute(f"EXECUTE named({argument})".encode()).fetchone() == (known,)
        with pytest.raises(psycopg.errors.UndefinedTable, match='relation "nosuch" does not exist'):
            connection.execute("SELECT %s::regclass", ("nosuch",))


def test_arrays_of_what_has_no_arrays_here_are_refused(schema_server: AntumbraServer) -> None:
    made = (
        "ARRAY['1 2'::int2vector]",
        "'{1}'::oidvector[]",
        "ARRAY(SELECT indkey FROM pg_index)",
        "array_append(NULL, '1 2'::int2vector)",
        "array_append(NULL, ARRAY[1])",
        "(SELECT array_agg(adbin) FROM pg_attrdef)",
    )
    with psycopg.connect(dsn(schema_server.port), autocommit=True) as connection:
        for expression in made:
            assert value(connection, expression) == "!0A000", expression


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT DISTINCT v.x FROM pg_namespace, (VALUES (1.0), (1.00)) v(x) WHERE nspname = 'pg_catalog'", 1),
        (f"SELECT 1.0 {FROM} UNION SELECT 1.00", 1),
        (f"SELECT count(*) {FROM} GROUP BY interval '1 day' * oid::int", 1),
        (f"SELECT count(*) OVER (ORDER BY nspname RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) {FROM}", "0A000"),
        ("SELECT array_agg(indkey) FROM pg_index", "0A000"),
        ("INSERT INTO pg_class SELECT * FROM pg_class", "42501"),
    ],
)
def test_the_rules_of_all_queries_hold(schema_server: AntumbraServer, query: str, rows: int | str) -> None:
    with psycopg.connect(dsn(schema_server.port), autocommit=True) as connection:
        if isinstance(rows, int):
            assert len(connection.execute(query).fetchall()) == rows
            return
        with pytest.raises(psycopg.Error) as raised:
            connection.execute(query)
        assert raised.value.sqlstate == rows


def test_numbers_of_several_scales_are_ordered_as_numbers(schema_server: AntumbraServer) -> None:
    query = "SELECT v.x::text FROM pg_namespace, (VALUES (10.5), (9), (-1.25), ('NaN'::numeric)) v(x) WHERE nspname = 'pg_catalog'"
    with psycopg.connect(dsn(schema_server.port), autocommit=True) as connection:
        rows = connection.execute(f"{query} ORDER BY v.x").fetchall()
        found = connection.execute("SELECT relname || 1 || true FROM pg_class WHERE oid = 1259").fetchone()
    assert rows == [("-1.25",), ("9",), ("10.5",), ("NaN",)]
    assert found == ("pg_class1true",)
