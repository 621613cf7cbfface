"""Subqueries that a key of the catalog holds to one row: which they are, and that the keys are
keys.
"""

from __future__ import annotations

import pytest

from engine.system_catalog.static_rows import relations
from sql.bind import bind_query
from sql.emit.single_rows import BY_OID, KEYS, is_single_row
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.expressions import Subquery
from sql.tree.walks import all_relations, children, walk
from tests.engine.session_client import SessionClient, World

SINGLE = [
    "SELECT typname FROM pg_type t WHERE t.oid = c.reltype",
    "SELECT typname FROM pg_type t WHERE c.reltype = t.oid AND typlen > 0 ORDER BY 1",
    "SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attnum = 1",
    "SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attname = c.relname",
    "SELECT n.nspname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.oid = c.reltype",
    "SELECT n.nspname FROM pg_type t, pg_namespace n WHERE t.oid = c.reltype AND n.oid = t.typnamespace",
    "SELECT n.nspname FROM pg_namespace n JOIN pg_type t ON n.oid = t.typnamespace WHERE t.oid = c.reltype",
    "SELECT n.nspname FROM pg_type t LEFT JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.oid = c.reltype",
    "SELECT q.n FROM (SELECT oid AS o, typname AS n FROM pg_type) q WHERE q.o = c.reltype",
    "SELECT description FROM pg_description WHERE objoid = c.oid AND classoid = 'pg_class'::regclass AND objsubid = 0",
    "SELECT max(attnum) FROM pg_attribute WHERE attrelid = c.oid",
    "SELECT attnum FROM pg_attribute WHERE attrelid = c.oid LIMIT 1",
]
SEVERAL = [
    "SELECT attnum FROM pg_attribute WHERE attrelid = c.oid",
    "SELECT attnum FROM pg_attribute WHERE attrelid = c.oid OR attnum = 1",
    "SELECT attnum FROM pg_attribute a WHERE attrelid = c.oid AND a.attnum = a.attnum",
    "SELECT t.oid FROM pg_type t WHERE t.oid > c.reltype",
    "SELECT t.typlen FROM pg_type t WHERE t.typname = c.relname",
    "SELECT t.typlen FROM pg_type t WHERE t.oid::text = c.relname",
    "SELECT t.typlen FROM pg_type t WHERE t.oid = (random() * 100)::int::oid",
    "SELECT a.attnum FROM pg_type t JOIN pg_attribute a ON a.attrelid = t.typrelid WHERE t.oid = c.reltype",
    "SELECT a.attnum FROM pg_attribute a LEFT JOIN pg_type t ON t.oid = a.atttypid AND a.attrelid = c.oid AND a.attnum = 1",
    "SELECT t.typlen FROM pg_type t LEFT JOIN pg_namespace n ON t.oid = c.reltype AND n.oid = t.typnamespace",
    "SELECT t.typlen FROM pg_type t, LATERAL (SELECT n.oid FROM pg_type n WHERE n.oid = t.oid) q WHERE t.oid = q.oid",
    "SELECT s.a FROM s WHERE s.oid = c.oid",
]


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client().after(
        "CREATE TABLE s (oid oid, a int)", "INSERT INTO s SELECT oid, n FROM pg_class, generate_series(1, 2) AS n"
    )


def is_single(client: SessionClient, query: str) -> bool:
    (statement,) = parse(f"SELECT ({query}) FROM pg_class c")
    assert isinstance(statement, Select)
    session = client.session
    root = bind_query(statement.query, session.runner.image(), session.settings.captured()).root
    (found,) = [
        node
        for relation in all_relations(root)
        for expression in children(relation)
        for node in walk(expression)
        if isinstance(node, Subquery)
    ]
    return is_single_row(found.relation)


def test_which_have_one_row(client: SessionClient) -> None:
    assert [query for query in SINGLE if not is_single(client, query)] == []
    assert [query for query in SEVERAL if is_single(client, query)] == []


def test_several_rows_are_refused(client: SessionClient) -> None:
    for query in (*SEVERAL[:3], *SEVERAL[7:]):
        assert any("21000" in line for line in client.ask(f"SELECT ({query}) FROM pg_class c")), query
        guarded = f"SELECT count(CASE WHEN c.relname = 'none' THEN ({query}) END) FROM pg_class c"
        assert client.rows(guarded) == ["D [b'0']"], query


def test_keys_are_keys(client: SessionClient) -> None:
    client.run("CREATE TABLE t (a serial PRIMARY KEY, b text DEFAULT 'x')", "COMMENT ON TABLE t IS 'x'")
    client.run("CREATE FOREIGN TABLE f (a int DEFAULT 1) SERVER stream", "CREATE VIEW v AS SELECT count(*) FROM f")
    asked = 0
    for (schema, name), known in relations().items():
        for key in KEYS.get(name, BY_OID) if schema == "pg_catalog" else ():
            if key <= {column.name for column in known.columns}:
                same = (
                    f"SELECT count(*) FROM (SELECT FROM {name} GROUP BY {', '.join(sorted(key))} HAVING count(*) > 1) q"
                )
                assert client.rows(same) == ["D [b'0']"], (name, key)
                asked += 1
    assert asked > 40
