"""A few rows of a morsel as Python values and back, without Arrow, which takes longer for them than
their computation.

Enters: columns of morsels. Leaves: lists of values, and columns in the same forms. A numeric is
(unscaled, scale), a moment or day its number, a value of several parts a tuple, a list a list. Must
not be used for many rows.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.memory.columns import DTYPES, INLINE_BYTES_MAX, ColumnLayout, PhysicalType
from ringbuffer.memory.stored_values import is_numeric

INLINE, LONG = struct.Struct("<I12s"), struct.Struct("<I4sq")
INLINE_AT, OFFSET_AT = 4, 8
# Of the elements of a list: their lengths, -1 for NULL; of a numeric.
LENGTH, SCALE = struct.Struct("<i"), struct.Struct("<h")
WORD_MASK = (1 << 64) - 1
CODES = {
    pa.bool_(): "?",
    pa.int16(): "h",
    pa.int32(): "i",
    pa.int64(): "q",
    pa.float32(): "f",
    pa.float64(): "d",
    pa.date32(): "i",
    pa.timestamp("us"): "q",
    pa.timestamp("us", tz="UTC"): "q",
}

Array = npt.NDArray[Any]
Buffer = bytes | memoryview


@dataclass(frozen=True, slots=True)
class Codec:
    """How the bytes of a TEXT column stand for a value, as `stored_values` has it."""

    read: Callable[[bytes], Any]
    write: Callable[[Any], bytes]


def codec_of(form: pa.DataType | None) -> Codec:
    """Return the codec of an Arrow form, None: of texts."""
    if form is None or pa.types.is_string(form):
        return Codec(bytes.decode, str.encode)
    if pa.types.is_binary(form):
        return Codec(bytes, bytes)
    if is_numeric(form):
        return Codec(read_numeric, write_numeric)
    if pa.types.is_list(form):
        return list_codec(codec_of(form.value_type))
    if pa.types.is_struct(form):
        parts = struct.Struct("<" + "".join(CODES[field.type] for field in form))
        return Codec(parts.unpack, lambda value: parts.pack(*value))
    number = struct.Struct("<" + CODES[form])
    return Codec(lambda data: number.unpack(data)[0], number.pack)


def read_numeric(data: bytes) -> tuple[int, int]:
    """Return (unscaled, scale) of the bytes of a numeric."""
    return int.from_bytes(data[SCALE.size :], "little", signed=True), SCALE.unpack_from(data)[0]


def write_numeric(value: tuple[int, int]) -> bytes:
    """Return the bytes of (unscaled, scale)."""
    unscaled, scale = value
    size = (unscaled + (unscaled < 0)).bit_length() // 8 + 1
    return SCALE.pack(scale) + unscaled.to_bytes(size, "little", signed=True)


def list_codec(element: Codec) -> Codec:
    """Return the codec of lists."""

    def read(data: bytes) -> list[Any]:
        found, at = [], 0
        while at < len(data):
            (size,) = LENGTH.unpack_from(data, at)
            at += LENGTH.size
            found.append(None if size < 0 else element.read(data[at : at + size]))
            at += max(size, 0)
        return found

    def write(values: Sequence[Any]) -> bytes:
        pieces = (None if value is None else element.write(value) for value in values)
        return b"".join(LENGTH.pack(-1) if data is None else LENGTH.pack(len(data)) + data for data in pieces)

    return Codec(read, write)


def values_of(column: ColumnLayout, data: Array, nulls: Array, heap: Array) -> list[Any]:
    """Return the values of a column, None for NULL."""
    are_null = nulls.tolist()
    if column.physical == PhysicalType.TEXT:
        read, content = codec_of(column.value_form).read, heap.data
        rows = zip(data, are_null, strict=True)
        return [None if null else read(string_at(words.tobytes(), content)) for words, null in rows]
    if column.physical == PhysicalType.NUMERIC:
        found = [(high << 64 | low & WORD_MASK, column.scale) for low, high in data.tolist()]
    else:
        found = ((data != 0) if column.physical == PhysicalType.BOOL else data).tolist()
    return [None if null else value for value, null in zip(found, are_null, strict=True)] if any(are_null) else found


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
    write = codec_of(column.value_form).write
    words = bytearray()
    for value in values:
        data = b"" if value is None else write(value)
        words += string_words(data, heap_start + len(heap))
        if len(data) > INLINE_BYTES_MAX:
            heap += data
    return np.frombuffer(words, dtype=np.int64).reshape(-1, 2)


def reader_of(column: ColumnLayout, data: Array, nulls: Array, heap: Array) -> Callable[[], Any]:
    """Return a function that returns the value of a column of one row, which lies in the same
    memory each time; None for NULL.
    """
    is_null = nulls.data
    if column.physical == PhysicalType.TEXT:
        words, content, read = data.data.cast("B"), heap.data, codec_of(column.value_form).read
        return lambda: None if is_null[0] else read(string_at(words, content))
    if column.physical == PhysicalType.BOOL:
        return lambda: None if is_null[0] else bool(data[0])
    if column.physical == PhysicalType.NUMERIC:
        scale = column.scale
        return lambda: None if is_null[0] else (data.item(0, 1) << 64 | data.item(0, 0) & WORD_MASK, scale)
    return lambda: None if is_null[0] else data.item(0)


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
    words, write = data.data.cast("B"), codec_of(column.value_form).write

    def put_text(value: Any) -> bool:
        is_null[0] = value is None
        content = b"" if value is None else write(value)
        if len(content) > INLINE_BYTES_MAX:
            return False
        words[:] = string_words(content, 0)
        return True

    return put_text
