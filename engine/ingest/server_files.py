"""Files of the server that a client may name in COPY: those below the setting `copy_directory`
alone.

Enters: the name in the statement. Leaves: open files. Every step of the path is opened by itself
and no step may be a symbolic link, so that no change of the path meanwhile leads out of the folder.
Raises 42501, 58P01 and 42809 as PostgreSQL does.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from sql.errors import SqlError

READ = os.O_RDONLY
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
WRITE = os.O_WRONLY | os.O_CREAT
# Of a new file, whatever the server's other files have: it is made for the client, as in
# PostgreSQL.
COPIED_MODE = 0o644
HINT = (
    "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone. "
    "The setting copy_directory names the folder whose files COPY may use."
)


def open_to_read(folder: Path | None, name: str) -> BinaryIO:
    """Return a file, open for reading."""
    return os.fdopen(_open_below(folder, name, READ, "reading"), "rb")


def files_named(folder: Path | None, name: str) -> list[str]:
    """Return the names of the files that a name stands for, in whose last step * is any text, in
    order. Raises 58P01 where there is none.
    """
    parts = _parts(folder, name)
    if "*" not in parts[-1]:
        return [name]
    assert folder is not None, "without a folder no name is allowed"
    try:
        descriptor = os.open(folder, FOLDER)
        for part in parts[:-1]:
            descriptor = _step(descriptor, part, FOLDER)
        try:
            shape = re.compile(".*".join(map(re.escape, parts[-1].split("*"))), re.DOTALL)
            found = sorted(one for one in os.listdir(descriptor) if shape.fullmatch(one))
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _refusal(error, name, "reading") from None
    if not found:
        raise SqlError("58P01", f'there is no file "{name}"')
    return [str(PurePosixPath(*parts[:-1], one)) for one in found]


def open_to_write(folder: Path | None, name: str) -> BinaryIO:
    """Return a new or emptied file, open for writing. Raises OSError, too.

    The file belongs to the client and is not synced, as in PostgreSQL.
    """
    file = os.fdopen(_open_below(folder, name, WRITE, "writing"), "wb")
    try:
        file.truncate(0)
    except OSError:
        file.close()
        raise
    return file


def _open_below(folder: Path | None, name: str, flags: int, purpose: str) -> int:
    parts = _parts(folder, name)
    assert folder is not None, "without a folder no name is allowed"
    try:
        descriptor = os.open(folder, FOLDER)
        for part in parts[:-1]:
            descriptor = _step(descriptor, part, FOLDER)
        # A pipe without a writer would hold the statement up for ever.
        descriptor = _step(descriptor, parts[-1], flags | os.O_NONBLOCK)
    except OSError as error:
        raise _refusal(error, name, purpose) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        os.close(descriptor)
        raise SqlError("42809", f'"{name}" is {"a directory" if is_folder else "not a regular file"}')
    return descriptor


def _step(folder: int, part: str, flags: int) -> int:
    """Open `part` in an open folder, and close the folder."""
    flags |= os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        if flags & os.O_CREAT:
            with suppress(FileExistsError):
                made = os.open(part, flags | os.O_EXCL, 0o600, dir_fd=folder)
                os.fchmod(made, COPIED_MODE)
                return made
        return os.open(part, flags, 0o600, dir_fd=folder)
    finally:
        os.close(folder)


def _parts(folder: Path | None, name: str) -> tuple[str, ...]:
    """Return the steps from the folder to the file.

    Raises 42501 if they do not stay below the folder.
    """
    path = PurePosixPath(name)
    if folder is None:
        raise SqlError("42501", "COPY to or from a file of the server is not allowed", hint=HINT)
    if path.is_absolute():
        if not path.is_relative_to(folder):
            raise _outside(name)
        path = path.relative_to(folder)
    if not path.parts or ".." in path.parts or "\0" in name:
        raise _outside(name)
    return path.parts


def _outside(name: str) -> SqlError:
    return SqlError("42501", f'COPY may not use "{name}": it is not below the copy_directory', hint=HINT)


def _refusal(error: OSError, name: str, purpose: str) -> SqlError:
    message = f'could not open file "{name}" for {purpose}: {error.strerror}'
    if error.errno == errno.ENOENT:
        return SqlError("58P01", message)
    if error.errno == errno.EISDIR:
        return SqlError("42809", f'"{name}" is a directory')
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return SqlError(
            "42501", message, detail="A symbolic link or a file stands where a folder should be.", hint=HINT
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return SqlError("42501", message)
    return SqlError("58030", message)
