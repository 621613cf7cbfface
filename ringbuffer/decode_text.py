"""COPY's text format: lines of fields with a delimiter, backslash escapes, and \\. as the end, by PostgreSQL 15's rules.

Enters: bytes cut anywhere. Leaves: morsels, or the first bad field as a RowError. Every field's meaning is in copy_rows and store_field.
"""

from __future__ import annotations

from dataclasses import dataclass

from ringbuffer import error_codes as codes
from ringbuffer.columns import Layout
from ringbuffer.copy_rows import (
    BACKSLASH,
    CONSUMED,
    DELIMITER,
    END,
    ENDED,
    EOL,
    EOL_BOTH,
    EOL_NEWLINE,
    EOL_RETURN,
    EOL_UNKNOWN,
    ERROR,
    ERROR_COLUMN,
    ERROR_END,
    ERROR_IN_HEAP,
    ERROR_START,
    FALLBACKS_USED,
    LINE,
    LINE_CUT,
    LINE_END,
    LINE_ERROR,
    LINE_ROW,
    MARKED,
    NEWLINE,
    ORDINARY,
    RETURN,
    START,
    CopyDecoder,
    byte_classes,
    convert_row,
)
from ringbuffer.fields import Bytes
from ringbuffer.jit import kernel
from ringbuffer.memory import borrowed
from ringbuffer.row_block import Array
from ringbuffer.slow_fields import FALLBACKS_MAX, Fallback
from ringbuffer.store_field import check_encoding
from ringbuffer.time_zones import Offsets, Transitions

OK = codes.OK
CARRIAGE_RETURN = codes.CARRIAGE_RETURN
LITERAL_NEWLINE = codes.LITERAL_NEWLINE
END_MARKER_CORRUPT = codes.END_MARKER_CORRUPT
END_MARKER_STYLE = codes.END_MARKER_STYLE
EXTRA_COLUMN = codes.EXTRA_COLUMN
MISSING_COLUMN = codes.MISSING_COLUMN
NULL_VIOLATION = codes.NULL_VIOLATION


@dataclass(frozen=True)
class TextFormat:
    """Options of COPY ... (FORMAT text). delimiter: one byte. header: the first line is passed over."""

    delimiter: str = "\t"
    null: str = "\\N"
    header: bool = False


class TextDecoder(CopyDecoder):
    """Decodes COPY text for one statement."""

    def __init__(
        self, layout: Layout, options: TextFormat = TextFormat(), fallback: Fallback | None = None, time_zone: str = "UTC"
    ) -> None:
        classes = byte_classes(delimiter=ord(options.delimiter))
        super().__init__(layout, decode_text, (classes,), options.null, options.header, fallback, time_zone)


@kernel
def decode_text(
    buffer: Bytes, start: int, end: int, final: bool, header: bool, classes: Bytes, null_text: Bytes, columns: Array,
    transitions: Transitions, offsets: Offsets, block: Bytes, capacity: int, heap: Bytes, fields: Array, fallbacks: Array, state: Array,
) -> int:  # fmt: skip
    """-> rows stored in `block`. state, fields int64[columns + 1, 3] and fallbacks int64[m, 6]: see copy_rows."""
    buffer, classes, null_text, columns = borrowed(buffer), borrowed(classes), borrowed(null_text), borrowed(columns)
    transitions, offsets, block, heap = borrowed(transitions), borrowed(offsets), borrowed(block), borrowed(heap)
    fields, fallbacks, state = borrowed(fields), borrowed(fallbacks), borrowed(state)
    row = 0
    columns_count = columns.shape[0]
    state[CONSUMED] = start
    while row < capacity and state[FALLBACKS_USED] < FALLBACKS_MAX:
        status, line_end, following, fields_count, error = read_text_line(
            buffer, start, end, final, classes, columns_count, fields, state
        )
        if status == LINE_CUT:
            break
        state[LINE] += 1
        if status == LINE_END:
            state[CONSUMED] = following
            break
        if status == LINE_ROW and header:
            header = False
        elif status == LINE_ROW:
            error = EXTRA_COLUMN
            if fields_count <= columns_count:
                error = convert_row(
                    columns, fields, fields_count, row, buffer, null_text, False, 0, 0, block, capacity, heap, fallbacks,
                    transitions, offsets, state,
                )  # fmt: skip
            row += 1
        if error != OK:
            state[ERROR] = error
            if status == LINE_ERROR or error == EXTRA_COLUMN:
                state[ERROR_COLUMN] = -1
            if status == LINE_ERROR or error == EXTRA_COLUMN or error == MISSING_COLUMN or error == NULL_VIOLATION:
                state[ERROR_IN_HEAP] = 0
                state[ERROR_START] = start
                state[ERROR_END] = line_end
            return max(0, row - 1) if status == LINE_ROW else row
        start = following
        state[CONSUMED] = start
        if state[ENDED] != 0:
            break
    return row


