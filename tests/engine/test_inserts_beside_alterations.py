"""A single INSERT whose stream is altered between its rows and its commit: it is done once more, and its client does not see that."""

from __future__ import annotations

from typing import Any

import pytest

from engine.commit.parts import prepare as really_prepare
from engine.commit.transaction import AGAIN_MAX
from sql.errors import SqlError
from tests.engine.session_client import SessionClient, World
from tests.sql.wire.frames import SYNC_FRAME as SYNC
from tests.sql.wire.frames import bind, frame

ALTERED = SqlError("40001", 'stream "s" was altered before this transaction committed')


@pytest.fixture
def client(world: World) -> SessionClient:
    made = world.client()
    made.run(
        "CREATE FOREIGN TABLE s (k int, t text) SERVER stream",
        "CREATE VIEW n AS SELECT count(*) AS n, sum(k) AS total FROM s",
        "CREATE TABLE given (k int)",
        "INSERT INTO given VALUES (1), (2)",
    )
    return made


def altered_times(monkeypatch: pytest.MonkeyPatch, times: int) -> list[int]:
    """Let so many commits find an altered stream."""
    left = [times]

    def prepare(*arguments: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise ALTERED
        return really_prepare(*arguments)

    monkeypatch.setattr("engine.commit.committer.prepare", prepare)
    return left


def parsed(text: str) -> bytes:
    return frame(b"P", b"\0" + text.encode() + b"\0\0\0")


EXECUTE = frame(b"E", b"\0\0\0\0\0")
SINGLE = {
    "literals": ["INSERT INTO s (k) VALUES (1), (2)"],
    "expressions": ["INSERT INTO s (k) VALUES (1), (1 + 1)"],
    "a query": ["INSERT INTO s (k) SELECT k FROM given"],
    "a query of constants": ["INSERT INTO s (k) SELECT * FROM generate_series(1, 2)"],
    "parameters": [parsed("INSERT INTO s (k) VALUES ($1), ($2)"), bind([b"1", b"2"]), EXECUTE, SYNC],
    "a row of parameters": [parsed("INSERT INTO s VALUES ($1, $2)"), bind([b"3", b"x"]), EXECUTE, SYNC],
    "EXECUTE": ["EXECUTE i (3)"],
}


@pytest.mark.parametrize("messages", SINGLE.values(), ids=SINGLE)
@pytest.mark.parametrize("times", [1, 3])
def test_a_single_insert_is_done_again(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch, messages: list[bytes | str], times: int
) -> None:
    client.run("PREPARE i (int) AS INSERT INTO s (k) VALUES ($1)")
    left = altered_times(monkeypatch, times)
    answer = client.ask(*messages)
    assert left == [0], "the commit has met the alteration"
    assert answer[-2].startswith("C INSERT 0 ") and answer[-1] == "Z I" and not [one for one in answer if one[0] == "E"]
    rows = int(answer[-2].rsplit(" ", 1)[1])
    assert client.rows("SELECT * FROM n") == [f"D [b'{rows}', b'3']"]


def test_between_execute_and_sync(world: World, client: SessionClient) -> None:
    other = world.client()
    for number, text in enumerate(
        ("ALTER FOREIGN TABLE s ADD c int DEFAULT 5", "ALTER FOREIGN TABLE s DROP c, ADD d int")
    ):
        client.ask(parsed("INSERT INTO s (k) VALUES ($1)"), bind([b"7"]), EXECUTE)
        other.run(text)
        assert client.ask(SYNC) == ["Z I"]
        assert client.rows("SELECT n FROM n") == [f"D [b'{number + 1}']"]


def test_a_stream_that_is_gone_is_named(world: World, client: SessionClient) -> None:
    client.ask(parsed("INSERT INTO s (k) VALUES ($1)"), bind([b"7"]), EXECUTE)
    world.client().run("DROP FOREIGN TABLE s CASCADE")
    assert client.ask(SYNC)[0].startswith("E ERROR 42P01")


def test_several_statements_and_blocks_are_not_done_again(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = [parsed("INSERT INTO s (k) VALUES ($1)"), bind([b"7"]), EXECUTE]
    for messages in (["BEGIN", "INSERT INTO s (k) VALUES (1)", "COMMIT"], [*insert, *insert, SYNC]):
        with monkeypatch.context() as patch:
            altered_times(patch, 1)
            answer = client.ask(*messages)
            assert [one for one in answer if one.startswith("E ERROR 40001")], answer
    assert client.rows("SELECT n FROM n") == ["D [b'0']"]


def test_there_is_an_end(client: SessionClient, monkeypatch: pytest.MonkeyPatch) -> None:
    left = altered_times(monkeypatch, 1000)
    answer = client.ask("INSERT INTO s (k) VALUES (1)")
    assert answer[0].startswith("E ERROR 40001") and answer[-1] == "Z I"
    assert 1000 - left[0] <= 2 * AGAIN_MAX


def test_who_was_told_of_other_rows_gets_the_error(
    world: World, client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.ask(parsed("INSERT INTO s (k) SELECT k FROM given"), bind([]), EXECUTE)
    other = world.client()
    other.run("INSERT INTO given VALUES (3)", "ALTER FOREIGN TABLE s ADD c int")
    assert client.ask(SYNC)[0].startswith("E ERROR 40001")
    assert client.rows("SELECT n FROM n") == ["D [b'0']"]
