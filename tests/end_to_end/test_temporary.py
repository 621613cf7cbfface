"""Temporary relations of several sessions: nobody sees those of others, and they go with their
session, also with a crash.
"""

from __future__ import annotations

import time
from pathlib import Path

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

WAIT_S_MAX = 20.0
SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'pg\\_temp\\_%'"


def wait_until_none(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Wait until no session has temporary relations."""
    deadline = time.monotonic() + WAIT_S_MAX
    while connection.execute(SCHEMAS.encode()).fetchall():
        assert time.monotonic() < deadline, "temporary relations of a session that has ended are still there"
        time.sleep(0.05)


def test_each_session_has_its_own(server: AntumbraServer) -> None:
    query = "SELECT a FROM mine WHERE a > %s"
    with server.connect() as one, server.connect() as other:
        one.execute("CREATE TEMP TABLE mine (a int)")
        other.execute("CREATE TEMP TABLE mine (a int, b int)")
        one.execute("INSERT INTO mine VALUES (1)")
        other.execute("INSERT INTO mine VALUES (2, 2)")
        for connection, value in ((one, 1), (other, 2)) * 2:
            # Plans are kept, but not for others.
            assert connection.execute(query, [0], prepare=True).fetchall() == [(value,)]
            assert connection.execute("SELECT a FROM mine").fetchall() == [(value,)]
        other.execute("DISCARD TEMP")
        with pytest.raises(psycopg.errors.UndefinedTable):
            other.execute("SELECT a FROM mine")
        assert one.execute("SELECT a FROM mine").fetchall() == [(1,)]


def test_a_role_without_privileges_may_make_them(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE ROLE passer_by LOGIN")
        connection.execute("SET ROLE passer_by")
        connection.execute("CREATE TEMP TABLE notes (a serial, b text)")
        connection.execute("INSERT INTO notes (b) VALUES ('x')")
        assert connection.execute("SELECT * FROM notes").fetchall() == [(1, "x")]
        connection.execute("RESET ROLE")
        connection.execute("DISCARD TEMP")
        connection.execute("DROP ROLE passer_by")


def test_streams_and_views_beside_them(server: AntumbraServer) -> None:
    with server.connect() as connection, server.connect() as other:
        connection.execute("CREATE FOREIGN TABLE seen (k int) SERVER stream")
        connection.execute("CREATE TEMP TABLE names (k int, name text)")
        connection.execute("INSERT INTO names VALUES (1, 'one'), (2, 'two')")
        connection.execute("CREATE TEMP VIEW counted AS SELECT k, count(*) AS n FROM seen GROUP BY k")
        connection.execute(
            "CREATE VIEW named AS SELECT name, count(*) AS n FROM seen JOIN names USING (k) GROUP BY name"
        )
        other.execute("INSERT INTO seen VALUES (1), (1), (2)")
        assert connection.execute("SELECT * FROM counted ORDER BY k").fetchall() == [(1, 2), (2, 1)]
        assert connection.execute("SELECT * FROM named ORDER BY name").fetchall() == [("one", 2), ("two", 1)]
        with pytest.raises(psycopg.errors.UndefinedTable):
            other.execute("SELECT * FROM named")
        connection.close()
        wait_until_none(other)
        other.execute("INSERT INTO seen VALUES (1)")
        other.execute("DROP FOREIGN TABLE seen")


def test_they_go_with_their_session_and_with_a_crash(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    with server.connect() as stays:
        stays.execute("CREATE TABLE kept (a int)")
        stays.execute("INSERT INTO kept VALUES (1)")
        with server.connect() as goes:
            goes.execute("CREATE TEMP TABLE t AS SELECT 1 AS a")
            goes.execute("CREATE VIEW v AS SELECT a FROM t")
        wait_until_none(stays)
        stays.execute("CREATE TEMP TABLE t AS SELECT 2 AS a")
        stays.execute("CREATE TEMP SEQUENCE s")
        server.kill()
    server.start()
    with server.connect() as connection:
        assert connection.execute(SCHEMAS.encode()).fetchall() == []
        assert connection.execute("SELECT relname FROM pg_class WHERE relpersistence = 't'").fetchall() == []
        assert connection.execute("SELECT * FROM kept").fetchall() == [(1,)]
        connection.execute("CREATE TEMP TABLE t AS SELECT 3 AS a")
        assert connection.execute("SELECT a FROM t").fetchall() == [(3,)]
    assert server.stop() == 0
