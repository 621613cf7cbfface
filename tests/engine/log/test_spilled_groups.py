"""Groups beyond view_memory_bytes are in files: after commits, and after a start."""

from __future__ import annotations

from pathlib import Path

from tests.engine.session_client import World

COUNTED = "SELECT count(*), sum(n), min(k) FROM v"


def test_groups_are_in_files_and_are_read_as_others_are(tmp_path: Path) -> None:
    world = World(tmp_path, view_memory_bytes=100_000)
    world.client().run(
        "CREATE FOREIGN TABLE s (k text) SERVER stream",
        "CREATE VIEW v AS SELECT k, count(*) AS n FROM s GROUP BY k",
        "INSERT INTO s SELECT 'a key of some length ' || i FROM generate_series(1, 20000) AS i",
    )
    for restart in range(1, 3):
        client = world.client()
        assert client.rows(COUNTED) == [f"D [b'20000', b'{20000 + restart - 1}', b'a key of some length 1']"]
        (view,) = world.database.catalog.image.chains
        assert view.state.groups.merged.spilled == {0}
        assert client.rows("SELECT n FROM v WHERE k = 'a key of some length 7'") == [f"D [b'{restart}']"]
        client.run("INSERT INTO s VALUES ('a key of some length 7')")
        world.database.checkpoints.make()
        world.close()
        world = World(tmp_path, view_memory_bytes=100_000)
    world.close()
