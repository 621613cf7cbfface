"""Conversion between morsels and Arrow tables; joining and cutting of morsels.

Enters and leaves: morsels, and tables whose columns have the forms of views.model.arrow_schema
(numeric as decimal128(38, scale)), or those of `stored_values`. Must not know SQL or files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ringbuffer.memory.columns import NUMERIC_DIGITS_MAX, ColumnLayout, Layout, Morsel, PhysicalType, empty_column
from ringbuffer.memory.stored_values import bytes_of, values_of
from ringbuffer.memory.strings import (
    copy_strings,
    heap_bytes,
    shift_strings,
    string_bytes,
    string_offsets,
    strings_from_offsets,
)

DECIMAL_BYTES = 16

ARROW_FIXED: dict[PhysicalType, pa.DataType] = {
    PhysicalType.INT16: pa.int16(),
    PhysicalType.INT32: pa.int32(),
    PhysicalType.INT64: pa.int64(),
    PhysicalType.FLOAT32: pa.float32(),
    PhysicalType.FLOAT64: pa.float64(),
    PhysicalType.DATE: pa.date32(),
}


def morsel_from_arrow(table: pa.Table, layout: Layout) -> Morsel:
    """Return the rows of `table`, whose columns are those of `layout` in order, as one morsel."""
    rows_count = table.num_rows
    arrays = [_stored(_one_array(values), column) for values, column in zip(table.columns, layout, strict=True)]
    nulls = tuple(_nulls(array) for array in arrays)
    sizes = [
        _string_bytes_count(array) if column.physical == PhysicalType.TEXT else 0
        for array, column in zip(arrays, layout, strict=True)
    ]
    heap = np.empty(sum(sizes), dtype=np.uint8)
    used = 0
    data: list[npt.NDArray[Any]] = []
    for array, column, column_nulls in zip(arrays, layout, nulls, strict=True):
        if column.physical == PhysicalType.TEXT:
            words = np.empty((rows_count, 2), dtype=np.int64)
            offsets, content = _string_buffers(array)
            used += strings_from_offsets(offsets, content, column_nulls, words, heap, used)
            data.append(words)
        else:
            data.append(_fixed(array, column, column_nulls))
    return Morsel(rows_count, tuple(data), nulls, heap[:used] if 2 * used >= len(heap) else heap[:used].copy())


def morsel_to_arrow(morsel: Morsel, layout: Layout) -> pa.Table:
    """Return the rows of a morsel as an Arrow table with the layout's names.

    Raises OverflowError for strings of one column over 2 GiB.
    """
    columns = [
        _arrow_column(data, nulls, morsel.heap, column)
        for data, nulls, column in zip(morsel.data, morsel.nulls, layout, strict=True)
    ]
    return pa.Table.from_arrays(columns, names=[column.name for column in layout])


def concat_morsels(morsels: Sequence[Morsel], layout: Layout) -> Morsel:
    """Return the rows of all morsels, in order, as one."""
    if len(morsels) == 1:
        return morsels[0]
    rows_count = sum(morsel.rows_count for morsel in morsels)
    data: list[npt.NDArray[Any]] = []
    nulls: list[npt.NDArray[np.uint8]] = []
    for index, column in enumerate(layout):
        if not morsels:
            data.append(empty_column(column.physical, 0))
            nulls.append(np.zeros(0, dtype=np.uint8))
            continue
        joined = np.concatenate([morsel.data[index] for morsel in morsels])
        if column.physical == PhysicalType.TEXT:
            row = start = 0
            for morsel in morsels:
                shift_strings(joined[row : row + morsel.rows_count], start)
                row += morsel.rows_count
                start += len(morsel.heap)
        data.append(joined)
        nulls.append(np.concatenate([morsel.nulls[index] for morsel in morsels]))
    heap = np.concatenate([morsel.heap for morsel in morsels]) if morsels else np.zeros(0, dtype=np.uint8)
    return Morsel(rows_count, tuple(data), tuple(nulls), heap)


def slice_morsel(morsel: Morsel, start: int, rows_count: int) -> Morsel:
    """Return rows [start, start + rows_count) without a copy; the whole heap is shared."""
    rows = slice(start, start + rows_count)
    return Morsel(
        rows_count,
        tuple(array[rows] for array in morsel.data),
        tuple(array[rows] for array in morsel.nulls),
        morsel.heap,
    )


def compact_morsel(morsel: Morsel, layout: Layout) -> Morsel:
    """Return the same rows with a heap of only their strings."""
    texts = [index for index, column in enumerate(layout) if column.physical == PhysicalType.TEXT]
    heap = np.empty(sum(heap_bytes(words_of(morsel, index)) for index in texts), dtype=np.uint8)
    data = list(morsel.data)
    used = 0
    for index in texts:
        words = np.empty((morsel.rows_count, 2), dtype=np.int64)
        used += copy_strings(words_of(morsel, index), morsel.heap, words, heap, used)
        data[index] = words
    return Morsel(morsel.rows_count, tuple(data), morsel.nulls, heap)


def words_of(morsel: Morsel, index: int) -> npt.NDArray[np.int64]:
    """Return the words of a wide column."""
    words: npt.NDArray[Any] = morsel.data[index]
    return words


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    combined = column.combine_chunks()
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


def _stored(array: pa.Array, column: ColumnLayout) -> pa.Array:
    if column.value_form is None:
        return array
    assert array.type == column.value_form, (column.name, array.type)
    return bytes_of(array)


def _nulls(array: pa.Array) -> npt.NDArray[np.uint8]:
    if array.null_count == 0:
        return np.zeros(len(array), dtype=np.uint8)
    bits: npt.NDArray[np.uint8] = pc.is_null(array).cast(pa.uint8()).to_numpy(zero_copy_only=False)
    return np.array(bits)


def _string_bytes_count(array: pa.Array) -> int:
    return int(pc.sum(pc.binary_length(array)).as_py() or 0)


def _string_buffers(array: pa.Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Return writable copies or views of (offsets, bytes).

    Kernels are compiled for writable arrays only.
    """
    if array.type not in (pa.string(), pa.binary()):
        array = array.cast(pa.string())
    buffers = array.buffers()
    end = array.offset + len(array) + 1
    offsets = np.frombuffer(buffers[1], dtype=np.int32, count=end)[array.offset :] if len(array) else None
    content = np.frombuffer(buffers[2], dtype=np.uint8) if buffers[2] is not None and buffers[2].size else None
    return (
        np.zeros(1, dtype=np.int32) if offsets is None else _writable(offsets),
        np.zeros(0, dtype=np.uint8) if content is None else _writable(content),
    )


