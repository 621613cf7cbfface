"""Bind parameters, in text or binary form, into a morsel: k rows in one kernel call.

Enters: a buffer with parameter blocks (each parameter: int32 length in network order, -1 for NULL,
then its bytes); a COPY BINARY tuple has the same form after its column count. The wire type of each
parameter is the type of its column. Leaves: one morsel, or the first bad value as a RowError. Must
not know statements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import entry_of, inlined_kernel, kernel
from ringbuffer.decode.slow_fields import FALLBACKS_MAX, NO_ZONE, Fallback, note_slow_field, settle_slow_fields
from ringbuffer.decode.store_field import (
    check_encoding,
    null_address,
    store_field,
    store_null,
    store_text,
    value_address,
)
from ringbuffer.memory.addresses import (
    float32_from_bits,
    float_from_bits,
    load_int16,
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
from ringbuffer.memory.columns import INT64_MAX, INT64_MIN, Layout, Morsel
from ringbuffer.memory.error_codes import (
    BINARY_FORMAT,
    DATE_RANGE,
    NEEDS_FALLBACK,
    NULL_VIOLATION,
    NUMERIC_FIELD_OVERFLOW,
    NUMERIC_SPECIAL,
    OK,
    TIMESTAMP_RANGE,
    RowError,
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
    NOT_NULL,
    NUMERIC,
    PADDING_BYTES,
    PRECISION,
    SCALE,
    TEXT,
    WIDTH,
    Array,
    PerLayout,
    RowBlock,
    RowPlan,
)
from ringbuffer.scalar.calendars.calendar import (
    DATE_DAYS_END,
    DATE_DAYS_MIN,
    DATE_INFINITY,
    EPOCH_2000_DAYS,
    EPOCH_2000_US,
    TIMESTAMP_INFINITY,
    TIMESTAMP_US_END,
    TIMESTAMP_US_MIN,
)
from ringbuffer.scalar.calendars.time_zones import Zone, zone_table
from ringbuffer.scalar.numbers.fields import Bytes, parse_numeric_column
from ringbuffer.scalar.numbers.numeric import (
    BASE_DIGITS,
    NUMERIC_HEAD_BYTES,
    SIGN_INFINITE,
    SIGN_MINUS_INFINITE,
    SIGN_NAN,
    SIGN_NEGATIVE,
)
from ringbuffer.scalar.texts.text_values import swap_bytes

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
SCALE_MAX = 0x3FFF
# A numeric's digits are written out as text in the heap: two bytes become four characters, and an
# exponent follows.
HEAP_SPARE_BYTES = 64
# Formats of a column: the two of Bind, and bytes that are kept as they are in a TEXT column.
TEXT_VALUES, BINARY_VALUES, RAW_BYTES = range(3)

# What the kernel tells, int64[8].
ERROR, ERROR_ROW, ERROR_COLUMN, ERROR_START, ERROR_END, HEAP_USED, SLOW_USED = range(7)
STATE_WORDS = 8

# What a decoder keeps for the next rows.
KEPT_BYTES_MAX = 1 << 14

NO_STRINGS = np.zeros(0, dtype=np.uint8)


_entries: list[Callable[..., Any]] = []


class ParameterDecoder:
    """A decoder of the parameters of one layout, for one thread at a time.

    Attributes:
        time_zone: None if it is not known.
    """

    def __init__(self, layout: Layout, fallback: Fallback | None = None, time_zone: str | None = None) -> None:
        self._plan = RowPlan(layout)
        self._fallback = fallback
        self.in_zone(time_zone)
        self._state = np.zeros(STATE_WORDS, dtype=np.int64)
        self._slow = np.zeros((FALLBACKS_MAX, 4), dtype=np.int64)
        self._buffer = np.zeros(1024, dtype=np.uint8)
        self._decode_rows = self._entry()

    def _entry(self) -> Callable[..., Any]:
        """Return the kernel for the types of the arguments, which all decoders have in common.

        To find out the types of NamedTuples takes 0.1 ms: clients that prepare each INSERT anew
        get a decoder each time.
        """
        if not _entries:
            rows = RowBlock(self._plan.columns, self._buffer, 0, self._buffer)
            starts, formats = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int8)
            arguments = self._buffer, 0, starts, formats, rows, self._zone, self._slow, self._state
            _entries.append(entry_of(decode_parameter_rows, *arguments))
        return _entries[0]

    def in_zone(self, time_zone: str | None) -> Self:
        """Read times without a zone as times of this zone from now on; None: the zone is not
        known.
        """
        self._zone = NO_ZONE if time_zone is None else zone_table(time_zone)
        return self

    def decode(
        self, data: bytes | bytearray | memoryview, starts: npt.NDArray[np.int64], formats: npt.NDArray[np.int8]
    ) -> Morsel:
        """Return a morsel of len(starts) rows.

        starts: the places of the first length word of each row, -1: right after the row before;
        formats: TEXT_VALUES ... by column.
        """
        size = len(data)
        buffer = self._buffer
        if size + PADDING_BYTES > len(buffer):
            buffer = np.empty(2 * size + PADDING_BYTES, dtype=np.uint8)
            if size <= KEPT_BYTES_MAX:
                self._buffer = buffer
        buffer.data[:size] = data
        rows_count = len(starts)
        capacity = (rows_count + 7) // 8 * 8
        block = self._plan.new_block(capacity)
        heap = np.empty(2 * size + HEAP_SPARE_BYTES, dtype=np.uint8)
        state = self._state
        error, used, slow_used = self._decode_rows(
            buffer,
            size,
            np.ascontiguousarray(starts, dtype=np.int64),
            np.ascontiguousarray(formats, dtype=np.int8),
            RowBlock(self._plan.columns, block, capacity, heap),
            self._zone,
            self._slow,
            state,
        )
        morsel = self._plan.morsel(block, capacity, rows_count, heap[:used] if used else NO_STRINGS)
        if slow_used:
            settle_slow_fields(self._slow[:slow_used], buffer, morsel, self._plan.layout, self._fallback)
        if error:
            column = int(state[ERROR_COLUMN])
            field = b"" if formats[column] else buffer[int(state[ERROR_START]) : int(state[ERROR_END])].tobytes()
            raise RowError(error, int(state[ERROR_ROW]), column, field.decode(errors="replace"))
        return morsel


DECODERS = PerLayout(ParameterDecoder)


def decode_parameters(
    data: bytes | bytearray | memoryview,
    starts: npt.NDArray[np.int64],
    formats: npt.NDArray[np.int8],
    layout: Layout,
    time_zone: str | None = None,
) -> Morsel:
    """Decode with a decoder that is kept for the layout, without fallback: a layout is one
    session's, which decodes on one thread at a time.
    """
    return DECODERS.get(layout).in_zone(time_zone).decode(data, starts, formats)


@kernel
def decode_parameter_rows(
    buffer: Bytes,
    size: int,
    starts: npt.NDArray[np.int64],
    formats: npt.NDArray[np.int8],
    rows: RowBlock,
    zone: Zone,
    slow: Array,
    state: Array,
) -> tuple[int, int, int]:
    """Return (error, heap bytes used, slow fields): see ParameterDecoder.

    slow: int64[n, 4], see slow_fields.
    """
    columns = rows.columns
    used = 0
    slow_used = 0
    at = 0
    for row in range(len(starts)):
        if starts[row] >= 0:
            at = starts[row]
        for column in range(columns.shape[0]):
            state[ERROR_ROW] = row
            state[ERROR_COLUMN] = column
            if at + 4 > size:
                return BINARY_FORMAT, used, slow_used
            length = signed_int32(buffer, at)
            at += 4
            state[ERROR_START] = at
            state[ERROR_END] = at
            if length < 0:
                if columns[column, NOT_NULL] != 0:
                    return NULL_VIOLATION, used, slow_used
                store_null(rows, column, row)
                continue
            end = at + length
            if end > size:
                return BINARY_FORMAT, used, slow_used
            state[ERROR_END] = end
            if formats[column] == TEXT_VALUES:
                error = check_encoding(buffer, at, end)
                if error == OK:
                    error, used = store_field(rows, column, row, buffer, at, end, used, zone)
                if error == NEEDS_FALLBACK:
                    slow_used, error = note_slow_field(slow, slow_used, row, column, at, end)
            elif formats[column] == RAW_BYTES:
                store_byte(null_address(rows, column, row), np.uint8(0))
                error, used = store_text(value_address(rows, column, row), buffer, at, end, -1, rows.heap, used)
            else:
                error, used = store_binary(rows, column, row, buffer, at, end, used)
            if error != OK:
                return error, used, slow_used
            at = end
    return OK, used, slow_used


@inlined_kernel
def store_binary(
    rows: RowBlock, column: int, row: int, buffer: Bytes, start: int, end: int, used: int
) -> tuple[int, int]:
    """Store the binary form of a value; return (error, heap bytes used)."""
    columns = rows.columns
    kind = columns[column, KIND]
    width = columns[column, WIDTH]
    target = value_address(rows, column, row)
    store_byte(null_address(rows, column, row), np.uint8(0))
    if kind == TEXT:
        error = check_encoding(buffer, start, end)
        if error != OK:
            return error, used
        return store_text(target, buffer, start, end, columns[column, LENGTH_MAX], rows.heap, used)
    if kind == ENUM:
        error = check_encoding(buffer, start, end)
        if error != OK:
            return error, used
        number, error = label_number(columns[column, LABELS], buffer, start, end)
        store_word(target, number)
        return error, used
    if kind == NUMERIC:
        lo, hi, error = binary_numeric(
            buffer, start, end, columns[column, PRECISION], columns[column, SCALE], rows.heap, used
        )
        store_word(target, lo)
        store_word(target + 8, hi)
        return error, used
    if end - start != width:
        return BINARY_FORMAT, used
    error = OK
    if kind == INT64:
        store_word(target, signed_int64(buffer, start))
    elif kind == INT32:
        store_int32(target, np.int32(signed_int32(buffer, start)))
    elif kind == FLOAT64:
        store_float64(target, float_from_bits(np.uint64(signed_int64(buffer, start))))
    elif kind == FLOAT32:
        store_float32(target, float32_from_bits(np.uint32(signed_int32(buffer, start) & 0xFFFFFFFF)))
    elif kind == INT16:
        store_int16(target, np.int16(signed_int16(buffer, start)))
    elif kind == BOOL:
        store_byte(target, np.uint8(1) if buffer[start] != 0 else np.uint8(0))
    elif kind == DATE:
        days = signed_int32(buffer, start) + EPOCH_2000_DAYS
        if days == INT32_MAX + EPOCH_2000_DAYS:
            days = DATE_INFINITY
        elif days == INT32_MIN + EPOCH_2000_DAYS:
            days = -DATE_INFINITY
        elif days < DATE_DAYS_MIN or days >= DATE_DAYS_END:
            error = DATE_RANGE
            days = 0
        store_int32(target, np.int32(days))
    else:
        since_2000 = signed_int64(buffer, start)
        if since_2000 in (INT64_MAX, INT64_MIN):
            since_2000 = (TIMESTAMP_INFINITY if since_2000 > 0 else -TIMESTAMP_INFINITY) - EPOCH_2000_US
        elif since_2000 < TIMESTAMP_US_MIN - EPOCH_2000_US or since_2000 >= TIMESTAMP_US_END - EPOCH_2000_US:
            error = TIMESTAMP_RANGE
            since_2000 = -EPOCH_2000_US
        store_word(target, since_2000 + EPOCH_2000_US)
    return error, used


@kernel
def binary_numeric(
    buffer: Bytes, start: int, end: int, precision: int, scale: int, heap: Bytes, at: int
) -> tuple[int, int, int]:
    """Return (lo, hi, error) of PostgreSQL's base 10000 form, rounded to the column.

    heap[at:] is used as scratch.
    """
    if end - start < NUMERIC_HEAD_BYTES:
        return 0, 0, BINARY_FORMAT
    groups_count = signed_int16(buffer, start)
    weight = signed_int16(buffer, start + 2)
    sign = signed_int16(buffer, start + 4) & 0xFFFF
    written_scale = signed_int16(buffer, start + 6)
    if groups_count < 0 or end - start != NUMERIC_HEAD_BYTES + 2 * groups_count or written_scale & ~SCALE_MAX != 0:
        return 0, 0, BINARY_FORMAT
    if sign == SIGN_NAN:
        return 0, 0, NUMERIC_SPECIAL
    if sign in (SIGN_INFINITE, SIGN_MINUS_INFINITE):
        return 0, 0, NUMERIC_FIELD_OVERFLOW
    if sign != 0 and sign != SIGN_NEGATIVE:
        return 0, 0, BINARY_FORMAT
    first = at
    if sign == SIGN_NEGATIVE:
        heap[at] = 45
        at += 1
    digits = at
    heap[at] = 48
    at += 1
    for index in range(groups_count):
        group = signed_int16(buffer, start + NUMERIC_HEAD_BYTES + 2 * index)
        if group < 0 or group > 9999:
            return 0, 0, BINARY_FORMAT
        heap[at] = 48 + group // 1000
        heap[at + 1] = 48 + group // 100 % 10
        heap[at + 2] = 48 + group // 10 % 10
        heap[at + 3] = 48 + group % 10
        at += BASE_DIGITS
    exponent = (weight + 1 - groups_count) * BASE_DIGITS
    # Digits beyond the written scale do not count, as in numeric_recv.
    hidden = max(0, min(-exponent - written_scale, at - digits - 1))
    at -= hidden
    exponent += hidden
    heap[at] = 101
    heap[at + 1] = 45 if exponent < 0 else 43
    size = abs(exponent)
    for place in range(6):
        heap[at + 7 - place] = 48 + size % 10
        size //= 10
    return parse_numeric_column(heap, first, at + 8, precision, scale)


@inlined_kernel
def signed_int16(buffer: Bytes, at: int) -> int:
    """Return the int16 in network order at `at`."""
    value: int = swap_bytes(signed_word(load_int16(buffer.ctypes.data + at))) >> 48
    return value


@inlined_kernel
def signed_int32(buffer: Bytes, at: int) -> int:
    """Return the int32 in network order at `at`."""
    value: int = swap_bytes(signed_word(load_int32(buffer.ctypes.data + at))) >> 32
    return value


@inlined_kernel
def signed_int64(buffer: Bytes, at: int) -> int:
    """Return the int64 in network order at `at`."""
    value: int = swap_bytes(load_word(buffer.ctypes.data + at))
    return value
