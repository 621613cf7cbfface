"""Six integers of 1 to 10,000: the rows of the contests about COPY and about attached views.

Leaves: the same rows as COPY's text, CSV and binary, as an Arrow stream, and as messages of
CopyData. Must not connect to anything.
"""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa

from bench.workload import SEED

COLUMNS = ("a", "b", "c", "d", "e", "f")
KEYS_COUNT = 10_000
DECLARED = ", ".join(f"{column} integer" for column in COLUMNS)
MESSAGE_BYTES = 1 << 16
BINARY_HEADER = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
BINARY_TRAILER = struct.pack("!h", -1)
INTEGER_BYTES = 4


def numbers(rows_count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    """Return the rows, int32[rows, 6]; the same each time."""
    chance = np.random.default_rng(SEED)
    return chance.integers(1, KEYS_COUNT + 1, (rows_count, len(COLUMNS)), dtype=np.int32)


def delimited(rows: np.ndarray[tuple[int, ...], np.dtype[np.int32]], delimiter: str) -> bytes:
    """Return COPY's text (a tab) or CSV (a comma)."""
    return "".join(f"{delimiter.join(map(str, row))}\n" for row in rows.tolist()).encode()


def binary(rows: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> bytes:
    """Return COPY's binary format."""
    tuples = np.zeros(
        len(rows), np.dtype([("count", ">i2"), *((f"{kind}{c}", ">i4") for c in COLUMNS for kind in ("bytes_", ""))])
    )
    tuples["count"] = len(COLUMNS)
    for number, column in enumerate(COLUMNS):
        tuples[f"bytes_{column}"] = INTEGER_BYTES
        tuples[column] = rows[:, number]
    return BINARY_HEADER + tuples.tobytes() + BINARY_TRAILER


def arrow(rows: np.ndarray[tuple[int, ...], np.dtype[np.int32]]) -> bytes:
    """Return an Arrow stream of one batch."""
    batch = pa.record_batch([np.ascontiguousarray(rows[:, number]) for number in range(len(COLUMNS))], names=COLUMNS)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def copy_messages(content: bytes) -> bytes:
    """Return CopyData of 64 KiB each, and CopyDone."""
    pieces = (content[start : start + MESSAGE_BYTES] for start in range(0, len(content), MESSAGE_BYTES))
    return b"".join(b"d" + struct.pack("!i", len(piece) + 4) + piece for piece in pieces) + b"c\0\0\0\4"
