"""What the two COPY formats share: a line's fields into a row, and the decoder that is fed bytes of any size.

Enters: bytes cut anywhere. Leaves: morsels of at most 65,536 rows, or the first bad field as a RowError with line and column. A format
is one kernel that finds lines and fields; the rest is here. Must not know where bytes come from or what becomes of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer import error_codes as codes
from ringbuffer.columns import Layout, Morsel
from ringbuffer.error_codes import RowError
from ringbuffer.fields import Bytes
from ringbuffer.jit import kernel
from ringbuffer.row_block import FORCE, KIND, NOT_NULL, PADDING_BYTES, TEXT, Array, RowPlan, rounded_capacity
from ringbuffer.slow_fields import FALLBACKS_MAX, Fallback, slow_value
from ringbuffer.store_field import check_encoding, store_field, store_null
from ringbuffer.time_zones import Offsets, Transitions, zone_table

OK = codes.OK
NULL_VIOLATION = codes.NULL_VIOLATION
MISSING_COLUMN = codes.MISSING_COLUMN
EXTRA_COLUMN = codes.EXTRA_COLUMN
NEEDS_FALLBACK = codes.NEEDS_FALLBACK

# What a format's kernel keeps and tells, int64[16].
(EOL, LINE, CONSUMED, HEAP_USED, FALLBACKS_USED, ENDED, ERROR, ERROR_COLUMN, ERROR_IN_HEAP, ERROR_START, ERROR_END) = range(11)
STATE_WORDS = 16
# How lines end: not known before the first one has ended.
EOL_UNKNOWN, EOL_NEWLINE, EOL_RETURN, EOL_BOTH = range(4)
# Classes of bytes, the same for both formats.
ORDINARY, DELIMITER, NEWLINE, RETURN, BACKSLASH, NUL, HIGH, QUOTE, ESCAPE = range(9)
# What a line turned out to be.
LINE_ROW, LINE_CUT, LINE_END, LINE_ERROR = range(4)
# A field of the line: where its bytes are, and whether they hold escapes or quotes.
START, END, MARKED = range(3)
# A field for the slow parser: its row, line, column, and where its text is.
FALLBACK_ROW, FALLBACK_LINE, FALLBACK_COLUMN, FALLBACK_IN_HEAP, FALLBACK_START, FALLBACK_END = range(6)
# FORCE of a CSV column.
FORCE_NULL, FORCE_NOT_NULL = 1, 2

CUT_BYTES_MIN = 65_536
CUT_ROWS_SPARE = 64

@kernel
def convert_row(
    columns: Array, fields: Array, fields_count: int, row: int, buffer: Bytes, null_text: Bytes, csv: bool, quote: int, escape: int,
    block: Bytes, capacity: int, heap: Bytes, fallbacks: Array, transitions: Transitions, offsets: Offsets, state: Array,
) -> int:  # fmt: skip
    """-> error: store the line's fields in `row`. null_text has its 16 readable bytes more, which are not part of it."""
    base = block.ctypes.data
    null_bytes = len(null_text) - PADDING_BYTES
    missing_null = -1
    for column in range(columns.shape[0]):
        state[ERROR_COLUMN] = column
        if column >= fields_count:
            return MISSING_COLUMN
        start = fields[column, START]
        end = fields[column, END]
        marked = fields[column, MARKED] != 0
        force = columns[column, FORCE]
        null = not (csv and marked) and is_null_text(buffer, start, end, null_text, null_bytes)
        state[ERROR_IN_HEAP] = 0
        state[ERROR_START] = start
        state[ERROR_END] = end
        used = state[HEAP_USED]
        if null and force & FORCE_NOT_NULL == 0:
            if columns[column, NOT_NULL] != 0 and missing_null < 0:
                missing_null = column
            store_null(columns, column, base, capacity, row)
            continue
        if marked:
            if csv:
                end, error = unquote(buffer, start, end, quote, escape, heap, used), OK
            else:
                end, error = unescape(buffer, start, end, heap, used)
            start = used
            state[ERROR_IN_HEAP] = 1
            state[ERROR_START] = start
            state[ERROR_END] = end
            if error != OK:
                return error
            if csv and force & FORCE_NULL != 0 and is_null_text(heap, start, end, null_text, null_bytes):
                if columns[column, NOT_NULL] != 0 and missing_null < 0:
                    missing_null = column
                store_null(columns, column, base, capacity, row)
                continue
            source = heap
        else:
            source = buffer
        error, used = store_field(
            columns, column, base, capacity, row, source, start, end, heap, used, transitions, offsets
        )
        if error == NEEDS_FALLBACK:
            if marked and columns[column, KIND] != TEXT:
                used = end
            index = state[FALLBACKS_USED]
            fallbacks[index, FALLBACK_ROW] = row
            fallbacks[index, FALLBACK_LINE] = state[LINE]
            fallbacks[index, FALLBACK_COLUMN] = column
            fallbacks[index, FALLBACK_IN_HEAP] = 1 if marked else 0
            fallbacks[index, FALLBACK_START] = start
            fallbacks[index, FALLBACK_END] = end
            state[FALLBACKS_USED] = index + 1
        elif error != OK:
            return error
        state[HEAP_USED] = used
    if missing_null >= 0:
        state[ERROR_COLUMN] = missing_null
        return NULL_VIOLATION
    return OK


