"""Patterns that no backtracking matcher ends on, in every position of a statement; and how a
statement with them is stopped.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

BAD = "^(a+)+$"
TEXT = "a" * 60 + "!"
# A matcher that tries and goes back would need 2^60 steps for each of them.
ROW_STATEMENTS = [
    f"SELECT '{TEXT}' ~ '{BAD}'",
    f"SELECT regexp_match('{TEXT}', '{BAD}') IS NOT NULL",
    f"SELECT regexp_count(x, '{BAD}') > 0 FROM patterns",
    f"SELECT regexp_replace(x, '{BAD}', '') <> x FROM patterns",
    f"SELECT substring(x from '{BAD}') IS NOT NULL FROM patterns",
    f"SELECT array_length(regexp_split_to_array(x, '{BAD}'), 1) > 1 FROM patterns",
    f"SELECT count(*) > 0 FROM regexp_matches('{TEXT}', '{BAD}', 'g')",
    f"SELECT count(*) > 1 FROM regexp_split_to_table('{TEXT}', '{BAD}')",
    f"SELECT '{TEXT}' SIMILAR TO '(a|aa|a+)+'",
    "SELECT x ~ p FROM patterns",
    "SELECT x SIMILAR TO '(' || 'a+)+' FROM patterns",
    "SELECT x LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%_b' FROM patterns",
    "SELECT x LIKE l FROM patterns",
    f"SELECT count(*) > 0 FROM pg_class WHERE relname || '{TEXT}' ~ '(a+)+$'",
    f"SELECT count(*) > 0 FROM pg_class WHERE regexp_match('{TEXT}', '{BAD}') IS NOT NULL",
    "SELECT found FROM pattern_view",
    "SELECT count(*) > 0 FROM kept_patterns",
]


@pytest.fixture(scope="module")
def connection(server: AntumbraServer) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(server.dsn, autocommit=True) as opened:
        opened.execute(
            "CREATE TABLE patterns (x text CHECK (x !~ '^(b+)+$'), p text, l text DEFAULT '%_a%_a%_a%_a%_a%_a%_a%_a%b')"
        )
        opened.execute("INSERT INTO patterns (x, p) VALUES (%s, %s)", (TEXT, BAD))
        opened.execute(f"CREATE VIEW pattern_view AS SELECT x ~ '{BAD}' AS found FROM patterns")
        opened.execute("CREATE FOREIGN TABLE texts (x text) SERVER stream")
        opened.execute(
            f"CREATE VIEW kept_patterns AS SELECT x, count(*) FROM texts GROUP BY x HAVING x ~ '{BAD}' OR x LIKE '%a%a%a%b'"
        )
        opened.execute("INSERT INTO texts VALUES (%s)", (TEXT,))
        yield opened
        opened.execute("DROP VIEW kept_patterns, pattern_view")
        opened.execute("DROP TABLE patterns")
        opened.execute("DROP FOREIGN TABLE texts")


@pytest.mark.parametrize("statement", ROW_STATEMENTS)
def test_every_position(connection: psycopg.Connection[Any], statement: str) -> None:
    assert connection.execute(statement).fetchall() == [(False,)]


def test_a_check(connection: psycopg.Connection[Any]) -> None:
    connection.execute("INSERT INTO patterns VALUES (%s, '', '')", ("b" * 60 + "!",))
    with pytest.raises(psycopg.errors.CheckViolation):
        connection.execute("INSERT INTO patterns VALUES (%s, '', '')", ("b" * 60,))
    connection.execute("DELETE FROM patterns WHERE p = ''")


def test_parameters(connection: psycopg.Connection[Any]) -> None:
    assert connection.execute(
        "SELECT %s::text ~ %s, %s::text LIKE %s", (TEXT, BAD, TEXT, "%_a" * 10 + "%b")
    ).fetchall() == [(False, False)]


def test_a_statement_ends_in_the_middle_of_a_batch_of_rows(connection: psycopg.Connection[Any]) -> None:
    """All rows are one batch, of half a minute; DuckDB looks for its end between batches alone."""
    connection.execute("CREATE TABLE many_matches AS SELECT repeat('ab', 5000) AS x FROM generate_series(1, 1000)")
    connection.execute("SET statement_timeout = '300ms'")
    began_s = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled, match="statement timeout"):
        connection.execute(r"SELECT sum(length(regexp_replace(x, '(a)(b)', '<\1>', 'g'))) FROM many_matches")
    waited_s = time.monotonic() - began_s
    connection.execute("RESET statement_timeout")
    connection.execute("DROP TABLE many_matches")
    assert waited_s < 6
    assert connection.execute("SELECT regexp_count('abab', 'ab')").fetchone() == (2,)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(regexp_replace(repeat(relname::text, 2000), '(.)(.)', '\\1', 'g')) FROM pg_class, generate_series(1, 20)",
        f"SELECT count(*) FROM generate_series(1, 50) WHERE repeat('ab', 500000) LIKE '%{'ab' * 2500}_' || generate_series || '%'",
        "SELECT count(regexp_split_to_array(repeat('ab', 500000) || i, 'b')) FROM generate_series(1, 50) i",
    ],
)
def test_catalog_queries_and_long_texts_end_in_the_middle_too(
    connection: psycopg.Connection[Any], statement: str
) -> None:
    connection.execute("SET statement_timeout = '300ms'")
    began_s = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled, match="statement timeout"):
        connection.execute(statement)
    waited_s = time.monotonic() - began_s
    connection.execute("RESET statement_timeout")
    assert waited_s < 6


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "invalid regular expression: parentheses () not balanced"),
        ("a{1,2000}", "invalid regular expression: invalid repetition count(s)"),
        ("(?:a{255}){255}", "invalid regular expression: regular expression is too complex"),
        ("[[:nothing:]]", "invalid regular expression: invalid character class"),
    ],
)
def test_errors_are_postgresqls(connection: psycopg.Connection[Any], pattern: str, message: str) -> None:
    for statement in (f"SELECT 'a' ~ '{pattern}'", f"SELECT regexp_replace(x, '{pattern}', '') FROM patterns"):
        with pytest.raises(psycopg.errors.InvalidRegularExpression) as caught:
            connection.execute(statement)
        assert caught.value.diag.message_primary == message
