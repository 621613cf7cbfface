"""The real disk: files written whole or not at all, failures that are told as they are; and the
lock of the data folder.
"""

from __future__ import annotations

import array
import errno
import itertools
import os
import random
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.storage.direct_writes import DIRECT_BYTES_MAX
from engine.storage.storage import PIECE_BYTES, DiskStorage, FolderLock, StorageError

DISK = DiskStorage()
LOOK_NS = 10_000_000
# More files than a process may have.
NO_DESCRIPTOR = 1 << 30


def full_after(bytes_max: int) -> Callable[[int, memoryview, int], int]:
    """Return a pwrite for a disk that has so much room left."""
    real, room = os.pwrite, [bytes_max]

    def pwrite(descriptor: int, data: memoryview, position: int) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count = real(descriptor, data[: room[0]], position)
        room[0] -= count
        return count

    return pwrite


def failing(code: int) -> Callable[..., None]:
    """Return a system call that fails."""

    def call(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return call


def descriptors_count() -> int:
    """Return how many files this process has open."""
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_writes_of_any_size_at_any_place(tmp_path: Path, seed: int, opened: bool) -> None:
    choose = random.Random(seed)
    size = 300_000 + choose.choice((0, 20_000 - 300_000 % 4096))
    file = DISK.create(tmp_path / "file", size)
    model = bytearray(size)
    if opened:
        model[:] = choose.randbytes(size)
        file.write(0, model)
        file.close()
        file = DISK.open(tmp_path / "file")

    def in_pieces(position: int, data: bytes) -> None:
        cuts = sorted(choose.randint(0, len(data)) for _ in range(3))
        file.write_pieces(position, [data[a:b] for a, b in itertools.pairwise((0, *cuts, len(data)))])

    position = 0
    for _ in range(400):
        data = choose.randbytes(choose.choice((1, 8, 136, 4000, 4096, 10_000, 65_536, 70_000)))
        if choose.random() < 0.2 or position + len(data) > size:
            position = choose.choice((0, 4096 * choose.randrange(20), choose.randrange(size - 70_000)))
        choose.choice((file.write, file.write_durably, in_pieces))(position, data)
        model[position : position + len(data)] = data
        position += len(data)
        if choose.random() < 0.1:
            file.sync()
            assert file.read(0, size) == model
    file.close()
    assert (tmp_path / "file").read_bytes() == model


@pytest.mark.parametrize(("refused", "code"), [(0, errno.EINVAL), (os.RWF_DSYNC, errno.EOPNOTSUPP)])
def test_a_file_system_without_direct_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: int, code: int
) -> None:
    real = os.pwritev

    def pwritev(descriptor: int, data: Sequence[memoryview], position: int, flags: int) -> int:
        if flags == refused or refused == 0:
            raise OSError(code, os.strerror(code))
        return real(descriptor, data, position, flags)

    monkeypatch.setattr(os, "pwritev", pwritev)
    file = DISK.create(tmp_path / "file", 8192)
    for position in range(0, 6000, 100):
        if position % 200:
            file.write_durably(position, b"x" * 50)
        else:
            file.write(position, b"x" * 50)
    assert file.read(0, 8192) == (b"x" * 50 + bytes(50)) * 60 + bytes(2192)
    file.close()


@pytest.mark.parametrize("start", [0, 4096 * 3 + 40])
def test_pieces_that_are_more_than_one_write(tmp_path: Path, start: int) -> None:
    pieces = [np.random.default_rng(1).bytes(size) for size in (100, DIRECT_BYTES_MAX, 3 * DIRECT_BYTES_MAX + 5, 0, 7)]
    for name, size in (("direct", 6 * DIRECT_BYTES_MAX), ("grows", 0)):
        file = DISK.create(tmp_path / name, size, for_little=False)
        file.write_pieces(start, [pieces[0], np.frombuffer(pieces[1], dtype=np.int64).data, *pieces[2:]])
        end = start + sum(map(len, pieces))
        assert file.read(start, end - start) == b"".join(pieces)
        assert file.read(0, start) == bytes(start) and file.size == (size or end)
        assert not file.read(end, DIRECT_BYTES_MAX).strip(b"\0")
        file.close()


@pytest.mark.parametrize("for_little", [False, True])
def test_a_new_file_has_its_size_and_takes_its_room(tmp_path: Path, for_little: bool) -> None:
    size = 2 * PIECE_BYTES + 100
    file = DISK.create(tmp_path / "file", size, for_little=for_little)
    assert file.size == size and file.read(0, size + 1) == bytes(size)
    file.sync()
    status = (tmp_path / "file").stat()
    assert status.st_blocks * 512 >= size, "not a sparse file"
    assert stat.S_IMODE(status.st_mode) == 0o600
    file.close()
    file.close()
    again = DISK.create(tmp_path / "file")
    assert again.size == 0, "an old one is emptied"
    again.close()
    with pytest.raises(OSError) as caught:
        again.write(0, b"x")
    assert caught.value.errno == errno.EBADF


def test_bytes_at_positions(tmp_path: Path) -> None:
    file = DISK.create(tmp_path / "file")
    file.write(4, b"abc")
    file.write(0, memoryview(array.array("H", [0x0101])))
    file.write(2, bytearray(b"z"))
    file.write(9, np.zeros((0, 3)).data)
    assert file.read(0, 100) == b"\1\1z\0abc"
    assert file.read(5, 1) == b"b" and file.read(7, 1) == b""
    file.truncate(5)
    assert file.size == 5
    file.close()
    again = DISK.open(tmp_path / "file")
    assert again.read(0, 9) == b"\1\1z\0a"
    again.close()
    with pytest.raises(FileNotFoundError):
        DISK.open(tmp_path / "other")


