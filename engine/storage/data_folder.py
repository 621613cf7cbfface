"""The rights on the data folder: for its owner, who runs the server, and at most readers of its
group.

PostgreSQL has the same rule. Enters: the path of the folder. Leaves: the folder, with the right
permissions. Raises StorageError with PostgreSQL's words. Must not look at the contents beyond
whether there is a database.
"""

from __future__ import annotations

import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

from engine.storage.storage import FOLDER_MODE, LOCK_FILE_NAME, StorageError

log = logging.getLogger(__name__)

# Every file of the server is its own, also a file of DuckDB, numba or Spark's JVM.
UMASK = 0o077
NOT_THEIRS = stat.S_IWGRP | stat.S_IRWXO
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def take_only_ours() -> None:
    """Let only the user of this process read the files that the process and its children make."""
    os.umask(UMASK)


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files below a folder, those that go meanwhile left out."""
    found = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                found += os.lstat(os.path.join(place, name)).st_size
    return found


def require_private(folder: Path) -> None:
    """Refuse a folder of another user, or one where others may have written.

    Remove rights of others in ours.

    A folder that does not exist is made later.
    """
    try:
        status = folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        # The call that makes the folder says why it can't be made.
        return
    except OSError as error:
        raise StorageError(f'could not read permissions of directory "{folder}": {error.strerror}') from error
    if not stat.S_ISDIR(status.st_mode):
        return
    if status.st_uid != os.geteuid():
        hint = "The server must be started by the user that owns the data directory."
        raise StorageError(f'data directory "{folder}" has wrong ownership. {hint}')
    mode = stat.S_IMODE(status.st_mode)
    if not mode & NOT_THEIRS:
        return
    if mode & OTHERS_WRITE and (folder / LOCK_FILE_NAME).exists():
        # What is in it may be theirs.
        raise invalid_permissions(folder)
    try:
        folder.chmod(FOLDER_MODE)
    except OSError as error:
        raise invalid_permissions(folder) from error
    if stat.S_IMODE(folder.stat().st_mode) & NOT_THEIRS:
        raise invalid_permissions(folder)
    log.warning('data directory "%s" had permissions %04o and has %04o now', folder, mode, FOLDER_MODE)


def invalid_permissions(folder: Path) -> StorageError:
    """Return PostgreSQL's error for wrong permissions."""
    hint = "Permissions should be u=rwx (0700) or u=rwx,g=rx (0750)."
    return StorageError(f'data directory "{folder}" has invalid permissions. {hint}')
