"""Machine code on the disk, as numba keeps it, with a checksum: a file that has changed is not
loaded.

numba's files are pickles and object code, and numba loads what it finds. Here each file ends in a
digest of its name, of the sources from which it was made, and of its contents. A file or folder
that another user owns or may write is not used. Enters: the place of the files of a kernel. Leaves:
what numba calls a cache file. Must not know what the files mean.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile

log = logging.getLogger(__name__)

# At the end of a file: these bytes and the digest. A file without them was written by numba alone.
MARK = b"antumbra"
DIGEST_BYTES = 32
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
FILE_MODE = 0o600


# numba has no types.
Untyped: Any = IndexDataCacheFile


class CheckedCacheFile(Untyped):  # type: ignore[misc]  # its base has no type
    """The index and the files of one function.

    Attributes:
        stamp: of the sources.
    """

    def __init__(self, folder: str, name: str, stamp: str) -> None:
        place = safe_place(Path(folder))
        super().__init__(str(place or folder), name, stamp)
        self._is_kept = place is not None

    def load(self, key: object) -> Any:
        """Return what was saved under a key, None if it is not there or was changed."""
        return super().load(key) if self._is_kept else None

    def save(self, key: object, data: object) -> None:
        """Save data under a key, unless other users may write in the folder."""
        if self._is_kept:
            super().save(key, data)

    def _load_index(self) -> Any:
        return super()._load_index() if self._is_whole(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        if not self._is_whole(path):
            # To numba it is gone.
            raise FileNotFoundError(path)
        return super()._load_data(name)

    def _is_whole(self, path: str) -> bool:
        """Tell whether a file is ours, and as it was written."""
        try:
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                data = file.read()
        except FileNotFoundError:
            return False
        if not is_owned(status):
            log.warning("the machine code in %s is made anew: another user may have written it", path)
            return False
        end = len(data) - len(MARK) - DIGEST_BYTES
        if data[end:-DIGEST_BYTES] != MARK:
            log.info("the machine code in %s is made anew: it has no checksum", path)
            return False
        if data[-DIGEST_BYTES:] != self._digest(path, data[:end]):
            log.warning("the machine code in %s is made anew: it is not as it was written", path)
            return False
        return True

    def _digest(self, path: str, data: bytes) -> bytes:
        # An index says itself what it was made from; one of other sources is not damaged.
        stamp = "" if path == self._index_path else self._source_stamp
        return hashlib.sha256(f"{os.path.basename(path)}\n{stamp}\n".encode() + data).digest()

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        written = io.BytesIO()
        yield written
        data = written.getvalue()
        with super()._open_for_write(filepath) as file:
            os.fchmod(file.fileno(), FILE_MODE)
            file.write(data + MARK + self._digest(filepath, data))


def is_owned(status: os.stat_result) -> bool:
    """Tell whether only this user, or root, could write a file."""
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & OTHERS_WRITE


@cache
def safe_place(folder: Path) -> Path | None:
    """Return a folder for the machine code that belongs into `folder`, or None.

    It is `folder`, or a folder of this user.
    """
    if is_ours(folder):
        return folder
    own = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "antumbra"
    place = own / hashlib.sha256(str(folder).encode()).hexdigest()[:32]
    if is_ours(own) and is_ours(place):
        log.info("machine code is kept in %s: we may not write in %s, or another user may", place, folder)
        return place
    log.warning("machine code is not kept: neither %s nor %s is a folder in which we alone may write", folder, place)
    return None


def is_ours(folder: Path) -> bool:
    """Tell whether this user and nobody else may write in a folder, which is made if it is missing.

    Rights of others to write in a folder of ours are removed.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        if status.st_uid == os.geteuid() and status.st_mode & OTHERS_WRITE:
            folder.chmod(stat.S_IMODE(status.st_mode) & ~OTHERS_WRITE)
            status = folder.stat()
    except OSError:
        return False
    return is_owned(status) and os.access(folder, os.W_OK)
