"""Arrays of zeros in memory that is the system's again when nobody has the array any more.

What the allocator gets back it may keep, and it writes the zeros of what it hands out again, so
that all of an array takes memory though nothing has been put there. Must not know what the arrays
hold.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

# Smaller arrays are the allocator's.
MAPPED_BYTES_MIN = 1 << 17


def mapped_zeros(count: int, dtype: type[np.generic]) -> npt.NDArray[Any]:
    """Return an array [count] of zeros, as np.zeros."""
    size = count * np.dtype(dtype).itemsize
    if size < MAPPED_BYTES_MIN:
        return np.zeros(count, dtype)
    return np.frombuffer(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), dtype)
