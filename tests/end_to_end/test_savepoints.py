"""Random transaction blocks with savepoints, beside PostgreSQL's: the same answers and errors, and
the same rows at their end.

Between the statements another client commits, so that the block's snapshot is not the newest any
more when it goes back.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

pytestmark = pytest.mark.slow

BLOCKS = 40
STATEMENTS_MAX = 25
NAMES = ("a", "b", "c")
DEFINITIONS = (
    "CREATE TABLE sp_main (k int PRIMARY KEY, t text, n int NOT NULL)",
    "CREATE TABLE sp_other (k int PRIMARY KEY)",
    "INSERT INTO sp_main SELECT i, 't' || i, i % 3 FROM generate_series(1, 20) AS q(i)",
)
ROWS = "SELECT * FROM sp_main ORDER BY k"
Answer = tuple[str, object]


class Both:
    """A client and its neighbour at each of the two servers."""

    def __init__(self, server: AntumbraServer, postgres: PostgresCluster) -> None:
        self.server = server
        self.connections = [
            [psycopg.connect(dsn, autocommit=True) for _ in range(2)]
            for dsn in (f"host=127.0.0.1 port={server.port} user=postgres dbname=postgres", postgres.dsn)
        ]

    def run(self, text: str, neighbour: bool = False) -> tuple[Answer, Answer]:
        """Return what both answer: the tag and the rows, or the SQLSTATE."""
        ours, theirs = (answer(pair[neighbour], text) for pair in self.connections)
        return ours, theirs

    def same(self, text: str, neighbour: bool = False) -> Answer:
        """Return the one answer that both give."""
        ours, theirs = self.run(text, neighbour)
        assert ours == theirs, text
        return ours


def answer(connection: psycopg.Connection[tuple[object, ...]], text: str) -> Answer:
    """Return a statement's tag and rows, or its SQLSTATE."""
    try:
        cursor = connection.execute(text)
    except psycopg.Error as error:
        return "error", error.sqlstate
    return cursor.statusmessage or "", cursor.fetchall() if cursor.description else None


@pytest.fixture(scope="module")
def both(server: AntumbraServer, postgres: PostgresCluster) -> Iterator[Both]:
    clients = Both(server, postgres)
    for text in DEFINITIONS:
        clients.same(text)
    clients.connections[0][0].execute("CREATE FOREIGN TABLE sp_stream (k int) SERVER stream")
    clients.connections[0][0].execute("CREATE VIEW sp_view AS SELECT k, count(*) AS n FROM sp_stream GROUP BY k")
    clients.connections[1][0].execute("CREATE TABLE sp_stream (k int)")
    clients.connections[1][0].execute("CREATE VIEW sp_view AS SELECT k, count(*) AS n FROM sp_stream GROUP BY k")
    yield clients
    clients.run("ROLLBACK")
    clients.connections[0][0].execute("DROP FOREIGN TABLE sp_stream CASCADE")
    for text in ("DROP TABLE sp_main", "DROP TABLE sp_other"):
        clients.same(text)
    for pair in clients.connections:
        for connection in pair:
            connection.close()


def statement(choose: random.Random) -> str:
    """Return a statement of a block."""
    key, other, name = choose.randint(1, 30), choose.randint(1, 30), choose.choice(NAMES)
    return choose.choice(
        (
            f"SAVEPOINT {name}",
            f"SAVEPOINT {name}",
            f"ROLLBACK TO {name}",
            f"ROLLBACK TO SAVEPOINT {name}",
            f"RELEASE {name}",
            f"INSERT INTO sp_main VALUES ({key}, 'new', {other})",
            f"INSERT INTO sp_main VALUES ({key}, 'two', 1), ({other}, 'two', 2)",
            "INSERT INTO sp_main VALUES (31, 'two', NULL)",
            f"INSERT INTO sp_main VALUES ({key}, 'up', 1) ON CONFLICT (k) DO UPDATE SET n = sp_main.n + 1",
            f"UPDATE sp_main SET t = t || '!', n = n + 1 WHERE k % 7 = {key % 7}",
            f"UPDATE sp_main SET k = {other} WHERE k = {key}",
            f"UPDATE sp_main SET n = 1 / (k - {key})",
            f"DELETE FROM sp_main WHERE k IN ({key}, {other})",
            f"INSERT INTO sp_stream VALUES ({key}), ({other})",
            "SELECT count(*), sum(n) FROM sp_main",
            "SELECT count(*) FROM sp_other",
            ROWS,
        )
    )


@pytest.mark.turns(3)
@pytest.mark.parametrize("seed", range(3))
def test_random_blocks(both: Both, seed: int) -> None:
    choose = random.Random(seed)
    committed = 0
    for block in range(BLOCKS):
        both.same("BEGIN ISOLATION LEVEL REPEATABLE READ")
        both.same(ROWS)
        for _ in range(choose.randint(3, STATEMENTS_MAX)):
            if choose.random() < 0.1:
                committed += 1
                both.same(f"INSERT INTO sp_other VALUES ({seed * 1_000_000 + committed})", neighbour=True)
            text = statement(choose)
            ours, theirs = both.run(text)
            if ours == ("error", "40001") and text.startswith("ROLLBACK TO") and theirs == ("ROLLBACK", None):
                # Its spare snapshots are used up.
                break
            assert ours == theirs, (seed, block, text)
        both.run(choose.choice(("COMMIT", "COMMIT", "ROLLBACK")) if ours == theirs else "ROLLBACK")
        both.same(ROWS)
        both.same("SELECT k, n FROM sp_view ORDER BY k")
    assert committed


def test_a_loop_of_inserts_that_fail(both: Both) -> None:
    both.same("CREATE TABLE sp_loop (k int PRIMARY KEY)")
    both.same("BEGIN ISOLATION LEVEL REPEATABLE READ")
    both.same("INSERT INTO sp_loop VALUES (0)")
    failures = 0
    for number in range(1, 100):
        both.same("SAVEPOINT s")
        failed = both.same(f"INSERT INTO sp_loop VALUES ({number // 2})")[0] == "error"
        failures += failed
        both.same("ROLLBACK TO s" if failed else "RELEASE s")
        both.same(f"INSERT INTO sp_other VALUES ({9_000_000 + number})", neighbour=True)
    both.same("COMMIT")
    assert failures == 50
    both.same("SELECT * FROM sp_loop ORDER BY k")
    both.same("DROP TABLE sp_loop")


def test_a_snapshot_that_is_gone(both: Both) -> None:
    both.same("CREATE TABLE sp_gone (k int PRIMARY KEY)")
    ours = both.connections[0]
    ours[0].execute("BEGIN")
    ours[0].execute("INSERT INTO sp_gone VALUES (1)")
    ours[0].execute("SAVEPOINT s")
    ours[1].execute("INSERT INTO sp_other VALUES (8000000)")
    codes = []
    for number in range(2, 20):
        ours[0].execute(f"INSERT INTO sp_gone VALUES ({number})")
        codes.append(answer(ours[0], "ROLLBACK TO s"))
        if codes[-1][0] == "error":
            break
    assert codes[-1] == ("error", "40001")
    assert len(codes) == 9
    assert answer(ours[0], "SELECT 1") == ("error", "25P02")
    assert answer(ours[0], "COMMIT") == ("ROLLBACK", None)
    assert answer(ours[0], "SELECT * FROM sp_gone") == ("SELECT 0", [])
    both.connections[1][1].execute("INSERT INTO sp_other VALUES (8000000)")
    both.same("DROP TABLE sp_gone")
