"""The lock of the data folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.storage import FolderLock, StorageError


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
