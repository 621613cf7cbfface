"""Many rows as few bytes: the form in which the log has the rows of a COPY.

Enters: morsels. Leaves: self-contained bytes, and morsels again. All numbers are little endian.
Rows u64 with the bit PACKED, then u64: the bytes of all that follows. For each column three i64: a
base, the width of its values in bytes (0, 1, 2, 4, 8 or 16), and 1 if null bytes follow. Then for
each column its null bytes, if any is 1, and its values less the base, without a sign. Values are
integers here, whatever they mean; those of NUMERIC are the low words, unless some value needs both
(16). Those of TEXT are the lengths, which all bytes of the strings follow. Reading checks what
could lead a kernel outside of its memory; the checksum of the record stands for the rest. Must not
know records.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import inlined_kernel, kernel
from ringbuffer.decode.store_field import inline_words
from ringbuffer.memory.addresses import (
    copy_bytes,
    load_byte,
    load_int32,
    load_word,
    signed_word,
    store_byte,
    store_int16,
    store_int32,
    store_word,
)
from ringbuffer.memory.byte_masks import BLOCK_BYTES, copy_block
from ringbuffer.memory.columns import (
    DTYPES,
    INLINE_BYTES_MAX,
    INT64_MAX,
    INT64_MIN,
    LENGTH_MASK,
    WIDE,
    Layout,
    Morsel,
    new_column,
)
from ringbuffer.memory.kept_memory import kept_memory
from ringbuffer.memory.lanes import (
    LANES_COUNT,
    bounds_of_halves,
    bounds_of_lengths,
    bounds_of_wide,
    bounds_of_words,
    halves_to_bytes,
    halves_to_int16,
    halves_to_int32,
    lengths_to_bytes,
    lengths_to_int16,
    lengths_to_int32,
    wide_to_bytes,
    wide_to_int16,
    wide_to_int32,
    wide_to_words,
    words_to_bytes,
    words_to_int16,
    words_to_int32,
    words_to_words,
)
from ringbuffer.memory.row_block import BOOL, KINDS, NUMERIC, TEXT, PerLayout

Array = npt.NDArray[Any]

HEAD = struct.Struct("<QQ")
PACKED = 1 << 63
# A row of the table in front of the columns, and its bytes.
BASE, WIDTH, HAS_NULLS = range(3)
ENTRY_BYTES = 24
# A row of the table of addresses that the kernels get for each column.
VALUES, VALUE_BYTES, KIND, NULLS = range(4)
# Of one morsel: a damaged head can't ask for more memory.
PACKED_ROWS_MAX = 1 << 20
# Kernels may write or read so many bytes after the last one.
SPARE_BYTES = BLOCK_BYTES

OK, BAD_SIZE, BAD_FORM, BAD_NULL, BAD_BOOL = range(5)
PROBLEMS = {
    BAD_SIZE: "more values than bytes",
    BAD_FORM: "a width that there is not",
    BAD_NULL: "a null byte over 1",
    BAD_BOOL: "a bool over 1",
}


def is_packed(data: bytes | memoryview) -> bool:
    """Tell whether bytes are those of `pack_rows`, as their head says."""
    return len(data) >= HEAD.size and bool(data[7] & 0x80)


def pack_rows(morsel: Morsel, layout: Layout) -> memoryview:
    """Return at most PACKED_ROWS_MAX rows as bytes in memory of their own."""
    assert morsel.rows_count <= PACKED_ROWS_MAX
    arrays = [array if array.flags.c_contiguous else array.copy() for array in (*morsel.data, *morsel.nulls)]
    places = _places(layout, arrays)
    table = np.zeros((len(layout), 3), dtype=np.int64)
    size = plan_columns(places, morsel.rows_count, table)
    block = kept_memory.take(HEAD.size + size + SPARE_BYTES)
    HEAD.pack_into(block.data, 0, morsel.rows_count | PACKED, size)
    pack_columns(places, morsel.rows_count, table, morsel.heap, block[HEAD.size :])
    return block[: HEAD.size + size].data


def unpack_rows(data: bytes | memoryview, layout: Layout) -> Morsel:
    """Return the rows of `pack_rows` in memory of their own; NULLs have zero words.

    Raises ValueError.
    """
    rows_count, size = HEAD.unpack_from(data)
    rows_count -= PACKED
    if size != len(data) - HEAD.size or size < ENTRY_BYTES * len(layout) or rows_count > PACKED_ROWS_MAX:
        raise ValueError(f"{rows_count} packed rows of {len(data)} bytes, where {HEAD.size + size} bytes were written")
    block = np.zeros(size + SPARE_BYTES, dtype=np.uint8)
    block[:size] = np.frombuffer(data, dtype=np.uint8, offset=HEAD.size)
    table = block[: ENTRY_BYTES * len(layout)].view(np.int64).reshape(-1, 3)
    problem, column = check_sizes(block, size, table, forms.get(layout), rows_count)
    if problem == OK:
        columns = [new_column(column.physical, rows_count) for column in layout]
        nulls = [np.empty(rows_count, dtype=np.uint8) for _ in layout]
        heap = np.empty(size + SPARE_BYTES, dtype=np.uint8)
        problem, column, used = unpack_columns(block, table, _places(layout, [*columns, *nulls]), rows_count, heap)
    if problem != OK:
        raise ValueError(f'column "{layout[column].name}" has {PROBLEMS[problem]} among {rows_count} packed rows')
    return Morsel(rows_count, tuple(columns), tuple(nulls), heap[:used].copy())


def _form(layout: Layout) -> Array:
    """Return the table of addresses of a layout, with no addresses in it."""
    form = np.zeros((len(layout), 4), dtype=np.int64)
    for place, column in zip(form, layout, strict=True):
        place[VALUE_BYTES] = np.dtype(DTYPES[column.physical]).itemsize * (1 + (column.physical in WIDE))
        place[KIND] = KINDS[column.physical]
    return form


forms = PerLayout(_form)


def _places(layout: Layout, arrays: Sequence[Array]) -> Array:
    """Return a table of the addresses of values, then of nulls; each array is one piece of
    memory.
    """
    places = forms.get(layout).copy()
    addresses = [array.ctypes.data for array in arrays]
    places[:, VALUES], places[:, NULLS] = addresses[: len(layout)], addresses[len(layout) :]
    return places


@inlined_kernel
def load_value(address: int, width: int) -> int:
    """Return the signed integer of 1 (without a sign), 2, 4 or 8 bytes; of 16 bytes the low
    word.
    """
    value: int = 0
    if width >= 8:
        value = load_word(address)
    elif width == 4:
        value = signed_word(load_int32(address))
    elif width == 2:
        value = load_unsigned(address, 2)
        value = (value ^ 0x8000) - 0x8000
    else:
        value = signed_word(load_byte(address))
    return value


@inlined_kernel
def load_unsigned(address: int, width: int) -> int:
    """Return the integer without a sign of 0, 1, 2, 4 or 8 bytes.

    With 8 bytes the highest bit is the sign of the result.
    """
    value: int = 0
    if width == 8:
        value = load_word(address)
    elif width == 4:
        value = signed_word(load_int32(address)) & 0xFFFFFFFF
    elif width > 0:
        value = signed_word(load_byte(address))
        if width == 2:
            value |= signed_word(load_byte(address + 1)) << 8
    return value


@inlined_kernel
def store_value(address: int, width: int, value: int) -> None:
    """Store the lowest `width` bytes of an integer: 0, 1, 2, 4 or 8."""
    if width == 8:
        store_word(address, value)
    elif width == 4:
        store_int32(address, np.int32(value))
    elif width == 2:
        store_int16(address, np.int16(value))
    elif width == 1:
        store_byte(address, np.uint8(value))


@inlined_kernel
def width_of(low: int, high: int) -> int:
    """Return how many bytes the differences of values from `low` to `high` to `low` take."""
    span = high - low
    if span < 0 or span > 0xFFFFFFFF:
        return 8
    if span > 0xFFFF:
        return 4
    if span > 0xFF:
        return 2
    return 0 if span == 0 else 1


@kernel
def has_ones(address: int, count: int) -> bool:
    """Return whether any of `count` bytes is not zero."""
    found = 0
    for at in range(0, count - 7, 8):
        found |= load_word(address + at)
    for at in range(count - count % 8, count):
        found |= signed_word(load_byte(address + at))
    return found != 0


@kernel
def bounds_of(values: int, kind: int, step: int, rows: int) -> tuple[int, int, int]:
    """Return (lowest, highest, more) of the values of a column; see lanes.

    Of no values the highest is below the lowest.
    """
    low, high, more = INT64_MAX, INT64_MIN, 0
    count = rows // LANES_COUNT
    done = count * LANES_COUNT
    if count == 0:
        pass
    elif kind == TEXT:
        low, high, more = bounds_of_lengths(values, count)
    elif kind == NUMERIC:
        low, high, more = bounds_of_wide(values, count)
    elif step == 8:
        low, high, more = bounds_of_words(values, count)
    elif step == 4:
        low, high, more = bounds_of_halves(values, count)
    else:
        done = 0
    for row in range(done, rows):
        place = values + step * row
        if kind == TEXT:
            value = load_word(place) & LENGTH_MASK
            more += value
        elif kind == NUMERIC:
            value = load_word(place)
            more |= (value >> 63) ^ load_word(place + 8)
        else:
            value = load_value(place, step)
        low, high = min(low, value), max(high, value)
    return low, high, more


@kernel
def plan_columns(places: Array, rows: int, table: Array) -> int:
    """Return the bytes of the table and the packed columns, and write the table.

    table: int64[columns, 3], gets how each column is packed.
    """
    size: int = ENTRY_BYTES * places.shape[0]
    for column in range(places.shape[0]):
        kind = places[column, KIND]
        base, high, more = bounds_of(places[column, VALUES], kind, places[column, VALUE_BYTES], rows)
        if kind == TEXT or rows == 0:
            base = 0
        width = width_of(base, high) if rows > 0 else 0
        if kind == NUMERIC and more != 0:
            base, width = 0, 16
        has_nulls = has_ones(places[column, NULLS], rows)
        table[column, BASE] = base
        table[column, WIDTH] = width
        table[column, HAS_NULLS] = 1 if has_nulls else 0
        size += (width + (1 if has_nulls else 0)) * rows
        if kind == TEXT:
            size += more
    return size


@kernel
def pack_values(values: int, kind: int, step: int, rows: int, base: int, width: int, target: int) -> None:
    """Write values less `base` to address `target` with `width` bytes each: 1, 2, 4 or 8.

    Of strings the values are the lengths.
    """
    count = rows // LANES_COUNT
    done = count * LANES_COUNT
    if kind == TEXT:
        if width == 1:
            lengths_to_bytes(values, base, target, count)
        elif width == 2:
            lengths_to_int16(values, base, target, count)
        else:
            lengths_to_int32(values, base, target, count)
    elif kind == NUMERIC:
        if width == 1:
            wide_to_bytes(values, base, target, count)
        elif width == 2:
            wide_to_int16(values, base, target, count)
        elif width == 4:
            wide_to_int32(values, base, target, count)
        else:
            wide_to_words(values, base, target, count)
    elif step == 8:
        if width == 1:
            words_to_bytes(values, base, target, count)
        elif width == 2:
            words_to_int16(values, base, target, count)
        elif width == 4:
            words_to_int32(values, base, target, count)
        else:
            words_to_words(values, base, target, count)
    elif step == 4:
        if width == 1:
            halves_to_bytes(values, base, target, count)
        elif width == 2:
            halves_to_int16(values, base, target, count)
        else:
            halves_to_int32(values, base, target, count)
    else:
        done = 0
    for row in range(done, rows):
        value = load_word(values + step * row) & LENGTH_MASK if kind == TEXT else load_value(values + step * row, step)
        store_value(target + width * row, width, value - base)


@kernel
def pack_columns(places: Array, rows: int, table: Array, heap: Array, block: Array) -> None:
    """Write the table and the columns to block uint8[n].

    The block has room for the bytes of `plan_columns` and SPARE_BYTES more.
    """
    target = block.ctypes.data
    copy_bytes(target, table.ctypes.data, ENTRY_BYTES * places.shape[0])
    target += ENTRY_BYTES * places.shape[0]
    for column in range(places.shape[0]):
        values, kind, width = places[column, VALUES], places[column, KIND], table[column, WIDTH]
        if table[column, HAS_NULLS] != 0:
            copy_bytes(target, places[column, NULLS], rows)
            target += rows
        if width == 16:
            copy_bytes(target, values, width * rows)
        elif width > 0:
            pack_values(values, kind, places[column, VALUE_BYTES], rows, table[column, BASE], width, target)
        target += width * rows
        if kind == TEXT:
            target = pack_strings(values, rows, heap.ctypes.data, heap.shape[0], target)


@kernel
def pack_strings(words: int, rows: int, heap: int, heap_size: int, target: int) -> int:
    """Write the bytes of strings from `target` on, and return the address after them.

    words: the address of the words of the strings.
    """
    for row in range(rows):
        first, second = load_word(words + 16 * row), load_word(words + 16 * row + 8)
        length = first & LENGTH_MASK
        if length <= INLINE_BYTES_MAX:
            store_int32(target, np.int32(first >> 32))
            store_word(target + 4, second)
        elif length <= BLOCK_BYTES and second <= heap_size - BLOCK_BYTES:
            copy_block(target, heap + second)
        else:
            copy_bytes(target, heap + second, length)
        target += length
    return target


@kernel
def check_sizes(block: Array, size: int, table: Array, form: Array, rows: int) -> tuple[int, int]:
    """Return (problem, column): whether the columns fill block uint8[size] exactly."""
    at = ENTRY_BYTES * table.shape[0]
    for column in range(table.shape[0]):
        width, nulls = table[column, WIDTH], table[column, HAS_NULLS]
        is_width = width == 0 or width == 1 or width == 2 or width == 4 or width == 8
        if not (is_width or (width == 16 and form[column, KIND] == NUMERIC)) or nulls < 0 or nulls > 1:
            return BAD_FORM, column
        if width + nulls > 0 and rows > (size - at) // (width + nulls):
            return BAD_SIZE, column
        at += nulls * rows
        values = block.ctypes.data + at
        at += width * rows
        if form[column, KIND] == TEXT:
            for row in range(rows):
                length = load_unsigned(values + width * row, width)
                if length < 0 or length > size - at:
                    return BAD_SIZE, column
                at += length
    return (OK if at == size else BAD_SIZE), table.shape[0] - 1


@kernel
def unpack_columns(block: Array, table: Array, places: Array, rows: int, heap: Array) -> tuple[int, int, int]:
    """Write columns of the right sizes to `places`; return (problem, column, bytes of `heap` used).

    heap: uint8[n], has room for all strings, and SPARE_BYTES more.
    """
    source = block.ctypes.data + ENTRY_BYTES * table.shape[0]
    used = 0
    for column in range(table.shape[0]):
        values, step, kind = places[column, VALUES], places[column, VALUE_BYTES], places[column, KIND]
        nulls = places[column, NULLS]
        base, width = table[column, BASE], table[column, WIDTH]
        if table[column, HAS_NULLS] != 0:
            copy_bytes(nulls, source, rows)
            source += rows
        else:
            for row in range(rows):
                store_byte(nulls + row, np.uint8(0))
        if kind == TEXT:
            source, used = unpack_strings(source, width, rows, values, heap.ctypes.data, used)
        elif width == 16:
            copy_bytes(values, source, 16 * rows)
            source += 16 * rows
        else:
            for row in range(rows):
                value = base + load_unsigned(source + width * row, width)
                if kind == NUMERIC:
                    store_word(values + 16 * row, value)
                    store_word(values + 16 * row + 8, value >> 63)
                else:
                    store_value(values + step * row, step, value)
            source += width * rows
        for row in range(rows):
            null = load_byte(nulls + row)
            if null > 1:
                return BAD_NULL, column, used
            if null == 1:
                for at in range(step):
                    store_byte(values + step * row + at, np.uint8(0))
            elif kind == BOOL and load_byte(values + row) > 1:
                return BAD_BOOL, column, used
    return OK, 0, used


@kernel
def unpack_strings(source: int, width: int, rows: int, words: int, heap: int, used: int) -> tuple[int, int]:
    """Write lengths and bytes from `source` on to words and heap.

    Returns (address after the strings, bytes of the heap that are used then).
    """
    lengths = source
    source += width * rows
    for row in range(rows):
        length = load_unsigned(lengths + width * row, width)
        if length > INLINE_BYTES_MAX:
            copy_bytes(heap + used, source, length)
            store_word(words + 16 * row, length | (load_word(source) << 32))
            store_word(words + 16 * row + 8, used)
            used += length
        else:
            first, second = inline_words(source, length)
            store_word(words + 16 * row, first)
            store_word(words + 16 * row + 8, second)
        source += length
    return source, used
