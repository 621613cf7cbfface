"""Large pieces of memory that are used again, since a new page is zeroed first.

The zeroing costs more than copying rows into the page. Enters: sizes. Leaves: arrays of bytes whose
contents are not defined. After the last array over a piece is gone, the piece waits here for the
next caller; the system may take its pages meanwhile if it needs them (MADV_FREE). Any thread may
call. Must not know what is in the memory.
"""

from __future__ import annotations

import mmap
import threading
import weakref
from collections import defaultdict, deque
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

# Smaller pieces are malloc's, which has pages for them.
PIECE_BYTES_MIN = 1 << 20
KEPT_BYTES_MAX = 2 << 30


class KeptMemory:
    """A store of memory to be used again: at most `bytes_max`, in pieces of sizes that are powers
    of two.
    """

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self._lock = threading.Lock()
        self._waiting: defaultdict[int, list[mmap.mmap]] = defaultdict(list)
        self._waiting_bytes = 0
        # An array may go at any moment, also while this thread holds the lock.
        self._returned: deque[mmap.mmap] = deque()

    @property
    def bytes_count(self) -> int:
        """Bytes of the pieces that wait."""
        with self._lock:
            self._collect()
            return self._waiting_bytes

    def take(self, size: int) -> npt.NDArray[Any]:
        """Return uint8[size]; the values are not defined."""
        if size < PIECE_BYTES_MIN:
            return np.empty(size, dtype=np.uint8)
        whole = 1 << (size - 1).bit_length()
        with self._lock:
            self._collect()
            same = self._waiting[whole]
            piece = same.pop() if same else None
            if piece is not None:
                self._waiting_bytes -= whole
        if piece is None:
            piece = mmap.mmap(-1, whole, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            with suppress(OSError):
                piece.madvise(mmap.MADV_HUGEPAGE)
        array = np.frombuffer(piece, dtype=np.uint8)
        # All arrays that are made from this one keep it alive.
        weakref.finalize(array, self._give_back, piece).atexit = False
        return array[:size]

    def _give_back(self, piece: mmap.mmap) -> None:
        self._returned.append(piece)
        if self._lock.acquire(blocking=False):
            try:
                self._collect()
            finally:
                self._lock.release()

    def _collect(self) -> None:
        """Store the pieces that were returned. The caller holds the lock."""
        while self._returned:
            piece = self._returned.popleft()
            if self._waiting_bytes + len(piece) <= self.bytes_max:
                with suppress(OSError):
                    piece.madvise(mmap.MADV_FREE)
                self._waiting[len(piece)].append(piece)
                self._waiting_bytes += len(piece)


kept_memory = KeptMemory(KEPT_BYTES_MAX)
