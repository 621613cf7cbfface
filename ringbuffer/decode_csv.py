"""COPY's CSV format: quoted fields with line ends inside, quote and escape characters, and \\. alone on a line as the end.

Enters: bytes cut anywhere. Leaves: morsels, or the first bad field as a RowError, by PostgreSQL 15's rules. Every field's meaning is in
copy_rows and store_field.
"""

from __future__ import annotations

from dataclasses import dataclass

from ringbuffer import error_codes as codes
from ringbuffer.columns import Layout
from ringbuffer.copy_rows import (
    CONSUMED,
    DELIMITER,
    END,
    ENDED,
    EOL,
    EOL_BOTH,
    EOL_NEWLINE,
    ERROR,
    ERROR_COLUMN,
    ERROR_END,
    ERROR_IN_HEAP,
    ERROR_START,
    ESCAPE,
    FALLBACKS_USED,
    FORCE_NOT_NULL,
    FORCE_NULL,
    HIGH,
    LINE,
    LINE_CUT,
    LINE_END,
    LINE_ERROR,
    LINE_ROW,
    MARKED,
    NEWLINE,
    NUL,
    ORDINARY,
    QUOTE,
    RETURN,
    START,
    CopyDecoder,
    byte_classes,
    convert_row,
)
from ringbuffer.decode_text import end_marker, end_of_line
from ringbuffer.fields import Bytes
from ringbuffer.jit import kernel
from ringbuffer.memory import borrowed
from ringbuffer.row_block import FORCE, Array
from ringbuffer.slow_fields import FALLBACKS_MAX, Fallback
from ringbuffer.store_field import check_encoding
from ringbuffer.time_zones import Offsets, Transitions

OK = codes.OK
CARRIAGE_RETURN = codes.CARRIAGE_RETURN
LITERAL_NEWLINE = codes.LITERAL_NEWLINE
UNQUOTED_CARRIAGE_RETURN = codes.UNQUOTED_CARRIAGE_RETURN
UNQUOTED_NEWLINE = codes.UNQUOTED_NEWLINE
UNTERMINATED_QUOTE = codes.UNTERMINATED_QUOTE
EXTRA_COLUMN = codes.EXTRA_COLUMN
MISSING_COLUMN = codes.MISSING_COLUMN
NULL_VIOLATION = codes.NULL_VIOLATION
END_MARKER_CORRUPT = codes.END_MARKER_CORRUPT


@dataclass(frozen=True)
class CsvFormat:
    """Options of COPY ... (FORMAT csv). delimiter, quote, escape: one byte each. force_*: names of columns of the layout."""

    delimiter: str = ","
    null: str = ""
    header: bool = False
    quote: str = '"'
    escape: str = '"'
    force_not_null: frozenset[str] = frozenset()
    force_null: frozenset[str] = frozenset()


class CsvDecoder(CopyDecoder):
    """Decodes COPY CSV for one statement."""

    def __init__(
        self, layout: Layout, options: CsvFormat = CsvFormat(), fallback: Fallback | None = None, time_zone: str = "UTC"
    ) -> None:
        quote, escape = ord(options.quote), ord(options.escape)
        # The last class of a byte holds: an escape that is the quote is a quote to the lines.
        classes = byte_classes(escape=escape, quote=quote, delimiter=ord(options.delimiter))
        if "\\" not in (options.delimiter, options.quote, options.escape):
            classes[ord("\\")] = ORDINARY
        settings = (classes, quote, escape)
        super().__init__(layout, decode_csv, settings, options.null, options.header, fallback, time_zone)
        for index, column in enumerate(layout):
            self.plan.columns[index, FORCE] = (FORCE_NULL if column.name in options.force_null else 0) | (
                FORCE_NOT_NULL if column.name in options.force_not_null else 0
            )


