"""Two transactions that write one row: the second one meets 40001, whatever both do to it, also
where DuckDB alone would let it pass.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

CHANGES = (
    "UPDATE disputed SET name = 'x' WHERE id = 1",
    "UPDATE disputed SET name = NULL WHERE id = 1",
    "UPDATE disputed SET number = 5 WHERE id = 1",
    "UPDATE disputed SET parts = '{4}' WHERE id = 1",
    "UPDATE disputed SET id = 7 WHERE id = 1",
    "DELETE FROM disputed WHERE id = 1",
)


def test_every_pair_of_changes_of_one_row_conflicts(server: AntumbraServer) -> None:
    with server.connect() as first, server.connect() as second:
        for theirs, ours in itertools.product(CHANGES, CHANGES):
            first.execute("CREATE TABLE disputed (id int PRIMARY KEY, name text, number int, parts int[])")
            first.execute("INSERT INTO disputed VALUES (1, 'a', 1, '{1}'), (2, 'b', 2, '{2}')")
            first.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            first.execute("SELECT * FROM disputed")
            second.execute(theirs.encode())
            with pytest.raises(psycopg.errors.SerializationFailure):
                first.execute(ours.encode())
            first.execute("ROLLBACK")
            first.execute("DROP TABLE disputed")


def test_changes_of_other_rows_do_not_conflict(server: AntumbraServer) -> None:
    with server.connect() as first, server.connect() as second:
        first.execute("CREATE TABLE shared (id int PRIMARY KEY, name text)")
        first.execute("INSERT INTO shared VALUES (1, 'a'), (2, 'b'), (3, 'c')")
        first.execute("BEGIN")
        first.execute("UPDATE shared SET name = 'first' WHERE id = 1")
        second.execute("DELETE FROM shared WHERE id = 2")
        second.execute("INSERT INTO shared VALUES (4, 'd')")
        first.execute("DELETE FROM shared WHERE id = 3")
        first.execute("COMMIT")
        assert second.execute("SELECT id, name FROM shared ORDER BY id").fetchall() == [(1, "first"), (4, "d")]
        first.execute("DROP TABLE shared")


@pytest.mark.parametrize("rows_count", [1, 16, 17, 500])
def test_changes_of_few_and_of_many_rows(server: AntumbraServer, rows_count: int) -> None:
    with server.connect() as first, server.connect() as second:
        first.execute("CREATE TABLE many (id int PRIMARY KEY, number int)")
        first.execute("INSERT INTO many SELECT g, 0 FROM generate_series(1, 1000) g")
        first.execute("BEGIN")
        assert first.execute("UPDATE many SET number = 1 WHERE id <= %s", (rows_count,)).rowcount == rows_count
        second.execute("BEGIN")
        second.execute("SELECT * FROM many")
        first.execute("COMMIT")
        with pytest.raises(psycopg.errors.SerializationFailure):
            second.execute("DELETE FROM many WHERE id <= %s", (rows_count,))
        second.execute("ROLLBACK")
        assert second.execute("DELETE FROM many WHERE number = 1").rowcount == rows_count
        assert second.execute("SELECT count(*), sum(number) FROM many").fetchone() == (1000 - rows_count, 0)
        first.execute("DROP TABLE many")


def test_on_conflict_meets_a_key_that_came_after_the_snapshot_as_a_conflict(server: AntumbraServer) -> None:
    upsert = "INSERT INTO counted VALUES (1, 1, 'a') ON CONFLICT (id) DO UPDATE SET number = counted.number + 1"
    nothing = "INSERT INTO counted VALUES (1, 1, 'b') ON CONFLICT DO NOTHING"
    other_key = "INSERT INTO counted VALUES (2, 1, 'there') ON CONFLICT (id) DO NOTHING"
    with server.connect() as first, server.connect() as second:
        for statement, error in (
            (upsert, psycopg.errors.SerializationFailure),
            (nothing, psycopg.errors.SerializationFailure),
            (other_key, psycopg.errors.UniqueViolation),
        ):
            # At the statement, which sees what others have committed; and at COMMIT, when both
            # transactions were open.
            for theirs_first in (True, False):
                first.execute("CREATE TABLE counted (id int PRIMARY KEY, number int, name text UNIQUE)")
                first.execute("BEGIN")
                first.execute("SELECT * FROM counted")
                if not theirs_first:
                    first.execute(statement)
                second.execute("INSERT INTO counted VALUES (1, 0, 'there')")
                with pytest.raises(error):
                    first.execute(statement if theirs_first else "COMMIT")
                first.execute("ROLLBACK")
                first.execute("DROP TABLE counted")


def test_upserts_in_autocommit_wait_for_each_other(server: AntumbraServer) -> None:
    def count(number: int) -> None:
        with server.connect() as session:
            for key in range(20):
                session.execute(
                    "INSERT INTO tallied VALUES (%s, 1) ON CONFLICT (id) DO UPDATE SET number = tallied.number + 1",
                    (key,),
                )
                session.execute(f"INSERT INTO tallied VALUES ({key + 100}, {number}) ON CONFLICT DO NOTHING")

    with server.connect() as session:
        session.execute("CREATE TABLE tallied (id int PRIMARY KEY, number int)")
        with ThreadPoolExecutor(4) as clients:
            list(clients.map(count, range(4)))
        counts = session.execute("SELECT count(*), sum(number) FROM tallied WHERE id < 100").fetchone()
        assert counts == (20, 80)
        assert session.execute("SELECT count(*) FROM tallied").fetchone() == (40,)
        session.execute("DROP TABLE tallied")