def _writable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array if array.flags.writeable else array.copy()


def _fixed(array: pa.Array, column: ColumnLayout, nulls: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
    if column.physical == PhysicalType.NUMERIC:
        assert array.type.scale == column.scale, (column.name, array.type)
        if len(array) == 0:
            return np.zeros((0, 2), dtype=np.int64)
        end = 2 * (array.offset + len(array))
        words = np.frombuffer(array.buffers()[1], dtype=np.int64, count=end)[2 * array.offset :].reshape(-1, 2).copy()
        if array.null_count:
            words[nulls != 0] = 0
        return words
    if column.physical == PhysicalType.BOOL:
        array = array.cast(pa.uint8())
    elif column.physical == PhysicalType.DATE:
        array = array.cast(pa.int32())
    elif column.physical == PhysicalType.TIMESTAMP:
        array = array.cast(pa.int64())
    else:
        array = array.cast(ARROW_FIXED[column.physical])
    if array.null_count:
        array = pc.fill_null(array, pa.scalar(0, array.type))
    return np.array(array.to_numpy(zero_copy_only=False))


def _arrow_column(
    data: npt.NDArray[Any], nulls: npt.NDArray[np.uint8], heap: npt.NDArray[np.uint8], column: ColumnLayout
) -> pa.Array:
    rows_count = len(nulls)
    mask = nulls != 0
    if column.physical == PhysicalType.TEXT:
        if column.value_form is None:
            return _arrow_strings(data, mask, heap, pa.string())
        return values_of(_arrow_strings(data, mask, heap, pa.binary()), column.value_form)
    if column.physical == PhysicalType.NUMERIC:
        kind = pa.decimal128(NUMERIC_DIGITS_MAX, column.scale)
        return pa.Array.from_buffers(kind, rows_count, [_validity(mask), pa.py_buffer(np.ascontiguousarray(data))])
    if column.physical == PhysicalType.BOOL:
        return pa.array(data != 0, pa.bool_(), mask=mask)
    if column.physical == PhysicalType.TIMESTAMP:
        return pa.array(data, pa.int64(), mask=mask).cast(pa.timestamp("us", tz="UTC" if column.zoned else None))
    if column.physical == PhysicalType.DATE:
        return pa.array(data, pa.int32(), mask=mask).cast(pa.date32())
    return pa.array(data, ARROW_FIXED[column.physical], mask=mask)


def _arrow_strings(
    words: npt.NDArray[Any], mask: npt.NDArray[np.bool_], heap: npt.NDArray[np.uint8], kind: pa.DataType
) -> pa.Array:
    offsets = np.empty(len(words) + 1, dtype=np.int32)
    total = string_offsets(words, offsets)
    if total < 0:
        raise OverflowError("strings of one morsel over 2 GiB")
    content = np.empty(total, dtype=np.uint8)
    string_bytes(words, heap, offsets, content)
    return pa.Array.from_buffers(kind, len(words), [_validity(mask), pa.py_buffer(offsets), pa.py_buffer(content)])


def _validity(mask: npt.NDArray[np.bool_]) -> pa.Buffer | None:
    return pa.py_buffer(np.packbits(~mask, bitorder="little")) if mask.any() else None
