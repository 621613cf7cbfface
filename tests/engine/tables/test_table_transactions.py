"""Transactions on durable tables: snapshots, conflicts, one commit point with streams and
definitions, and what a restart finds.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from engine.ddl.restore import restore_catalog
from engine.execution.reading import answer_key
from engine.storage.storage import DiskStorage, TableConnection
from engine.tables.write_journal import ROWS, Step, perform
from sql.tree.expressions import Column
from sql.tree.relations import OutputColumn, Project, Scan
from sql.types.datatypes import INT8, TEXT
from tests.engine.session_client import SessionClient, World
from views.upkeep.chain import Chain

CONFLICT = "40001: could not serialize access due to concurrent update"


class FailingStorage(DiskStorage):
    """A disk whose commits fail as often as is said. after: the commit has happened all the
    same.
    """

    def __init__(self) -> None:
        self.failures = 0

    def commit_tables(self, connection: TableConnection) -> None:
        if self.failures:
            self.failures -= 1
            raise duckdb.IOException("Could not write file: No space left on device")
        super().commit_tables(connection)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    running = World(tmp_path)
    client = running.client()
    client.run("CREATE TABLE t (a int PRIMARY KEY, b int)", "INSERT INTO t VALUES (1, 10), (2, 20)")
    yield running
    running.close()


def reopened(world: World) -> World:
    """Return a second database in the folder of one that was not closed in order, as after a
    crash.
    """
    world.database.workers.shutdown()
    world.database.engines.tables.close()
    again = World(world.config.data_dir)
    text = again.database.store.load()
    assert text is not None
    again.database.catalog.image = restore_catalog(again.database.builders, text)
    return again


def failure(client: SessionClient, text: str) -> str:
    """Return the error of a statement that must fail."""
    errors = [line for line in client.ask(text) if line.startswith("E ")]
    assert len(errors) == 1, (text, errors)
    return errors[0].removeprefix("E ERROR ")


def test_a_block_has_one_snapshot(world: World) -> None:
    reader, writer = world.client(), world.client()
    reader.run("BEGIN")
    assert len(reader.rows("SELECT * FROM t")) == 2
    writer.run("INSERT INTO t VALUES (3, 30)", "CREATE TABLE u (x int)", "ALTER TABLE t ADD COLUMN c int")
    assert len(reader.rows("SELECT * FROM t")) == 2
    assert reader.rows("SELECT * FROM t WHERE a = 1") == ["D [b'1', b'10']"]
    assert failure(reader, "SELECT * FROM u").startswith("42P01")
    reader.run("ROLLBACK")
    assert len(reader.rows("SELECT c FROM t")) == 3
    assert reader.rows("SELECT count(*) FROM u") == ["D [b'0']"]


def test_own_writes_are_seen_and_rolled_back(world: World) -> None:
    client, other = world.client(), world.client()
    client.run("BEGIN", "UPDATE t SET b = b + 1", "DELETE FROM t WHERE a = 2")
    assert client.rows("SELECT * FROM t") == ["D [b'1', b'11']"]
    assert len(other.rows("SELECT * FROM t")) == 2
    assert failure(client, "INSERT INTO t VALUES (1, 1)").startswith("23505")
    assert client.ask("COMMIT") == ["C ROLLBACK", "Z I"]
    assert len(client.rows("SELECT * FROM t")) == 2


def test_a_write_conflict(world: World) -> None:
    first, second = world.client(), world.client()
    first.run("BEGIN", "UPDATE t SET b = 11 WHERE a = 1")
    second.run("SET lock_timeout = '50ms'")
    assert failure(second, "UPDATE t SET b = 12 WHERE a = 1") == "55P03: canceling statement due to lock timeout"
    second.run("BEGIN", "SELECT * FROM t")
    first.run("COMMIT")
    assert failure(second, "UPDATE t SET b = 12 WHERE a = 1") == CONFLICT
    assert second.ask("SELECT 1") == [
        "E ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block",
        "Z E",
    ]
    second.run("ROLLBACK", "UPDATE t SET b = b + 1 WHERE a = 1")
    assert second.rows("SELECT b FROM t WHERE a = 1") == ["D [b'12']"]


def test_a_single_statement_waits_for_a_short_conflict(world: World) -> None:
    first, second = world.client(), world.client()
    first.run("BEGIN", "UPDATE t SET b = 11 WHERE a = 1")
    transaction = first.session.block.open
    assert transaction is not None and transaction.tables is not None
    tables, locks = transaction.tables, first.session.backend.locks

    def end() -> None:
        tables.rollback()
        locks.end_transaction()

    timer = threading.Timer(0.1, end)
    timer.start()
    second.run("UPDATE t SET b = 12 WHERE a = 1")
    timer.join()


def test_the_same_key_twice_at_commit(world: World) -> None:
    first, second = world.client(), world.client()
    first.run("BEGIN", "INSERT INTO t VALUES (5, 1)")
    second.run("INSERT INTO t VALUES (5, 2)")
    [(text, fields)] = [answer for answer in first.ask_in_full("COMMIT") if answer[0].startswith("E")]
    assert text == 'E 23505: duplicate key value violates unique constraint "t_pkey"'
    assert fields == {"detail": "Key (a)=(5) already exists.", "table": "t", "constraint": "t_pkey"}
    assert first.rows("SELECT b FROM t WHERE a = 5") == ["D [b'2']"]


def test_streams_and_tables_commit_together(world: World) -> None:
    first, second = world.client(), world.client()
    first.run("CREATE FOREIGN TABLE s (k int) SERVER stream", "CREATE VIEW n AS SELECT count(*) AS n FROM s")
    first.run("BEGIN", "INSERT INTO s VALUES (1), (2)", "INSERT INTO t VALUES (5, 1)")
    second.run("INSERT INTO t VALUES (5, 2)")
    assert failure(first, "COMMIT").startswith("23505")
    assert first.rows("SELECT * FROM n") == ["D [b'0']"]
    first.run("BEGIN", "INSERT INTO s VALUES (1), (2)", "INSERT INTO t VALUES (6, 1)", "COMMIT")
    assert first.rows("SELECT n.n, count(*) FROM n, t GROUP BY n.n") == ["D [b'2', b'4']"]


def test_a_commit_that_the_disk_refuses(world: World) -> None:
    storage = FailingStorage()
    world.database.store._storage = storage
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (k int) SERVER stream", "CREATE VIEW n AS SELECT count(*) AS n FROM s")
    for statement in ("CREATE TABLE u (x int)", "DROP VIEW n", "TRUNCATE t", "CREATE SEQUENCE q"):
        storage.failures = 1
        assert failure(client, statement).startswith("53100"), statement
    client.run("BEGIN", "INSERT INTO s VALUES (1)", "INSERT INTO t VALUES (7, 7)", "CREATE TABLE u (x int)")
    storage.failures = 1
    assert failure(client, "COMMIT").startswith("53100")
    assert client.rows("SELECT * FROM n") == ["D [b'0']"]
    assert len(client.rows("SELECT * FROM t")) == 2
    client.run("CREATE TABLE u (x int)", "INSERT INTO u VALUES (1)")
    again = reopened(world)
    assert again.client().rows("SELECT * FROM u") == ["D [b'1']"]
    again.close()


def test_definitions_and_rows_meet(world: World) -> None:
    definer, writer = world.client(), world.client()
    writer.run("BEGIN", "INSERT INTO t VALUES (3, 30)")
    definer.run("ALTER TABLE t ADD COLUMN c int DEFAULT 1")
    assert failure(writer, "COMMIT") == CONFLICT
    writer.run("BEGIN", "INSERT INTO t VALUES (3, 30)")
    definer.run("DROP TABLE t")
    assert failure(writer, "COMMIT") == CONFLICT
    definer.run("CREATE TABLE t (a int)", "BEGIN", "ALTER TABLE t ADD CHECK (a > 0)")
    writer.run("INSERT INTO t VALUES (-1)")
    assert failure(definer, "COMMIT") == CONFLICT
    assert failure(definer, "ALTER TABLE t ADD CHECK (a > 0)").startswith("23514")


def test_definitions_wait_for_each_other(world: World) -> None:
    first, second = world.client(), world.client()
    first.run("BEGIN", "CREATE TABLE u (x int)")
    second.run("SET statement_timeout = 100")
    assert failure(second, "CREATE TABLE v (x int)").startswith("57014")
    second.run("BEGIN", "SELECT * FROM t")
    first.run("COMMIT")
    # It goes on with the newest catalog, but its snapshot has no rows of what has come since.
    second.run("CREATE TABLE v (x int)")
    assert failure(second, "SELECT * FROM u") == CONFLICT
    second.run("ROLLBACK", "CREATE TABLE v (x int)", "SELECT * FROM u")


def test_a_table_inside_a_stream_pipeline_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client, other = world.client(), world.client()
    client.run("CREATE FOREIGN TABLE s (k int) SERVER stream")
    other.run("BEGIN", "INSERT INTO t VALUES (3, 30)")
    client.run("CREATE VIEW n AS SELECT count(*) AS n FROM s")
    monkeypatch.setattr(Chain, "stream_tables", frozenset({"t"}))
    refused = '55006: cannot change table "t" because continuous view "n" joins it with its stream'
    assert failure(other, "COMMIT") == refused
    for statement in ("INSERT INTO t VALUES (9, 9)", "UPDATE t SET b = 1", "DELETE FROM t", "TRUNCATE t"):
        assert failure(client, statement) == refused, statement
    assert failure(client, "ALTER TABLE t ADD COLUMN c int").startswith("0A000")
    assert failure(client, "DROP TABLE t") == "2BP01: cannot drop table t because other objects depend on it"
    client.run("DROP TABLE t CASCADE")
    assert failure(client, "SELECT * FROM n").startswith("42P01")


def test_views_keep_their_version_in_a_block(world: World) -> None:
    reader, writer = world.client(), world.client()
    writer.run("CREATE FOREIGN TABLE s (k int) SERVER stream", "CREATE VIEW n AS SELECT count(*) AS n FROM s")
    writer.run("INSERT INTO s VALUES (1)")
    assert reader.rows("SELECT * FROM n") == ["D [b'1']"]
    reader.run("BEGIN")
    # This answer is kept, and fixes the version nevertheless.
    assert reader.rows("SELECT * FROM n") == ["D [b'1']"]
    writer.run("INSERT INTO s VALUES (2)")
    assert writer.rows("SELECT * FROM n") == ["D [b'2']"]
    assert reader.rows("SELECT * FROM n") == ["D [b'1']"]
    assert reader.rows("SELECT n + 1 FROM n") == ["D [b'2']"]
    reader.run("COMMIT")
    assert reader.rows("SELECT * FROM n") == ["D [b'2']"]


def test_answers_over_tables_are_kept_until_these_change(world: World) -> None:
    client = world.client()
    client.run("CREATE TABLE u (x int)")
    text = "SELECT count(*) FROM t"

    def is_kept() -> bool:
        key = answer_key(text, (), client.session.settings, described=False)
        return world.database.engines.answers.find(key, client.session.runner.image(), None) is not None

    assert client.rows(text) == client.rows(text) == ["D [b'2']"]
    client.run("INSERT INTO u VALUES (1)")
    assert is_kept()
    client.run("INSERT INTO t VALUES (3, 3)")
    assert not is_kept()
    assert client.rows(text) == ["D [b'3']"]
    client.run("BEGIN", "INSERT INTO t VALUES (4, 4)")
    assert client.rows(text) == ["D [b'4']"]
    client.run("ROLLBACK")
    assert client.rows(text) == ["D [b'3']"]


def test_a_restart_finds_everything(world: World) -> None:
    client = world.client()
    client.run(
        "CREATE TABLE u (id serial PRIMARY KEY, t text DEFAULT 'x' CHECK (t <> ''), n numeric(8,2), m numeric)",
        "INSERT INTO u (n, m) VALUES (1.5, 1.25), (2, 3)",
        "CREATE VIEW v AS SELECT id, t AS named FROM u",
        "ALTER TABLE u RENAME COLUMN t TO tt",
        "ALTER TABLE u ADD COLUMN late date DEFAULT '2020-01-01'",
        "CREATE VIEW w AS SELECT * FROM v WHERE id > 1",
        "SELECT nextval('u_id_seq')",
    )
    before = client.rows("SELECT * FROM u ORDER BY id") + client.rows("SELECT * FROM w")
    again = reopened(world)
    client = again.client()
    assert client.rows("SELECT * FROM u ORDER BY id") + client.rows("SELECT * FROM w") == before
    assert failure(client, "INSERT INTO u (tt) VALUES ('')").startswith("23514")
    assert failure(client, "INSERT INTO u (id) VALUES (1)").startswith("23505")
    # Values logged ahead are lost in a crash; none comes twice.
    [row] = client.rows("INSERT INTO u (n) VALUES (5) RETURNING id")
    assert int(row.split("'")[1]) > 3
    assert failure(client, "DROP TABLE u").startswith("2BP01")
    again.database.store.settle(again.database.catalog.image)
    world.database = again.database
    third = reopened(again)
    [row] = third.client().rows("INSERT INTO u (n) VALUES (5) RETURNING id")
    assert int(row.split("'")[1]) > 3
    third.close()
    world.database = third.database


def test_a_long_statement_is_cancelled(world: World) -> None:
    client = world.client()
    client.run("BEGIN", "INSERT INTO t VALUES (3, 30)")
    timer = threading.Timer(0.3, client.session.cancel)
    timer.start()
    text = "SELECT count(*) FROM generate_series(1, 100000) a (a), generate_series(1, 100000) b (b), t WHERE a.a % 7 = b.b % 5"
    assert failure(client, text) == "57014: canceling statement due to user request"
    timer.join()
    client.run("ROLLBACK")
    assert len(client.rows("SELECT * FROM t")) == 2


def test_a_client_that_is_gone_leaves_nothing(world: World) -> None:
    client, other = world.client(), world.client()
    client.run("BEGIN", "UPDATE t SET b = 0")
    client.session.close()
    other.run("UPDATE t SET b = 1")
    assert other.rows("SELECT sum(b) FROM t") == ["D [b'2']"]


def test_rows_that_were_written_are_not_kept_until_the_end_of_the_transaction(world: World) -> None:
    engine = world.database.engines.tables
    cursor = engine.take_cursor()
    cursor.connection.execute("BEGIN")
    cursor.connection.execute("CREATE TEMPORARY TABLE kept (a BIGINT, b VARCHAR)")
    before = pa.total_allocated_bytes()
    for _ in range(5):
        rows = pa.table({"a": pa.array(range(10_000)), "b": pa.array(["x" * 100] * 10_000)})
        assert perform(cursor, Step(f'INSERT INTO kept SELECT * FROM "{ROWS}"', (), rows)) == rows.num_rows
        scan = Scan(ROWS, "rows", (OutputColumn("a", INT8), OutputColumn("b", TEXT)))
        assert (
            engine.run_on(cursor, Project(scan, (("a", Column(0, "a", INT8)),)), {ROWS: rows}, {}).num_rows
            == rows.num_rows
        )
        engine.forget_passing(cursor)
        del rows
    assert pa.total_allocated_bytes() - before < 1_000_000
    cursor.connection.execute("ROLLBACK")
    engine.give_back(cursor)
