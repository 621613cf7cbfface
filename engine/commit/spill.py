"""Staged morsels beyond the memory limit: one temporary file per statement, read back in order.

Enters and leaves: morsels of one layout, in the form that the log has for rows. Raises 53100 when
the disk is full and 58030 when it fails. The file does not outlive the statement, and is not
synced.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.storage.errors import disk_error
from engine.storage.storage import Storage
from ringbuffer.memory.columns import Layout, Morsel
from ringbuffer.pages.log_rows import decode_rows, encode_rows

HINT = "Free space in the data directory, commit smaller statements, or raise stage_memory_bytes_max."


class SpillFile:
    """A temporary file of morsels in `folder`."""

    def __init__(self, storage: Storage, folder: Path) -> None:
        """Make the file. Raises SqlError."""
        try:
            self._file = storage.temporary(folder)
        except OSError as error:
            raise disk_error(error, "make a file for staged rows", HINT) from None
        # Where each morsel ends.
        self._ends: list[int] = []

    @property
    def count(self) -> int:
        """How many morsels are in the file."""
        return len(self._ends)

    def write(self, morsel: Morsel, layout: Layout) -> None:
        """Append a morsel. Raises SqlError when the disk does not take the bytes."""
        position = self._ends[-1] if self._ends else 0
        try:
            for piece in encode_rows(morsel, layout):
                self._file.write(position, piece)
                position += len(piece)
        except OSError as error:
            raise disk_error(error, "write staged rows", HINT) from None
        self._ends.append(position)

    def read(self, layout: Layout) -> Iterator[Morsel]:
        """Yield the morsels in the order of writing; may be called again. Raises SqlError."""
        position = 0
        for end in self._ends:
            try:
                data = self._file.read(position, end - position)
            except OSError as error:
                raise disk_error(error, "read staged rows") from None
            yield decode_rows(data, layout)
            position = end

    def close(self) -> None:
        """Drop the file."""
        self._file.close()
