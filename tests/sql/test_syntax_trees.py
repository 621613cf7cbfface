"""What our grammar makes of a query is what PostgreSQL makes of it: precedence, nesting, what belongs to what.

Our tree is printed with parentheses around everything. PostgreSQL stores that text and the user's own as views, and prints both from its
trees: they must be the same.
"""

from __future__ import annotations

import re
from pathlib import Path

import psycopg

from sql.errors import SqlError
from sql.parse import parse
from sql.statements.statement import Select
from tests.oracle.postgres import PostgresCluster
from tests.randomized.cases import make_case
from tests.randomized.views import SOURCE
from tests.sql.sample_catalog import POSTGRES_TABLES
from tests.sql.syntax_text import query_text

DATA = Path(__file__).parent / "data"
TABLE = "create table t (a int, b int, c int, d text, e timestamptz, f int[])"
SEEDS = range(15)

# What changes nothing here, so that our tree does not keep it.
FORGOTTEN = (
    (r"\bONLY ", ""),
    (r'\(([\w.]+) COLLATE "[^"]*"\)', r"\1"),
    (r"(\w+\.(\w+)) AS \2\b", r"\1"),
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
    return query_text(parsed.query) if isinstance(parsed, Select) else None


def stored(connection: psycopg.Connection[tuple[object, ...]], query: str) -> str | None:
    """Return the query as PostgreSQL prints it from its own tree; None if it is wrong."""
    try:
        with connection.transaction():
            # The columns of a view need names that differ, those of a derived table do not.
            connection.execute(f"CREATE VIEW printed AS SELECT 1 FROM ({query}) AS q".encode())
            row = connection.execute("SELECT pg_get_viewdef('printed'::regclass)").fetchone()
            connection.execute("DROP VIEW printed")
    except psycopg.Error:
        return None
    assert row is not None
    text = str(row[0])
    for pattern, replacement in FORGOTTEN:
        text = re.sub(pattern, replacement, text)
    return text


def differing(connection: psycopg.Connection[tuple[object, ...]], queries: list[str]) -> tuple[list[str], int]:
    """Return what PostgreSQL reads differently in our print, and how many queries it could compare."""
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


def test_trees_are_those_of_postgres(postgres: PostgresCluster) -> None:
    queries = statements("syntax_trees.sql")
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
    with postgres.connect() as connection:
        for seed in SEEDS:
            case = make_case(seed)
            connection.execute(f"CREATE TABLE {case.stream} ({case.column_list})".encode())
            queries = [view.query.replace(SOURCE, case.stream) for view in case.views]
            wrong, compared = differing(connection, queries)
            connection.execute(f"DROP TABLE {case.stream}".encode())
            assert not wrong, "\n".join(wrong)
            assert compared == len(queries), seed
