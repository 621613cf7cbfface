"""Fields one after the other, each with its length, as DataRow and the binary form of rows have
them: one column at a time.

Enters: the bytes of an encoded column, a cursor per row. Leaves: bytes at the cursors.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.encode.encoded_column import Bytes, Offsets
from ringbuffer.encode.text import is_valid


@kernel
def add_sizes(ends: Offsets, valid: Bytes, sizes: npt.NDArray[np.int64]) -> None:
    """Add the bytes of each value to the size of its row. ends: int64[n + 1]; valid: uint8[n] or
    empty; sizes: int64[n].
    """
    for row in range(len(sizes)):
        if is_valid(valid, row):
            sizes[row] += ends[row + 1] - ends[row]


@kernel
def put_int32(out: Bytes, at: int, value: int) -> int:
    """Write a big-endian int32; return where it ends."""
    out[at] = (value >> 24) & 0xFF
    out[at + 1] = (value >> 16) & 0xFF
    out[at + 2] = (value >> 8) & 0xFF
    out[at + 3] = value & 0xFF
    return at + 4


@kernel
def put_fields(data: Bytes, ends: Offsets, valid: Bytes, out: Bytes, cursors: npt.NDArray[np.int64]) -> None:
    """Write one column: length and bytes of each value, -1 for NULL, at its row's cursor. ends:
    int64[n + 1]; cursors: int64[n].
    """
    for row in range(len(cursors)):
        at = cursors[row]
        if is_valid(valid, row):
            start, end = ends[row], ends[row + 1]
            at = put_int32(out, at, end - start)
            for index in range(start, end):
                out[at] = data[index]
                at += 1
            cursors[row] = at
        else:
            cursors[row] = put_int32(out, at, -1)
