"""The seam to the disk: files and folders that outlive a crash, the COMMIT of the table engine, the
lock.

Enters: paths, positions and bytes; a connection whose transaction is to stay. Leaves: open files
that write, read and sync at positions. No other file of the four packages commits or calls fsync,
so that tests can put a `Storage` in its place that fails or loses its power
(`tests/faults/simulated_storage.py`). The lock is of the data folder. Must not know what the bytes
mean, and must not retry: after a failed sync it is not known what is on the disk.
"""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from engine.storage.direct_writes import DIRECT_BYTES_MAX, NOT_THIS_WAY, PAGE_BYTES, DirectWrites

LOCK_FILE_NAME = "antumbra.lock"
PIECE_BYTES = 1 << 20
ZEROS = memoryview(bytes(PIECE_BYTES))
NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
FILE_MODE = 0o600
FOLDER_MODE = 0o700
TEMPORARY_SUFFIX = ".tmp"

Bytes = bytes | bytearray | memoryview
# `list` is a method's name below.
Names = list[str]


class StorageError(Exception):
    """The data folder can't be used; the text is one line that says which folder and why."""


class StoredFile(Protocol):
    """An open file. Every method raises OSError with its errno.

    Positions are absolute, in bytes; nothing is buffered on our side.
    """

    @property
    def size(self) -> int:
        """Bytes in the file, whether synced or not."""

    def write(self, position: int, data: Bytes) -> None:
        """Write all of `data` (contiguous, of any item size) at `position`, without a sync.

        A gap before it reads as zeros. After an error any part of the data may be in the file.
        """

    def write_pieces(self, position: int, pieces: Sequence[Bytes]) -> None:
        """Write all of the pieces as `write` does, one after the other."""

    def write_durably(self, position: int, data: Bytes) -> None:
        """Write as `write` does, and return after the data is durable.

        Data written before may be durable or not.
        """

    def read(self, position: int, size: int) -> bytes:
        """Return `size` bytes from `position` on, fewer only at the end of the file."""

    def sync(self) -> None:
        """Return after contents and size are durable (fdatasync).

        `sync_folder` makes the name durable.
        """

    def truncate(self, size: int) -> None:
        """Cut or extend the file with zeros to `size`, without a sync."""

    def close(self) -> None:
        """Close the file; may be called again."""


class Storage(Protocol):
    """The file system that the engine needs.

    Every method but commit_tables raises OSError with its errno.
    """

    def commit_tables(self, connection: TableConnection) -> None:
        """Commit the open transaction of a connection to the table engine; it is durable on return.

        Raises the table engine's own errors, and nothing of the transaction has happened then.
        """

    def create(self, path: Path, size: int = 0, for_little: bool = True) -> StoredFile:
        """Return a new file of `size` zeros that really take room on the disk, without a sync.

        A file of that name is emptied first. for_little: little will be written at once, and each
        time synced. A file that can't be made whole is removed again.
        """

    def open(self, path: Path) -> StoredFile:
        """Return an existing file, for reading and writing."""

    def temporary(self, folder: Path) -> StoredFile:
        """Return an empty file without a name, which is gone when it is closed or the process
        ends.
        """

    def list(self, folder: Path) -> Names:
        """Return the names in a folder, sorted; none if the folder does not exist."""

    def make_folder(self, path: Path) -> None:
        """Make a folder that only our user may enter, and those above it, each synced into its
        parent.

        A folder that exists is kept.
        """

    def rename(self, old: Path, new: Path) -> None:
        """Rename a file in its folder, in one step and without a sync.

        A file of the new name is replaced.
        """

    def remove(self, path: Path) -> None:
        """Remove the name of a file, without a sync."""

    def sync_folder(self, path: Path) -> None:
        """Return after all names in the folder are durable."""

    def sync_files(self, paths: Iterable[Path]) -> None:
        """Return after files that a library has written, and their names, are durable.

        Such files are real, whatever the storage is.
        """


@contextmanager
def replacing(storage: Storage, path: Path) -> Iterator[StoredFile]:
    """Yield a new file that has the name `path` once it is whole and durable.

    The name itself is durable after a sync of the folder. Raises OSError; the folder is as before
    then, and after what the caller raises.
    """
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    file = storage.create(temporary)
    try:
        yield file
        file.sync()
        file.close()
        storage.rename(temporary, path)
    except BaseException:
        with suppress(OSError):
            file.close()
            storage.remove(temporary)
        raise


class TableConnection(Protocol):
    """The part of a connection to the table engine that COMMIT needs."""

    def commit(self) -> object:
        """Commit the open transaction."""


