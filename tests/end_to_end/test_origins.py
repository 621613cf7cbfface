"""RowDescription tells which column of which relation a column of an answer is: as PostgreSQL's
does, simple, prepared and from cursors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.pq import Format

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]
TABLES = (
    "CREATE TABLE of_rows (gone integer, a integer PRIMARY KEY, b text, c integer)",
    "ALTER TABLE of_rows DROP COLUMN gone",
    "CREATE TABLE of_more (a integer, d text)",
    "CREATE SEQUENCE of_numbers",
)
STREAM = "CREATE {} of_stream (a integer, b text){}"
VIEW = "CREATE VIEW of_view AS SELECT b, count(*) FROM of_stream GROUP BY b"
QUERIES = (
    "SELECT * FROM of_rows",
    "SELECT a + 1, b AS other, upper(b), a FROM of_rows",
    "SELECT * FROM of_stream",
    "SELECT count, b FROM of_view",
    "SELECT x.one, x.b FROM (SELECT a AS one, b FROM of_rows WHERE c > 1 ORDER BY b LIMIT 3) AS x",
    "WITH w AS (SELECT a, b || 'x' AS c FROM of_rows) SELECT c, a FROM w",
    "SELECT * FROM of_rows JOIN of_more USING (a)",
    "SELECT * FROM of_rows FULL JOIN of_more USING (a)",
    "SELECT r.b, s.b, m.d FROM of_rows r LEFT JOIN of_stream s ON r.a = s.a CROSS JOIN of_more m",
    "SELECT b, count(*), max(a) FROM of_rows GROUP BY b ORDER BY 2",
    "SELECT DISTINCT b, a FROM of_rows",
    "SELECT a, rank() OVER (ORDER BY c) FROM of_rows",
    "SELECT a FROM of_rows UNION ALL SELECT a FROM of_more",
    "SELECT a, (SELECT max(d) FROM of_more) FROM of_rows",
    "VALUES (1, 'a')",
    "SELECT 1",
    "SELECT l.a, o.d FROM of_rows o2 JOIN of_rows l ON l.a = o2.c, LATERAL (SELECT d FROM of_more WHERE a = o2.a) o",
    "INSERT INTO of_rows VALUES (nextval('of_numbers'), 'x', 2) RETURNING c, a + 1, b",
    "UPDATE of_rows SET b = 'y' RETURNING *",
    "DELETE FROM of_rows WHERE c = 2 RETURNING b, a",
)


@pytest.fixture(scope="module")
def both(server: AntumbraServer, postgres: PostgresCluster) -> Iterator[tuple[Connection, Connection]]:
    with server.connect() as ours, postgres.connect() as theirs:
        for connection, kind, end in ((ours, "FOREIGN TABLE", " SERVER stream"), (theirs, "TABLE", "")):
            for definition in (*TABLES, STREAM.format(kind, end), VIEW):
                connection.execute(definition)
        yield ours, theirs
        for connection, kind in ((ours, "FOREIGN TABLE"), (theirs, "TABLE")):
            connection.execute("DROP TABLE of_rows, of_more")
            connection.execute("DROP SEQUENCE of_numbers")
            connection.execute(f"DROP {kind} of_stream CASCADE")


def origins(connection: Connection, query: str, how: str) -> list[tuple[str, str] | None]:
    """Return relation and column of each column of the answer."""
    if how == "simple":
        result = connection.pgconn.exec_(query.encode())
    elif how == "binary":
        result = connection.pgconn.exec_params(query.encode(), None, result_format=Format.BINARY)
    elif how == "described":
        connection.pgconn.prepare(b"described", query.encode())
        result = connection.pgconn.describe_prepared(b"described")
        connection.execute("DEALLOCATE described")
    else:
        connection.execute(f"BEGIN; DECLARE of_cursor CURSOR FOR {query}")
        result = connection.pgconn.exec_(b"FETCH ALL FROM of_cursor")
        connection.execute("ROLLBACK")
    assert not result.error_message, result.error_message
    name = "SELECT attrelid::regclass::text, attname FROM pg_attribute WHERE attrelid = %s AND attnum = %s"
    found = [(result.ftable(index), result.ftablecol(index)) for index in range(result.nfields)]
    return [connection.execute(name, one).fetchone() for one in found]


@pytest.mark.turns(3)
@pytest.mark.parametrize("how", ["simple", "binary", "described"])
@pytest.mark.parametrize("query", QUERIES)
def test_origins(both: tuple[Connection, Connection], query: str, how: str) -> None:
    ours, theirs = both
    assert origins(ours, query, how) == origins(theirs, query, how)


@pytest.mark.parametrize("query", [query for query in QUERIES if query.startswith(("SELECT", "WITH"))])
def test_origins_of_a_cursor(both: tuple[Connection, Connection], query: str) -> None:
    ours, theirs = both
    assert origins(ours, query, "cursor") == origins(theirs, query, "cursor")


def test_a_column_of_an_ordinary_view_is_of_no_table(both: tuple[Connection, Connection]) -> None:
    ours, _ = both
    ours.execute("CREATE VIEW of_ordinary AS SELECT a, b FROM of_rows")
    assert origins(ours, "SELECT * FROM of_ordinary", "simple") == [None, None]
    ours.execute("DROP VIEW of_ordinary")
