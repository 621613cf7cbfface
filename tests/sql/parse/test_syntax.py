"""Nearly a thousand statements, right and wrong, read by our grammar and by PostgreSQL's: the same
syntax errors at the same places.

data/syntax_*.sql hold one statement per line. In a transaction that has failed PostgreSQL reads a
statement and looks no further, which leaves what its grammar alone says. Where we differ on purpose
(what we refuse by name, and what PostgreSQL finds wrong later), data/syntax_differences.json holds
our answer; `python -m tests.sql.rewrite_differences` writes it anew, and the diff is the review.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.pq import ExecStatus

from sql.errors import SqlError
from sql.names import keywords
from sql.parse.parse import parse
from tests.oracle.postgres import PostgresCluster

DATA = Path(__file__).parents[1] / "data"
FILES = ("syntax_queries.sql", "syntax_definitions.sql", "syntax_changes.sql", "syntax_words.sql")
DIFFERENCES = DATA / "syntax_differences.json"

# None: the text is well formed; or [sqlstate, message, position, hint].
Answer = list[object] | None


def statements(name: str) -> list[str]:
    return [line for line in (DATA / name).read_text().splitlines() if line.strip()]


def our_answer(statement: str) -> Answer:
    """Return what our grammar says."""
    try:
        parse(statement)
    except SqlError as error:
        return [error.sqlstate, error.message, error.position, error.hint]
    return None


@contextmanager
def failed_transaction(cluster: PostgresCluster) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Give a connection to PostgreSQL that only reads what it is sent."""
    with cluster.connect() as connection:
        connection.pgconn.exec_(b"BEGIN; SELECT 1/0")
        yield connection


def postgres_answer(connection: psycopg.Connection[tuple[object, ...]], statement: str) -> Answer:
    """Return what PostgreSQL's grammar says."""
    result = connection.pgconn.exec_(statement.encode())
    if result.status != ExecStatus.FATAL_ERROR:
        return None  # Nothing between the semicolons.
    fields = psycopg.errors.error_from_result(result).diag
    if fields.sqlstate == "25P02":
        return None
    position = None if fields.statement_position is None else int(fields.statement_position)
    return [fields.sqlstate, fields.message_primary, position, fields.message_hint]


@pytest.mark.parametrize("name", FILES)
def test_syntax_errors_are_those_of_postgres(name: str, postgres: PostgresCluster) -> None:
    differences: dict[str, Answer] = json.loads(DIFFERENCES.read_text())
    wrong = []
    with failed_transaction(postgres) as connection:
        for statement in statements(name):
            ours = our_answer(statement)
            known = statement in differences
            expected = differences[statement] if known else postgres_answer(connection, statement)
            if ours != expected:
                wrong.append(f"{statement}\n  ours:     {ours}\n  expected: {expected}")
    assert not wrong, "\n".join(wrong)


def test_every_difference_is_of_a_statement_that_we_test() -> None:
    differences: dict[str, Answer] = json.loads(DIFFERENCES.read_text())
    assert set(differences) <= {statement for name in FILES for statement in statements(name)}
    assert all(answer == our_answer(statement) for statement, answer in differences.items())


def test_keyword_classes_are_those_of_postgres(postgres: PostgresCluster) -> None:
    ours = {"R": keywords.RESERVED, "T": keywords.TYPE_OR_FUNCTION, "C": keywords.COLUMN_NAME, "U": keywords.UNRESERVED}
    with postgres.connect() as connection:
        rows = connection.execute("SELECT word, catcode::text, barelabel FROM pg_get_keywords()").fetchall()
    assert {str(word) for word, _, bare in rows if not bare} == keywords.NEED_AS
    for code, words in ours.items():
        assert {str(word) for word, found, _ in rows if found == code} == words
