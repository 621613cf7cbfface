"""REINDEX of the database, over a restart, and by roles that may not; what else it does is in
definitions.sql.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.session_client import World


def test_tables_are_there_after_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client({"user": "ann", "database": "shop"})
    client.ask("CREATE TABLE t (a int PRIMARY KEY); CREATE TABLE u (a int UNIQUE); INSERT INTO u VALUES (2)")
    client.ask("CREATE TEMPORARY TABLE own (a int PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
    client.ask(
        "CREATE FOREIGN TABLE s (a int) SERVER stream; CREATE VIEW v AS SELECT count(*) FROM s JOIN t ON s.a = t.a"
    )
    assert client.ask("REINDEX DATABASE shop")[0] == "C REINDEX"
    assert client.ask("REINDEX SYSTEM shop")[0] == "C REINDEX"
    assert client.ask("INSERT INTO s VALUES (1), (2), (3)")[0] == "C INSERT 0 3"
    world.close()
    again = World(tmp_path)
    client = again.client()
    assert "23505" in client.ask("INSERT INTO u VALUES (2)")[0]
    assert client.ask("INSERT INTO u VALUES (3)")[0] == "C INSERT 0 1"
    assert "D [b'2']" in client.ask("SELECT * FROM v")
    again.close()


@pytest.mark.parametrize(
    ("statement", "refused"),
    [
        ("REINDEX TABLE t", "must be owner of table t"),
        ("REINDEX INDEX t_pkey", "must be owner of index t_pkey"),
        ("REINDEX SCHEMA public", "must be owner of schema public"),
        ("REINDEX DATABASE antumbra", "must be owner of database antumbra"),
        ("REINDEX SYSTEM antumbra", "must be owner of database antumbra"),
    ],
)
def test_who_may_not(world: World, statement: str, refused: str) -> None:
    client = world.client({"user": "ann", "database": "antumbra"})
    client.ask("CREATE ROLE bob; CREATE TABLE t (a int PRIMARY KEY); SET ROLE bob")
    assert client.ask(statement)[0] == f"E ERROR 42501: {refused}"
