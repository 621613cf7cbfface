"""Staged morsels beyond the memory limit: one unlinked temporary file per statement, read back once, in order.

Enters and leaves: morsels of one layout, in the form that the log has for rows. Raises 53100 when the disk is full and 58030 when it
fails. Nothing here outlives the statement.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ringbuffer.columns import Layout, Morsel
from ringbuffer.log_rows import decode_rows, encode_rows
from sql.errors import SqlError


class SpillFile:
    """A temporary file of morsels in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, prefix="stage-")  # noqa: SIM115  # closed by close()
        self._sizes: list[int] = []

    def write(self, morsel: Morsel, layout: Layout) -> None:
        """Append a morsel. Raises SqlError when the disk does not take it."""
        pieces = encode_rows(morsel, layout)
        try:
            self._file.writelines(pieces)
        except OSError as error:
            sqlstate = "53100" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "58030"
            raise SqlError(
                sqlstate,
                f"could not write staged rows: {error.strerror}",
                hint="Free space in the data directory, commit smaller statements, or raise stage_memory_max.",
            ) from None
        self._sizes.append(sum(map(len, pieces)))

    def read(self, layout: Layout) -> Iterator[Morsel]:
        """Yield the morsels in the order of writing; may be called again."""
        self._file.seek(0)
        for size in self._sizes:
            yield decode_rows(self._file.read(size), layout)

    def close(self) -> None:
        """Drop the file."""
        self._file.close()
