r"""The common rules of COPY's two formats: ends of lines, the end marker \., classes of bytes.

Enter: `buffer` uint8[n] with bytes up to `end`, and the decoder's `state` int64[16]. Must not know
columns or values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import CARRIAGE_RETURN, END_MARKER_CORRUPT, END_MARKER_STYLE, LITERAL_NEWLINE, OK
from ringbuffer.memory.row_block import Array
from ringbuffer.scalar.calendars.time_zones import Zone
from ringbuffer.scalar.numbers.fields import Bytes

# What a format's kernel keeps and tells, int64[16]. NUMBERED: the line has escapes that give a byte
# by its number, so that its fields' encoding must be checked once more.
EOL, LINE, CONSUMED, HEAP_USED, FALLBACKS_USED, ENDED, NUMBERED = range(7)
ERROR, ERROR_COLUMN, ERROR_IN_HEAP, ERROR_START, ERROR_END = range(7, 12)
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


class CopyFormat(NamedTuple):
    """How the lines of a COPY are written.

    Attributes:
        csv: the format is CSV, not text.
        delimiter, quote, escape: bytes.
        classes: uint8[256], the class of each byte.
        null_text: uint8[n], how NULL is written, and PADDING_BYTES more that are readable.
        plain: int64[4], see copy_columns.
        zone: of times that name none.
    """

    csv: bool
    delimiter: int
    quote: int
    escape: int
    classes: Bytes
    null_text: Bytes
    plain: Array
    zone: Zone


class CopyProgress(NamedTuple):
    """The progress of a COPY, which its kernels keep and report.

    Attributes:
        fields: int64[columns + 1, 3], see START.
        fallbacks: int64[n, 6], see FALLBACK_ROW.
        state: int64[16], see EOL.
    """

    fields: Array
    fallbacks: Array
    state: Array


@kernel
def end_of_line(buffer: Bytes, at: int, end: int, final: bool, state: Array) -> tuple[int, int]:
    """Return (start of the next line, error), or -1 when more bytes are needed.

    The first line decides how lines end.
    """
    style = state[EOL]
    if buffer[at] == 10:
        if style in (EOL_RETURN, EOL_BOTH):
            return at, LITERAL_NEWLINE
        state[EOL] = EOL_NEWLINE
        return at + 1, OK
    if style == EOL_NEWLINE:
        return at, CARRIAGE_RETURN
    if style in (EOL_UNKNOWN, EOL_BOTH):
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
    r"""Return (where the data after the marker \. at `at` starts, error), or -1 when more bytes are
    needed.
    """
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
    if (style in (EOL_NEWLINE, EOL_BOTH)) and buffer[at] != 10:
        return at, END_MARKER_STYLE
    if style == EOL_RETURN and buffer[at] != 13:
        return at, END_MARKER_STYLE
    return at + 1, OK


def byte_classes(**classes: int) -> npt.NDArray[np.uint8]:
    """Return the class of each byte value, uint8[256].

    The arguments name characters by their class, as delimiter=9.
    """
    table = np.zeros(256, dtype=np.uint8)
    table[0x80:] = HIGH
    table[0] = NUL
    table[ord("\n")] = NEWLINE
    table[ord("\r")] = RETURN
    table[ord("\\")] = BACKSLASH
    for name, byte in classes.items():
        table[byte] = {"delimiter": DELIMITER, "quote": QUOTE, "escape": ESCAPE}[name]
    return table
