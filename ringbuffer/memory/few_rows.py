"""A few rows of a morsel as Python values and back, without Arrow, which takes longer for them than
their computation.

Enters: columns of morsels. Leaves: lists of values, and columns in the same forms. Must not be used
for many rows.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.memory.columns import DTYPES, INLINE_BYTES_MAX, ColumnLayout, PhysicalType

INTEGERS = frozenset({PhysicalType.INT16, PhysicalType.INT32, PhysicalType.INT64})
INLINE, LONG = struct.Struct("<I12s"), struct.Struct("<I4sq")
INLINE_AT, OFFSET_AT = 4, 8

Array = npt.NDArray[Any]
Buffer = bytes | memoryview


def has_values(column: ColumnLayout) -> bool:
    """Tell whether `values_of` and `column_of` know the form of a column."""
    if column.value_form is not None or column.labels is not None:
        return False
    return column.physical in INTEGERS or column.physical in (PhysicalType.BOOL, PhysicalType.TEXT)


def values_of(column: ColumnLayout, data: Array, nulls: Array, heap: Array) -> list[Any]:
    """Return the values of a column, None for NULL."""
    if column.physical == PhysicalType.TEXT:
        content = heap.data
        found: list[Any] = [string_at(words.tobytes(), content).decode() for words in data]
    else:
        found = data.tolist() if column.physical in INTEGERS else (data != 0).tolist()
    if nulls.any():
        return [None if null else value for value, null in zip(found, nulls.tolist(), strict=True)]
    return found


def string_at(words: Buffer, heap: Buffer) -> bytes:
    """Return the bytes of a 16-byte string. heap: of the long ones."""
    length = int.from_bytes(words[:INLINE_AT], "little")
    if length <= INLINE_BYTES_MAX:
        return bytes(words[INLINE_AT : INLINE_AT + length])
    start = int.from_bytes(words[OFFSET_AT:], "little")
    return bytes(heap[start : start + length])


def string_words(data: bytes, offset: int) -> bytes:
    """Return the bytes of a 16-byte string. offset: of a long one in the heap."""
    if len(data) <= INLINE_BYTES_MAX:
        return INLINE.pack(len(data), data)
    return LONG.pack(len(data), data[:INLINE_AT], offset)


def column_of(column: ColumnLayout, values: Sequence[Any], heap: bytearray, heap_start: int) -> Array:
    """Return the data of a column, whose long strings are appended to `heap`; 0 for None."""
    if column.physical != PhysicalType.TEXT:
        return np.array([0 if value is None else value for value in values], dtype=DTYPES[column.physical])
    words = bytearray()
    for value in values:
        data = b"" if value is None else value.encode()
        words += string_words(data, heap_start + len(heap))
        if len(data) > INLINE_BYTES_MAX:
            heap += data
    return np.frombuffer(words, dtype=np.int64).reshape(-1, 2)


def reader_of(column: ColumnLayout, data: Array, nulls: Array, heap: Array) -> Callable[[], Any]:
    """Return a function that returns the value of a column of one row, which lies in the same
    memory each time; None for NULL.
    """
    is_null = nulls.data
    if column.physical != PhysicalType.TEXT:
        is_bool = column.physical == PhysicalType.BOOL

        def number() -> Any:
            if is_null[0]:
                return None
            return bool(data[0]) if is_bool else data.item(0)

        return number
    words, content = data.data.cast("B"), heap.data

    def text() -> Any:
        if is_null[0]:
            return None
        return string_at(words, content).decode()

    return text


def writer_of(column: ColumnLayout, data: Array, nulls: Array) -> Callable[[Any], bool]:
    """Return a function that writes the value of a column of one row; False for a long text, which
    is not written.
    """
    is_null = nulls.data
    if column.physical != PhysicalType.TEXT:

        def put_number(value: Any) -> bool:
            is_null[0] = value is None
            data[0] = value or 0
            return True

        return put_number
    words = data.data.cast("B")

    def put_text(value: Any) -> bool:
        is_null[0] = value is None
        content = b"" if value is None else value.encode()
        if len(content) > INLINE_BYTES_MAX:
            return False
        words[:] = string_words(content, 0)
        return True

    return put_text
