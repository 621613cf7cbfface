"""Snapshots that readers leave for the next one: they see the newest commit of any session, and
none is open during a COMMIT.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engine.embedded.query_engine import Cursor
from engine.tables.snapshot_pool import FOUND, KEPT_MAX, SnapshotPool
from tests.engine.session_client import SessionClient, World

READ = "SELECT k FROM t WHERE k < {} ORDER BY k"


def kept(world: World) -> int:
    return len(world.database.store._snapshots._kept)


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client().after("CREATE TABLE t (k int PRIMARY KEY)", "INSERT INTO t VALUES (1)")


def test_a_reader_has_the_snapshot_of_the_one_before(
    client: SessionClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kept(world) == 0
    opened = []
    take_new = world.database.store._open_snapshot

    def counted() -> Cursor:
        opened.append(1)
        return take_new()

    monkeypatch.setattr(world.database.store, "_open_snapshot", counted)
    for number in range(2, 6):
        assert client.rows(READ.format(number)) == ["D [b'1']"]
        assert (len(opened), kept(world)) == (1, 1)
    client.run("INSERT INTO t VALUES (2)")
    assert kept(world) == 0
    assert client.rows(READ.format(6)) == ["D [b'1']", "D [b'2']"]


@pytest.mark.parametrize(
    "texts",
    [
        ("INSERT INTO t VALUES (7)", "ROLLBACK"),
        ("SELECT k FROM t FOR UPDATE", "ROLLBACK"),
        ("CREATE TABLE u (a int)", "ROLLBACK"),
        ("SELECT 1 / (k - 1) FROM t", "ROLLBACK"),
        ("SAVEPOINT s", "INSERT INTO t VALUES (7)", "ROLLBACK TO s", "SELECT k FROM t", "COMMIT"),
        ("SELECT t.k FROM t, counted", "COMMIT"),
    ],
)
def test_what_did_more_than_read_tables_is_ended(client: SessionClient, world: World, texts: tuple[str, ...]) -> None:
    client.run("CREATE FOREIGN TABLE s (k int) SERVER stream", "CREATE VIEW counted AS SELECT count(*) FROM s")
    for text in ("BEGIN", *texts):
        client.ask(text)
    assert kept(world) == 0
    assert client.rows(READ.format(8)) == ["D [b'1']"]


def test_sequences_commit_with_none_open(client: SessionClient, world: World) -> None:
    client.run("CREATE SEQUENCE numbers")
    client.ask(READ.format(9))
    assert kept(world) == 1
    assert client.rows("SELECT nextval('numbers')") == ["D [b'1']"]
    assert client.rows(READ.format(10)) == ["D [b'1']"]


def test_no_more_than_a_few_are_kept(client: SessionClient, world: World) -> None:
    readers = [world.client() for _ in range(KEPT_MAX + 2)]
    for reader in readers:
        reader.run("BEGIN", READ.format(2))
    for reader in readers:
        reader.run("COMMIT")
    assert kept(world) == KEPT_MAX


def test_those_of_an_older_commit_are_not_taken(world: World) -> None:
    snapshots = SnapshotPool(world.database.store.engine)
    cursor = world.database.store._open_snapshot()
    with snapshots.none_open():
        assert not snapshots.give(cursor, FOUND)
        with snapshots.none_open():
            snapshots.advance()
        assert not snapshots.give(cursor, FOUND + 1)
    assert not snapshots.give(cursor, FOUND) and snapshots.take() is None
    assert snapshots.give(cursor, FOUND + 1) and snapshots.take() is cursor and snapshots.take() is None
    cursor.connection.rollback()


def test_random_readers_and_writers(tmp_path: Path) -> None:
    chance, world = random.Random(3), World(tmp_path / "data")
    try:
        clients = [world.client() for _ in range(4)]
        clients[0].run("CREATE TABLE t (k int)")
        # What is committed, and per client what it wrote since, and what it saw at first in its
        # block.
        committed, written, seen = 0, [0] * 4, [-1] * 4
        for step in range(400):
            which = chance.randrange(4)
            client, is_open = clients[which], seen[which] != -1 or written[which] > 0
            action = chance.choice(("read", "read", "write", "begin", "end"))
            if action == "read":
                (row,) = client.rows(f"SELECT count(*) FROM t WHERE k > -{step + 1}")
                if is_open and seen[which] == -1:
                    seen[which] = committed
                assert row == f"D [b'{(seen[which] if is_open else committed) + written[which]}']", step
            elif action == "write":
                if is_open and seen[which] == -1:
                    seen[which] = committed
                client.run(f"INSERT INTO t VALUES ({step})")
                if is_open:
                    written[which] += 1
                else:
                    committed += 1
            elif action == "begin" and not is_open:
                client.run("BEGIN")
                (row,) = client.rows(f"SELECT count(*) FROM t WHERE k <> -{step + 1}")
                seen[which] = committed
                assert row == f"D [b'{committed}']", step
            elif action == "end" and is_open:
                commits = chance.random() < 0.5
                client.run("COMMIT" if commits else "ROLLBACK")
                committed += written[which] if commits else 0
                written[which], seen[which] = 0, -1
        assert committed
    finally:
        world.close()
