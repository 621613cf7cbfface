"""While a long text is worked on, the oldest generation of Python's objects is left alone;
afterwards it is searched as before.
"""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from engine.scheduler import collecting
from engine.scheduler.collecting import LONG_TEXT, NEVER, collecting_later
from tests.engine.session_client import World


def test_works_on_long_texts_end_one_by_one() -> None:
    usual = gc.get_threshold()
    with collecting_later():
        with collecting_later():
            assert gc.get_threshold() == (*usual[:2], NEVER)
        assert gc.get_threshold() == (*usual[:2], NEVER)
    assert gc.get_threshold() == usual


def test_garbage_is_looked_for_where_long_texts_have_no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[bool] = []
    monkeypatch.setattr(gc, "collect", lambda: searches.append(True))
    monkeypatch.setattr(collecting, "PAUSE_S_MAX", -1.0)
    with collecting_later():
        assert searches == [True]


def test_statements_of_long_texts_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path)
    found: list[int] = []
    usual = gc.get_threshold()
    set_threshold = gc.set_threshold

    def note(*values: int) -> None:
        found.append(values[2])
        set_threshold(*values)

    monkeypatch.setattr(gc, "set_threshold", note)
    client = world.client()
    client.run("SELECT 1")
    assert found == []
    client.run(f"SELECT 1 /* {'x' * LONG_TEXT} */")
    # Of the text, and of its statement.
    assert found == [NEVER, usual[2]]
    assert gc.get_threshold() == usual
    world.close()
