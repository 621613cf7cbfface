"""pg_get_indexdef and pg_index beside those of PostgreSQL, for indexes of all forms: orders,
access methods, INCLUDE; and after columns were renamed and dropped.
"""

from __future__ import annotations

import ast
from pathlib import Path

from tests.engine.session_client import World
from tests.oracle.postgres import PostgresCluster

STATEMENTS = (
    "CREATE SCHEMA indexed",
    "SET search_path = indexed",
    'CREATE TABLE t (a int PRIMARY KEY, b text UNIQUE, c numeric, "Odd" int, e int)',
    "CREATE INDEX ON t (c)",
    "CREATE INDEX i1 ON t USING btree (c DESC, a NULLS FIRST)",
    "CREATE INDEX i2 ON t USING hash (b)",
    'CREATE INDEX ON t (c) INCLUDE ("Odd", b)',
    "CREATE UNIQUE INDEX i4 ON t (a, b DESC) INCLUDE (c)",
    "CREATE INDEX i5 ON t (a) INCLUDE (e)",
    "CREATE FUNCTION next(x int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT x + 1'",
    "CREATE FUNCTION one_more(x int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT x + 1'",
    "CREATE INDEX ON t (lower(b))",
    'CREATE INDEX i6 ON t ((a + 1) DESC, b, upper(b) COLLATE "C" NULLS FIRST) WHERE a > 5 AND "Odd" IN (1, 2)',
    "CREATE INDEX ON t ((a * 2), (a * 3), lower(b), lower(b)) INCLUDE (c)",
    "CREATE INDEX i8 ON t (coalesce(a, 0), (CASE WHEN a > 1 THEN 2 ELSE 3 END), (b || 'x'), (b::int), substring(b FROM 1))",
    "CREATE INDEX i9 ON t (next(a)) WHERE next(a) > 3",
    "CREATE INDEX i10 ON t ((a)) WHERE t.b LIKE 'a%'",
    "CREATE INDEX i11 ON t (a) WHERE e > 1",
    "CREATE INDEX i12 ON t (abs(e))",
    "CREATE INDEX i13 ON t (one_more(a))",
    "CREATE TABLE u (LIKE t INCLUDING INDEXES)",
    'ALTER TABLE t RENAME COLUMN b TO "B"',
    "ALTER TABLE t DROP COLUMN e",
    "ALTER FUNCTION next(int) RENAME TO after",
    'ALTER INDEX i10 RENAME TO "I 10"',
    "DROP FUNCTION one_more(int) CASCADE",
)
QUESTION = """SELECT c.relname::text, pg_get_indexdef(c.oid), pg_get_indexdef(c.oid, 0, true), pg_get_indexdef(c.oid, 2, true),
    pg_get_indexdef(c.oid, 9, false), pg_get_indexdef(c.oid, 1, false),
    m.amname::text, i.indnatts::text, i.indnkeyatts::text, i.indkey::text,
    i.indoption::text, i.indclass::text,
    (SELECT CASE m.amname WHEN 'btree' THEN string_agg(atttypid::regtype::text, ', ' ORDER BY attnum) END
        FROM pg_attribute a WHERE a.attrelid = c.oid)
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_am m ON m.oid = c.relam
WHERE c.relnamespace = 'indexed'::regnamespace ORDER BY c.relname"""
REFUSED = (
    "CREATE UNIQUE INDEX ON t USING hash (a)",
    "CREATE INDEX ON t USING hash (a, c)",
    "CREATE INDEX ON t USING hash (a DESC)",
    "CREATE INDEX ON t USING hash (a NULLS FIRST)",
    "CREATE INDEX ON t USING hash (a) INCLUDE (c)",
    "CREATE INDEX ON t (a) INCLUDE (nowhere)",
    "CREATE INDEX ON t ((now()))",
    "CREATE INDEX ON t (random())",
    "CREATE INDEX ON t (sum(a))",
    "CREATE INDEX ON t ((SELECT 1))",
    "CREATE INDEX ON t (a) WHERE a",
    "CREATE INDEX ON t (a) WHERE now() > '2020-01-01'",
    "CREATE INDEX ON t (a) WHERE (SELECT true)",
    "CREATE INDEX ON t (lower(nowhere))",
    "CREATE INDEX ON t (a + 1)",
    "CREATE INDEX ON t (generate_series(1, a))",
    "DROP FUNCTION after(int)",
)


def test_indexes_are_shown_as_postgresql_shows_them(tmp_path: Path, postgres: PostgresCluster) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(*STATEMENTS)
    found = [
        tuple(None if value is None else value.decode() for value in ast.literal_eval(row[2:]))
        for row in client.rows(QUESTION)
    ]
    errors = [client.ask(text)[0].split(":")[0].split()[2] for text in REFUSED]
    with postgres.connect() as connection:
        for text in STATEMENTS:
            connection.execute(text.encode())
        assert found == connection.execute(QUESTION.encode()).fetchall()
        wanted = [connection.pgconn.exec_(text.encode()).error_field(ord("C")) for text in REFUSED]
        connection.execute("DROP SCHEMA indexed CASCADE")
    assert errors == [(state or b"").decode() for state in wanted]
    # An index is stored as it was made.
    world.close()
    again = World(tmp_path)
    client = again.client()
    client.run("SET search_path = indexed")
    assert len(client.rows(QUESTION)) == len(found)
    assert [ast.literal_eval(row[2:])[1].decode() for row in client.rows(QUESTION)] == [row[1] for row in found]
    again.close()
