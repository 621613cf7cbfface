"""A line of COPY's text format: its fields, by PostgreSQL 15's rules.

Enter: `buffer` uint8[n] with the line at `start` and bytes up to `end`. Leave: the kind of the
line, and `fields` int64[columns + 1, 3]. Must not know types or values of columns.
"""

from __future__ import annotations

from ringbuffer.compile.jit import inlined_kernel
from ringbuffer.decode.copy_lines import (
    BACKSLASH,
    DELIMITER,
    END,
    ENDED,
    EOL,
    LINE_CUT,
    LINE_END,
    LINE_ERROR,
    LINE_ROW,
    MARKED,
    NEWLINE,
    NUMBERED,
    ORDINARY,
    RETURN,
    START,
    end_marker,
    end_of_line,
)
from ringbuffer.decode.store_field import check_encoding
from ringbuffer.memory.error_codes import OK
from ringbuffer.memory.row_block import Array
from ringbuffer.scalar.numbers.fields import Bytes


@inlined_kernel
def read_text_line(
    buffer: Bytes, start: int, end: int, final: bool, classes: Bytes, columns_count: int, fields: Array, state: Array
) -> tuple[int, int, int, int, int, int]:
    """Find the line at `start` and its fields.

    Returns (kind, end of its data, start of the next line, fields, lines, error).
    """
    at = start
    following = end
    count = 0
    fields[0, START] = start
    state[NUMBERED] = 0
    marked = 0
    check = False
    while True:
        while at < end and classes[buffer[at]] == ORDINARY:
            at += 1
        if at >= end:
            if not final:
                return LINE_CUT, at, at, 0, 1, OK
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
        elif byte_class in (NEWLINE, RETURN):
            following, error = end_of_line(buffer, at, end, final, state)
            if error != OK:
                return LINE_ERROR, at, at, count, 1, error
            if following < 0:
                return LINE_CUT, at, at, 0, 1, OK
            break
        elif byte_class == BACKSLASH:
            if at + 1 >= end:
                if not final:
                    return LINE_CUT, at, at, 0, 1, OK
                marked = 1
                at = end
            elif buffer[at + 1] == 46:
                following, error = end_marker(buffer, at, end, final, state[EOL])
                if error != OK:
                    return LINE_ERROR, at, at, count, 1, error
                if following < 0:
                    return LINE_CUT, at, at, 0, 1, OK
                state[ENDED] = 1
                break
            else:
                marked = 1
                check = check or buffer[at + 1] >= 0x80 or buffer[at + 1] == 0
                if buffer[at + 1] == 120 or 48 <= buffer[at + 1] <= 55:
                    state[NUMBERED] = 1
                at += 2
        else:
            check = True
            at += 1
    if at == start and (state[ENDED] != 0 or following == start):
        return LINE_END, at, following, 0, 1, OK
    if count < columns_count:
        fields[count, END] = at
        fields[count, MARKED] = marked
    if check:
        error = check_encoding(buffer, start, at)
        if error != OK:
            return LINE_ERROR, at, at, count, 1, error
    return LINE_ROW, at, following, count + 1, 1, OK
