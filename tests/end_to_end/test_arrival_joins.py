"""WITH (stream_join = arrival): each commit of a stream meets the table as it is then, before and
after a crash.

PostgreSQL replays it tuple by tuple: what a row meets is written down when it is inserted, and the
view's query reads that.
"""

from __future__ import annotations

import threading
from pathlib import Path

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

Connection = psycopg.Connection[tuple[object, ...]]

STREAM = "(k integer, v integer)"
TABLE = (
    "CREATE TABLE rates (k integer PRIMARY KEY, name text, rate numeric(6, 2))",
    "INSERT INTO rates VALUES (1, 'one', 1.50), (2, 'two', 2.00), (3, NULL, NULL)",
)
VIEWS = {
    "by_name": ("SELECT name, count(*) AS n, sum(v * rate) AS total, max(v) AS most FROM {} GROUP BY name", "JOIN"),
    # It takes its rows together with the first one.
    "again": ("SELECT max(v) AS most, sum(v * rate) / count(*) AS mean, name FROM {} GROUP BY name", "JOIN"),
    "left_out": ("SELECT name, k, count(*) AS n, sum(v) AS total FROM {} GROUP BY name, k", "LEFT JOIN"),
}
LARGE = "SELECT g % 4 + 1, g FROM generate_series(1, 3000) AS g"


def both(ours: Connection, theirs: Connection, statement: str) -> None:
    ours.execute(statement.encode())
    theirs.execute(statement.encode())


def insert(ours: Connection, theirs: Connection, rows: str) -> None:
    ours.execute(f"INSERT INTO sold {rows}".encode())
    arrive(theirs, rows)


def arrive(theirs: Connection, rows: str) -> None:
    """Write down what rows meet now."""
    for view, (_, kind) in VIEWS.items():
        theirs.execute(
            f"INSERT INTO met_{view} SELECT s.k, s.v, r.name, r.rate FROM ({rows}) AS s(k, v) {kind} rates r ON r.k = s.k".encode()
        )


def check(ours: Connection, theirs: Connection) -> None:
    for view, (query, _) in VIEWS.items():
        expected = sorted(map(repr, theirs.execute(query.format(f"met_{view}").encode()).fetchall()))
        assert sorted(map(repr, ours.execute(f"SELECT * FROM {view}".encode()).fetchall())) == expected, view


def test_rows_meet_the_table_as_it_is_when_they_are_committed(tmp_path: Path, oracle: Connection) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    with server.connect() as ours, server.connect() as other:
        ours.execute(f"CREATE FOREIGN TABLE sold {STREAM} SERVER stream".encode())
        for statement in TABLE:
            both(ours, oracle, statement)
        ours.execute("SET default_stream_join = arrival")
        for view, (query, kind) in VIEWS.items():
            oracle.execute(f"CREATE TABLE met_{view} (k integer, v integer, name text, rate numeric(6, 2))".encode())
            joined = f"(SELECT s.k, s.v, r.name, r.rate FROM sold s {kind} rates r ON r.k = s.k) AS j"
            ours.execute(f"CREATE VIEW {view} AS {query.format(joined)}".encode())
        sharing = ours.execute("SELECT relname, shares_with FROM pg_stat_continuous_views ORDER BY relname").fetchall()
        assert sharing == [("again", "by_name"), ("by_name", "again"), ("left_out", None)]
        insert(ours, oracle, "VALUES (1, 10), (2, 20), (3, 30), (4, 40)")
        both(ours, oracle, "UPDATE rates SET rate = 3.25, name = 'uno' WHERE k = 1")
        both(ours, oracle, "INSERT INTO rates VALUES (4, 'four', 4.00)")
        insert(ours, oracle, "VALUES (1, 11), (4, 41)")
        both(ours, oracle, "DELETE FROM rates WHERE k = 2")
        insert(ours, oracle, "VALUES (2, 22)")
        check(ours, oracle)
        # What was staged before a change meets it if it is committed after it, few rows and many.
        for rows in ("VALUES (3, 1), (1, 5)", LARGE):
            with other.transaction():
                other.execute(f"INSERT INTO sold {rows}".encode())
                both(ours, oracle, "UPDATE rates SET name = coalesce(name, '') || '!', rate = coalesce(rate, 0) + 0.5")
            arrive(oracle, rows)
            check(ours, oracle)
        # A transaction's own changes, before and after the rows; and none that is rolled back.
        with ours.transaction():
            ours.execute("INSERT INTO sold VALUES (1, 100)")
            both(ours, oracle, "INSERT INTO rates VALUES (2, 'two again', 9.00)")
            ours.execute("INSERT INTO sold VALUES (2, 200)")
        arrive(oracle, "VALUES (1, 100), (2, 200)")
        with ours.transaction(force_rollback=True):
            ours.execute("DELETE FROM rates")
        insert(ours, oracle, "VALUES (2, 2)")
        check(ours, oracle)
        with pytest.raises(psycopg.Error) as refused:
            ours.execute("ALTER TABLE rates ALTER COLUMN rate TYPE numeric(9, 3)")
        assert refused.value.sqlstate in ("0A000", "55006")
    server.kill()
    server.start()
    with server.connect() as ours:
        check(ours, oracle)
        insert(ours, oracle, "VALUES (1, 7), (2, 8)")
        ours.execute("CHECKPOINT")
        insert(ours, oracle, "VALUES (1, 70)")
        both(ours, oracle, "TRUNCATE rates")
        insert(ours, oracle, "VALUES (1, 700)")
        both(ours, oracle, "INSERT INTO rates VALUES (1, 'new', 1.00)")
        insert(ours, oracle, "VALUES (1, 7000)")
        check(ours, oracle)
    server.kill()
    server.start()
    with server.connect() as ours:
        check(ours, oracle)
        insert(ours, oracle, "VALUES (1, 1)")
        check(ours, oracle)
    assert server.stop() == 0


def test_no_commit_meets_two_states_of_a_table(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    with server.connect() as ours:
        ours.execute("CREATE FOREIGN TABLE ticks (k integer) SERVER stream")
        ours.execute("CREATE TABLE era (k integer, number integer)")
        ours.execute("INSERT INTO era VALUES (1, 0), (2, 0)")
        counts = "count(*) FILTER (WHERE t.k = 1) AS ones, count(*) FILTER (WHERE t.k = 2) AS twos"
        query = f"SELECT number, {counts} FROM ticks t JOIN era USING (k)"
        ours.execute(f"CREATE VIEW counted WITH (stream_join = arrival) AS {query} GROUP BY number".encode())
        done = threading.Event()
        inserted = [0, 0]

        def insert_pairs(number: int) -> None:
            rows = ", ".join(["(1), (2)"] * (1, 900)[number])
            with server.connect() as writer:
                while not done.is_set():
                    writer.execute(f"INSERT INTO ticks VALUES {rows}".encode())
                    inserted[number] += (1, 900)[number]

        threads = [threading.Thread(target=insert_pairs, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        for _ in range(12):
            ours.execute("UPDATE era SET number = number + 1")
        done.set()
        for thread in threads:
            thread.join()
        before = sorted(ours.execute("SELECT * FROM counted").fetchall())
        assert all(ones == twos for _, ones, twos in before)
        assert sum(int(str(ones)) for _, ones, _ in before) == sum(inserted)
        assert len(before) > 3
    server.kill()
    server.start()
    with server.connect() as ours:
        assert sorted(ours.execute("SELECT * FROM counted").fetchall()) == before
    assert server.stop() == 0
