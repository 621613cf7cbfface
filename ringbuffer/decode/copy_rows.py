"""COPY's lines into rows: one kernel for both formats and every schema, compiled once and cached.

Enter: bytes, and the memory of a row block. Leave: rows in the block, or the first bad field in
`state`. Lines and fields are found in copy_text_line and copy_csv_line; store_field knows what a
field means. Must not know where bytes come from.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import inlined_kernel, kernel
from ringbuffer.decode.copy_csv_line import read_csv_line
from ringbuffer.decode.copy_lines import (
    CONSUMED,
    END,
    ENDED,
    ERROR,
    ERROR_COLUMN,
    ERROR_END,
    ERROR_IN_HEAP,
    ERROR_START,
    FALLBACK_COLUMN,
    FALLBACK_END,
    FALLBACK_IN_HEAP,
    FALLBACK_LINE,
    FALLBACK_ROW,
    FALLBACK_START,
    FALLBACKS_USED,
    HEAP_USED,
    LINE,
    LINE_CUT,
    LINE_END,
    LINE_ERROR,
    LINE_ROW,
    MARKED,
    NUMBERED,
    START,
    CopyFormat,
    CopyProgress,
)
from ringbuffer.decode.copy_text_line import read_text_line
from ringbuffer.decode.slow_fields import FALLBACKS_MAX
from ringbuffer.decode.store_field import check_encoding, store_field, store_null
from ringbuffer.memory.addresses import signed_word
from ringbuffer.memory.error_codes import (
    EXTRA_COLUMN,
    MISSING_COLUMN,
    NEEDS_FALLBACK,
    NULL_VIOLATION,
    OK,
    UNTERMINATED_QUOTE,
)
from ringbuffer.memory.row_block import FORCE, KIND, NOT_NULL, PADDING_BYTES, TEXT, Array, RowBlock
from ringbuffer.scalar.numbers.fields import Bytes

# FORCE of a CSV column.
FORCE_NULL, FORCE_NOT_NULL = 1, 2


@kernel
def decode_lines(
    buffer: Bytes,
    start: int,
    end: int,
    final: bool,
    header: bool,
    written: CopyFormat,
    block: RowBlock,
    row: int,
    rows_end: int,
    progress: CopyProgress,
) -> int:
    """Store lines as rows in `block`, from `row` on, below `rows_end`; return the rows then.

    See copy_morsel.
    """
    fields, state = progress.fields, progress.state
    columns_count = block.columns.shape[0]
    state[CONSUMED] = start
    while row < rows_end and state[FALLBACKS_USED] < FALLBACKS_MAX and state[ENDED] == 0:
        if written.csv:
            status, line_end, following, fields_count, lines, error = read_csv_line(
                buffer, start, end, final, written, columns_count, progress
            )
        else:
            status, line_end, following, fields_count, lines, error = read_text_line(
                buffer, start, end, final, written.classes, columns_count, fields, state
            )
            if status == LINE_ROW and state[NUMBERED] != 0:
                count = min(fields_count, columns_count)
                error = check_escapes(fields, count, buffer, written.null_text, block.heap, state[HEAP_USED])
                if error != OK:
                    status = LINE_ERROR
        if status == LINE_CUT:
            break
        state[LINE] += lines
        if status == LINE_END:
            state[CONSUMED] = following
            break
        not_header = 1
        if status == LINE_ROW and header:
            header = False
            not_header = 0
            error = OK
        elif error == OK and fields_count > columns_count:
            error = EXTRA_COLUMN
        elif error == OK:
            error = convert_row(block, fields_count, row, buffer, written, progress)
        if error != OK:
            note_error(state, error, status, start, line_end)
            return row
        row += not_header
        start = following
        state[CONSUMED] = start
    return row


@kernel
def note_error(state: Array, error: int, status: int, start: int, line_end: int) -> None:
    """Write an error to `state`, and its line if no value of a column is the cause."""
    state[ERROR] = error
    whole = status == LINE_ERROR or error in (EXTRA_COLUMN, UNTERMINATED_QUOTE)
    if whole:
        state[ERROR_COLUMN] = -1
    if whole or error in (MISSING_COLUMN, NULL_VIOLATION):
        state[ERROR_IN_HEAP] = 0
        state[ERROR_START] = start
        state[ERROR_END] = line_end


@inlined_kernel
def convert_row(
    block: RowBlock, fields_count: int, row: int, buffer: Bytes, written: CopyFormat, progress: CopyProgress
) -> int:
    """Store the fields of a line in `row`, and return the error."""
    columns, heap = block.columns, block.heap
    csv, quote, escape, null_text = written.csv, written.quote, written.escape, written.null_text
    fields, fallbacks, state = progress.fields, progress.fallbacks, progress.state
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
            store_null(block, column, row)
            continue
        if marked:
            if csv:
                end = unquote(buffer, start, end, quote, escape, heap, used)
            else:
                end = unescape(buffer, start, end, heap, used)
            start = used
            state[ERROR_IN_HEAP] = 1
            state[ERROR_START] = start
            state[ERROR_END] = end
            if csv and force & FORCE_NULL != 0 and is_null_text(heap, start, end, null_text, null_bytes):
                if columns[column, NOT_NULL] != 0 and missing_null < 0:
                    missing_null = column
                store_null(block, column, row)
                continue
            source = heap
        else:
            source = buffer
        error, used = store_field(block, column, row, source, start, end, used, written.zone)
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


@inlined_kernel
def is_null_text(buffer: Bytes, start: int, end: int, null_text: Bytes, null_bytes: int) -> bool:
    """Return whether bytes are the null string."""
    if end - start != null_bytes:
        return False
    for index in range(null_bytes):
        if buffer[start + index] != null_text[index]:
            return False
    return True


@kernel
def check_escapes(fields: Array, count: int, buffer: Bytes, null_text: Bytes, heap: Bytes, at: int) -> int:
    """Return the error of a line whose fields are not UTF-8 once their escapes are bytes.

    PostgreSQL checks this before it converts any field.
    """
    for column in range(count):
        start = fields[column, START]
        end = fields[column, END]
        if fields[column, MARKED] != 0 and not is_null_text(
            buffer, start, end, null_text, len(null_text) - PADDING_BYTES
        ):
            error = check_encoding(heap, at, unescape(buffer, start, end, heap, at))
            if error != OK:
                return error
    return OK


@kernel
def unescape(buffer: Bytes, start: int, end: int, heap: Bytes, at: int) -> int:
    """Write a field of the text format without its escapes to heap[at:], and return the end."""
    while start < end:
        byte = buffer[start]
        start += 1
        if byte == 92:
            if start >= end:
                break
            byte = buffer[start]
            start += 1
            if 48 <= byte <= 55:
                value = signed_word(byte) - 48
                for _ in range(2):
                    if start < end and 48 <= buffer[start] <= 55:
                        value = value * 8 + signed_word(buffer[start]) - 48
                        start += 1
                byte = np.uint8(value & 0xFF)
            elif byte == 120 and start < end and hexadecimal(signed_word(buffer[start])) >= 0:
                value = hexadecimal(signed_word(buffer[start]))
                start += 1
                if start < end and hexadecimal(signed_word(buffer[start])) >= 0:
                    value = value * 16 + hexadecimal(signed_word(buffer[start]))
                    start += 1
                byte = np.uint8(value & 0xFF)
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
    return at


@kernel
def hexadecimal(byte: int) -> int:
    """Return the value of a hexadecimal digit, or -1."""
    if 48 <= byte <= 57:
        return byte - 48
    lower = byte | 32
    if 97 <= lower <= 102:
        return lower - 87
    return -1


@kernel
def unquote(buffer: Bytes, start: int, end: int, quote: int, escape: int, heap: Bytes, at: int) -> int:
    """Write a field of the CSV format without quotes and escapes to heap[at:], and return the
    end.
    """
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
