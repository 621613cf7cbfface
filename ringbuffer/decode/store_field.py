"""One field into its column, for every schema: a text is parsed and stored in a row block.

Enter: the block of rows, `buffer` uint8[n] with the bytes [start, end) of
the field and 16 readable bytes after them. Leave: error code and the heap bytes used. Must not know
 formats of rows.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import inlined_kernel, kernel
from ringbuffer.memory.addresses import (
    copy_bytes,
    load_word,
    store_byte,
    store_float32,
    store_float64,
    store_int16,
    store_int32,
    store_word,
)
from ringbuffer.memory.columns import INLINE_BYTES_MAX, INT64_MAX, INT64_MIN
from ringbuffer.memory.error_codes import (
    BIGINT_RANGE,
    INTEGER_RANGE,
    INVALID_ENCODING,
    NUL_CHARACTER,
    OK,
    SMALLINT_RANGE,
    VALUE_TOO_LONG,
)
from ringbuffer.memory.labels import label_number
from ringbuffer.memory.row_block import (
    BOOL,
    DATE,
    ENUM,
    FLOAT32,
    FLOAT64,
    INT16,
    INT32,
    INT64,
    KIND,
    LABELS,
    LENGTH_MAX,
    NUMERIC,
    PRECISION,
    PREFIX,
    SCALE,
    TEXT,
    WIDTH,
    ZONED,
    RowBlock,
)
from ringbuffer.scalar.calendars.parse_time import parse_date, parse_timestamp
from ringbuffer.scalar.calendars.time_zones import Zone
from ringbuffer.scalar.numbers.fields import Bytes, parse_bool, parse_integer, parse_numeric_column
from ringbuffer.scalar.numbers.parse_float import parse_float32, parse_float64


@inlined_kernel
def store_field(
    rows: RowBlock, column: int, row: int, buffer: Bytes, start: int, end: int, heap_used: int, zone: Zone
) -> tuple[int, int]:
    """Parse a text that is not NULL as the column's type, and store it.

    Return (error, heap bytes used).
    """
    columns = rows.columns
    kind = columns[column, KIND]
    target = value_address(rows, column, row)
    store_byte(null_address(rows, column, row), np.uint8(0))
    error = OK
    if kind == TEXT:
        return store_text(target, buffer, start, end, columns[column, LENGTH_MAX], rows.heap, heap_used)
    if kind == INT64:
        value, error = parse_integer(buffer, start, end, INT64_MIN, INT64_MAX, BIGINT_RANGE)
        store_word(target, value)
    elif kind == INT32:
        value, error = parse_integer(buffer, start, end, -2147483648, 2147483647, INTEGER_RANGE)
        store_int32(target, np.int32(value))
    elif kind == FLOAT64:
        real, error = parse_float64(buffer, start, end)
        store_float64(target, real)
    elif kind == NUMERIC:
        lo, hi, error = parse_numeric_column(buffer, start, end, columns[column, PRECISION], columns[column, SCALE])
        store_word(target, lo)
        store_word(target + 8, hi)
    elif kind == DATE:
        value, error = parse_date(buffer, start, end)
        store_int32(target, np.int32(value))
    elif kind == BOOL:
        value, error = parse_bool(buffer, start, end)
        store_byte(target, np.uint8(value))
    elif kind == INT16:
        value, error = parse_integer(buffer, start, end, -32768, 32767, SMALLINT_RANGE)
        store_int16(target, np.int16(value))
    elif kind == FLOAT32:
        real, error = parse_float32(buffer, start, end)
        store_float32(target, np.float32(real))
    elif kind == ENUM:
        value, error = label_number(columns[column, LABELS], buffer, start, end)
        store_word(target, value)
    else:
        value, error = parse_timestamp(buffer, start, end, columns[column, ZONED] != 0, zone.transitions, zone.offsets)
        store_word(target, value)
    return error, heap_used


@inlined_kernel
def store_null(rows: RowBlock, column: int, row: int) -> None:
    """Store NULL: zero words and the null byte."""
    store_null_value(value_address(rows, column, row), rows.columns[column, WIDTH])
    store_byte(null_address(rows, column, row), np.uint8(1))


@inlined_kernel
def store_null_value(target: int, width: int) -> None:
    """Store the value of a NULL: `width` bytes of zeros."""
    if width == 8:
        store_word(target, 0)
    elif width == 16:
        store_word(target, 0)
        store_word(target + 8, 0)
    elif width == 4:
        store_int32(target, np.int32(0))
    elif width == 2:
        store_int16(target, np.int16(0))
    else:
        store_byte(target, np.uint8(0))


@inlined_kernel
def value_address(rows: RowBlock, column: int, row: int) -> int:
    """Return the address of the value of a column in a row."""
    columns = rows.columns
    address: int = rows.block.ctypes.data + rows.capacity * columns[column, PREFIX] + row * columns[column, WIDTH]
    return address


@inlined_kernel
def null_address(rows: RowBlock, column: int, row: int) -> int:
    """Return the address of the null byte of a column in a row."""
    columns = rows.columns
    last = columns.shape[0] - 1
    row_bytes = columns[last, PREFIX] + columns[last, WIDTH]
    address: int = rows.block.ctypes.data + rows.capacity * (row_bytes + column) + row
    return address


@inlined_kernel
def store_text(
    target: int, buffer: Bytes, start: int, end: int, length_max: int, heap: Bytes, heap_used: int
) -> tuple[int, int]:
    """Store a 16-byte string at `target`; return (error, heap bytes used).

    After `length_max` characters only spaces are cut off.
    """
    if length_max >= 0 and end - start > length_max:
        end, error = limited_end(buffer, start, end, length_max)
        if error != OK:
            return error, heap_used
    length = end - start
    source = buffer.ctypes.data + start
    if length > INLINE_BYTES_MAX:
        copy_bytes(heap.ctypes.data + heap_used, source, length)
        store_word(target, length | (load_word(source) << 32))
        store_word(target + 8, heap_used)
        return OK, heap_used + length
    first, second = inline_words(source, length)
    store_word(target, first)
    store_word(target + 8, second)
    return OK, heap_used


@inlined_kernel
def inline_words(source: int, length: int) -> tuple[int, int]:
    """Return the two words of a string of at most 12 bytes; 16 bytes at `source` must be
    readable.
    """
    low = load_word(source)
    if length < 8:
        low &= (1 << (8 * length)) - 1
        return length | (low << 32), (low >> 32) & 0xFFFFFFFF
    high = load_word(source + 8) & ((1 << (8 * (length - 8))) - 1)
    return length | (low << 32), ((low >> 32) & 0xFFFFFFFF) | (high << 32)


@kernel
def limited_end(buffer: Bytes, start: int, end: int, length_max: int) -> tuple[int, int]:
    """Return (end, error): the end of `length_max` characters, if only spaces follow."""
    at = start
    characters = 0
    while at < end:
        if buffer[at] & 0xC0 != 0x80:
            if characters == length_max:
                break
            characters += 1
        at += 1
    for index in range(at, end):
        if buffer[index] != 32:
            return end, VALUE_TOO_LONG
    return at, OK


@kernel
def check_encoding(buffer: Bytes, start: int, end: int) -> int:
    """Return NUL_CHARACTER or INVALID_ENCODING for bytes that PostgreSQL's UTF8 does not allow,
    else 0.
    """
    at = start
    while at < end:
        byte = buffer[at]
        if byte < 0x80:
            if byte == 0:
                return NUL_CHARACTER
            at += 1
            continue
        length = 0
        low = np.uint8(0x80)
        high = np.uint8(0xBF)
        if 0xC2 <= byte <= 0xDF:
            length = 2
        elif 0xE0 <= byte <= 0xEF:
            length = 3
            if byte == 0xE0:
                low = np.uint8(0xA0)
            elif byte == 0xED:
                high = np.uint8(0x9F)
        elif 0xF0 <= byte <= 0xF4:
            length = 4
            if byte == 0xF0:
                low = np.uint8(0x90)
            elif byte == 0xF4:
                high = np.uint8(0x8F)
        if length == 0 or at + length > end or buffer[at + 1] < low or buffer[at + 1] > high:
            return INVALID_ENCODING
        for index in range(at + 2, at + length):
            if buffer[index] & 0xC0 != 0x80:
                return INVALID_ENCODING
        at += length
    return OK
