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

from ringbuffer.memory.columns import DTYPES, INLINE_BYTES_MAX, LENGTH_MASK, ColumnLayout, PhysicalType

INTEGERS = frozenset({PhysicalType.INT16, PhysicalType.INT32, PhysicalType.INT64})
INLINE, LONG = struct.Struct("<I12s"), struct.Struct("<I4sq")
INLINE_AT = 4

Array = npt.NDArray[Any]


def has_values(column: ColumnLayout) -> bool:
    """Tell whether `values_of` and `column_of` know the form of a column."""
    if column.value_form is not None or column.labels is not None:
        return False
    return column.physical in INTEGERS or column.physical in (PhysicalType.BOOL, PhysicalType.TEXT)


def values_of(column: ColumnLayout, data: Array, nulls: Array, heap: Array) -> list[Any]:
    """Return the values of a column, None for NULL."""
    if column.physical == PhysicalType.TEXT:
        found: list[Any] = [text_of(words, heap) for words in data]
    else:
        found = data.tolist() if column.physical in INTEGERS else (data != 0).tolist()
    if nulls.any():
        return [None if null else value for value, null in zip(found, nulls.tolist(), strict=True)]
    return found


def text_of(words: Array, heap: Array) -> str:
    """Return the text of a 16-byte string."""
    length = int(words[0]) & LENGTH_MASK
    if length <= INLINE_BYTES_MAX:
        return words.tobytes()[INLINE_AT : INLINE_AT + length].decode()
    start = int(words[1])
    return heap[start : start + length].tobytes().decode()


def column_of(column: ColumnLayout, values: Sequence[Any], heap: bytearray, heap_start: int) -> Array:
    """Return the data of a column, whose long strings are appended to `heap`; 0 for None."""
    if column.physical != PhysicalType.TEXT:
        return np.array([0 if value is None else value for value in values], dtype=DTYPES[column.physical])
    words = bytearray(INLINE.size * len(values))
    for row, value in enumerate(values):
        if value is None:
            continue
        data = value.encode()
        if len(data) <= INLINE_BYTES_MAX:
            INLINE.pack_into(words, row * INLINE.size, len(data), data)
        else:
            LONG.pack_into(words, row * LONG.size, len(data), data[:INLINE_AT], heap_start + len(heap))
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
        length = int.from_bytes(words[:INLINE_AT], "little")
        if length <= INLINE_BYTES_MAX:
            return str(words[INLINE_AT : INLINE_AT + length], "utf-8")
        start = int.from_bytes(words[8:], "little")
        return str(content[start : start + length], "utf-8")

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
        if value is None:
            INLINE.pack_into(words, 0, 0, b"")
            return True
        content = value.encode()
        if len(content) > INLINE_BYTES_MAX:
            return False
        INLINE.pack_into(words, 0, len(content), content)
        return True

    return put_text
