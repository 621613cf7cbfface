"""The folder of generated kernels: new files are synced once, unused ones go, and a disk that
refuses is told as such.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from engine.storage.kernel_files import KernelFiles
from engine.storage.storage import DiskStorage
from tests.engine.session_client import COMPILERS, SessionClient, World


class RecordingStorage(DiskStorage):
    """A disk that tells which files of libraries it was to sync, and fails when it is told to."""

    def __init__(self) -> None:
        self.synced: list[str] = []
        self.fails = False

    def sync_files(self, paths: Iterable[Path]) -> None:
        found = sorted(path.name for path in paths)
        if self.fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self.synced += found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(name)
        (tmp_path / f"{name}.code").write_text("code")
    (tmp_path / "one.77.unfinished").write_text("")
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.*"))


def test_new_files_are_synced_once(folder: Path) -> None:
    storage = RecordingStorage()
    kernels = KernelFiles(folder, storage, COMPILERS)
    one, two, three = (folder / f"{name}.py" for name in ("one", "two", "three"))
    kernels.make_durable([one, two])
    assert storage.synced == [], "they were there"
    three.write_text("three")
    (folder / "three.code").write_text("code")
    (folder / "two.code").write_text("other code")
    kernels.make_durable([three])
    assert storage.synced == ["three.code", "three.py"]
    kernels.make_durable([one, two, three])
    assert storage.synced[2:] == ["two.code"]


def test_what_could_not_be_synced_is_new_still(folder: Path) -> None:
    storage = RecordingStorage()
    kernels = KernelFiles(folder, storage, COMPILERS)
    (folder / "three.py").write_text("three")
    storage.fails = True
    with pytest.raises(OSError):
        kernels.make_durable([folder / "three.py"])
    storage.fails = False
    kernels.make_durable([folder / "three.py"])
    assert storage.synced == ["three.py"]


def test_unused_files_go(folder: Path) -> None:
    kernels = KernelFiles(folder, DiskStorage(), COMPILERS)
    assert kernels.remove_unused([folder / "two.py"]) == 3
    assert names(folder) == ["two.code", "two.py"]
    assert KernelFiles(folder / "none", DiskStorage(), COMPILERS).remove_unused([]) == 0


def test_what_can_not_be_deleted_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kernels = KernelFiles(folder, DiskStorage(), COMPILERS)
    before = names(folder)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse(errno.EROFS))
        assert kernels.remove_unused([]) == 0
    assert names(folder) == before
    assert "can't delete the unused kernel" in caplog.text
    assert kernels.remove_unused([]) == 5


def refuse(code: int) -> object:
    """Return a method that the system refuses."""

    def method(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return method


# Statements


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client().after(
        "CREATE FOREIGN TABLE s (k int) SERVER stream", "CREATE VIEW first AS SELECT k, count(*) AS n FROM s GROUP BY k"
    )


VIEW = "CREATE VIEW other AS SELECT sum(k) AS total FROM s"


@pytest.mark.parametrize(
    ("code", "sqlstate", "text"),
    [(errno.ENOSPC, "53100", "No space left on device"), (errno.EIO, "58030", "Input/output error")],
)
@pytest.mark.parametrize("method", ["write_bytes", "replace"])
def test_a_view_whose_kernels_can_not_be_written(
    client: SessionClient,
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    code: int,
    sqlstate: str,
    text: str,
) -> None:
    before = names(world.database.kernels.folder)
    with monkeypatch.context() as patch:
        patch.setattr(Path, method, refuse(code))
        assert client.ask(VIEW) == [
            f'E ERROR {sqlstate}: could not write the kernels of view "other": {text}',
            "Z I",
        ]
    assert names(world.database.kernels.folder) == before
    client.run(VIEW)


def test_a_view_whose_kernels_can_not_be_made_durable(client: SessionClient, world: World) -> None:
    storage = RecordingStorage()
    storage.fails = True
    world.database.kernels._storage = storage
    before = names(world.database.kernels.folder)
    assert client.ask(VIEW)[0].startswith("E ERROR 58030: could not write the kernels")
    assert names(world.database.kernels.folder) == before
    storage.fails = False
    client.run(VIEW)
    first, other = (view.state.kernel_paths[0].stem for view in world.database.catalog.image.chains)
    assert {name.partition(".")[0] for name in storage.synced} == {other} != {first}
    assert {name.rpartition(".")[2] for name in storage.synced} == {"py", "code"}


def test_a_dropped_view_whose_kernels_can_not_be_deleted(
    client: SessionClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse(errno.EIO))
        client.run("DROP VIEW first")
    # Others may define, and the next DROP deletes both.
    world.client().run(VIEW, "DROP VIEW other")
    assert names(world.database.kernels.folder) == []
