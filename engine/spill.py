"""Staged morsels beyond the memory limit: one unlinked temporary file per statement, read back once, in order.

Enters and leaves: morsels. Raises 53100 when the disk is full and 58030 when it fails. Nothing here outlives the statement.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ringbuffer.arrow import read_morsel, write_morsel
from ringbuffer.columns import Morsel
from sql.errors import SqlError


class SpillFile:
    """A temporary file of morsels in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, prefix="stage-")  # noqa: SIM115  # closed by close()
        self._count = 0

    def write(self, morsel: Morsel) -> None:
        """Append a morsel. Raises SqlError when the disk does not take it."""
        try:
            write_morsel(morsel, self._file)
        except OSError as error:
            sqlstate = "53100" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "58030"
            raise SqlError(
                sqlstate,
                f"could not write staged rows: {error.strerror}",
                hint="Free space in the data directory, commit smaller statements, or raise stage_memory_max.",
            ) from None
        self._count += 1

    def read(self) -> Iterator[Morsel]:
        """Yield the morsels in the order of writing; may be called again."""
        self._file.seek(0)
        for _ in range(self._count):
            yield read_morsel(self._file)

    def close(self) -> None:
        """Drop the file."""
        self._file.close()
