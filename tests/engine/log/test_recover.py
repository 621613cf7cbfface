"""`antumbra recover` on the folder of a real database: what it names is what is gone, and
everything else goes on.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.commands import recover
from engine.log.segments import PAGE_BYTES
from tests.engine.log.logs import damage
from tests.engine.session_client import SessionClient, World

ROWS_COUNT = 50


def count(client: SessionClient) -> int:
    (line,) = client.rows("SELECT n FROM counts")
    return int(line.split("'")[1])


def test_a_database_without_a_part_of_its_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run("CREATE FOREIGN TABLE clicks (k int, t text) SERVER stream")
    client.run("CREATE VIEW counts AS SELECT count(*) AS n FROM clicks")
    values = ", ".join(f"({number}, '{'x' * 1000}')" for number in range(ROWS_COUNT))
    for _ in range(60):
        client.run(f"INSERT INTO clicks VALUES {values}")
    assert count(client) == 60 * ROWS_COUNT
    world.close()
    names = sorted(path.name for path in (tmp_path / "log").glob("*.log"))
    assert len(names) > 2
    assert recover(tmp_path, None, False) == 0
    assert '    "clicks": ' in capsys.readouterr().out
    damage(tmp_path / "log" / names[1], PAGE_BYTES + 300_000)
    assert recover(tmp_path, names[1], True) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "  1 record can't be read: nobody knows which transactions and streams they belong to"
    lost = int(lines[3].partition('"clicks": ')[2].split()[0].replace(",", ""))
    assert lost > 0
    kept = 60 * ROWS_COUNT - lost - ROWS_COUNT
    for committed in range(3):
        world = World(tmp_path)
        client = world.client()
        assert count(client) == kept + committed
        client.run("INSERT INTO clicks VALUES (1, 'a')")
        if committed == 1:
            world.database.checkpoints.make()
        world.close()
    assert recover(tmp_path, None, False) == 0
    assert "The log is whole but for what was given up." in capsys.readouterr().out
