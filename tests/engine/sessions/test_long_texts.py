"""A long text is parsed and bound beside the event loop, which serves the other clients meanwhile,
and answered like a short one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.commit.staging import StatementStage
from engine.scheduler.threads import TEXT_AT_ONCE_MAX
from ringbuffer.decode.literals import LiteralDecoder
from ringbuffer.memory.columns import Morsel
from sql.parse.grammar.cursor import Cursor
from tests.end_to_end.raw_client import SYNC, bind, execute, parse
from tests.engine.session_client import SessionClient, World

ROWS = ", ".join(f"({number}, 'row {number}')" for number in range(500))
INSERT = f"INSERT INTO items VALUES {ROWS}"
WAIT_S_MAX = 60.0
SELECT = "SELECT count(*) FROM items WHERE id IN (" + ", ".join(map(str, range(1500))) + ")"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[SessionClient]:
    world = World(tmp_path)
    client = world.client()
    client.run("CREATE TABLE items (id integer, name text)")
    yield client
    world.close()


@pytest.fixture
def parsing(monkeypatch: pytest.MonkeyPatch) -> list[threading.Thread]:
    """The threads that have begun to parse a text."""
    threads: list[threading.Thread] = []
    begin = Cursor.__init__

    def note(cursor: Cursor, text: str) -> None:
        threads.append(threading.current_thread())
        begin(cursor, text)

    monkeypatch.setattr(Cursor, "__init__", note)
    return threads


def test_a_long_query(client: SessionClient, parsing: list[threading.Thread]) -> None:
    assert min(len(INSERT), len(SELECT)) > TEXT_AT_ONCE_MAX
    assert client.ask(INSERT)[-2:] == ["C INSERT 0 500", "Z I"]
    assert client.rows(SELECT) == client.rows("SELECT 500")
    main = threading.main_thread()
    assert [thread is main for thread in parsing] == [False, False, True]


def test_a_long_prepared_statement(client: SessionClient, parsing: list[threading.Thread]) -> None:
    answers = client.ask(parse(INSERT), bind(), execute(), SYNC)
    assert answers[-2:] == ["C INSERT 0 500", "Z I"]
    assert threading.main_thread() not in parsing


def test_a_long_insert_into_a_stream_is_computed_beside_the_event_loop(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of literals need no parser, but decoding them and computing columns for a view takes
    time.
    """
    client.run("CREATE FOREIGN TABLE events (k integer, payload text) SERVER stream")
    client.run("CREATE VIEW kinds AS SELECT payload::json ->> 'a' AS a, count(*) AS n FROM events GROUP BY 1")
    threads: list[threading.Thread] = []
    add, decode = StatementStage.add, LiteralDecoder.decode

    def noted_add(stage: StatementStage, morsel: Morsel) -> None:
        threads.append(threading.current_thread())
        add(stage, morsel)

    def noted_decode(*given: Any) -> Morsel | None:
        threads.append(threading.current_thread())
        return decode(*given)

    monkeypatch.setattr(StatementStage, "add", noted_add)
    monkeypatch.setattr(LiteralDecoder, "decode", noted_decode)
    rows = ", ".join(f"""({number}, '{{"a": {number % 2}}}')""" for number in range(2000))
    assert client.ask(f"INSERT INTO events VALUES {rows}")[-2:] == ["C INSERT 0 2000", "Z I"]
    assert len(threads) == 2 and threading.main_thread() not in threads
    assert client.ask(f"BEGIN; INSERT INTO events VALUES {rows}")[-1] == "Z T"
    assert client.ask(f"INSERT INTO events VALUES {rows}")[-2:] == ["C INSERT 0 2000", "Z T"]
    assert client.ask("ROLLBACK")[-1] == "Z I"
    assert client.ask(f"INSERT INTO events VALUES {rows}, (1, 'no json')")[0].startswith("E ERROR 22P02")
    assert client.ask(f"INSERT INTO events VALUES {rows}, (1)")[0].startswith("E ERROR 42601")
    assert client.rows("SELECT a, n FROM kinds ORDER BY a") == client.rows("VALUES ('0', 1000::bigint), ('1', 1000)")


@pytest.mark.parametrize("step", ["decode", "add"])
@pytest.mark.parametrize("block", [False, True])
def test_a_long_insert_into_a_stream_ends_at_its_timeout(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch, step: str, block: bool
) -> None:
    client.run("CREATE FOREIGN TABLE events (k integer) SERVER stream", "SET statement_timeout = '20ms'")
    asked = client.session._cancelling.is_asked
    add, decode = StatementStage.add, LiteralDecoder.decode

    def late_add(stage: StatementStage, morsel: Morsel) -> None:
        add(stage, morsel)
        assert asked.wait(WAIT_S_MAX)

    def late_decode(*given: Any) -> Morsel | None:
        assert asked.wait(WAIT_S_MAX)
        return decode(*given)

    if step == "add":
        monkeypatch.setattr(StatementStage, "add", late_add)
    else:
        monkeypatch.setattr(LiteralDecoder, "decode", late_decode)
    if block:
        client.run("BEGIN")
    rows = ", ".join(f"({number})" for number in range(2000))
    *_, told, ready = client.ask(f"INSERT INTO events VALUES {rows}")
    assert (told[:13], ready) == ("E ERROR 57014", "Z E" if block else "Z I")
    assert "statement timeout" in told
    monkeypatch.undo()
    client.run(*(["ROLLBACK"] if block else []), "RESET statement_timeout")
    assert client.rows("SELECT count(*) FROM events") == client.rows("SELECT 0")


def test_what_is_wrong_with_a_long_text(client: SessionClient) -> None:
    assert client.ask(f"{INSERT}, (1)")[0].startswith("E ERROR 42601")
    assert client.ask(f"{INSERT} nonsense")[0].startswith("E ERROR 42601")
    answers = client.ask(parse(f"{INSERT} nonsense"), bind(), execute(), SYNC)
    assert [answer[:13] for answer in answers] == ["E ERROR 42601", "Z I"]
    assert client.rows("SELECT count(*) FROM items") == client.rows("SELECT 0")
