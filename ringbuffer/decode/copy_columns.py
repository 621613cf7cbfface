"""Plain lines of COPY into rows, column by column: the type is looked at once for many fields.

Enter: lines whose fields `copy_fields` has found, the memory of a row block. Leave: how many rows
were stored; the line after them is for `copy_rows`, which converts any field and knows every error.
Nothing is stored of a line that has an error. Must not know the formats.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import inlined_kernel, kernel
from ringbuffer.decode.quick_values import POWERS, quick_date, quick_decimal, quick_integer
from ringbuffer.decode.store_field import inline_words, null_address, store_null_value, value_address
from ringbuffer.memory.addresses import (
    copy_bytes,
    load_byte,
    load_int32,
    load_word,
    signed_word,
    store_byte,
    store_float32,
    store_float64,
    store_int16,
    store_int32,
    store_word,
)
from ringbuffer.memory.byte_masks import BLOCK_BYTES, copy_block
from ringbuffer.memory.columns import INLINE_BYTES_MAX, INT64_MAX, INT64_MIN
from ringbuffer.memory.error_codes import INTEGER_RANGE, OK
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
    NOT_NULL,
    NUMERIC,
    PRECISION,
    SCALE,
    TEXT,
    WIDTH,
    ZONED,
    Array,
    RowBlock,
)
from ringbuffer.scalar.calendars.parse_time import parse_date, parse_timestamp
from ringbuffer.scalar.calendars.time_zones import Zone
from ringbuffer.scalar.numbers.fields import Bytes, parse_bool, parse_integer, parse_numeric_column
from ringbuffer.scalar.numbers.parse_float import parse_float32, parse_float64

# How a null is spelt, and what a field may begin with that says more than its bytes: int64[4].
NULL_BYTES, NULL_WORD, QUOTE, BACKSLASH = range(4)
FORM_WORDS = 4
NULL_BYTES_MAX = 8


@inlined_kernel
def field_at(
    address: int, end_at: int, null_bytes: int, null_word: int, quote: int, backslash: int
) -> tuple[int, int, bool, bool]:
    """Return (start, end, is null, is plain) of the field whose end is stored at the address
    `end_at`.

    Places count from `address`. All that a loop over fields needs is in words: an array would be
    read anew after each store.
    """
    first = signed_word(load_int32(end_at - 4)) + 1
    end = signed_word(load_int32(end_at))
    size = end - first
    if size == null_bytes and (size == 0 or (load_word(address + first) ^ null_word) << (64 - 8 * size) == 0):
        return first, end, True, True
    if size > 0:
        byte = load_byte(address + first)
        if byte == quote:
            return first + 1, end - 1, False, True
        if byte == backslash:
            return first, end, False, False
    return first, end, False, True


@kernel
def store_integers(
    buffer: Bytes, start: int, ends: Array, form: Array, columns: Array, column: int, rows: int, target: int, nulls: int
) -> int:
    """Store a column of integers from address `target` on, null bytes from `nulls` on.

    Return the rows.
    """
    width = columns[column, WIDTH]
    high = INT64_MAX if width == 8 else (1 << (8 * width - 1)) - 1
    low = INT64_MIN if width == 8 else -high - 1
    address, end_at, step = buffer.ctypes.data + start, ends.ctypes.data + 4 * (column + 1), 4 * columns.shape[0]
    null_bytes, null_word, quote, backslash = form[NULL_BYTES], form[NULL_WORD], form[QUOTE], form[BACKSLASH]
    for row in range(rows):
        first, end, null, plain = field_at(address, end_at, null_bytes, null_word, quote, backslash)
        end_at += step
        value = 0
        if null:
            if columns[column, NOT_NULL] != 0:
                return row
            store_byte(nulls + row, np.uint8(1))
        else:
            value, good = quick_integer(address + first, end - first)
            if not good or value < low or value > high:
                value, error = parse_integer(buffer, start + first, start + end, low, high, INTEGER_RANGE)
                if error != OK:
                    return row
            if not plain:
                return row
        if width == 8:
            store_word(target + 8 * row, value)
        elif width == 4:
            store_int32(target + 4 * row, np.int32(value))
        else:
            store_int16(target + 2 * row, np.int16(value))
    return rows


@kernel
def store_numerics(
    buffer: Bytes, start: int, ends: Array, form: Array, columns: Array, column: int, rows: int, target: int, nulls: int
) -> int:
    """Store a column of decimals; return the rows stored. See store_integers."""
    precision, scale = columns[column, PRECISION], columns[column, SCALE]
    limit = POWERS[precision] if precision < len(POWERS) else INT64_MAX
    address, end_at, step = buffer.ctypes.data + start, ends.ctypes.data + 4 * (column + 1), 4 * columns.shape[0]
    null_bytes, null_word, quote, backslash = form[NULL_BYTES], form[NULL_WORD], form[QUOTE], form[BACKSLASH]
    for row in range(rows):
        first, end, null, plain = field_at(address, end_at, null_bytes, null_word, quote, backslash)
        end_at += step
        lo, hi = 0, 0
        if null:
            if columns[column, NOT_NULL] != 0:
                return row
            store_byte(nulls + row, np.uint8(1))
        else:
            lo, good = quick_decimal(address + first, end - first, scale)
            hi = lo >> 63
            if not good or lo >= limit or lo <= -limit:
                lo, hi, error = parse_numeric_column(buffer, start + first, start + end, precision, scale)
                if error != OK:
                    return row
            if not plain:
                return row
        store_word(target + 16 * row, lo)
        store_word(target + 16 * row + 8, hi)
    return rows


@kernel
def store_dates(
    buffer: Bytes, start: int, ends: Array, form: Array, columns: Array, column: int, rows: int, target: int, nulls: int
) -> int:
    """Store a column of dates; return the rows stored. See store_integers."""
    address, end_at, step = buffer.ctypes.data + start, ends.ctypes.data + 4 * (column + 1), 4 * columns.shape[0]
    null_bytes, null_word, quote, backslash = form[NULL_BYTES], form[NULL_WORD], form[QUOTE], form[BACKSLASH]
    for row in range(rows):
        first, end, null, plain = field_at(address, end_at, null_bytes, null_word, quote, backslash)
        end_at += step
        value = 0
        if null:
            if columns[column, NOT_NULL] != 0:
                return row
            store_byte(nulls + row, np.uint8(1))
        else:
            value, good = quick_date(address + first, end - first)
            if not good:
                value, error = parse_date(buffer, start + first, start + end)
                if error != OK:
                    return row
            if not plain:
                return row
        store_int32(target + 4 * row, np.int32(value))
    return rows


@kernel
def store_others(
    buffer: Bytes, start: int, ends: Array, form: Array, columns: Array, column: int, rows: int, target: int, nulls: int,
    zone: Zone,
) -> int:  # fmt: skip
    """Store a column of floats, bools, enums or timestamps; return the rows stored.

    See store_integers.
    """
    kind, width = columns[column, KIND], columns[column, WIDTH]
    address, end_at, step = buffer.ctypes.data + start, ends.ctypes.data + 4 * (column + 1), 4 * columns.shape[0]
    null_bytes, null_word, quote, backslash = form[NULL_BYTES], form[NULL_WORD], form[QUOTE], form[BACKSLASH]
    for row in range(rows):
        first, end, null, plain = field_at(address, end_at, null_bytes, null_word, quote, backslash)
        end_at += step
        place = target + row * width
        error = OK
        if null:
            if columns[column, NOT_NULL] != 0:
                return row
            store_byte(nulls + row, np.uint8(1))
            store_null_value(place, width)
        elif kind == FLOAT64:
            real, error = parse_float64(buffer, start + first, start + end)
            store_float64(place, real)
        elif kind == FLOAT32:
            real, error = parse_float32(buffer, start + first, start + end)
            store_float32(place, np.float32(real))
        elif kind == BOOL:
            value, error = parse_bool(buffer, start + first, start + end)
            store_byte(place, np.uint8(value))
        elif kind == ENUM:
            value, error = label_number(columns[column, LABELS], buffer, start + first, start + end)
            store_word(place, value)
        else:
            zoned = columns[column, ZONED] != 0
            value, error = parse_timestamp(buffer, start + first, start + end, zoned, zone.transitions, zone.offsets)
            store_word(place, value)
        if error != OK or not plain:
            return row
    return rows


@kernel
def rows_that_fit(buffer: Bytes, start: int, ends: Array, form: Array, columns: Array, column: int, rows: int) -> int:
    """Return how many rows come before the first with a string that may not be stored.

    Such a string may be too long, a forbidden NULL, or not plain.
    """
    length_max = columns[column, LENGTH_MAX]
    not_null = columns[column, NOT_NULL] != 0
    if length_max < 0 and not not_null and form[BACKSLASH] < 0:
        return rows
    address, end_at, step = buffer.ctypes.data + start, ends.ctypes.data + 4 * (column + 1), 4 * columns.shape[0]
    null_bytes, null_word, quote, backslash = form[NULL_BYTES], form[NULL_WORD], form[QUOTE], form[BACKSLASH]
    for row in range(rows):
        first, end, null, plain = field_at(address, end_at, null_bytes, null_word, quote, backslash)
        end_at += step
        if not plain or (null and not_null) or (not null and 0 <= length_max < end - first):
            return row
    return rows


@kernel
def store_strings(
    buffer: Bytes,
    start: int,
    ends: Array,
    form: Array,
    block: RowBlock,
    column: int,
    rows: int,
    target: int,
    nulls: int,
    used: int,
) -> int:
    """Store a column of strings, all of which can be stored; return the bytes of `heap` used then.

    See store_integers.
    """
    columns, heap = block.columns, block.heap
    heap_address = heap.ctypes.data
    # Up to these places blocks may be read and written.
    source_end, heap_end = buffer.shape[0] - BLOCK_BYTES - start, heap.shape[0] - BLOCK_BYTES
    address, end_at, step = buffer.ctypes.data + start, ends.ctypes.data + 4 * (column + 1), 4 * columns.shape[0]
    null_bytes, null_word, quote, backslash = form[NULL_BYTES], form[NULL_WORD], form[QUOTE], form[BACKSLASH]
    for row in range(rows):
        first, end, null, _ = field_at(address, end_at, null_bytes, null_word, quote, backslash)
        end_at += step
        length = end - first
        low, high = 0, 0
        if null:
            store_byte(nulls + row, np.uint8(1))
        elif length > INLINE_BYTES_MAX:
            low, high = length | (load_word(address + first) << 32), used
            if length <= BLOCK_BYTES and first <= source_end and used <= heap_end:
                copy_block(heap_address + used, address + first)
            else:
                copy_bytes(heap_address + used, address + first, length)
            used += length
        else:
            low, high = inline_words(address + first, length)
        store_word(target + 16 * row, low)
        store_word(target + 16 * row + 8, high)
    return used


@kernel
def store_lines(
    buffer: Bytes, start: int, ends: Array, form: Array, block: RowBlock, rows: int, row: int, used: int, zone: Zone
) -> tuple[int, int]:
    """Store `rows` lines with known `ends` of fields, from `row` on.

    Return (rows, bytes of heap used then).
    """
    columns = block.columns
    count = columns.shape[0]
    for column in range(count):
        kind = columns[column, KIND]
        target, nulls = value_address(block, column, row), null_address(block, column, row)
        for index in range(rows):
            store_byte(nulls + index, np.uint8(0))
        if kind == TEXT:
            rows = rows_that_fit(buffer, start, ends, form, columns, column, rows)
        elif kind in (INT64, INT32, INT16):
            rows = store_integers(buffer, start, ends, form, columns, column, rows, target, nulls)
        elif kind == NUMERIC:
            rows = store_numerics(buffer, start, ends, form, columns, column, rows, target, nulls)
        elif kind == DATE:
            rows = store_dates(buffer, start, ends, form, columns, column, rows, target, nulls)
        else:
            rows = store_others(buffer, start, ends, form, columns, column, rows, target, nulls, zone)
    for column in range(count):
        if columns[column, KIND] == TEXT:
            target, nulls = value_address(block, column, row), null_address(block, column, row)
            used = store_strings(buffer, start, ends, form, block, column, rows, target, nulls, used)
    return rows, used