@kernel
def is_null_text(buffer: Bytes, start: int, end: int, null_text: Bytes, null_bytes: int) -> bool:
    """-> whether the bytes are the null string."""
    if end - start != null_bytes:
        return False
    for index in range(null_bytes):
        if buffer[start + index] != null_text[index]:
            return False
    return True


@kernel
def unescape(buffer: Bytes, start: int, end: int, heap: Bytes, at: int) -> tuple[int, int]:
    """-> (end, error): the field of the text format without its backslash escapes, written at heap[at]."""
    first = at
    check = False
    while start < end:
        byte = buffer[start]
        start += 1
        if byte == 92:
            if start >= end:
                break
            byte = buffer[start]
            start += 1
            if 48 <= byte <= 55:
                value = np.int64(byte) - 48
                for _ in range(2):
                    if start < end and 48 <= buffer[start] <= 55:
                        value = value * 8 + np.int64(buffer[start]) - 48
                        start += 1
                byte = np.uint8(value & 0xFF)
                check = check or byte == 0 or byte >= 0x80
            elif byte == 120 and start < end and hexadecimal(buffer[start]) >= 0:
                value = hexadecimal(buffer[start])
                start += 1
                if start < end and hexadecimal(buffer[start]) >= 0:
                    value = value * 16 + hexadecimal(buffer[start])
                    start += 1
                byte = np.uint8(value)
                check = check or byte == 0 or byte >= 0x80
            elif byte == 98:
                byte = np.uint8(8)
            elif byte == 102:
                byte = np.uint8(12)
            elif byte == 110:
                byte = np.uint8(10)
            elif byte == 114:
                byte = np.uint8(13)
            elif byte == 116:
                byte = np.uint8(9)
            elif byte == 118:
                byte = np.uint8(11)
        heap[at] = byte
        at += 1
    return at, (check_encoding(heap, first, at) if check else OK)


@kernel
def hexadecimal(byte: int) -> int:
    """-> the value of a hexadecimal digit, or -1."""
    if 48 <= byte <= 57:
        return np.int64(byte) - 48
    lower = np.int64(byte) | 32
    if 97 <= lower <= 102:
        return lower - 87
    return -1


@kernel
def unquote(buffer: Bytes, start: int, end: int, quote: int, escape: int, heap: Bytes, at: int) -> int:
    """-> end: the field of the CSV format without its quotes and escapes, written at heap[at]."""
    quoted = False
    while start < end:
        byte = buffer[start]
        start += 1
        if not quoted:
            if byte == quote:
                quoted = True
                continue
        elif byte == escape and start < end and (buffer[start] == escape or buffer[start] == quote):
            byte = buffer[start]
            start += 1
        elif byte == quote:
            quoted = False
            continue
        heap[at] = byte
        at += 1
    return at


