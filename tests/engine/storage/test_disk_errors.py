"""A disk that is full or fails, seen by clients: 53100 or 58030, nothing half done, and the server
goes on.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from engine.catalog.image import CatalogImage
from engine.commit.spill import SpillFile
from engine.embedded.result_rows import ResultLimits
from engine.spark.classes import classes_are_whole, write_classes
from engine.storage.errors import disk_error
from engine.storage.storage import DiskStorage, StoredFile
from engine.tables.table_store import TableStore
from ringbuffer.memory.columns import ColumnLayout, PhysicalType
from sql.errors import SqlError
from tests.end_to_end.raw_client import COPY_DONE, copy_data, query
from tests.engine.session_client import World
from tests.faults.simulated_storage import Failure, SimulatedStorage
from tests.ringbuffer.plain_rows import make_morsel, plain_rows

MIB = 1 << 20


def test_the_codes() -> None:
    for code, sqlstate in (
        (errno.ENOSPC, "53100"),
        (errno.EDQUOT, "53100"),
        (errno.EFBIG, "53100"),
        (errno.EIO, "58030"),
        (errno.EROFS, "58030"),
    ):
        assert disk_error(OSError(code, "why"), "do it").sqlstate == sqlstate
    assert disk_error(OSError(errno.EIO, "why"), "do it", "Wait.").message == "could not do it: why"
    assert disk_error(OSError("something"), "do it").message == "could not do it: something"


# Staged rows


class SmallDisk(DiskStorage):
    """A disk on which temporary files have so much room, and may not be read."""

    def __init__(self, bytes_max: int | None) -> None:
        self.room = SimulatedStorage(0, Path("/data"), bytes_max)

    def temporary(self, folder: Path) -> StoredFile:
        return self.room.temporary(Path("/data"))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(
        tmp_path / "data",
        stage_memory_bytes_max=64 * 1024,
        copy_block_bytes=16 * 1024,
        copy_directory=tmp_path / "copies",
    )
    yield made
    made.close()


ROWS = [
    copy_data(b"".join(f"{key}\ttext\n".encode() for key in range(start, start + 500))) for start in range(0, 9000, 500)
]


def test_staged_rows_on_a_full_disk(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = SmallDisk(100_000)
    monkeypatch.setattr(world.database.transactions, "_new_spill", lambda: SpillFile(disk, world.config.data_dir))
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (k int, t text) SERVER stream", "CREATE VIEW n AS SELECT count(*) AS n FROM s")
    answer = client.ask(query("COPY s FROM STDIN"), *ROWS, COPY_DONE)
    assert "E ERROR 53100: could not write staged rows: No space left on device" in answer
    disk.room.fail_at(disk.room.events + 1, Failure.ONCE)
    answer = client.ask(query("COPY s FROM STDIN"), *ROWS, COPY_DONE)
    assert "E ERROR 58030: could not make a file for staged rows: Input/output error" in answer
    assert client.rows("SELECT n FROM n") == ["D [b'0']"]
    disk.room.bytes_max = None
    assert "C COPY 9000" in client.ask(query("COPY s FROM STDIN"), *ROWS, COPY_DONE)
    assert client.rows("SELECT n FROM n") == ["D [b'9000']"]


def test_a_spill_file_gives_back_what_it_took() -> None:
    layout = (ColumnLayout("k", PhysicalType.INT32), ColumnLayout("t", PhysicalType.TEXT))
    storage = SimulatedStorage(0, Path("/data"))
    spill = SpillFile(storage, Path("/data"))
    taken = [[(number, f"a text of {number}" * number) for number in range(start, start + 3)] for start in (0, 10, 20)]
    for rows in taken:
        storage.fail_at(storage.events + 2, Failure.ONCE, errno.ENOSPC)
        with pytest.raises(SqlError, match="53100"):
            spill.write(make_morsel(taken[2], layout), layout)
        spill.write(make_morsel(rows, layout), layout)
    for _ in range(2):
        assert [plain_rows(morsel, layout) for morsel in spill.read(layout)] == taken
    spill.close()
    with pytest.raises(SqlError, match="58030: could not read staged rows"):
        next(spill.read(layout))


# COPY to a file


def test_copy_to_a_full_disk(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> BinaryIO:
        return open("/dev/full", "wb")

    client = world.client()
    monkeypatch.setattr("engine.statements.copy_out.open_to_write", full)
    assert client.ask("COPY (SELECT 1) TO 'rows.txt'") == [
        'E ERROR 53100: could not write to file "rows.txt": No space left on device',
        "Z I",
    ]


# The file of the tables


def opened(folder: Path, storage: SimulatedStorage) -> TableStore:
    return TableStore(folder, 64 * MIB, 0, ResultLimits(bytes_max=MIB), storage)


def create_table(store: TableStore, name: str) -> None:
    with store.lock:
        transaction = store.begin(CatalogImage())
        try:
            transaction.execute_ddl(f"CREATE TABLE stored.{name} (a int)")
            store.commit(transaction)
        finally:
            transaction.rollback()


def kinds(storage: SimulatedStorage) -> list[str]:
    return [event.kind for event in storage.trace]


def test_the_names_of_the_tables_files_are_durable_before_a_commit_counts(tmp_path: Path) -> None:
    storage = SimulatedStorage(0, tmp_path)
    store = opened(tmp_path, storage)
    assert kinds(storage) == ["sync_folder", "commit_tables", "sync_folder"]
    create_table(store, "one")
    assert kinds(storage)[3:] == ["commit_tables"]
    store.close()
    # An orderly end leaves no log of DuckDB's, and the first commit begins one.
    storage.trace.clear()
    store = opened(tmp_path, storage)
    create_table(store, "two")
    create_table(store, "three")
    store.log_sequence(1, 2, True)
    assert kinds(storage) == ["sync_folder", *["commit_tables", "sync_folder"], *["commit_tables"] * 3]
    store.close()


def test_names_that_can_not_be_made_durable_stop_all_commits(tmp_path: Path) -> None:
    opened(tmp_path, SimulatedStorage(0, tmp_path)).close()
    storage = SimulatedStorage(0, tmp_path)
    storage.fail_at(3, Failure.ONCE)
    store = opened(tmp_path, storage)
    for name in ("one", "two"):
        with pytest.raises(
            SqlError, match="58030: could not make the file of the tables durable: Input/output error"
        ) as caught:
            create_table(store, name)
        assert caught.value.hint == "Restart the server: what was committed is kept."
    with pytest.raises(SqlError, match="58030"):
        store.log_sequence(1, 2, True)
    # A later success would not tell of the names of then.
    assert kinds(storage) == ["sync_folder", "commit_tables", "sync_folder"]
    assert store.load() is None, "reading goes on"
    store.close()
    store = opened(tmp_path, SimulatedStorage(0, tmp_path))
    create_table(store, "one")
    store.close()


def test_a_new_file_of_tables_on_a_full_disk(tmp_path: Path) -> None:
    storage = SimulatedStorage(0, tmp_path)
    storage.fail_at(2, Failure.ONCE, errno.ENOSPC)
    with pytest.raises(SqlError, match="53100"):
        opened(tmp_path, storage)


# What Spark is given


def test_compiled_functions_are_checked_before_use(tmp_path: Path) -> None:
    stamp = tmp_path / "abc.compiled"
    assert not classes_are_whole(stamp)
    classes = {"antumbra/One.class": b"\xca\xfe" * 100, "antumbra/Two.class": b"\xca"}
    write_classes(stamp, classes)
    assert classes_are_whole(stamp)
    for spoil in (
        lambda: (tmp_path / "antumbra/One.class").write_bytes(b"\xca\xfe" * 99 + b"\0\0"),
        lambda: (tmp_path / "antumbra/Two.class").unlink(),
        lambda: stamp.write_bytes(b""),
        lambda: stamp.write_bytes(b"\xff" * 100),
        lambda: stamp.write_bytes(stamp.read_bytes()[:-3]),
    ):
        write_classes(stamp, classes)
        spoil()
        assert not classes_are_whole(stamp)
