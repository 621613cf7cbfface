"""The one file that makes bytes durable: atomic replacement of a file, and the lock of the data folder.

Enters: paths and bytes. Leaves: files that a crash leaves either old or new, never half. No other file calls fsync, so that tests can
put a failing or forgetting `Storage` in its place. Raises StorageError with one line for a person when the folder can't be used.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import Protocol

LOCK_FILE_NAME = "antumbra.lock"


class StorageError(Exception):
    """The data folder can't be used; the text is one line that says which folder and why."""


class Storage(Protocol):
    """What the engine needs of a file system."""

    def write_atomic(self, path: Path, data: bytes) -> None:
        """Replace the file at `path` by `data`, durably. After a crash it holds its old or its new bytes. Raises OSError."""

    def commit_tables(self, connection: TableConnection) -> None:
        """Commit the transaction that is open on a connection of the table engine; it is durable on return, or nothing of it happened."""


class TableConnection(Protocol):
    """What COMMIT needs of a connection to the table engine."""

    def commit(self) -> object:
        """Commit the open transaction."""


class DiskStorage:
    """The real file system."""

    def write_atomic(self, path: Path, data: bytes) -> None:
        """Replace the file at `path` by `data`, durably. After a crash it holds its old or its new bytes. Raises OSError."""
        staged = path.with_name(path.name + ".new")
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(staged, path)
        sync_folder(path.parent)

    def commit_tables(self, connection: TableConnection) -> None:
        """Commit the open transaction; DuckDB syncs its log before this returns."""
        connection.commit()


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`; the system may take it in several pieces."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class FolderLock:
    """The data folder, held by one server at a time; the system lets go of it when the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Create the folder if need be and take it. Raises StorageError when it can't be written or another server has it."""
        assert self._descriptor is None, "the folder is already held"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.folder / LOCK_FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
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
        """Let go of the folder."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _refusal(self, error: OSError, owner: str) -> str:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            process = f" (process {owner})" if owner else ""
            return f"the data folder {self.folder} is in use by another server{process}"
        return f"can't lock the data folder {self.folder}: {error.strerror}"
