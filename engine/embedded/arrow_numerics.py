"""Variable numerics and decimals between Arrow columns and Python integers, through their buffers.

Enters: a decimal128 or a struct<unscaled, scale> column. Leaves: lists of (unscaled, scale) or of
int, None for NULL; and back.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from engine.embedded.decimals import Numeric
from views.model.arrow_schema import VARIABLE_NUMERIC

DECIMAL_BYTES = 16


def decimal_integers(column: pa.Array) -> list[int | None]:
    """Return the unscaled integers of a decimal128 array."""
    data = column.buffers()[1]
    count = len(column)
    if data is None:
        return [None] * count
    words = np.frombuffer(data, dtype=np.uint64, count=2 * (count + column.offset))[2 * column.offset :]
    low, high = words[::2].tolist(), words[1::2].view(np.int64).tolist()
    values: list[int | None] = [h * 2**64 + w for h, w in zip(high, low, strict=True)]
    if column.null_count:
        values = [value if valid else None for value, valid in zip(values, column.is_valid().to_pylist(), strict=True)]
    return values


def decimal_array(values: Sequence[int | None], precision: int, scale: int) -> pa.Array:
    """Return a decimal128 array of unscaled integers."""
    data = b"".join((value or 0).to_bytes(DECIMAL_BYTES, "little", signed=True) for value in values)
    return pa.Array.from_buffers(pa.decimal128(precision, scale), len(values), [validity(values), pa.py_buffer(data)])


def numeric_rows(column: pa.Array) -> list[Numeric | None]:
    """Return the values of a variable numeric array."""
    unscaled, scale = column.flatten()
    scales = scale.to_pylist()
    return [
        None if value is None or digits is None else (value, digits)
        for value, digits in zip(decimal_integers(unscaled), scales, strict=True)
    ]


def has_specials(column: pa.Array) -> bool:
    """Tell whether a variable numeric array has NaN or an infinity in it, maybe in the place of a
    NULL.
    """
    scales = column.field(1).buffers()[1]
    count, offset = len(column), column.offset + column.field(1).offset
    if scales is None or not count:
        return False
    return bool(np.frombuffer(scales, dtype=np.int16, count=count, offset=2 * offset).min() < 0)


def numeric_array(rows: Sequence[Numeric | None]) -> pa.Array:
    """Return a variable numeric array."""
    unscaled = decimal_array([None if row is None else row[0] for row in rows], 38, 0)
    scale = pa.array([None if row is None else row[1] for row in rows], pa.int16())
    return pa.StructArray.from_arrays([unscaled, scale], fields=list(VARIABLE_NUMERIC), mask=_null_mask(rows))


def validity(values: Sequence[object | None]) -> pa.Buffer | None:
    """Return the validity bitmap, None when nothing is NULL."""
    if all(value is not None for value in values):
        return None
    bits = np.packbits([value is not None for value in values], bitorder="little")
    return pa.py_buffer(bits.tobytes())


def _null_mask(rows: Sequence[object | None]) -> pa.Array:
    return pa.array([row is None for row in rows], pa.bool_())


def one_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array."""
    if isinstance(column, pa.Array):
        return column
    return (
        column.chunk(0)
        if column.num_chunks == 1
        else pa.concat_arrays(column.chunks)
        if column.num_chunks
        else pa.array([], column.type)
    )
