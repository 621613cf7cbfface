"""The records that have been appended to the log and not written yet.

Enters: records with their positions, in order. Leaves: bytes to be written, in as few pieces as
possible; they are valid until the next bytes are taken. The caller holds the append lock. Must not
know files or commits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine.log.records import Bytes, runs

BUFFER_BYTES = 1 << 20
# Larger records do not go through the buffer.
BUFFERED_BYTES_MAX = BUFFER_BYTES // 2
# Of one write within a large record, but for its last one.
RUN_BYTES_MIN = 1 << 16


class Unwritten:
    """The unwritten records: small ones in a buffer, large ones in their own memory.

    Attributes:
        buffer: uint8[BUFFER_BYTES]; the next small record goes to buffer[used:].
        large_bytes: bytes of the large records.
    """

    __slots__ = ("_bytes", "_other", "_start", "_start_position", "_writes", "buffer", "large_bytes", "used")

    def __init__(self) -> None:
        self.buffer: npt.NDArray[np.uint8] = np.zeros(BUFFER_BYTES, dtype=np.uint8)
        self._other = np.zeros(BUFFER_BYTES, dtype=np.uint8)
        self._bytes = self.buffer.data
        # The present run of small records: where it begins, and its position in the log.
        self._start = self.used = 0
        self._start_position = 0
        self._writes: list[tuple[int, Bytes]] = []
        self.large_bytes = 0

    @property
    def is_empty(self) -> bool:
        """True when every record has been taken."""
        return self.used == 0 and not self._writes

    @property
    def is_much(self) -> bool:
        """True when the buffer is about to become full."""
        return self.used > BUFFERED_BYTES_MAX

    def fits(self, size: int) -> bool:
        """Tell whether there is room for records of `size` bytes together."""
        return size > BUFFERED_BYTES_MAX or size <= BUFFER_BYTES - self.used

    def grow(self, position: int, size: int) -> None:
        """Add a record of `size` bytes that the caller has put into the buffer at `used`.

        position: of the record in the log.
        """
        if self.used == self._start:
            self._start_position = position
        self.used += size

    def add(self, position: int, record: Sequence[Bytes], size: int) -> None:
        """Add a record that fits, given in pieces of `size` bytes together."""
        if size <= BUFFER_BYTES - self.used:
            self._bytes[self.used : self.used + size] = b"".join(record)
            self.grow(position, size)
            return
        self._close_run()
        self.large_bytes += size
        for data in runs(record, RUN_BYTES_MIN):
            self._writes.append((position, data))
            position += len(data)

    def take(self) -> Sequence[tuple[int, Bytes]]:
        """Return all records, as positions and bytes that adjoin one another.

        The bytes are valid until the next call of `take`.
        """
        self._close_run()
        writes, self._writes, self.large_bytes = self._writes, [], 0
        self.buffer, self._other = self._other, self.buffer
        self._bytes = self.buffer.data
        self.used = self._start = 0
        return writes

    def _close_run(self) -> None:
        """Let the bytes in the buffer so far be one write."""
        if self.used > self._start:
            self._writes.append((self._start_position, self._bytes[self._start : self.used]))
            self._start = self.used
