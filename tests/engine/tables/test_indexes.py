"""Indexes over a restart, and under rows that come side by side."""

from __future__ import annotations

from pathlib import Path

from tests.engine.session_client import World


def test_indexes_are_there_after_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.ask("CREATE TABLE t (a int, b text)")
    client.ask("CREATE UNIQUE INDEX t_key ON t (a)")
    client.ask("CREATE INDEX t_plain ON t (b)")
    client.ask("INSERT INTO t VALUES (1, 'x')")
    world.close()
    again = World(tmp_path)
    client = again.client()
    refused = client.ask("INSERT INTO t VALUES (1, 'y')")
    assert any("23505" in text and "t_key" in text for text in map(str, refused)), refused
    taken = client.ask("CREATE INDEX t_plain ON t (a)")
    assert any("42P07" in text for text in map(str, taken)), taken
    client.ask("DROP INDEX t_key, t_plain")
    client.ask("INSERT INTO t VALUES (1, 'y')")
    again.close()
    last = World(tmp_path)
    rows = last.client().ask("SELECT b FROM t WHERE a = 1 ORDER BY b")
    assert [text for text in map(str, rows) if "x" in text or "y" in text], rows
    last.close()
