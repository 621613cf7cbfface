"""The rows of one stream as bytes of the log, and the record of a one-row INSERT by one kernel
call.

Enters: morsels. Leaves: self-contained bytes, and morsels again. All numbers are little endian.
Form 1 of the rows, without gaps: rows u64, heap bytes u64; the values of each column as columns.py
has them, wide columns first (16, 8, 4, 2, 1 bytes; otherwise in the order of the layout), which
keeps each column aligned; the null bytes of each column in the same order; the heap. In a record of
the log HEADER and ROWS_HEAD stand before these bytes. Reading checks what could lead a kernel
outside of its memory, or make two equal strings differ. The checksum of the record stands for the
rest: that a number fits its column, and that a string is UTF-8. Many rows are packed (packed_rows).
Must not know files, transactions or SQL.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import entry_of, kernel
from ringbuffer.memory.addresses import copy_bytes, load_byte, load_word, store_byte, store_int32, store_word
from ringbuffer.memory.arrow import compact_morsel, words_of
from ringbuffer.memory.checksums import crc32_of
from ringbuffer.memory.columns import DTYPES, INLINE_BYTES_MAX, LENGTH_MASK, WIDE, Layout, Morsel, PhysicalType
from ringbuffer.memory.row_block import BOOL, KINDS, TEXT, PerLayout
from ringbuffer.memory.strings import heap_bytes
from ringbuffer.pages.packed_rows import PACKED, is_packed, unpack_rows

Array = npt.NDArray[Any]

# A record: magic, length without padding, CRC-32 of the bytes after this field, kind, flags,
# sequence, durable, transaction, time_us.
HEADER = struct.Struct("<IIIHHQQQq")
MAGIC = int.from_bytes(b"ALR1", "little")
KIND_ROWS = 1
FLAG_COMMITS = 1
LENGTH_OFFSET, CRC_OFFSET, CHECKED_OFFSET = 4, 8, 12
SEQUENCE_OFFSET, DURABLE_OFFSET, TRANSACTION_OFFSET, TIME_OFFSET = 16, 24, 32, 40
ALIGNMENT = 8

# A ROWS record goes on with: oid of the stream, form of the rows, columns, now_us; then the rows.
ROWS_HEAD = struct.Struct("<IHHq")
ROW_FORM = 1
# Of a record of rows: the same with a last column that is not counted, when each row arrived.
ARRIVED_FORM = 2
# Of records of many rows, without and with their arrival: see packed_rows.
PACKED_FORM, PACKED_ARRIVED_FORM = 4, 5
ROW_FORMS = (ROW_FORM, PACKED_FORM)
ARRIVED_FORMS = (ARRIVED_FORM, PACKED_ARRIVED_FORM)
# Of a record of what a view joins its stream with: rows of a table as an Arrow stream, or a piece
# of it.
JOINED_FORM = 3
# Of a record of the groups that a state begins with: pages, or a piece of them.
GROUPS_FORM = 6
NOW_OFFSET = HEADER.size + 8
ROWS_OFFSET = HEADER.size + ROWS_HEAD.size

COUNTS = struct.Struct("<QQ")
SINGLE = struct.pack("<Q", 1)
HEAP_BYTES_OFFSET = ROWS_OFFSET + 8
VALUES_OFFSET = ROWS_OFFSET + COUNTS.size

# A row of the table that `check_rows` gets for each stored column; of that of `pack_row`: see
# RowRecord.
WIDTH, KIND = range(2)
SOURCE, SOURCE_WIDTH, NULL_SOURCE, IS_TEXT, HEAP = range(5)

OK, BAD_NULL, BAD_BOOL, BAD_STRING = range(4)
PROBLEMS = {BAD_NULL: "a null byte over 1", BAD_BOOL: "a bool over 1", BAD_STRING: "a string that can't be one"}


class RowForm:
    """The places of the columns of a layout in its rows.

    Attributes:
        order: the columns in the order in which they are stored.
        row_bytes: bytes of a row without long strings.
    """

    __slots__ = ("dtypes", "names", "order", "row_bytes", "table", "texts")

    def __init__(self, layout: Layout) -> None:
        assert layout, "rows without columns"
        wide = [column.physical in WIDE for column in layout]
        dtypes = [np.dtype(DTYPES[column.physical]) for column in layout]
        widths = [dtype.itemsize * (1 + is_wide) for dtype, is_wide in zip(dtypes, wide, strict=True)]
        self.order = tuple(sorted(range(len(layout)), key=lambda index: -widths[index]))
        self.texts = tuple(index for index, column in enumerate(layout) if column.physical == PhysicalType.TEXT)
        self.names = tuple(layout[index].name for index in self.order)
        self.dtypes = tuple((index, dtypes[index], wide[index], widths[index]) for index in self.order)
        self.table = np.array([(widths[index], KINDS[layout[index].physical]) for index in self.order], dtype=np.int64)
        self.row_bytes = sum(widths) + len(layout)


forms = PerLayout(RowForm)


def encode_rows(morsel: Morsel, layout: Layout) -> list[bytes | memoryview]:
    """Return the rows as pieces of bytes in order, which are the memory of the morsel where
    possible.

    The heap is copied if it holds anything but the strings of these rows.
    """
    form = forms.get(layout)
    if len(morsel.heap) and sum(heap_bytes(words_of(morsel, index)) for index in form.texts) != len(morsel.heap):
        morsel = compact_morsel(morsel, layout)
    pieces: list[bytes | memoryview] = [COUNTS.pack(morsel.rows_count, len(morsel.heap))]
    if morsel.rows_count:
        pieces += [_bytes_of(morsel.data[index]) for index in form.order]
        pieces += [_bytes_of(morsel.nulls[index]) for index in form.order]
    if len(morsel.heap):
        pieces.append(_bytes_of(morsel.heap))
    return pieces


def decode_rows(data: bytes | memoryview, layout: Layout) -> Morsel:
    """Return the rows of `encode_rows`, or of `pack_rows`, in memory of their own.

    NULLs have zero words.

    Raises ValueError that says what is wrong.
    """
    if is_packed(data):
        return unpack_rows(data, layout)
    form = forms.get(layout)
    if len(data) < COUNTS.size:
        raise ValueError(f"rows end after {len(data)} bytes, before their columns")
    rows_count, heap_size = COUNTS.unpack_from(data)
    heap_start = rows_count * form.row_bytes
    if COUNTS.size + heap_start + heap_size != len(data):
        raise ValueError(
            f"rows of {len(data)} bytes, where {rows_count} rows of {form.row_bytes} bytes and {heap_size} bytes of strings were written"
        )
    block = np.empty(len(data) - COUNTS.size, dtype=np.uint8)
    block[:] = np.frombuffer(data, dtype=np.uint8, offset=COUNTS.size)
    return _checked_morsel(block, form, rows_count, heap_start)


def rows_count_of(data: bytes | memoryview) -> int:
    """Return how many rows the bytes hold, as their head says."""
    return int(COUNTS.unpack_from(data)[0]) & ~PACKED


def is_single_row(data: bytes | memoryview) -> bool:
    """Tell whether the bytes hold one row, as their head says."""
    return data[:8] == SINGLE


def decode_single_rows(parts: Sequence[bytes], layout: Layout) -> Morsel:
    """Return the rows of many parts, each the bytes of one row, as one morsel.

    Raises ValueError.
    """
    form = forms.get(layout)
    plain_size = COUNTS.size + form.row_bytes
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    if sizes.min() < plain_size:
        raise ValueError(f"a row of {sizes.min()} bytes, where {plain_size} bytes are the least")
    given = np.frombuffer(b"".join(parts), dtype=np.uint8)
    starts = np.cumsum(sizes) - sizes
    places = starts[:, None] + np.arange(plain_size)
    rows = given[places]
    heap_sizes = sizes - plain_size
    counts = np.ascontiguousarray(rows[:, : COUNTS.size]).view(np.int64)
    if (counts[:, 0] != 1).any() or (counts[:, 1] != heap_sizes).any():
        raise ValueError("a row that says to have another size")
    rows_count, heap_start = len(parts), len(parts) * form.row_bytes
    block = np.empty(heap_start + int(heap_sizes.sum()), dtype=np.uint8)
    in_heap = np.ones(len(given), dtype=bool)
    in_heap[places] = False
    block[heap_start:] = given[in_heap]
    at, source = 0, COUNTS.size
    for index, _, _, width in form.dtypes:
        values = block[at : at + width * rows_count].reshape(rows_count, width)
        values[:] = rows[:, source : source + width]
        if index in form.texts:
            _move_strings(values.view(np.int64), heap_sizes)
        at += width * rows_count
        source += width
    block[at:heap_start].reshape(len(layout), rows_count)[:] = rows[:, source:].T
    return _checked_morsel(block, form, rows_count, heap_start)


def _move_strings(words: Array, heap_sizes: Array) -> None:
    """Let strings int64[rows, 2], of rows with heaps of their own, point into the joined heap.

    Raises ValueError.
    """
    lengths = words[:, 0] & LENGTH_MASK
    long = lengths > INLINE_BYTES_MAX
    if (long & ((words[:, 1] < 0) | (words[:, 1] > heap_sizes - lengths))).any():
        raise ValueError("a string that lies outside of its row")
    words[:, 1] += np.where(long, np.cumsum(heap_sizes) - heap_sizes, 0)


def _checked_morsel(block: Array, form: RowForm, rows_count: int, heap_start: int) -> Morsel:
    """Return the rows whose values, nulls and heap are in `block`. Raises ValueError."""
    problem, stored, row = check_rows(block, form.table, rows_count, heap_start)
    if problem != OK:
        raise ValueError(f'column "{form.names[stored]}" has {PROBLEMS[problem]} in row {row + 1} of {rows_count}')
    columns_count = len(form.order)
    columns: list[Array] = [block] * columns_count
    nulls: list[Array] = [block] * columns_count
    values_at = 0
    nulls_at = rows_count * (form.row_bytes - columns_count)
    for index, dtype, is_wide, width in form.dtypes:
        columns[index] = np.ndarray((rows_count, 2) if is_wide else (rows_count,), dtype, block, values_at)
        nulls[index] = block[nulls_at : nulls_at + rows_count]
        values_at += width * rows_count
        nulls_at += rows_count
    return Morsel(rows_count, tuple(columns), tuple(nulls), block[heap_start:])


def _bytes_of(array: Array) -> memoryview:
    return array.data.cast("B") if array.flags.c_contiguous else memoryview(array.tobytes())


class RowRecord:
    """A packer of the record of one row that lies in the same memory each time (see
    ring.RowWriter).

    The row is a transaction of its own.

    Attributes:
        plain_bytes: bytes of the record without long strings and padding.
    """

    def __init__(self, morsel: Morsel, layout: Layout, stream_oid: int) -> None:
        assert morsel.rows_count == 1
        form = forms.get(layout)
        # The kernel follows addresses into the row's memory.
        self._row = morsel
        self._places = np.zeros((len(layout), 5), dtype=np.int64)
        for place, (index, dtype, _, width) in zip(self._places, form.dtypes, strict=True):
            values, nulls = morsel.data[index], morsel.nulls[index]
            assert values.dtype == dtype and values.nbytes == width and values.flags.c_contiguous
            place[:] = (
                values.ctypes.data, width, nulls.ctypes.data, index in form.texts, morsel.heap.ctypes.data
            )  # fmt: skip
        head = HEADER.pack(MAGIC, 0, 0, KIND_ROWS, FLAG_COMMITS, 0, 0, 0, 0)
        head += ROWS_HEAD.pack(stream_oid, ROW_FORM, len(layout), 0) + COUNTS.pack(1, 0)
        self._head = np.frombuffer(head, dtype=np.uint8).copy()
        self.plain_bytes = VALUES_OFFSET + form.row_bytes
        # The arguments of `pack_row` after the position.
        self.memory = (self._head, self._places)
        self._pack_row = entry_of(pack_row, self._head, 0, *self.memory, 0, 0, 0, 0, 0)

    def pack(
        self, buffer: Array, position: int, sequence: int, durable: int, transaction: int, time_us: int, now_us: int
    ) -> int:
        """Write the record of the row as it is now, with its padding, to buffer uint8[n] at
        `position`.

        Returns the bytes written, a multiple of 8; 0, and nothing is written, when they do not fit.
        """
        size: int = self._pack_row(buffer, position, *self.memory, sequence, durable, transaction, time_us, now_us)
        return size


@kernel
def pack_row(
    buffer: Array, position: int, head: Array, places: Array, sequence: int, durable: int, transaction: int, time_us: int, now_us: int
) -> int:  # fmt: skip
    """Write a record to buffer uint8[n] at `position`.

    Return its bytes with padding, 0: it does not fit.

    head: uint8[VALUES_OFFSET], the record up to its values, with zeros for what changes. places:
    int64[columns, 5], see SOURCE to HEAP.
    """
    columns_count = places.shape[0]
    values_size = 0
    heap_size = 0
    for index in range(columns_count):
        values_size += places[index, SOURCE_WIDTH]
        if places[index, IS_TEXT] != 0:
            length = load_word(places[index, SOURCE]) & LENGTH_MASK
            if length > INLINE_BYTES_MAX:
                heap_size += length
    length = VALUES_OFFSET + values_size + columns_count + heap_size
    padded: int = (length + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    if position < 0 or padded > buffer.shape[0] - position or length > LENGTH_MASK:
        return 0
    start = buffer.ctypes.data + position
    copy_bytes(start, head.ctypes.data, VALUES_OFFSET)
    store_int32(start + LENGTH_OFFSET, np.int32(length))
    store_word(start + SEQUENCE_OFFSET, sequence)
    store_word(start + DURABLE_OFFSET, durable)
    store_word(start + TRANSACTION_OFFSET, transaction)
    store_word(start + TIME_OFFSET, time_us)
    store_word(start + NOW_OFFSET, now_us)
    store_word(start + HEAP_BYTES_OFFSET, heap_size)
    pack_values(places, start + VALUES_OFFSET, start + VALUES_OFFSET + values_size)
    for at in range(start + length, start + padded):
        store_byte(at, np.uint8(0))
    store_int32(start + CRC_OFFSET, np.int32(crc32_of(start + CHECKED_OFFSET, length - CHECKED_OFFSET, 0)))
    return padded


@kernel
def pack_values(places: Array, target: int, null_target: int) -> None:
    """Write the values of a row at address `target`, its null bytes at `null_target`, then long
    strings.
    """
    columns_count = places.shape[0]
    heap = null_target + columns_count
    used = 0
    for index in range(columns_count):
        source = places[index, SOURCE]
        store_byte(null_target + index, load_byte(places[index, NULL_SOURCE]))
        if places[index, IS_TEXT] != 0:
            word = load_word(source)
            length = word & LENGTH_MASK
            store_word(target, word)
            if length > INLINE_BYTES_MAX:
                copy_bytes(heap + used, places[index, HEAP] + load_word(source + 8), length)
                store_word(target + 8, used)
                used += length
            else:
                store_word(target + 8, load_word(source + 8))
        else:
            copy_bytes(target, source, places[index, SOURCE_WIDTH])
        target += places[index, SOURCE_WIDTH]


@kernel
def check_rows(block: Array, table: Array, rows_count: int, heap_start: int) -> tuple[int, int, int]:
    """Return (problem, stored column, row) of the first value that is not well formed.

    OK without any.

    block: uint8[n], the rows after their counts. table: int64[columns, 2], WIDTH and KIND. The
    words of a NULL become zero.
    """
    values = block.ctypes.data
    heap = values + heap_start
    heap_size = block.shape[0] - heap_start
    nulls = heap - rows_count * table.shape[0]
    used = 0
    for column in range(table.shape[0]):
        width = table[column, WIDTH]
        kind = table[column, KIND]
        for row in range(rows_count):
            null = load_byte(nulls + row)
            if null > 1:
                return BAD_NULL, column, row
            value = values + row * width
            if null == 1:
                for index in range(width):
                    store_byte(value + index, np.uint8(0))
            elif kind == BOOL and load_byte(value) > 1:
                return BAD_BOOL, column, row
            elif kind == TEXT:
                taken = string_heap_bytes(load_word(value), load_word(value + 8), heap, heap_size)
                used += taken
                # Strings that share their bytes could ask for any amount of memory when they are
                # copied apart.
                if taken < 0 or used > heap_size:
                    return BAD_STRING, column, row
        values += rows_count * width
        nulls += rows_count
    return OK, 0, 0


@kernel
def string_heap_bytes(first: int, second: int, heap: int, heap_size: int) -> int:
    """Return the bytes that a string of two words has in a heap; -1 if the words are no string.

    heap: the address of the heap, of `heap_size` bytes.
    """
    length = first & LENGTH_MASK
    head = (first >> 32) & LENGTH_MASK
    if length > INLINE_BYTES_MAX:
        if second < 0 or length > heap_size - second or load_word(heap + second) & LENGTH_MASK != head:
            return -1
        return length
    unused_head = head >> (8 * length) if length < 4 else 0
    unused_tail = second if length <= 4 else second >> (8 * (length - 4)) if length < INLINE_BYTES_MAX else 0
    return 0 if unused_head == 0 and unused_tail == 0 else -1