class DiskFile:
    """A file of the real file system."""

    __slots__ = ("_descriptor", "_direct")

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._direct: DirectWrites | None = None

    def go_direct(self, blank_from: int | None) -> None:
        """Let writes go past the page cache from now on; see DirectWrites."""
        self._end_direct()
        self._direct = DirectWrites(self._descriptor, blank_from)

    @property
    def size(self) -> int:
        """See StoredFile."""
        return os.fstat(self._descriptor).st_size

    def write(self, position: int, data: Bytes) -> None:
        """See StoredFile."""
        rest = memoryview(data)
        if not rest.nbytes:
            return
        rest = rest.cast("B")
        direct = self._direct
        while direct is not None and direct.write(position, part := rest[: DIRECT_BYTES_MAX - position % PAGE_BYTES]):
            if len(part) == len(rest):
                return
            rest = rest[len(part) :]
            position += len(part)
        while True:
            # A disk that becomes full takes a part; the next call then says why.
            count = os.pwrite(self._descriptor, rest, position)
            if count == len(rest):
                return
            if count == 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            rest = rest[count:]
            position += count

    def write_pieces(self, position: int, pieces: Sequence[Bytes]) -> None:
        """See StoredFile."""
        part: list[memoryview] = []
        start = position
        for piece in pieces:
            rest = memoryview(piece).cast("B") if memoryview(piece).nbytes else memoryview(b"")
            while rest:
                end = start - start % PAGE_BYTES + DIRECT_BYTES_MAX
                part.append(rest[: end - position])
                position += len(part[-1])
                rest = rest[len(part[-1]) :]
                if position == end:
                    self._write_part(start, position, part)
                    start, part = position, []
        if part:
            self._write_part(start, position, part)

    def _write_part(self, start: int, end: int, pieces: Sequence[memoryview]) -> None:
        if self._direct is None or not self._direct.write_pages(start, end, pieces):
            self.write(start, b"".join(pieces))

    def write_durably(self, position: int, data: Bytes) -> None:
        """See StoredFile."""
        if self._direct is None or not self._direct.write(position, memoryview(data).cast("B"), os.RWF_DSYNC):
            self.write(position, data)
            self.sync()

    def read(self, position: int, size: int) -> bytes:
        """See StoredFile."""
        pieces = [os.pread(self._descriptor, size, position)]
        count = len(pieces[0])
        while pieces[-1] and count < size:
            pieces.append(os.pread(self._descriptor, size - count, position + count))
            count += len(pieces[-1])
        return b"".join(pieces)

    def sync(self) -> None:
        """See StoredFile."""
        os.fdatasync(self._descriptor)

    def truncate(self, size: int) -> None:
        """See StoredFile."""
        os.ftruncate(self._descriptor, size)
        self._end_direct()

    def close(self) -> None:
        """See StoredFile."""
        self._end_direct()
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _end_direct(self) -> None:
        direct, self._direct = self._direct, None
        if direct is not None:
            direct.close()


class DiskStorage:
    """The real file system."""

    def commit_tables(self, connection: TableConnection) -> None:
        """Commit the open transaction; DuckDB syncs its log before this returns."""
        connection.commit()

    def create(self, path: Path, size: int = 0, for_little: bool = True) -> StoredFile:
        """See Storage."""
        file = DiskFile(os.open(path, NEW_FILE, FILE_MODE))
        try:
            if size:
                reserve(file._descriptor, size)
                file.go_direct(blank_from=None)
            # Written, not only reserved: what is reserved still costs a sync of metadata at its
            # first write, which is much for little.
            for position in range(0, size if for_little else 0, PIECE_BYTES):
                file.write(position, ZEROS[: size - position])
        except OSError:
            file.close()
            with suppress(OSError):
                os.unlink(path)
            raise
        if size:
            file.go_direct(blank_from=0)
        return file

    def open(self, path: Path) -> StoredFile:
        """See Storage."""
        file = DiskFile(os.open(path, os.O_RDWR | os.O_CLOEXEC))
        file.go_direct(blank_from=None)
        return file

    def temporary(self, folder: Path) -> StoredFile:
        """See Storage."""
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            return DiskFile(os.dup(file.fileno()))

    def list(self, folder: Path) -> Names:
        """See Storage."""
        try:
            return sorted(os.listdir(folder))
        except FileNotFoundError:
            return []

    def make_folder(self, path: Path) -> None:
        """See Storage."""
        make_folder(path)

    def rename(self, old: Path, new: Path) -> None:
        """See Storage."""
        assert old.parent == new.parent, "one folder, so that one sync makes it durable"
        os.rename(old, new)

    def remove(self, path: Path) -> None:
        """See Storage."""
        os.unlink(path)

    def sync_folder(self, path: Path) -> None:
        """See Storage."""
        sync_folder(path)

    def sync_files(self, paths: Iterable[Path]) -> None:
        """See Storage."""
        folders: set[Path] = set()
        for path in paths:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fdatasync(descriptor)
            finally:
                os.close(descriptor)
            folders.add(path.parent)
        for folder in sorted(folders):
            sync_folder(folder)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, each synced into its parent. Raises OSError."""
    if path.is_dir():
        # The process that made it may have been killed before its sync. Somebody else's parent may
        # be closed to us: then it is theirs to sync.
        with suppress(PermissionError):
            sync_folder(path.parent)
        return
    if not path.parent.is_dir():
        make_folder(path.parent)
    os.mkdir(path, FOLDER_MODE)
    try:
        sync_folder(path.parent)
    except OSError:
        with suppress(OSError):
            os.rmdir(path)
        raise


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # A file system without a sync of folders says so with EINVAL; its names are durable by
        # themselves, or by nothing.
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`; the system may take it in several pieces."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def reserve(descriptor: int, size: int) -> None:
    """Reserve the first `size` bytes of a file, where its file system can do that.

    Raises OSError.
    """
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno not in NOT_THIS_WAY:
            raise


class FolderLock:
    """The lock of the data folder, for one server at a time.

    It ends with the process, however that ends.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Make the folder if need be, and lock it.

        Raises StorageError when the folder can't be written or another server has the lock.
        """
        assert self._descriptor is None, "the folder is already held"
        try:
            make_folder(self.folder)
            descriptor = os.open(self.folder / LOCK_FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        except OSError as error:
            raise StorageError(f"can't write to the data folder {self.folder}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            write_all(descriptor, f"{os.getpid()}\n".encode())
        except OSError as error:
            owner = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
            os.close(descriptor)
            raise StorageError(self._refusal(error, owner)) from error
        self._descriptor = descriptor

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _refusal(self, error: OSError, owner: str) -> str:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            process = f" (process {owner})" if owner else ""
            return f"the data folder {self.folder} is in use by another server{process}"
        return f"can't lock the data folder {self.folder}: {error.strerror}"
