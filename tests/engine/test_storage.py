"""Atomic files and the lock of the data folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.storage import DiskStorage, FolderLock, StorageError


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "catalog"
    DiskStorage().write_atomic(path, b"old")
    DiskStorage().write_atomic(path, b"new" * 100_000)
    assert path.read_bytes() == b"new" * 100_000
    assert [file.name for file in tmp_path.iterdir()] == ["catalog"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "catalog"
    DiskStorage().write_atomic(path, b"old")

    def failing(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(OSError, match="No space"):
        DiskStorage().write_atomic(path, b"new")
    assert path.read_bytes() == b"old"


def test_bytes_and_name_are_durable_in_this_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    fsync, replace = os.fsync, os.replace

    def recording_fsync(descriptor: int) -> None:
        events.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
        fsync(descriptor)

    def recording_replace(source: Path, target: Path) -> None:
        events.append("replace")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", recording_fsync)
    monkeypatch.setattr(os, "replace", recording_replace)
    DiskStorage().write_atomic(tmp_path / "catalog", b"x")
    assert events == ["file", "replace", "folder"]


def test_one_server_at_a_time_has_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    first = FolderLock(folder)
    first.acquire()
    with pytest.raises(StorageError, match=f"in use by another server \\(process {os.getpid()}\\)"):
        FolderLock(folder).acquire()
    first.release()
    second = FolderLock(folder)
    second.acquire()
    second.release()


def test_the_system_releases_the_folder_of_a_dead_process(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib, os, signal; from engine.storage import FolderLock; "
        "FolderLock(pathlib.Path(sys.argv[1])).acquire(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    dead = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert dead.returncode < 0
    lock = FolderLock(tmp_path)
    lock.acquire()
    lock.release()


def test_a_folder_that_can_not_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="can't write to the data folder") as caught:
        FolderLock(tmp_path / "file" / "data").acquire()
    assert "\n" not in str(caught.value)
