"""A record of COPY's CSV format: its fields, with line ends in quotes, by PostgreSQL 15's rules.

Enter: `buffer` uint8[n] with 8 readable bytes more; the record starts at `start`, bytes are known
up to `end`. Leave: the kind of the record, and `fields` int64[columns + 1, 3]. The record is read
in words of 8 bytes, of which only bytes are looked at that may mean something; delimiters, quotes
and escapes are words of eight such bytes. Must not know types or values of columns.
"""

from __future__ import annotations

from ringbuffer.compile.jit import inlined_kernel, kernel
from ringbuffer.decode.copy_lines import (
    DELIMITER,
    END,
    ENDED,
    EOL,
    EOL_BOTH,
    EOL_NEWLINE,
    ESCAPE,
    HIGH,
    LINE_CUT,
    LINE_END,
    LINE_ERROR,
    LINE_ROW,
    MARKED,
    NEWLINE,
    NUL,
    QUOTE,
    RETURN,
    START,
    CopyFormat,
    CopyProgress,
    end_marker,
    end_of_line,
)
from ringbuffer.decode.quick_values import HIGHS, ONES, WORD_BYTES
from ringbuffer.decode.store_field import check_encoding
from ringbuffer.memory.addresses import load_word, trailing_zeros
from ringbuffer.memory.error_codes import (
    END_MARKER_CORRUPT,
    LITERAL_NEWLINE,
    OK,
    UNQUOTED_CARRIAGE_RETURN,
    UNQUOTED_NEWLINE,
    UNTERMINATED_QUOTE,
)
from ringbuffer.scalar.numbers.fields import Bytes

SPACES = 0x2020202020202020


@inlined_kernel
def marks(word: int, delimiters: int, quotes: int, escapes: int) -> int:
    """Return a mask with the highest bit of each byte that may be special.

    Special are the three given bytes (each a word of eight of them), control characters, and bytes
    above 0x7F. The first mark is right for certain; a byte that is not special may be marked only
    after another mark.
    """
    delimited = word ^ delimiters
    quoted = word ^ quotes
    escaped = word ^ escapes
    found = ((delimited - ONES) & ~delimited) | ((quoted - ONES) & ~quoted) | ((escaped - ONES) & ~escaped)
    return (found | ((word - SPACES) & ~word) | word) & HIGHS


@inlined_kernel
def next_mark(
    address: int, base: int, end: int, found: int, delimiters: int, quotes: int, escapes: int
) -> tuple[int, int, int]:
    """Return (place of the next byte that may be special, or `end`; place of its word; the word's
    other marks).

    base: the place of the word whose marks are left in `found`; all places count from `address`.
    """
    while found == 0 and base + WORD_BYTES < end:
        base += WORD_BYTES
        found = marks(load_word(address + base), delimiters, quotes, escapes)
    if found == 0:
        return end, base, found
    return min(end, base + (trailing_zeros(found) >> 3)), base, found & (found - 1)


@inlined_kernel
def read_csv_line(
    buffer: Bytes, start: int, end: int, final: bool, written: CopyFormat, columns_count: int, progress: CopyProgress
) -> tuple[int, int, int, int, int, int]:
    """Find the record at `start` and its fields.

    Returns (kind, end of its data, start of the next record, fields, lines, error).
    """
    classes, fields, state = written.classes, progress.fields, progress.state
    delimiters, quotes, escapes = written.delimiter * ONES, written.quote * ONES, written.escape * ONES
    following = end
    count, lines, marked = 0, 1, 0
    fields[0, START] = start
    # As in PostgreSQL, an escape hides a quote only inside quotes, and not when it is itself
    # hidden.
    quoted = hidden = check = False
    if start < end and buffer[start] == 92:
        following, error = csv_end_marker(buffer, start, end, final, state[EOL])
        if following < 0:
            return LINE_CUT, start, start, 0, 0, OK
        if error != OK:
            return LINE_ERROR, start, start, 0, lines, error
        if following > start:
            state[ENDED] = 1
            return LINE_END, start, following, 0, lines, OK
        following = end
    address = buffer.ctypes.data
    base, before, found = start - WORD_BYTES, start - 1, 0
    while True:
        at, base, found = next_mark(address, base, end, found, delimiters, quotes, escapes)
        if at >= end:
            if not final:
                return LINE_CUT, at, at, 0, 0, OK
            break
        byte_class = classes[buffer[at]]
        was_hidden, hidden = hidden and at == before + 1, False
        before = at
        if byte_class == QUOTE:
            quoted = quoted == was_hidden
            marked = 1
        elif byte_class == ESCAPE:
            hidden = quoted and not was_hidden
        elif byte_class in (HIGH, NUL):
            check = True
        elif quoted:
            lines += 1 if buffer[at] == (10 if state[EOL] == EOL_NEWLINE else 13) else 0
        elif byte_class == DELIMITER:
            if count < columns_count:
                fields[count, END] = at
                fields[count, MARKED] = marked
                fields[count + 1, START] = at + 1
            count += 1
            marked = 0
        elif byte_class in (NEWLINE, RETURN):
            following, error = end_of_line(buffer, at, end, final, state)
            if error != OK:
                error = UNQUOTED_NEWLINE if error == LITERAL_NEWLINE else UNQUOTED_CARRIAGE_RETURN
                return LINE_ERROR, at, at, count, lines, error
            if following < 0:
                return LINE_CUT, at, at, 0, 0, OK
            break
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
    r"""Return (where the data after a marker \. at `start` begins, error).

    `start` means data and no marker, -1 that more bytes are needed.
    """
    if start + 1 >= end:
        return (start if final else -1), OK
    if buffer[start + 1] != 46:
        return start, OK
    following, error = end_marker(buffer, start, end, final, style)
    if error == END_MARKER_CORRUPT or (error != OK and style == EOL_BOTH and buffer[start + 2] == 10):
        return start, OK
    return following, error
