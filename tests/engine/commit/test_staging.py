"""Staged statements: small and large, in memory and spilled, views that come and go before COMMIT;
all of it or nothing.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from engine.catalog.image import StreamEntry
from engine.commit.staging import CHECKED_ROWS_MAX, StatementStage
from engine.database import Database
from ringbuffer.memory.arrow import morsel_to_arrow
from ringbuffer.memory.columns import Morsel
from sql.errors import SqlError
from tests.end_to_end.raw_client import COPY_DONE, copy_data, query
from tests.engine.session_client import SessionClient, World, rows_of

LARGE = CHECKED_ROWS_MAX + 500


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client().after(
        "CREATE FOREIGN TABLE s (k int, t text) SERVER stream",
        "CREATE VIEW counted AS SELECT count(*) AS n, sum(k) AS total FROM s",
        "CREATE VIEW inverse AS SELECT sum(100 / k) AS total FROM s",
    )


def stream_of(database: Database) -> StreamEntry:
    entry = database.catalog.image.entries["s"]
    assert isinstance(entry, StreamEntry)
    return entry


def committed(database: Database) -> list[int]:
    """Return how many statements each view has."""
    return [chain.committed for chain in database.catalog.image.chains]


def copy(client: SessionClient, keys: list[int], options: str = "") -> list[str]:
    lines = b"".join(f"{key}\tlonger than twelve bytes {key}\n".encode() for key in keys)
    return client.ask(query(f"COPY s FROM STDIN {options}"), copy_data(lines), COPY_DONE)


@pytest.mark.parametrize("rows_count", [1, LARGE])
def test_the_second_view_refuses_and_nothing_is_applied(client: SessionClient, world: World, rows_count: int) -> None:
    stream = stream_of(world.database).stream
    for keys in ([1] * rows_count + [0], [0] + [1] * rows_count):
        assert "E ERROR 22012: division by zero" in copy(client, keys)
    for texts in (
        ("INSERT INTO s VALUES (1), (0)",),
        ("BEGIN", "INSERT INTO s VALUES (2)", "INSERT INTO s VALUES (0)"),
    ):
        assert "E ERROR 22012: division by zero" in [line for text in texts for line in client.ask(text)]
        client.ask("ROLLBACK")
    assert client.rows("SELECT n, counted.total FROM counted") == ["D [b'0', None]"]
    assert stream.ring.tuples_count == 0 and committed(world.database) == [0, 0]


def test_statements_are_applied_in_order(client: SessionClient, world: World) -> None:
    client.run("BEGIN", "INSERT INTO s VALUES (1)")
    assert copy(client, [2] * LARGE)[-2:] == [f"C COPY {LARGE}", "Z T"]
    client.run("INSERT INTO s VALUES (3), (4)")
    assert [len(rows) for rows in client.staged()] == [1, LARGE, 2]
    assert client.rows("SELECT n FROM counted") == ["D [b'0']"]
    client.run("COMMIT")
    ring = stream_of(world.database).stream.ring
    assert [key for (key, *_) in plain(ring.read(0, ring.tuples_count), world)] == [1, *[2] * LARGE, 3, 4]
    assert client.rows("SELECT n, total FROM counted") == [f"D [b'{LARGE + 3}', b'{2 * LARGE + 8}']"]
    assert committed(world.database) == [3, 3]


def plain(morsel: Morsel, world: World) -> list[tuple[object, ...]]:
    layout = stream_of(world.database).stream.layout_of(morsel)
    return [tuple(row.values()) for row in morsel_to_arrow(morsel, layout).to_pylist()]


def test_rows_beyond_the_memory_limit_wait_in_a_file(tmp_path: Path) -> None:
    world = World(tmp_path, stage_memory_bytes_max=64 * 1024, copy_block_bytes=16 * 1024)
    client = world.client()
    client.run(
        "CREATE FOREIGN TABLE s (k int, t text) SERVER stream",
        "CREATE VIEW counted AS SELECT t, count(*) AS n FROM s GROUP BY t",
        "BEGIN",
    )
    lines = [f"{key}\tlonger than twelve bytes {key % 10}\n".encode() for key in range(20_000)]
    pieces = [copy_data(b"".join(lines[start : start + 500])) for start in range(0, len(lines), 500)]
    assert client.ask(query("COPY s FROM STDIN"), *pieces, COPY_DONE)[-2:] == ["C COPY 20000", "Z T"]
    (staged,) = client.staged()
    assert [row["k"] for row in staged] == list(range(20_000))
    transaction = client.session.block.open
    assert transaction is not None
    (stage,) = transaction.operations
    assert isinstance(stage, StatementStage) and has_file(stage)
    assert not list(tmp_path.glob("stage-*")), "the file has no name"
    world.client().run("CREATE VIEW late AS SELECT count(*) AS n FROM s")
    client.run("COMMIT")
    assert not has_file(stage)
    assert client.rows("SELECT n FROM late") == ["D [b'20000']"]
    assert client.rows("SELECT count(*), sum(n) FROM counted") == ["D [b'10', b'20000']"]
    world.close()


def test_few_rows_beyond_the_memory_limit_are_in_the_views(tmp_path: Path) -> None:
    world = World(tmp_path, stage_memory_bytes_max=64 * 1024, copy_block_bytes=16 * 1024)
    client = world.client()
    client.run(
        "CREATE FOREIGN TABLE s (k int, t text) SERVER stream",
        "CREATE VIEW counted AS SELECT count(*) AS n, sum(length(t)) AS total FROM s",
        "BEGIN",
    )
    lines = [copy_data(b"1\t" + b"x" * 4000 + b"\n") for _ in range(100)]
    assert client.ask(query("COPY s FROM STDIN"), *lines, COPY_DONE)[-2:] == ["C COPY 100", "Z T"]
    assert len(client.staged()[0]) == 100
    client.run("COMMIT")
    assert client.rows("SELECT n, total FROM counted") == ["D [b'100', b'400000']"]
    world.close()


def has_file(stage: StatementStage) -> bool:
    return stage._spill is not None


@pytest.mark.parametrize("rows_count", [3, LARGE])
def test_views_that_come_and_go_before_commit(client: SessionClient, world: World, rows_count: int) -> None:
    other = world.client()
    client.run("BEGIN")
    copy(client, [5] * rows_count)
    other.run("DROP VIEW inverse", "CREATE VIEW late AS SELECT k, count(*) AS n FROM s GROUP BY k")
    client.run("COMMIT")
    assert client.rows("SELECT k, late.n FROM late") == [f"D [b'5', b'{rows_count}']"]
    client.run("BEGIN")
    copy(client, [0] * rows_count)
    other.run("CREATE VIEW inverse AS SELECT sum(100 / k) AS total FROM s")
    assert client.ask("COMMIT") == ["E ERROR 22012: division by zero", "Z I"]
    assert client.rows("SELECT n FROM counted") == [f"D [b'{rows_count}']"]


def test_a_stage_keeps_what_it_was_given(client: SessionClient, world: World) -> None:
    client.run(
        "BEGIN",
        "INSERT INTO s VALUES (1, 'one'), (NULL, NULL)",
        "INSERT INTO s (t) VALUES ('a longer string than fits')",
    )
    assert client.staged() == [
        [{"k": 1, "t": "one"}, {"k": None, "t": None}],
        [{"k": None, "t": "a longer string than fits"}],
    ]
    transaction = client.session.block.open
    assert transaction is not None
    (first, _) = transaction.operations
    assert isinstance(first, StatementStage) and first.rows_count == 2 and len(rows_of(first)) == 2
    client.run("ROLLBACK")
    assert client.rows("SELECT n FROM counted") == ["D [b'0']"]


def test_definitions_that_can_not_be_written_undo_the_commit(
    client: SessionClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise duckdb.IOException("Could not write file: No space left on device")

    client.run("BEGIN", "INSERT INTO s VALUES (1)", "CREATE VIEW more AS SELECT k, sum(k) AS t FROM s GROUP BY k")
    with monkeypatch.context() as patch:
        patch.setattr(world.database.storage, "commit_tables", full)
        assert client.ask("COMMIT")[0].startswith("E ERROR 53100: could not write to the file of the tables")
    assert "more" not in world.database.catalog.image.entries
    assert client.rows("SELECT n FROM counted") == ["D [b'0']"]
    assert not list(world.database.kernels.folder.glob("more*"))
    client.run("CREATE VIEW more AS SELECT k, sum(k) AS t FROM s GROUP BY k")


def test_a_dropped_stream_is_40001(client: SessionClient, world: World) -> None:
    client.run("BEGIN", "INSERT INTO s VALUES (1)")
    world.client().run("DROP FOREIGN TABLE s CASCADE")
    answer = client.ask("COMMIT")
    assert answer[0].startswith("E ERROR 40001") and answer[1] == "Z I"
    with pytest.raises(KeyError):
        world.database.catalog.image.entries["s"]


def test_errors_name_view_and_expression(client: SessionClient, world: World) -> None:
    stage = world.database.transactions.stage(stream_of(world.database), world.database.catalog.image, 0)
    client.run("BEGIN", "DROP VIEW inverse", "INSERT INTO s VALUES (0)")
    transaction = client.session.block.open
    assert transaction is not None
    inserted = transaction.operations[-1]
    assert isinstance(inserted, StatementStage)
    with pytest.raises(SqlError) as caught:
        stage.add(next(iter(inserted.morsels())))
    assert caught.value.context == 'continuous view "inverse", expression 100 / k'
