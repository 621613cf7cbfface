"""A long text is parsed and bound beside the event loop, which serves the other clients meanwhile,
and answered like a short one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.scheduler.threads import TEXT_AT_ONCE_MAX
from sql.parse.grammar.cursor import Cursor
from tests.end_to_end.raw_client import SYNC, bind, execute, parse
from tests.engine.session_client import SessionClient, World

ROWS = ", ".join(f"({number}, 'row {number}')" for number in range(500))
INSERT = f"INSERT INTO items VALUES {ROWS}"
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


def test_what_is_wrong_with_a_long_text(client: SessionClient) -> None:
    assert client.ask(f"{INSERT}, (1)")[0].startswith("E ERROR 42601")
    assert client.ask(f"{INSERT} nonsense")[0].startswith("E ERROR 42601")
    answers = client.ask(parse(f"{INSERT} nonsense"), bind(), execute(), SYNC)
    assert [answer[:13] for answer in answers] == ["E ERROR 42601", "Z I"]
    assert client.rows("SELECT count(*) FROM items") == client.rows("SELECT 0")