@kernel
def decode_csv(
    buffer: Bytes, start: int, end: int, final: bool, header: bool, classes: Bytes, quote: int, escape: int, null_text: Bytes,
    columns: Array, transitions: Transitions, offsets: Offsets, block: Bytes, capacity: int, heap: Bytes, fields: Array,
    fallbacks: Array, state: Array,
) -> int:  # fmt: skip
    """-> rows stored in `block`. state, fields int64[columns + 1, 3] and fallbacks int64[m, 6]: see copy_rows."""
    buffer, classes, null_text, columns = borrowed(buffer), borrowed(classes), borrowed(null_text), borrowed(columns)
    transitions, offsets, block, heap = borrowed(transitions), borrowed(offsets), borrowed(block), borrowed(heap)
    fields, fallbacks, state = borrowed(fields), borrowed(fallbacks), borrowed(state)
    row = 0
    columns_count = columns.shape[0]
    state[CONSUMED] = start
    while row < capacity and state[FALLBACKS_USED] < FALLBACKS_MAX:
        status, line_end, following, fields_count, lines, error = read_csv_line(
            buffer, start, end, final, classes, columns_count, fields, state
        )
        if status == LINE_CUT:
            break
        state[LINE] += lines
        if status == LINE_END:
            state[CONSUMED] = following
            break
        if status == LINE_ROW and header:
            header = False
            error = OK
        elif status == LINE_ROW:
            if error == OK:
                error = EXTRA_COLUMN
                if fields_count <= columns_count:
                    error = convert_row(
                        columns, fields, fields_count, row, buffer, null_text, True, quote, escape, block, capacity, heap,
                        fallbacks, transitions, offsets, state,
                    )  # fmt: skip
            row += 1
        if error != OK:
            state[ERROR] = error
            whole = status == LINE_ERROR or error == EXTRA_COLUMN or error == UNTERMINATED_QUOTE
            if whole:
                state[ERROR_COLUMN] = -1
            if whole or error == MISSING_COLUMN or error == NULL_VIOLATION:
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
def read_csv_line(
    buffer: Bytes, start: int, end: int, final: bool, classes: Bytes, columns_count: int, fields: Array,
    state: Array,
) -> tuple[int, int, int, int, int, int]:  # fmt: skip
    """-> (what it is, end of its data, start of the next, fields, lines, error): find the record at `start` and its fields."""
    at = start
    following = end
    count = 0
    lines = 1
    fields[0, START] = start
    marked = 0
    quoted = False
    # As in PostgreSQL, an escape hides a quote only inside quotes, and not when it is itself hidden.
    hidden = False
    check = False
    if start < end and buffer[start] == 92:
        following, error = csv_end_marker(buffer, start, end, final, state[EOL])
        if following < 0:
            return LINE_CUT, at, at, 0, 0, OK
        if error != OK:
            return LINE_ERROR, at, at, 0, lines, error
        if following > start:
            state[ENDED] = 1
            return LINE_END, at, following, 0, lines, OK
        following = end
    while True:
        before = at
        while at < end and classes[buffer[at]] == ORDINARY:
            at += 1
        if at > before:
            hidden = False
        if at >= end:
            if not final:
                return LINE_CUT, at, at, 0, 0, OK
            break
        byte_class = classes[buffer[at]]
        if byte_class == QUOTE:
            if not hidden:
                quoted = not quoted
            hidden = False
            marked = 1
            at += 1
        elif byte_class == ESCAPE:
            hidden = quoted and not hidden
            at += 1
        elif byte_class == HIGH or byte_class == NUL:
            hidden = False
            check = True
            at += 1
        elif quoted:
            hidden = False
            if buffer[at] == (10 if state[EOL] == EOL_NEWLINE else 13):
                lines += 1
            at += 1
        elif byte_class == DELIMITER:
            hidden = False
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
                error = UNQUOTED_NEWLINE if error == LITERAL_NEWLINE else UNQUOTED_CARRIAGE_RETURN
                return LINE_ERROR, at, at, count, lines, error
            if following < 0:
                return LINE_CUT, at, at, 0, 0, OK
            break
        else:
            at += 1
    if at == start and following == start:
        return LINE_END, at, following, 0, lines, OK
    if count < columns_count:
        fields[count, END] = at
        fields[count, MARKED] = marked
    if check:
        error = check_encoding(buffer, start, at)
        if error != OK:
            return LINE_ERROR, at, at, count, lines, error
    return LINE_ROW, at, following, count + 1, lines, (UNTERMINATED_QUOTE if quoted else OK)


@kernel
def csv_end_marker(buffer: Bytes, start: int, end: int, final: bool, style: int) -> tuple[int, int]:
    """-> (where the data after a marker \\. at `start` begins, error); `start` when it is data, -1 when more bytes are needed."""
    if start + 1 >= end:
        return (start if final else -1), OK
    if buffer[start + 1] != 46:
        return start, OK
    following, error = end_marker(buffer, start, end, final, style)
    if error == END_MARKER_CORRUPT or (error != OK and style == EOL_BOTH and buffer[start + 2] == 10):
        return start, OK
    return following, error
