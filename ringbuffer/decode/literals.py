"""The rows of an INSERT ...

VALUES of plain literals: from the text into a morsel, in one kernel call.

Enters: the bytes of the statement and where its rows start. Leaves: a morsel; None when anything
but numbers, 'strings', $$strings$$, NULL, TRUE, FALSE, DEFAULT and the time of the transaction
appears, a cast that is not what the assignment does too (as `'2020-01-01'::date`, `DATE
'2020-01-01'` and `1::bigint` are), or a value that its column does not take as it is: the parser
reads the statement then. A string that is no value of its column's type is a RowError. Strings are
read by the input function, numbers are cast as in an assignment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ringbuffer.compile.jit import entry_of, inlined_kernel, kernel
from ringbuffer.decode.slow_fields import FALLBACKS_MAX, NO_ZONE, Fallback, note_slow_field, settle_slow_fields
from ringbuffer.decode.store_field import null_address, store_field, store_null, value_address
from ringbuffer.memory.addresses import store_byte, store_int16, store_int32, store_word
from ringbuffer.memory.columns import NUMERIC_DIGITS_MAX, Layout, Morsel
from ringbuffer.memory.error_codes import (
    NEEDS_FALLBACK,
    NUMERIC_FIELD_OVERFLOW,
    NUMERIC_SPECIAL,
    OK,
    VALUE_TOO_LONG,
    RowError,
)
from ringbuffer.memory.row_block import (
    BOOL,
    DATE,
    ENUM,
    FLOAT32,
    FLOAT64,
    FORCE,
    INT16,
    INT32,
    INT64,
    KIND,
    NOT_NULL,
    PADDING_BYTES,
    TEXT,
    TIMESTAMP,
    ZONED,
    Array,
    RowBlock,
    RowPlan,
)
from ringbuffer.scalar.calendars.time_zones import Zone, zone_table
from ringbuffer.scalar.numbers.fields import Bytes, parse_numeric_column
from ringbuffer.scalar.texts import type_names
from ringbuffer.scalar.texts.literal_words import (
    DECIMAL,
    DEFAULT,
    ESCAPED_STRING,
    INTEGER,
    MARKED_STRING,
    NOW,
    NULL,
    OTHER,
    STRING,
    TRUE,
    escaped_byte,
    read_literal,
)
from ringbuffer.scalar.texts.type_names import after_space, after_word, read_cast, type_number

# Not an error of the data: the text is for the parser; or the kernel has to know the time.
UNSURE, ASKS_TIME = -1, -2

# What the kernel tells, int64[10], and the time of the transaction: us since 1970 in UTC, 0 unless
# it is known, and local us.
ERROR_ROW, ERROR_COLUMN, ERROR_START, ERROR_END, ERROR_IN_HEAP, HEAP_USED, SLOW_USED, NOW_US, LOCAL_US = range(9)
STATE_WORDS = 10

# Which literals a TEXT column takes whose fields another reads later, in the plan's field FORCE:
# strings, or numbers too, in any form. Which value DEFAULT is: NULL, or the time. From bit 8 on the
# type (type_names) of such a TEXT column, if there is one.
STRINGS, STRINGS_AND_NUMBERS, DEFAULT_NULL, DEFAULT_NOW = 1, 2, 4, 8
LATE = STRINGS | STRINGS_AND_NUMBERS
LATE_BITS = 8
# Digits that each integer of a type has room for, by type_names.
DIGITS = np.array([0, 4, 9, 18], dtype=np.int64)
# By KIND.
KIND_TYPES = "bool int2 int4 int8 float4 float8 date timestamp numeric text".split()
TYPE_OF_KIND = np.array([*(type_names.NUMBERS[name] for name in KIND_TYPES), 0], dtype=np.int64)
DAY_US = 86_400_000_000

# What a decoder keeps for the next text.
KEPT_BYTES_MAX = 1 << 20

NO_STRINGS = np.zeros(0, dtype=np.uint8)
NO_COLUMNS: Mapping[int, int] = MappingProxyType({})


# Returns the time of the transaction, us since 1970 in UTC, and the same as local time.
AskTime = Callable[[], tuple[int, int]]


class LiteralDecoder:
    """A decoder of VALUES rows for one layout, for one thread at a time. takes: STRINGS ...
    DEFAULT_NOW of columns.
    """

    def __init__(self, layout: Layout, fallback: Fallback | None = None, takes: Mapping[int, int] = NO_COLUMNS) -> None:
        self._plan = literal_plan(layout, takes)
        self._fallback = fallback
        self._state = np.zeros(STATE_WORDS, dtype=np.int64)
        self._slow = np.zeros((FALLBACKS_MAX, 4), dtype=np.int64)
        self._buffer = np.zeros(4096, dtype=np.uint8)
        rows = RowBlock(self._plan.columns, self._buffer, 0, self._buffer)
        self._decode_rows = literals_entry(self._buffer, 0, 0, rows, NO_ZONE, self._slow, self._state)

    def decode(
        self, text: bytes, start: int, time_zone: str | None = None, ask_time: AskTime | None = None
    ) -> Morsel | None:
        """Return the rows `(literal, ...), ...` at text[start:] up to an optional semicolon.

        time_zone: of times without a zone; None if it is not known. RowError.position is in bytes.
        """
        try:
            return self._decoded(text, start, NO_ZONE if time_zone is None else zone_table(time_zone), ask_time)
        finally:
            if len(self._buffer) > KEPT_BYTES_MAX:
                self._buffer = np.zeros(4096, dtype=np.uint8)

    def _decoded(self, text: bytes, start: int, zone: Zone, ask_time: AskTime | None) -> Morsel | None:
        size = len(text)
        if size + PADDING_BYTES > len(self._buffer):
            self._buffer = np.empty(2 * size + PADDING_BYTES, dtype=np.uint8)
        self._buffer.data[:size] = text
        # A string may hold more of them, but a row has at least one.
        capacity = (text.count(b"(", start) + 7) // 8 * 8
        block = self._plan.new_block(capacity)
        heap = np.empty(size - start + PADDING_BYTES, dtype=np.uint8)
        rows = RowBlock(self._plan.columns, block, capacity, heap)
        rows_count, error = timed(
            ask_time, self._state, self._decode_rows, self._buffer, start, size, rows, zone, self._slow, self._state
        )
        if error in (UNSURE, ASKS_TIME):
            return None
        used, slow_used = self._state[HEAP_USED], self._state[SLOW_USED]
        if slow_used and self._fallback is None:
            return None
        morsel = self._plan.morsel(block, capacity, rows_count, heap[:used] if used else NO_STRINGS)
        if slow_used:
            settle_slow_fields(self._slow[:slow_used], self._buffer, morsel, self._plan.layout, self._fallback)
        if error:
            raise self._error(error, heap)
        return morsel

    def _error(self, error: int, heap: Bytes) -> RowError:
        state = [int(word) for word in self._state]
        source = heap if state[ERROR_IN_HEAP] else self._buffer
        field = source[state[ERROR_START] : state[ERROR_END]].tobytes().decode(errors="replace")
        position = -1 if state[ERROR_IN_HEAP] else state[ERROR_START]
        return RowError(error, state[ERROR_ROW], state[ERROR_COLUMN], field, position=position)


def literal_plan(layout: Layout, takes: Mapping[int, int]) -> RowPlan:
    """Return the plan of columns of which some take literals of their own; see LiteralDecoder."""
    plan = RowPlan(layout)
    for column, kinds in takes.items():
        plan.columns[column, FORCE] = kinds
    return plan


def timed(
    ask_time: AskTime | None, state: Array, decode: Callable[..., tuple[int, int]], *arguments: object
) -> tuple[int, int]:
    """Return what `decode_literal_rows` does, which is told the time where it has to know it."""
    found = decode(*arguments)
    if found[1] != ASKS_TIME or ask_time is None:
        return found
    state[NOW_US : LOCAL_US + 1] = ask_time()
    try:
        return decode(*arguments)
    finally:
        state[NOW_US] = 0


_entries: list[Callable[..., Any]] = []


def literals_entry(*arguments: object) -> Callable[..., Any]:
    """Return `decode_literal_rows` for the types of the arguments, which all decoders have in
    common: to find them out takes 0.1 ms.
    """
    if not _entries:
        _entries.append(entry_of(decode_literal_rows, *arguments))
    return _entries[0]


@kernel
def decode_literal_rows(
    buffer: Bytes, at: int, size: int, rows: RowBlock, zone: Zone, slow: Array, state: Array
) -> tuple[int, int]:
    """Return (rows, error or UNSURE): see LiteralDecoder.

    slow: int64[n, 4], see slow_fields.
    """
    columns_count = rows.columns.shape[0]
    state[HEAP_USED] = 0
    state[SLOW_USED] = 0
    row = 0
    while True:
        at = after_space(buffer, at, size)
        if at >= size or buffer[at] != 40 or row >= rows.capacity:
            return row, UNSURE
        at += 1
        for column in range(columns_count):
            at = after_space(buffer, at, size)
            kind, start, end, after = read_literal(buffer, at, size)
            cast = 0
            if kind == OTHER:
                after = after_word(buffer, at, size)
                cast = type_number(buffer, at, after)
                after = after_space(buffer, after, size)
                if cast == 0 or after >= size or buffer[after] != 39:
                    return row, UNSURE
                kind, start, end, after = read_literal(buffer, after, size)
            else:
                cast, after = read_cast(buffer, after, size)
            at = after
            if kind == OTHER or (cast != 0 and not is_assigned(rows, column, kind, cast, buffer, start, end)):
                return row, UNSURE
            state[ERROR_ROW] = row
            state[ERROR_COLUMN] = column
            error = store_literal(rows, column, row, kind, buffer, start, end, slow, zone, state)
            if error != OK:
                return row, error
            at = after_space(buffer, at, size)
            if at >= size or buffer[at] != (41 if column == columns_count - 1 else 44):
                return row, UNSURE
            at += 1
        row += 1
        at = after_space(buffer, at, size)
        if at < size and buffer[at] == 59:
            at = after_space(buffer, at + 1, size)
            return row, (OK if at == size else UNSURE)
        if at == size:
            return row, OK
        if buffer[at] != 44:
            return row, UNSURE
        at += 1


@kernel
def is_assigned(rows: RowBlock, column: int, kind: int, cast: int, buffer: Bytes, start: int, end: int) -> bool:
    """Return whether a literal that is cast to a type becomes what it becomes in the column without
    the cast. A sign is applied after the cast.
    """
    columns = rows.columns
    own: int = columns[column, FORCE] >> LATE_BITS
    if columns[column, FORCE] & LATE == 0:
        # TIMESTAMPTZ comes after TIMESTAMP.
        own = TYPE_OF_KIND[columns[column, KIND]] + columns[column, ZONED]
    are_numbers = 0 < own <= type_names.FLOAT8 and 0 < cast <= type_names.FLOAT8
    if kind == NULL:
        return cast == own or are_numbers
    if kind != INTEGER and kind != DECIMAL:
        return cast == own and kind != DEFAULT
    if not are_numbers:
        return False
    if cast <= type_names.INT8:
        signs = 1 if buffer[start] == 45 or buffer[start] == 43 else 0
        return kind == INTEGER and end - start - signs <= DIGITS[cast]
    # A float zero has a sign, a numeric zero has none.
    return cast == type_names.NUMERIC or (cast == own and not is_zero(buffer, start, end))


@inlined_kernel
def store_literal(
    rows: RowBlock,
    column: int,
    row: int,
    kind: int,
    buffer: Bytes,
    start: int,
    end: int,
    slow: Array,
    zone: Zone,
    state: Array,
) -> int:
    """Assign one literal to its column; return the error, or UNSURE."""
    state[ERROR_IN_HEAP] = 0
    state[ERROR_START] = start
    state[ERROR_END] = end
    columns = rows.columns
    physical = columns[column, KIND]
    used = state[HEAP_USED]
    if kind >= NULL:
        return store_name(rows, column, row, kind, state)
    if kind in (INTEGER, DECIMAL):
        if physical in (BOOL, DATE, TIMESTAMP, ENUM):
            return UNSURE
        late = columns[column, FORCE] & LATE
        if late == STRINGS:
            return UNSURE
        if physical == TEXT and late == 0 and (kind == DECIMAL or not is_printed_integer(buffer, start, end)):
            return UNSURE
        if physical in (INT64, INT32, INT16):
            return store_rounded(rows, column, row, buffer, start, end)
        if (physical in (FLOAT64, FLOAT32)) and is_zero(buffer, start, end):
            # An integer or numeric zero has no sign, so it stays where it is.
            start = end - 1 if kind == INTEGER else start
            if kind == DECIMAL and buffer[start] == 45:
                start += 1
    source = buffer
    if kind in (MARKED_STRING, ESCAPED_STRING):
        if physical in (DATE, TIMESTAMP):
            return UNSURE
        end = written_out(buffer, start, end, rows.heap, used, kind == ESCAPED_STRING)
        start = used
        source = rows.heap
        state[ERROR_IN_HEAP] = 1
        state[ERROR_START] = start
        state[ERROR_END] = end
    error, used = store_field(rows, column, row, source, start, end, used, zone)
    state[HEAP_USED] = used
    if error != OK and (
        kind in (INTEGER, DECIMAL) or error in (VALUE_TOO_LONG, NUMERIC_FIELD_OVERFLOW, NUMERIC_SPECIAL)
    ):
        # PostgreSQL casts numbers and limits lengths after it has read all strings, whose errors
        # come first.
        return UNSURE
    if error == NEEDS_FALLBACK:
        if kind != STRING:
            return UNSURE
        state[SLOW_USED], error = note_slow_field(slow, state[SLOW_USED], row, column, start, end)
        if error != OK:
            return UNSURE
    return error


@kernel
def store_name(rows: RowBlock, column: int, row: int, kind: int, state: Array) -> int:
    """Assign what a name stands for, of kind NULL to OTHER; return the error, UNSURE or
    ASKS_TIME.
    """
    if kind == DEFAULT:
        default = rows.columns[column, FORCE]
        kind = NULL if default & DEFAULT_NULL != 0 else NOW if default & DEFAULT_NOW != 0 else OTHER
    if kind == NOW:
        return store_now(rows, column, row, state)
    if kind == NULL:
        store_null(rows, column, row)
        return UNSURE if rows.columns[column, NOT_NULL] != 0 else OK
    if kind == OTHER or rows.columns[column, KIND] != BOOL:
        return UNSURE
    store_byte(value_address(rows, column, row), np.uint8(1) if kind == TRUE else np.uint8(0))
    store_byte(null_address(rows, column, row), np.uint8(0))
    return OK


@kernel
def store_now(rows: RowBlock, column: int, row: int, state: Array) -> int:
    """Assign the time of the transaction to a column of times; return the error, UNSURE or
    ASKS_TIME.
    """
    kind = rows.columns[column, KIND]
    if kind != TIMESTAMP and kind != DATE:
        return UNSURE
    if state[NOW_US] == 0:
        return ASKS_TIME
    target = value_address(rows, column, row)
    store_byte(null_address(rows, column, row), np.uint8(0))
    if kind == DATE:
        store_int32(target, np.int32(state[LOCAL_US] // DAY_US))
    else:
        store_word(target, state[NOW_US] if rows.columns[column, ZONED] != 0 else state[LOCAL_US])
    return OK


@kernel
def store_rounded(rows: RowBlock, column: int, row: int, buffer: Bytes, start: int, end: int) -> int:
    """Assign a number to an integer column, rounded half away from zero.

    Return the error, or UNSURE.
    """
    lo, hi, error = parse_numeric_column(buffer, start, end, NUMERIC_DIGITS_MAX, 0)
    if error != OK:
        return UNSURE
    kind = rows.columns[column, KIND]
    target = value_address(rows, column, row)
    store_byte(null_address(rows, column, row), np.uint8(0))
    outside = hi != lo >> 63
    if kind == INT64:
        store_word(target, lo)
        return UNSURE if outside else OK
    if kind == INT32:
        store_int32(target, np.int32(lo))
        return UNSURE if outside or lo < -2147483648 or lo > 2147483647 else OK
    store_int16(target, np.int16(lo))
    return UNSURE if outside or lo < -32768 or lo > 32767 else OK


@kernel
def is_printed_integer(buffer: Bytes, start: int, end: int) -> bool:
    """Return whether PostgreSQL prints the integer as it is written.

    It has no plus, no leading zeros, and is no minus zero.
    """
    if buffer[start] == 45:
        start += 1
        if buffer[start] == 48:
            return False
    return buffer[start] != 43 and (buffer[start] != 48 or end - start == 1)


@kernel
def is_zero(buffer: Bytes, start: int, end: int) -> bool:
    """Return whether all digits before an exponent are 0."""
    for at in range(start, end):
        if 49 <= buffer[at] <= 57:
            return False
        if (buffer[at] | 32) == 101:
            return True
    return True


@kernel
def written_out(buffer: Bytes, start: int, end: int, heap: Bytes, at: int, escapes: bool) -> int:
    """Write the bytes that a string means to heap[at:], each '' as one quote, and return the end.

    escapes: the string is written with backslashes.
    """
    while start < end:
        heap[at] = buffer[start]
        if escapes and buffer[start] == 92:
            heap[at] = escaped_byte(buffer[start + 1])
            start += 1
        elif buffer[start] == 39:
            start += 1
        start += 1
        at += 1
    return at
