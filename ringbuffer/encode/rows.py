"""Results as DataRow messages, all rows of a batch at once.

Enters: Arrow columns, the families of their types, a format for each (0 text, 1 binary), the forms
that the reader asks for. Leaves: the messages as one piece of bytes and where each ends. Two
passes: sizes, then fields column by column at one cursor per row; no Python per row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.compile.jit import kernel
from ringbuffer.encode.binary import put_int16
from ringbuffer.encode.columns import binary_column, text_column
from ringbuffer.encode.encoded_column import Bytes, EncodedColumn
from ringbuffer.encode.fields import add_sizes, put_fields, put_int32
from ringbuffer.encode.output_forms import Forms

TEXT_FORMAT = 0
BINARY_FORMAT = 1

DATA_ROW = ord("D")
# Type byte, length, count of fields.
HEAD_BYTES = 7
LENGTH_BYTES = 4


def encode_data_rows(
    columns: Sequence[pa.Array | pa.ChunkedArray],
    families: Sequence[str],
    formats: Sequence[int],
    forms: Forms,
    rows_count: int,
) -> tuple[bytes, npt.NDArray[np.int64]]:
    """Return the DataRow messages of all rows, and the offset where each ends (int64[rows])."""
    encoded = [
        binary_column(column, family) if code == BINARY_FORMAT else text_column(column, family, forms)
        for column, family, code in zip(columns, families, formats, strict=True)
    ]
    return assemble_rows(encoded, rows_count)


def assemble_rows(encoded: Sequence[EncodedColumn], rows_count: int) -> tuple[bytes, npt.NDArray[np.int64]]:
    """Return the DataRow messages of encoded columns, and where each ends."""
    out, ends = row_messages(encoded, rows_count)
    return out.tobytes(), ends


def row_messages(encoded: Sequence[EncodedColumn], rows_count: int) -> tuple[Bytes, npt.NDArray[np.int64]]:
    """Return the DataRow messages of encoded columns as uint8[bytes], and where each ends."""
    sizes = np.full(rows_count, HEAD_BYTES + LENGTH_BYTES * len(encoded), dtype=np.int64)
    for column in encoded:
        add_sizes(column.ends, column.valid, sizes)
    ends = np.cumsum(sizes)
    out = np.empty(int(ends[-1]) if rows_count else 0, dtype=np.uint8)
    cursors = ends - sizes
    put_heads(sizes, len(encoded), out, cursors)
    for column in encoded:
        put_fields(column.data, column.ends, column.valid, out, cursors)
    return out, ends


@kernel
def put_heads(sizes: npt.NDArray[np.int64], columns_count: int, out: Bytes, cursors: npt.NDArray[np.int64]) -> None:
    """Write type, length and count of each row at its cursor, and move the cursor after them.
    sizes, cursors: int64[n].
    """
    for row in range(len(sizes)):
        at = cursors[row]
        out[at] = DATA_ROW
        at = put_int32(out, at + 1, sizes[row] - 1)
        cursors[row] = put_int16(out, at, columns_count)
