"""Tuples of COPY BINARY into rows, column by column: the type is looked at once for many fields.

Enter: bytes of tuples, the memory of a row block. Leave: how many tuples became rows, and why the
next one did not. A tuple is a count of fields and then what Bind has of a row, so that the kernel
of Bind's parameters knows the error of a field that these kernels leave alone. Must not know SQL
types.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import inlined_kernel, kernel
from ringbuffer.decode.parameters import (
    BINARY_VALUES,
    signed_int16,
    signed_int32,
    signed_int64,
    store_binary,
)
from ringbuffer.decode.store_field import null_address, store_null, store_text, value_address
from ringbuffer.memory.addresses import load_int32, signed_word, store_byte, store_int16, store_int32, store_word
from ringbuffer.memory.error_codes import OK
from ringbuffer.memory.row_block import (
    ENUM,
    FLOAT32,
    FLOAT64,
    INT16,
    INT32,
    INT64,
    KIND,
    NOT_NULL,
    NUMERIC,
    TEXT,
    WIDTH,
    Array,
    RowBlock,
)
from ringbuffer.scalar.numbers.fields import Bytes

COUNT_BYTES = 2
LENGTH_BYTES = 4
END_MARKER = -1
# So many tuples are looked at together.
TUPLES_AT_ONCE = 256

# How the walk over tuples ended: there is no more room, or no whole tuple; at the end marker; at a
# wrong count, size, or value.
FULL, CUT, ENDED, WRONG_COUNT, WRONG_SIZE, WRONG_VALUE = range(6)
# More than a length word can be, so that no field's is equal.
NO_LENGTH = 1 << 32


@inlined_kernel
def usual_length(columns: Array, column: int, form: int) -> int:
    """Return the length word of all fields of a column but NULLs, as it lies in memory; NO_LENGTH
    where they have several lengths.
    """
    kind = columns[column, KIND]
    if form != BINARY_VALUES or kind in (TEXT, NUMERIC, ENUM):
        return NO_LENGTH
    length: int = columns[column, WIDTH] << 24
    return length


@kernel
def walk_tuples(
    buffer: Bytes, at: int, end: int, lengths: npt.NDArray[np.int64], rows_max: int, places: npt.NDArray[np.int64]
) -> tuple[int, int, int, int]:
    """Return (tuples, where the next one begins, how it ended, column of a bad size or -1).

    buffer: uint8, of which bytes [at, end) are tuples. lengths: int64[columns], see usual_length.
    places: int64[rows_max * columns], gets the places of the length words of all fields.
    """
    columns_count = lengths.shape[0]
    address = buffer.ctypes.data
    for rows_count in range(rows_max):
        if at + COUNT_BYTES > end:
            return rows_count, at, CUT, -1
        count = signed_int16(buffer, at)
        if count == END_MARKER:
            return rows_count, at + COUNT_BYTES, ENDED, -1
        if count != columns_count:
            return rows_count, at, WRONG_COUNT, -1
        place = at + COUNT_BYTES
        for column in range(columns_count):
            if place + LENGTH_BYTES > end:
                return rows_count, at, CUT, column
            places[rows_count * columns_count + column] = place
            usual = lengths[column]
            if signed_word(load_int32(address + place)) == usual:
                # Where the next field begins does not wait for what was loaded here.
                place += LENGTH_BYTES + (usual >> 24)
                if place > end:
                    return rows_count, at, CUT, column
                continue
            size = signed_int32(buffer, place)
            place += LENGTH_BYTES
            if size < -1:
                return rows_count, at, WRONG_SIZE, column
            if size > end - place:
                return rows_count, at, CUT, column
            if size > 0:
                place += size
        at = place
    return rows_max, at, FULL, -1


@kernel
def store_numbers(
    buffer: Bytes, places: npt.NDArray[np.int64], block: RowBlock, column: int, rows: int, row: int, usual: int
) -> int:
    """Store a column whose values are their bytes in network order, from `row` on; return the
    tuples stored.
    """
    columns = block.columns
    width = columns[column, WIDTH]
    target, nulls = value_address(block, column, row), null_address(block, column, row)
    address, step = buffer.ctypes.data, columns.shape[0]
    for index in range(rows):
        place = places[index * step + column]
        if signed_word(load_int32(address + place)) != usual:
            if signed_int32(buffer, place) != -1 or columns[column, NOT_NULL] != 0:
                return index
            store_byte(nulls + index, np.uint8(1))
            value = 0
        elif width == 8:
            value = signed_int64(buffer, place + LENGTH_BYTES)
        elif width == 4:
            value = signed_int32(buffer, place + LENGTH_BYTES)
        else:
            value = signed_int16(buffer, place + LENGTH_BYTES)
        if width == 8:
            store_word(target + 8 * index, value)
        elif width == 4:
            store_int32(target + 4 * index, np.int32(value))
        else:
            store_int16(target + 2 * index, np.int16(value))
    return rows


@kernel
def store_values(
    buffer: Bytes,
    places: npt.NDArray[np.int64],
    block: RowBlock,
    column: int,
    rows: int,
    row: int,
    form: int,
    used: int,
) -> tuple[int, int]:
    """Store a column of any type, from `row` on; return (tuples stored, heap bytes used)."""
    columns = block.columns
    for index in range(rows):
        place = places[index * columns.shape[0] + column]
        start = place + LENGTH_BYTES
        end = start + signed_int32(buffer, place)
        error = OK
        if end < start:
            if columns[column, NOT_NULL] != 0:
                return index, used
            store_null(block, column, row + index)
        elif form == BINARY_VALUES:
            error, used = store_binary(block, column, row + index, buffer, start, end, used)
        else:
            error, used = store_text(
                value_address(block, column, row + index), buffer, start, end, -1, block.heap, used
            )
        if error != OK:
            return index, used
    return rows, used


@kernel
def decode_tuples(
    buffer: Bytes,
    at: int,
    end: int,
    formats: npt.NDArray[np.int8],
    block: RowBlock,
    lengths: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
) -> tuple[int, int, int, int, int]:
    """Store tuples as rows in `block`; return (rows, where the next tuple begins, how it ended,
    column of a bad size or -1, heap bytes used).

    formats: int8[columns]. lengths and places: int64[columns] and int64[TUPLES_AT_ONCE * columns],
    for the kernel alone.
    """
    columns = block.columns
    count = columns.shape[0]
    for column in range(count):
        lengths[column] = usual_length(columns, column, formats[column])
    row, used, status, bad = 0, 0, FULL, -1
    while status == FULL and row < block.capacity:
        walked, after, status, bad = walk_tuples(
            buffer, at, end, lengths, min(TUPLES_AT_ONCE, block.capacity - row), places
        )
        rows = walked
        for column in range(count):
            nulls = null_address(block, column, row)
            for index in range(rows):
                store_byte(nulls + index, np.uint8(0))
            kind = columns[column, KIND]
            if kind in (INT64, INT32, INT16, FLOAT64, FLOAT32) and formats[column] == BINARY_VALUES:
                rows = store_numbers(buffer, places, block, column, rows, row, lengths[column])
            else:
                rows, used = store_values(buffer, places, block, column, rows, row, formats[column], used)
        row += rows
        if rows < walked:
            return row, places[rows * count] - COUNT_BYTES, WRONG_VALUE, -1, used
        at = after
    return row, at, status, bad, used
