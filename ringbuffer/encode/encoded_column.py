"""An encoded column, its values as bytes one after the other, and the buffers of Arrow arrays.

Encoders read these buffers.

Enters: Arrow arrays in the forms of views (bool, int16/32/64, float, decimal128, struct of unscaled
and scale, string, date32, timestamp[us]). Leaves: numpy views of their buffers, without a copy
where the form allows. Must not know output formats.

A kernel is compiled anew for each combination of writable and read-only arrays, so that is fixed
here: values, data and scales are read-only, ends and valid are writable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]

ALL_VALID: Bytes = np.empty(0, dtype=np.uint8)


def frozen(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return `values`, read-only from now on."""
    values.flags.writeable = False
    return values


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """Value i is data[ends[i]:ends[i + 1]].

    Attributes:
        valid: uint8[n], 0 where NULL; empty when there is no NULL.
    """

    data: Bytes
    ends: Offsets
    valid: Bytes


def one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the column as one array; a single chunk is not copied."""
    if isinstance(column, pa.ChunkedArray):
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return column


def valid_bytes(array: pa.Array) -> Bytes:
    """Return uint8[n], 0 where NULL; empty when there is no NULL."""
    if array.null_count == 0:
        return ALL_VALID
    bits = array.buffers()[0]
    if bits is None:
        # A NULL array has no bitmap.
        return np.zeros(len(array), dtype=np.uint8)
    return unpack_bits(bits, array.offset, len(array))


def unpack_bits(bits: pa.Buffer, offset: int, count: int) -> Bytes:
    """Return `count` bits from bit `offset` on, as bytes."""
    first = offset // 8
    packed = np.frombuffer(bits, dtype=np.uint8, offset=first, count=(offset + count + 7) // 8 - first)
    return np.unpackbits(packed, bitorder="little")[offset - 8 * first : offset - 8 * first + count]


def fixed_values(array: pa.Array, dtype: str, words: int = 1) -> npt.NDArray[Any]:
    """Return the values of a fixed-size form, `words` of `dtype` each.

    Those of NULLs are arbitrary.
    """
    count = len(array) * words
    if count == 0:
        return frozen(np.empty(0, dtype=dtype))
    size = np.dtype(dtype).itemsize
    return frozen(np.frombuffer(array.buffers()[1], dtype=dtype, count=count, offset=array.offset * words * size))


def bool_values(array: pa.Array) -> Bytes:
    """Return 0 and 1."""
    if len(array) == 0:
        return np.empty(0, dtype=np.uint8)
    return unpack_bits(array.buffers()[1], array.offset, len(array))


def string_column(array: pa.Array) -> EncodedColumn:
    """Return a string column as it lies in Arrow."""
    assert pa.types.is_string(array.type) or pa.types.is_large_string(array.type), array.type
    dtype = "int32" if pa.types.is_string(array.type) else "int64"
    _, offsets, data = array.buffers()
    if len(array) == 0 or offsets is None:
        return EncodedColumn(
            frozen(np.empty(0, dtype=np.uint8)), np.zeros(len(array) + 1, dtype=np.int64), valid_bytes(array)
        )
    ends = np.frombuffer(offsets, dtype=dtype, count=len(array) + 1, offset=array.offset * np.dtype(dtype).itemsize)
    content = np.frombuffer(data, dtype=np.uint8) if data is not None else np.empty(0, dtype=np.uint8)
    return EncodedColumn(frozen(content), ends.astype(np.int64), valid_bytes(array))


def numeric_words(array: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int16], Bytes]:
    """Return (unscaled values int64[2n] as low and high words, scales int16[n], or int16[1] for
    all, valid) of a numeric column.
    """
    if pa.types.is_struct(array.type):
        unscaled, scale = array.field("unscaled"), array.field("scale")
        valid = valid_bytes(array)
        inner = valid_bytes(unscaled)
        if len(inner):
            valid = inner if len(valid) == 0 else valid & inner
        return fixed_values(unscaled, "int64", 2), fixed_values(scale, "int16"), valid
    assert pa.types.is_decimal128(array.type), array.type
    scales = frozen(np.array([array.type.scale], dtype=np.int16))
    return fixed_values(array, "int64", 2), scales, valid_bytes(array)
