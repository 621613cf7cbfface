"""Arrays of zeros in files without names, whose memory the system takes back when it needs some.

Enters: a function that maps a new file. Leaves: arrays. Where no file can be made, which is logged,
the memory is anonymous. Must not know what the arrays hold, nor where files are.
"""

from __future__ import annotations

import logging
import mmap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.memory.mapped_zeros import MAPPED_BYTES_MIN, mapped_zeros

log = logging.getLogger(__name__)


class MappedFile(mmap.mmap):
    """The memory of a file."""


@dataclass(frozen=True)
class SpilledMemory:
    """Memory of files.

    Attributes:
        map_file: returns a new file of so many bytes, mapped; the disk has room for all of them.
            Raises OSError.
        kept_bytes: how many bytes an owner keeps in memory before its arrays come here.
    """

    map_file: Callable[[int], MappedFile]
    kept_bytes: int

    def zeros(self, count: int, dtype: type[np.generic]) -> npt.NDArray[Any]:
        """Return an array [count] of zeros, as np.zeros."""
        size = count * np.dtype(dtype).itemsize
        if size < MAPPED_BYTES_MIN:
            return np.zeros(count, dtype)
        try:
            return np.frombuffer(self.map_file(size), dtype)
        except OSError as error:
            log.warning("groups stay in memory, since a file of %d bytes can't be made: %s", size, error.strerror)
            return mapped_zeros(count, dtype)


def leave(array: npt.NDArray[Any]) -> None:
    """Take the memory of an array of a file out of the process; a later read brings it back."""
    owner: Any = array.base
    memory = owner.obj if isinstance(owner, memoryview) else owner
    # Anonymous memory would be lost.
    if isinstance(memory, MappedFile):
        memory.madvise(mmap.MADV_DONTNEED)
