"""An error that is raised in an unusual place of a message: the client gets it once, and once
ReadyForQuery.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.execution.shapes import Shapes
from sql.errors import SqlError
from tests.end_to_end.raw_client import query
from tests.engine.session_client import SessionClient, World
from tests.sql.wire.frames import frame

SYNC = frame(b"S", b"")
STATEMENTS = (
    "SELECT 1",
    "SELECT a FROM kept",
    "INSERT INTO kept VALUES (1)",
    "INSERT INTO kept VALUES (1), (2) RETURNING a",
    "UPDATE kept SET a = 2",
    "SELECT 1; SELECT a FROM kept; SELECT 2",
    "SET DateStyle = 'German, DMY'",
    "CREATE TEMP TABLE passing (a int); DROP TABLE passing",
    "BEGIN; SELECT 1; COMMIT",
    "SELECT relname FROM pg_class WHERE relname = 'kept'",
    "EXPLAIN SELECT a FROM kept",
    "",
)
# Raising calls before which others have gone well.
CALLS_MAX = 12


@pytest.fixture
def client(tmp_path: Path) -> Iterator[SessionClient]:
    world = World(tmp_path)
    one = world.client()
    one.run("CREATE TABLE kept (a int)")
    yield one
    world.close()


class Failing:
    """Calls through to a function, but fails once, at a call whose number is given."""

    def __init__(self, function: Callable[..., object], call: int) -> None:
        self.function, self.call, self.calls_count = function, call, 0

    def __call__(self, *arguments: object, **named: object) -> object:
        self.calls_count += 1
        if self.calls_count == self.call:
            raise SqlError("22023", "raised in the middle")
        return self.function(*arguments, **named)


@pytest.mark.parametrize("place", ["settings.captured", "settings.changed_reports", "identity.look", "runner.image"])
def test_an_error_from_anywhere_is_answered_once(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    owner_name, name = place.split(".")
    owner = getattr(client.session, owner_name)
    # A shape that cannot be kept is no error: its text goes the general way.
    monkeypatch.setattr(Shapes, "_prepare", lambda *arguments: None)
    failed_count = 0
    for text in STATEMENTS:
        for messages in (
            (query(text),),
            (frame(b"P", b"\0" + text.encode() + b"\0\0\0"), frame(b"B", bytes(8)), frame(b"E", bytes(5)), SYNC),
        ):
            for call in range(1, CALLS_MAX):
                with monkeypatch.context() as patch:
                    failing = Failing(getattr(owner, name), call)
                    patch.setattr(owner, name, failing)
                    answer = client.ask(*messages)
                if failing.calls_count < call:
                    break
                failed_count += 1
                assert sum("raised in the middle" in line for line in answer) == 1, (text, call, answer)
                assert [line[0] for line in answer].count("Z") == 1 and answer[-1].startswith("Z "), (
                    text,
                    call,
                    answer,
                )
                # Whether a block is open now depends on where it was.
                client.ask("ROLLBACK")
                assert client.rows("SELECT 7") == ["D [b'7']"], (text, call)
    assert failed_count > 2
