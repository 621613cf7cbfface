"""Views of several groupings of streams: what is above these is made once per version, and is what
PostgreSQL's views would show.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.scans import query_view_cache as whole_versions
from tests.engine.ddl.test_view_life_cycle import Server

PAIR = """CREATE VIEW pair AS SELECT a.k, a.n, b.m, d.name FROM (SELECT k, count(*) AS n FROM s GROUP BY k) a
    JOIN (SELECT k, sum(y) AS m FROM other GROUP BY k) b USING (k) LEFT JOIN names d ON d.k = a.k"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path)
    made.client.run(
        "CREATE FOREIGN TABLE s (k int, x int) SERVER stream",
        "CREATE FOREIGN TABLE other (k int, y int) SERVER stream",
        "CREATE TABLE names (k int PRIMARY KEY, name text)",
        "INSERT INTO names VALUES (1, 'one')",
        PAIR,
        "INSERT INTO s VALUES (1, 1), (1, 2), (2, 3)",
        "INSERT INTO other VALUES (1, 10), (2, 20)",
    )
    yield made
    made.world.close()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Versions that were made, by the name of the view."""
    names: list[str] = []
    take = whole_versions.WholeVersions.take

    def noting(self: Any, entry: Any, sources: Any, make: Any, check: Any) -> Any:
        def noted() -> Any:
            names.append(entry.description.name)
            return make()

        return take(self, entry, sources, noted, check)

    monkeypatch.setattr(whole_versions.WholeVersions, "take", noting)
    return names


BEFORE = ["[b'1', b'2', b'10', b'one']", "[b'2', b'1', b'20', None]"]


def test_a_version_is_made_once_and_shared(server: Server, made: list[str]) -> None:
    second = server.world.client()
    for number in range(3):
        assert server.rows(f"SELECT * FROM pair ORDER BY k LIMIT {9 + number}") == BEFORE
        assert [line[2:] for line in second.rows(f"SELECT * FROM pair p WHERE k > {-number} ORDER BY k")] == BEFORE
    joined = "SELECT p.k, q.m FROM pair p JOIN pair q USING (k) JOIN names USING (k)"
    assert server.rows(joined) == ["[b'1', b'10']"]
    assert made == ["pair"]
    server.client.run("INSERT INTO other VALUES (2, 1)")
    assert server.rows("SELECT m FROM pair ORDER BY k") == ["[b'10']", "[b'21']"]
    server.client.run("INSERT INTO names VALUES (2, 'two')")
    assert server.rows("SELECT name FROM pair ORDER BY k") == ["[b'one']", "[b'two']"]
    assert made == ["pair"] * 3


def test_a_view_over_it_reads_the_same_version(server: Server, made: list[str]) -> None:
    server.client.run("CREATE VIEW above AS SELECT k, m FROM pair WHERE n > 1")
    assert server.rows("SELECT * FROM above") == ["[b'1', b'10']"]
    assert server.rows("SELECT * FROM pair ORDER BY k") == BEFORE
    assert made == ["pair"]
    server.client.run("ALTER VIEW pair RENAME TO couple")
    assert server.rows("SELECT * FROM above") == ["[b'1', b'10']"]
    server.client.run("DROP VIEW couple CASCADE")
    assert not server.world.database.engines.wholes._made


def test_a_transaction_sees_its_own_changes_and_nobody_else_does(server: Server, made: list[str]) -> None:
    other = server.world.client()
    server.client.run("BEGIN", "UPDATE names SET name = 'mine'")
    assert server.rows("SELECT name FROM pair WHERE k = 1") == ["[b'mine']"]
    assert [line[2:] for line in other.rows("SELECT * FROM pair ORDER BY k")] == BEFORE
    server.client.run("ROLLBACK")
    assert server.rows("SELECT * FROM pair ORDER BY k") == BEFORE
    server.client.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert server.rows("SELECT * FROM pair ORDER BY k") == BEFORE
    other.run("UPDATE names SET name = 'theirs'", "INSERT INTO s VALUES (2, 1)")
    assert [line[2:] for line in other.rows("SELECT n, name FROM pair ORDER BY k")] == [
        "[b'2', b'theirs']",
        "[b'2', None]",
    ]
    assert server.rows("SELECT * FROM pair ORDER BY k DESC") == BEFORE[::-1]
    server.client.run("COMMIT")
    assert server.rows("SELECT n, name FROM pair ORDER BY k") == ["[b'2', b'theirs']", "[b'2', None]"]


def test_an_error_above_the_parts_is_the_readers(server: Server, made: list[str]) -> None:
    server.client.run(
        "CREATE VIEW ratio AS SELECT a.n / b.m AS r FROM (SELECT count(*) AS n FROM s) a, (SELECT sum(y) AS m FROM other) b"
    )
    server.client.run("INSERT INTO other VALUES (1, 0)")
    for _ in range(2):
        ((error, _),) = server.client.ask_in_full("SELECT * FROM ratio")
        assert error == "E 22012: division by zero"
    server.client.run("INSERT INTO s VALUES (1, 1)", "INSERT INTO other VALUES (1, 1)")
    assert server.rows("SELECT * FROM ratio") == ["[b'1']"]


def test_what_depends_on_the_time_is_not_kept(server: Server, made: list[str]) -> None:
    server.client.run(
        """CREATE VIEW timed AS SELECT a.n, now() > timestamptz '2000-01-01' AS late
        FROM (SELECT count(*) AS n FROM s) a, (SELECT sum(y) AS m FROM other) b"""
    )
    assert server.rows("SELECT * FROM timed") == ["[b'0', b't']"]
    assert made == []


def test_an_order_without_a_limit_is_dropped_with_a_notice(server: Server) -> None:
    grouped = """SELECT a.k, b.m FROM (SELECT k, count(*) AS n FROM s GROUP BY k) a
        JOIN (SELECT k, sum(y) AS m FROM other GROUP BY k) b USING (k)"""
    for tail, notices in ((" ORDER BY k DESC", 1), (" ORDER BY k DESC LIMIT 3", 0)):
        told = [
            answer
            for answer, _ in server.client.ask_in_full(f"CREATE VIEW ordered AS {grouped}{tail}")
            if answer[0] == "N"
        ]
        assert len(told) == notices and all("ORDER BY without LIMIT is dropped" in notice for notice in told)
        server.client.run("DROP VIEW ordered")
