"""Relations and functions of the catalog where any other may stand: joins with tables, views,
writes, new tables; all of it after a restart, too, and with the rights of the role.
"""

from __future__ import annotations

import ast
from pathlib import Path

from tests.engine.session_client import SessionClient, World

STATEMENTS = (
    "CREATE TABLE kept (o oid, n text)",
    "INSERT INTO kept SELECT oid, relname FROM pg_class WHERE relname IN ('pg_class', 'kept')",
    "CREATE TABLE made AS SELECT relname, relkind FROM pg_catalog.pg_class WHERE relname = 'kept'",
    (
        "CREATE VIEW seen AS SELECT c.relname, format_type(23, -1) AS f, k.o::regclass::text AS r"
        " FROM pg_class c JOIN kept k ON k.o = c.oid"
    ),
    "CREATE VIEW columns AS SELECT column_name FROM information_schema.columns WHERE table_name = 'kept'",
)
ANSWERS = {
    "SELECT n, o::regclass::text FROM kept ORDER BY n": ["kept,kept", "pg_class,pg_class"],
    "SELECT * FROM made": ["kept,r"],
    "SELECT * FROM seen ORDER BY 1": ["kept,integer,kept", "pg_class,integer,pg_class"],
    "SELECT * FROM columns ORDER BY 1": ["n", "o"],
    "SELECT k.n, format_type(a.atttypid, a.atttypmod) FROM kept k JOIN pg_attribute a ON a.attrelid = k.o"
    " WHERE k.n = 'kept' AND a.attnum > 0 ORDER BY a.attnum": ["kept,oid", "kept,text"],
}
REFUSED = {
    "INSERT INTO pg_class SELECT * FROM pg_class": "42501",
    "UPDATE pg_class SET relname = 'x'": "42501",
    "SELECT 'nothing'::regclass": "42P01",
    "SELECT pg_not_there()": "42883",
}


def test_the_catalog_stands_where_any_relation_may(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    for statement in STATEMENTS:
        assert not failures(client.ask(statement)), statement
    assert {query: values(client, query) for query in ANSWERS} == ANSWERS
    for statement, code in REFUSED.items():
        assert code in failures(client.ask(statement))[0], statement
    world.close()
    again = World(tmp_path)
    client = again.client()
    assert {query: values(client, query) for query in ANSWERS} == ANSWERS
    again.close()


def test_a_view_shows_nobody_what_its_maker_may_not_read(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    for statement in ("CREATE ROLE eve", "GRANT CREATE ON SCHEMA public TO eve", "SET ROLE eve"):
        assert not failures(client.ask(statement)), statement
    for statement in (
        "CREATE VIEW shut AS SELECT rolname FROM pg_authid",
        "SELECT rolname FROM pg_authid",
        "INSERT INTO x SELECT rolname FROM pg_authid",
        "CREATE TABLE shut AS SELECT rolname FROM pg_authid",
    ):
        assert failures(client.ask(statement)), statement
    assert "42501" in failures(client.ask("CREATE VIEW shut AS SELECT rolname FROM pg_authid"))[0]
    assert not failures(client.ask("CREATE VIEW open AS SELECT rolname FROM pg_roles"))
    assert "eve" in values(client, "SELECT rolname FROM open")
    world.close()


def failures(answers: list[str]) -> list[str]:
    """Return the errors among a session's answers."""
    return [answer for answer in answers if answer.startswith("E")]


def values(client: SessionClient, query: str) -> list[str]:
    """Return the rows of a query, their values with commas between."""
    return [b",".join(ast.literal_eval(row.removeprefix("D "))).decode() for row in client.rows(query)]