def test_the_system_takes_and_gives_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, read, data = os.pwrite, os.pread, bytes(range(250)) * 20
    monkeypatch.setattr(os, "pwrite", lambda file, piece, position: write(file, piece[:7], position))
    monkeypatch.setattr(os, "pread", lambda file, size, position: read(file, min(size, 11), position))
    file = DISK.create(tmp_path / "file")
    file.write(3, np.frombuffer(data, dtype=np.int16).data)
    assert file.read(0, 6000) == bytes(3) + data
    assert file.read(100, 50) == (bytes(3) + data)[100:150]
    monkeypatch.setattr(os, "pwrite", lambda *_: 0)
    with pytest.raises(OSError) as caught:
        file.write(0, b"x")
    assert caught.value.errno == errno.EIO
    file.close()


@pytest.mark.parametrize("room", [None, 0, 1, PIECE_BYTES - 1, PIECE_BYTES, 3 * PIECE_BYTES - 1])
def test_a_file_without_room_is_removed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int | None
) -> None:
    before = descriptors_count()
    (tmp_path / "old").write_bytes(b"old")
    for name in ("new", "old"):
        with monkeypatch.context() as patch:
            patch.setattr(os, "posix_fallocate", failing(errno.ENOSPC if room is None else errno.EOPNOTSUPP))
            patch.setattr(os, "pwrite", full_after(room or 0))
            with pytest.raises(OSError) as caught:
                DISK.create(tmp_path / name, 3 * PIECE_BYTES)
        assert caught.value.errno == errno.ENOSPC
    assert DISK.list(tmp_path) == []
    assert descriptors_count() == before
    # Once there is room, the next try succeeds.
    DISK.create(tmp_path / "new", 3 * PIECE_BYTES).close()


def test_a_full_disk_takes_a_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = DISK.create(tmp_path / "file", 10)
    monkeypatch.setattr(os, "pwrite", full_after(3))
    with pytest.raises(OSError) as caught:
        file.write(2, b"abcdef")
    assert caught.value.errno == errno.ENOSPC
    assert file.read(0, 10) == b"\0\0abc\0\0\0\0\0"
    file.close()


def test_a_failed_sync_is_told_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def sync(descriptor: int) -> None:
        calls.append(descriptor)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    file = DISK.create(tmp_path / "file", 10)
    monkeypatch.setattr(os, "fdatasync", sync)
    monkeypatch.setattr(os, "fsync", sync)
    for call in (file.sync, lambda: DISK.sync_folder(tmp_path), lambda: DISK.sync_files([tmp_path / "file"])):
        with pytest.raises(OSError) as caught:
            call()
        assert caught.value.errno == errno.EIO
    assert len(calls) == 3, "nothing is tried again"
    file.close()


def test_a_file_system_that_syncs_no_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", failing(errno.EINVAL))
    DISK.sync_folder(tmp_path)
    DISK.make_folder(tmp_path / "one")
    assert DISK.list(tmp_path) == ["one"]


def test_a_file_without_a_name(tmp_path: Path) -> None:
    before = descriptors_count()
    file = DISK.temporary(tmp_path)
    file.write(0, b"abc")
    assert file.read(1, 5) == b"bc"
    assert DISK.list(tmp_path) == []
    file.close()
    assert descriptors_count() == before


def test_names(tmp_path: Path) -> None:
    assert DISK.list(tmp_path / "none") == []
    for name in ("b", "a"):
        DISK.create(tmp_path / name).close()
    assert DISK.list(tmp_path) == ["a", "b"]
    DISK.rename(tmp_path / "a", tmp_path / "b")
    assert DISK.list(tmp_path) == ["b"]
    DISK.remove(tmp_path / "b")
    for call in (
        lambda: DISK.remove(tmp_path / "b"),
        lambda: DISK.rename(tmp_path / "b", tmp_path / "c"),
        lambda: DISK.sync_folder(tmp_path / "b"),
        lambda: DISK.create(tmp_path / "b" / "c"),
    ):
        with pytest.raises(FileNotFoundError):
            call()


def test_folders_are_synced_into_their_parents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real = os.fsync

    def sync(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    below = tmp_path / "one" / "two"
    DISK.make_folder(below)
    assert synced == [str(tmp_path), str(tmp_path / "one")]
    assert stat.S_IMODE(below.stat().st_mode) == 0o700 == stat.S_IMODE(below.parent.stat().st_mode)
    synced.clear()
    # Its maker may have died before the sync.
    DISK.make_folder(below)
    assert synced == [str(tmp_path / "one")]
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    with pytest.raises(OSError):
        DISK.make_folder(tmp_path / "other")
    assert DISK.list(tmp_path) == ["one"], "what may be lost is not there"


def test_files_of_libraries_are_synced_with_their_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    for name in ("fsync", "fdatasync"):
        real = getattr(os, name)

        def sync(descriptor: int, real: Callable[[int], None] = real) -> None:
            synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
            real(descriptor)

        monkeypatch.setattr(os, name, sync)
    (tmp_path / "below").mkdir()
    paths = [tmp_path / "below" / "one", tmp_path / "two", tmp_path / "below" / "three"]
    for path in paths:
        path.write_text("x")
    DISK.sync_files(paths)
    assert synced == ["one", "two", "three", tmp_path.name, "below"]


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
        "import sys, pathlib, os, signal; from engine.storage.storage import FolderLock; "
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
