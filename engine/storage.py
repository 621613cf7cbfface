"""The one file that makes things durable: the COMMIT of the table engine, and the lock of the data folder.

Enters: a connection whose transaction is to stay. No other file commits or calls fsync, so that tests can put a `Storage` in its place
that fails or dies. Raises StorageError with one line for a person when the folder can't be used.
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

    def commit_tables(self, connection: TableConnection) -> None:
        """Commit the transaction that is open on a connection of the table engine; it is durable on return, or nothing of it happened."""


class TableConnection(Protocol):
    """What COMMIT needs of a connection to the table engine."""

    def commit(self) -> object:
        """Commit the open transaction."""


class DiskStorage:
    """The real file system."""

    def commit_tables(self, connection: TableConnection) -> None:
        """Commit the open transaction; DuckDB syncs its log before this returns."""
        connection.commit()


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`; the system may take it in several pieces."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


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
