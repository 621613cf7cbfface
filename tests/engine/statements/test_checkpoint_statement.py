"""CHECKPOINT in a session: on a worker thread, in and outside of transactions, refused only where
PostgreSQL refuses it.
"""

from __future__ import annotations

import threading

import pytest

from tests.end_to_end.raw_client import SYNC, bind, describe, execute, parse
from tests.engine.session_client import SessionClient, World


@pytest.fixture
def threads(world: World, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads on which a checkpoint was written."""
    found: list[str] = []
    monkeypatch.setattr(world.database.checkpoints, "make", lambda _: found.append(threading.current_thread().name))
    return found


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client()


def test_it_is_written_by_a_worker(client: SessionClient, threads: list[str]) -> None:
    assert client.ask("CHECKPOINT") == ["C CHECKPOINT", "Z I"]
    assert client.ask(parse("checkpoint"), describe("S"), bind(), execute(), SYNC)[-2:] == ["C CHECKPOINT", "Z I"]
    assert [name.startswith("antumbra") for name in threads] == [True, True]


def test_a_transaction_goes_on(client: SessionClient, threads: list[str]) -> None:
    client.run("BEGIN", "CREATE TABLE t (a int)")
    assert client.ask("CHECKPOINT") == ["C CHECKPOINT", "Z T"]
    client.run("INSERT INTO t VALUES (1)", "COMMIT", "BEGIN READ ONLY", "CHECKPOINT", "COMMIT")
    assert client.rows("SELECT a FROM t") == ["D [b'1']"]
    assert len(threads) == 2


def test_not_in_a_failed_transaction(client: SessionClient, threads: list[str]) -> None:
    client.ask("BEGIN; SELECT 1 / 0")
    assert client.ask("CHECKPOINT")[0].startswith("E ERROR 25P02")
    assert not threads
