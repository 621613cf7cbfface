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
    "CREATE TABLE u (LIKE t INCLUDING INDEXES)",
    'ALTER TABLE t RENAME COLUMN b TO "B"',
    "ALTER TABLE t DROP COLUMN e",
)
QUESTION = """SELECT c.relname::text, pg_get_indexdef(c.oid), pg_get_indexdef(c.oid, 0, true), pg_get_indexdef(c.oid, 2, true),
    pg_get_indexdef(c.oid, 9, false), m.amname::text, i.indnatts::text, i.indnkeyatts::text, i.indkey::text,
    i.indoption::text, i.indclass::text,
    (SELECT count(*) FROM pg_attribute a WHERE a.attrelid = c.oid)::text
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_am m ON m.oid = c.relam
WHERE c.relnamespace = 'indexed'::regnamespace ORDER BY c.relname"""
REFUSED = (
    "CREATE UNIQUE INDEX ON t USING hash (a)",
    "CREATE INDEX ON t USING hash (a, c)",
    "CREATE INDEX ON t USING hash (a DESC)",
    "CREATE INDEX ON t USING hash (a NULLS FIRST)",
    "CREATE INDEX ON t USING hash (a) INCLUDE (c)",
    "CREATE INDEX ON t (a) INCLUDE (nowhere)",
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
