"""Rows for COPY TO STDOUT in binary format: one CopyData message per row, the header in the first
one and the end marker in one of its own.

Enters: Arrow columns, the families of their types. Leaves: the messages as one piece of bytes. A
tuple is what a DataRow holds, so rows are made as such and change their type byte.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ringbuffer.encode.copy import COPY_DATA, HEAD_BYTES
from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.rows import BINARY_FORMAT, encode_data_rows

# Signature, no flags, nothing after them.
HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
END_MARKER = b"\xff\xff"


def encode_binary_rows(
    columns: Sequence[pa.Array | pa.ChunkedArray], families: Sequence[str], begins: bool, ends: bool, rows_count: int
) -> bytes:
    """Return the rows as framed CopyData messages. begins, ends: the header goes before them, the
    end marker after them.
    """
    data = b""
    if rows_count:
        rows, row_ends = encode_data_rows(columns, families, [BINARY_FORMAT] * len(columns), Forms("UTC"), rows_count)
        messages = np.frombuffer(rows, dtype=np.uint8).copy()
        messages[0] = COPY_DATA
        messages[row_ends[:-1]] = COPY_DATA
        data = messages.tobytes()
    if begins and data:
        (length,) = struct.unpack_from(">i", data, 1)
        data = struct.pack(">Bi", COPY_DATA, length + len(HEADER)) + HEADER + data[HEAD_BYTES:]
    if ends:
        last = END_MARKER if data or not begins else HEADER + END_MARKER
        data += struct.pack(">Bi", COPY_DATA, len(last) + 4) + last
    return data
