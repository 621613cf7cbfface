"""INSERTs whose stream is altered between their rows and their commit: they are done once more, and
their client does not see that.
"""

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
    return world.client().after(
        "CREATE FOREIGN TABLE s (k int, t text) SERVER stream",
        "CREATE VIEW n AS SELECT count(*) AS n, sum(k) AS total FROM s",
        "CREATE TABLE given (k int)",
        "INSERT INTO given VALUES (1), (2)",
    )


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


@pytest.mark.turns(2)
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


ROW = [parsed("INSERT INTO s (k) VALUES ($1)"), bind([b"7"]), EXECUTE]
INTO_TABLE = [parsed("INSERT INTO given VALUES ($1)"), bind([b"9"]), EXECUTE]
# What is sent before one Sync, or as one Query; how many rows the stream and the table have more.
IMPLICIT: dict[str, tuple[list[bytes | str], int, int]] = {
    "rows": ([*ROW, *ROW, *ROW, SYNC], 3, 0),
    "another way": ([*ROW, parsed("INSERT INTO s (k) SELECT 1 + 1"), bind([]), EXECUTE, *ROW, SYNC], 3, 0),
    "a table first": ([*INTO_TABLE, *ROW, SYNC], 1, 1),
    "a table last": ([*ROW, *ROW, *INTO_TABLE, SYNC], 2, 1),
    "one Query": (["INSERT INTO s (k) VALUES (1); INSERT INTO given VALUES (5); INSERT INTO s (k) VALUES (2)"], 2, 1),
}


@pytest.mark.turns(2)
@pytest.mark.parametrize("case", IMPLICIT.values(), ids=IMPLICIT)
@pytest.mark.parametrize("times", [1, 3])
def test_all_of_an_implicit_block_is_done_again(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch, case: tuple[list[bytes | str], int, int], times: int
) -> None:
    messages, rows, more = case
    with monkeypatch.context() as patch:
        left = altered_times(patch, times)
        answer = client.ask(*messages)
        assert left == [0], "the commit has met the alteration"
    assert len([one for one in answer if one == "C INSERT 0 1"]) == rows + more, answer
    assert not [one for one in answer if one[0] == "E"]
    assert client.rows("SELECT n FROM n") == [f"D [b'{rows}']"]
    assert client.rows("SELECT count(*) FROM given") == [f"D [b'{2 + more}']"]


def statements(*texts: str) -> list[bytes | str]:
    return [message for text in texts for message in (parsed(text), bind([]), EXECUTE)]


INTO_STREAM = "INSERT INTO s (k) VALUES (1)"
SEEN: dict[str, list[bytes | str]] = {
    "a block": ["BEGIN", INTO_STREAM, "COMMIT"],
    "rows that were shown": [*statements("INSERT INTO given VALUES (9) RETURNING k", INTO_STREAM), SYNC],
    "a query before": [*statements("SELECT count(*) FROM given", INTO_STREAM), SYNC],
    "a query between": [*statements(INTO_STREAM, "SELECT count(*) FROM given", INTO_STREAM), SYNC],
    "a setting": [*statements("SET extra_float_digits = 0", INTO_STREAM), SYNC],
    "an update": [*statements("UPDATE given SET k = 3", INTO_STREAM), SYNC],
    "a notification": [*statements("NOTIFY somebody", INTO_STREAM), SYNC],
    "a definition": [*statements("CREATE TABLE other (k int)", INTO_STREAM), SYNC],
    "COPY after it": [f"{INTO_STREAM}; COPY s (k) FROM STDIN", frame(b"d", b"4\n"), frame(b"c", b"")],
    "COPY before it": [f"COPY s (k) FROM STDIN; {INTO_STREAM}", frame(b"d", b"4\n"), frame(b"c", b"")],
    "one Query": [f"SET extra_float_digits = 0; {INTO_STREAM}"],
}


@pytest.mark.turns(2)
@pytest.mark.parametrize("messages", SEEN.values(), ids=SEEN)
def test_what_a_client_has_seen_is_not_done_again(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch, messages: list[bytes | str]
) -> None:
    with monkeypatch.context() as patch:
        altered_times(patch, 1)
        answer = client.ask(*messages)
        assert [one for one in answer if one.startswith("E ERROR 40001")], answer
    assert client.rows("SELECT n FROM n") == ["D [b'0']"]
    assert client.rows("SELECT count(*), sum(k) FROM given") == ["D [b'2', b'3']"]


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
