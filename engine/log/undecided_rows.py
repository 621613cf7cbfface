"""The rows of transactions that are undecided at some point of a replay, in memory or in a file.

Enters: payloads, in memory that will be used again. Leaves: the same bytes. Beyond a limit of
memory the bytes are in a file without a name: one large transaction may be more than the memory of
the machine, and a start that fails for lack of memory would fail again and again. Must not know
records or transactions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.storage.storage import StoredFile


@dataclass(frozen=True, slots=True)
class UndecidedRows:
    """A payload that is kept.

    Attributes:
        data: its bytes, or None if they are in the file.
        position: where the bytes begin in the file.
    """

    data: bytes | None
    position: int
    size: int


class UndecidedRowsStore:
    """A store of payloads.

    Arguments:
        bytes_max: bytes of memory for all payloads together.
        new_file: makes an empty file when the memory is not enough.
    """

    def __init__(self, bytes_max: int, new_file: Callable[[], StoredFile]) -> None:
        self._bytes_max = bytes_max
        self._new_file = new_file
        self._file: StoredFile | None = None
        self._end = 0
        self._in_file = 0
        self._in_memory = 0

    @property
    def bytes_count(self) -> int:
        """Bytes of memory that are in use."""
        return self._in_memory

    def keep(self, payload: memoryview) -> UndecidedRows:
        """Keep a copy of a payload. Raises OSError."""
        size = payload.nbytes
        if self._in_memory + size <= self._bytes_max:
            self._in_memory += size
            return UndecidedRows(bytes(payload), 0, size)
        if self._file is None:
            self._file = self._new_file()
        kept = UndecidedRows(None, self._end, size)
        self._file.write(self._end, payload)
        self._end += size
        self._in_file += 1
        return kept

    def read(self, kept: UndecidedRows) -> memoryview:
        """Return the bytes of a payload. Raises OSError."""
        if kept.data is not None:
            return memoryview(kept.data)
        assert self._file is not None
        data = self._file.read(kept.position, kept.size)
        assert len(data) == kept.size, "the file of undecided rows has been cut"
        return memoryview(data)

    def forget(self, kept: UndecidedRows) -> None:
        """Free the room of a payload; room in the file is freed after its last payload.

        Raises OSError.
        """
        if kept.data is not None:
            self._in_memory -= kept.size
            return
        self._in_file -= 1
        if self._in_file == 0:
            assert self._file is not None
            self._file.truncate(0)
            self._end = 0

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