@kernel
def read_text_line(
    buffer: Bytes, start: int, end: int, final: bool, classes: Bytes, columns_count: int, fields: Array, state: Array
) -> tuple[int, int, int, int, int]:
    """-> (what it is, end of its data, start of the next, fields, error): find the line at `start` and its fields."""
    at = start
    following = end
    count = 0
    fields[0, START] = start
    marked = 0
    check = False
    while True:
        while at < end and classes[buffer[at]] == ORDINARY:
            at += 1
        if at >= end:
            if not final:
                return LINE_CUT, at, at, 0, OK
            break
        byte_class = classes[buffer[at]]
        if byte_class == DELIMITER:
            if count < columns_count:
                fields[count, END] = at
                fields[count, MARKED] = marked
                fields[count + 1, START] = at + 1
            count += 1
            marked = 0
            at += 1
        elif byte_class == NEWLINE or byte_class == RETURN:
            following, error = end_of_line(buffer, at, end, final, state)
            if error != OK:
                return LINE_ERROR, at, at, count, error
            if following < 0:
                return LINE_CUT, at, at, 0, OK
            break
        elif byte_class == BACKSLASH:
            if at + 1 >= end:
                if not final:
                    return LINE_CUT, at, at, 0, OK
                marked = 1
                at = end
            elif buffer[at + 1] == 46:
                following, error = end_marker(buffer, at, end, final, state[EOL])
                if error != OK:
                    return LINE_ERROR, at, at, count, error
                if following < 0:
                    return LINE_CUT, at, at, 0, OK
                state[ENDED] = 1
                break
            else:
                marked = 1
                check = check or buffer[at + 1] >= 0x80 or buffer[at + 1] == 0
                at += 2
        else:
            check = True
            at += 1
    if at == start and (state[ENDED] != 0 or following == start):
        return LINE_END, at, following, 0, OK
    if count < columns_count:
        fields[count, END] = at
        fields[count, MARKED] = marked
    if check:
        error = check_encoding(buffer, start, at)
        if error != OK:
            return LINE_ERROR, at, at, count, error
    return LINE_ROW, at, following, count + 1, OK


@kernel
def end_of_line(buffer: Bytes, at: int, end: int, final: bool, state: Array) -> tuple[int, int]:
    """-> (start of the next line, error), or -1 when more bytes are needed to know: the first line fixes how lines end."""
    style = state[EOL]
    if buffer[at] == 10:
        if style == EOL_RETURN or style == EOL_BOTH:
            return at, LITERAL_NEWLINE
        state[EOL] = EOL_NEWLINE
        return at + 1, OK
    if style == EOL_NEWLINE:
        return at, CARRIAGE_RETURN
    if style == EOL_UNKNOWN or style == EOL_BOTH:
        if at + 1 >= end and not final:
            return -1, OK
        if at + 1 < end and buffer[at + 1] == 10:
            state[EOL] = EOL_BOTH
            return at + 2, OK
        if style == EOL_BOTH:
            return at, CARRIAGE_RETURN
        state[EOL] = EOL_RETURN
    return at + 1, OK


@kernel
def end_marker(buffer: Bytes, at: int, end: int, final: bool, style: int) -> tuple[int, int]:
    """-> (where the data after the marker \\. at `at` starts, error), or -1 when more bytes are needed to know."""
    at += 2
    if style == EOL_BOTH:
        if at >= end:
            return (-1, OK) if not final else (at, END_MARKER_CORRUPT)
        if buffer[at] == 10:
            return at, END_MARKER_STYLE
        if buffer[at] != 13:
            return at, END_MARKER_CORRUPT
        at += 1
    if at >= end:
        return (-1, OK) if not final else (at, END_MARKER_CORRUPT)
    if buffer[at] != 13 and buffer[at] != 10:
        return at, END_MARKER_CORRUPT
    if (style == EOL_NEWLINE or style == EOL_BOTH) and buffer[at] != 10:
        return at, END_MARKER_STYLE
    if style == EOL_RETURN and buffer[at] != 13:
        return at, END_MARKER_STYLE
    return at + 1, OK