class CopyDecoder:
    """Bytes of COPY in, morsels out. A format's decoder is one of these with its kernel (see decode_text and decode_csv).

    rows_count: rows of all morsels so far. fallback(column, text) gives the value of a date or timestamp that is not ISO, and
    raises RowError for a bad one.
    """

    def __init__(
        self, layout: Layout, decode: Callable[..., int], settings: tuple[Any, ...], null: str, header: bool, fallback: Fallback | None,
        time_zone: str,
    ) -> None:  # fmt: skip
        self.rows_count = 0
        self.plan = RowPlan(layout)
        self._decode = decode
        self._settings = settings
        self._null_text = np.frombuffer(null.encode() + bytes(PADDING_BYTES), dtype=np.uint8).copy()
        self._header = header
        self._fallback = fallback
        self._transitions, self._offsets = zone_table(time_zone)
        self._pending = bytearray()
        self._wait_bytes = 0
        self._row_bytes = float(max(2, 2 * len(layout)))
        self._state = np.zeros(STATE_WORDS, dtype=np.int64)
        self._fields = np.zeros((len(layout) + 1, 3), dtype=np.int64)
        self._fallbacks = np.zeros((FALLBACKS_MAX + len(layout), 6), dtype=np.int64)

    def feed(self, data: bytes | bytearray | memoryview) -> list[Morsel]:
        """Take some bytes and return the rows that are complete. Raises RowError."""
        if self._state[ENDED]:
            return []
        self._pending += data
        if len(self._pending) < self._wait_bytes:
            return []
        return self._decode_pending(False)

    def finish(self) -> list[Morsel]:
        """Return the rows of the last bytes, whose line end may be missing. Raises RowError."""
        if self._state[ENDED]:
            return []
        return self._decode_pending(True)

    def _decode_pending(self, final: bool) -> list[Morsel]:
        pending, self._pending = self._pending, bytearray()
        end = len(pending)
        pending += bytes(PADDING_BYTES)
        buffer = np.frombuffer(pending, dtype=np.uint8)
        morsels: list[Morsel] = []
        start = 0
        while start < end and not self._state[ENDED]:
            before = start
            morsel = self._next_morsel(buffer, start, end, final)
            start = int(self._state[CONSUMED])
            if morsel.rows_count:
                morsels.append(morsel)
            elif start == before:
                break
        self._pending += memoryview(pending)[start:end]
        # A row that is longer than all the bytes so far is not scanned again at each feed, only when they have doubled.
        self._wait_bytes = 2 * len(self._pending) if len(self._pending) > CUT_BYTES_MIN else 0
        return morsels

    def _next_morsel(self, buffer: npt.NDArray[np.uint8], start: int, end: int, final: bool) -> Morsel:
        state = self._state
        capacity = rounded_capacity(int((end - start) / self._row_bytes * 1.1) + CUT_ROWS_SPARE)
        block = self.plan.new_block(capacity)
        heap = np.empty(end - start + PADDING_BYTES, dtype=np.uint8)
        state[HEAP_USED] = state[FALLBACKS_USED] = state[ERROR] = 0
        rows_count = self._decode(
            buffer, start, end, final, self._header and state[LINE] == 0, *self._settings, self._null_text, self.plan.columns,
            self._transitions, self._offsets, block, capacity, heap, self._fields, self._fallbacks, state,
        )  # fmt: skip
        morsel = self.plan.morsel(block, capacity, rows_count, heap_part(heap, int(state[HEAP_USED])))
        self._settle_fallbacks(buffer, heap, block, capacity)
        if state[ERROR]:
            state[ENDED] = 1
            raise self._error(buffer, heap, rows_count)
        if rows_count:
            self._row_bytes = max(1.0, (int(state[CONSUMED]) - start) / rows_count)
        self.rows_count += rows_count
        return morsel

    def _settle_fallbacks(
        self, buffer: npt.NDArray[np.uint8], heap: npt.NDArray[np.uint8], block: npt.NDArray[np.uint8], capacity: int
    ) -> None:
        count = int(self._state[FALLBACKS_USED])
        if count == 0:
            return
        last = int(self._fallbacks[count - 1, FALLBACK_ROW]) + 1
        data = self.plan.morsel(block, capacity, last, heap).data
        for row, line, column, in_heap, start, end in self._fallbacks[:count].tolist():
            text = (heap if in_heap else buffer)[start:end].tobytes().decode()
            error = RowError(OK, self.rows_count + row, column, text, line)
            data[column][row] = slow_value(self.plan.layout[column].physical, column, text, self._fallback, error)

    def _error(self, buffer: npt.NDArray[np.uint8], heap: npt.NDArray[np.uint8], row: int) -> RowError:
        state = self._state
        source = heap if state[ERROR_IN_HEAP] else buffer
        field = source[int(state[ERROR_START]) : int(state[ERROR_END])].tobytes().decode(errors="replace")
        return RowError(int(state[ERROR]), self.rows_count + row, int(state[ERROR_COLUMN]), field, int(state[LINE]))


def heap_part(heap: npt.NDArray[np.uint8], used: int) -> npt.NDArray[np.uint8]:
    """Return the used bytes of a heap; a mostly empty one is copied so that its memory can go."""
    return heap[:used] if 2 * used >= len(heap) else heap[:used].copy()


def byte_classes(**classes: int) -> npt.NDArray[np.uint8]:
    """Return the class of each byte value, uint8[256]; the arguments name characters by their class, as delimiter=9."""
    table = np.zeros(256, dtype=np.uint8)
    table[0x80:] = HIGH
    table[0] = NUL
    table[ord("\n")] = NEWLINE
    table[ord("\r")] = RETURN
    table[ord("\\")] = BACKSLASH
    for name, byte in classes.items():
        table[byte] = {"delimiter": DELIMITER, "quote": QUOTE, "escape": ESCAPE}[name]
    return table


