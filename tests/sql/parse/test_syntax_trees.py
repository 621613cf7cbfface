"""Our grammar reads a statement as PostgreSQL does: precedence, nesting, what
belongs to what.

Our tree is printed with parentheses around everything. PostgreSQL stores that text and the user's
own as the body of a function, and prints both from its trees: they must be the same.
"""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.delete import Delete
from sql.parse.statements.insert import Insert
from sql.parse.statements.select import Select
from sql.parse.statements.update import Update
from tests.oracle.postgres import PostgresCluster
from tests.randomized.cases import make_case
from tests.randomized.table_columns import CREATE_ENUM
from tests.randomized.views import SOURCE
from tests.sql.sample_catalog import POSTGRES_TABLES
from tests.sql.statement_text import statement_text
from tests.sql.syntax_text import query_text

DATA = Path(__file__).parents[1] / "data"
TABLE = "create table t (a int primary key, b int, c int, d text, e timestamptz, f int[], unique (a, b))"
SEEDS = range(15)

# What changes nothing here, so that our tree does not keep it.
FORGOTTEN = (
    (r"\bONLY ", ""),
    (r'\(([\w.]+) COLLATE "[^"]*"\)', r"\1"),
    (r"\b(\w+\.(\w+)) AS \2\b", r"\1"),
    (r" AS (NOT )?MATERIALIZED \(", " AS ("),
    (r"\bSELECT(\s+FROM)", r"SELECT 1\1"),  # in EXISTS
    (r"BETWEEN (\w+ PRECEDING|CURRENT ROW) AND CURRENT ROW", r"\1"),
)


def statements(name: str) -> list[str]:
    return [line for line in (DATA / name).read_text().splitlines() if line.strip()]


def our_text(statement: str) -> str | None:
    """Return our tree as text; None for what we refuse."""
    try:
        (parsed,) = parse(statement)
    except (SqlError, ValueError):
        return None
    if isinstance(parsed, Insert | Update | Delete):
        return statement_text(parsed)
    return query_text(parsed.query) if isinstance(parsed, Select) else None


def stored(connection: psycopg.Connection[tuple[object, ...]], statement: str) -> str | None:
    """Return the statement as PostgreSQL prints it from its own tree; None if it is wrong."""
    head = "CREATE FUNCTION printed() RETURNS void LANGUAGE sql BEGIN ATOMIC"
    try:
        with connection.transaction():
            connection.execute(f"{head} {statement}; END".encode())
            # A prepared statement would keep the oid of the first one.
            row = connection.execute("SELECT pg_get_function_sqlbody('printed'::regproc)", prepare=False).fetchone()
            connection.execute("DROP FUNCTION printed")
    except psycopg.Error:
        return None
    assert row is not None and row[0] is not None
    text = str(row[0])
    for pattern, replacement in FORGOTTEN:
        text = re.sub(pattern, replacement, text)
    return text


def differing(connection: psycopg.Connection[tuple[object, ...]], queries: list[str]) -> tuple[list[str], int]:
    """Return what PostgreSQL reads differently in our print, and how many queries it could
    compare.
    """
    wrong: list[str] = []
    compared = 0
    for query in queries:
        text = our_text(query)
        expected = stored(connection, query)
        if text is None or expected is None:
            continue
        compared += 1
        found = stored(connection, text)
        if found != expected:
            wrong.append(f"{query}\n  as we print it: {text}\n{found}\n  expected:\n{expected}")
    return wrong, compared


@pytest.mark.parametrize("name", ["syntax_trees.sql", "syntax_tree_changes.sql"])
def test_trees_are_those_of_postgres(name: str, postgres: PostgresCluster) -> None:
    queries = statements(name)
    with postgres.connect() as connection:
        connection.execute(TABLE)
        wrong, compared = differing(connection, queries)
        connection.execute("DROP TABLE t")
    assert not wrong, "\n".join(wrong)
    assert compared == len(queries)


def test_trees_of_the_other_queries_too(postgres: PostgresCluster) -> None:
    with postgres.connect() as connection:
        connection.execute(POSTGRES_TABLES)
        wrong, compared = differing(connection, [*statements("queries.sql"), *statements("syntax_queries.sql")])
        connection.execute("DROP TABLE s, v")
    assert not wrong, "\n".join(wrong)
    assert compared > 150


def test_trees_of_random_queries(postgres: PostgresCluster) -> None:
    total = 0
    with postgres.connect() as connection:
        connection.execute(CREATE_ENUM.encode())
        for seed in SEEDS:
            case = make_case(seed)
            connection.execute(f"CREATE TABLE {case.stream} ({case.column_list})".encode())
            queries = [view.query.replace(SOURCE, case.stream) for view in case.views]
            # Some are errors in PostgreSQL, and nothing else is left out.
            queries = [query for query in queries if stored(connection, query) is not None]
            wrong, compared = differing(connection, queries)
            connection.execute(f"DROP TABLE {case.stream}".encode())
            assert not wrong, "\n".join(wrong)
            assert compared == len(queries), seed
            total += compared
    assert total > 15
