"""Kernels that a view needs are compiled with it: nobody who writes or reads waits for one, nor
does the next start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from numba.core import event as numba_events

from engine.streams.warm_up import warm_up
from ringbuffer.compile.processes import CompileProcesses
from tests.end_to_end.raw_client import COPY_DONE, SYNC, bind, copy_data, execute, parse, query
from tests.engine.session_client import SessionClient, World

# Kernels of earlier runs are not found.
pytestmark = [pytest.mark.compiles, pytest.mark.slow]

STREAM = "CREATE FOREIGN TABLE s (k integer, h smallint, t text, n numeric(10,2)) SERVER stream"
VIEWS = {
    "by_integer": "SELECT k, count(*) AS n, sum(n) AS total, min(t) AS least FROM s GROUP BY k",
    # The kernel of its keys has the same text as that of the view before, for another width.
    "by_smallint": "SELECT h, count(*) AS n FROM s GROUP BY h",
    "by_text": "SELECT t, array_agg(k) AS keys FROM s GROUP BY t HAVING count(*) > 0",
}
BY_KEY = {"by_integer": "k IN (1, 2)", "by_smallint": "h = 7", "by_text": "t = 'a text of more than twelve bytes'"}


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The kernels that are compiled from now on, by other processes and by this one."""
    names: list[str] = []
    compile_elsewhere = CompileProcesses.compile

    def noted(self: CompileProcesses, name: str, *rest: Any) -> object:
        names.append(name)
        return compile_elsewhere(self, name, *rest)

    class Listener(numba_events.Listener):
        def on_start(self, event: Any) -> None:
            names.append(event.data["dispatcher"].__name__)

        def on_end(self, event: Any) -> None:
            pass

    monkeypatch.setattr(CompileProcesses, "compile", noted)
    with numba_events.install_listener("numba:compile", Listener()):
        yield names


def work(client: SessionClient, views: Sequence[str]) -> None:
    """Write rows in all ways, and read views in all ways."""
    client.run("INSERT INTO s VALUES (1, 7, 'a text of more than twelve bytes', 1.5), (NULL, NULL, NULL, NULL)")
    client.run("INSERT INTO s SELECT i, 7, repeat('x', i % 50), i FROM generate_series(1, 2000) AS r(i)")
    for _ in range(3):
        client.ask(parse("INSERT INTO s VALUES ($1, $2, $3, $4)"), bind((b"1", b"7", b"x", b"1")), execute(), SYNC)
    lines = "".join(f"{row}\t7\ttext {row}\t{row}\n" for row in range(3000)).encode()
    client.ask(query("COPY s FROM STDIN"), copy_data(lines), COPY_DONE)
    client.run("CHECKPOINT")
    client.run("INSERT INTO s VALUES (1, 7, 'x', 1)")
    for view in views:
        for _ in range(3):
            assert client.rows(f"SELECT * FROM {view} WHERE {BY_KEY[view]}")
        assert client.rows(f"SELECT * FROM {view}")


@pytest.mark.turns(2, 1)
def test_nothing_is_compiled_after_create_view(tmp_path: Path, compiled: list[str]) -> None:
    # As each server does before it listens.
    warm_up()
    world = World(tmp_path / "data")
    try:
        client = world.client()
        client.run(STREAM, *(f"CREATE VIEW {name} AS {text}" for name, text in VIEWS.items()))
        assert len(compiled) > len(VIEWS), "nothing was noted"
        del compiled[:]
        work(client, [*VIEWS])
        assert compiled == []
    finally:
        world.close()
    world = World(tmp_path / "data")
    try:
        work(world.client(), [*VIEWS])
        assert compiled == []
    finally:
        world.close()
