"""The fields of many plain lines of COPY at once, in both formats, 64 bytes at a time.

A line is plain when it ends with a newline, has as many fields as there are columns, quotes only
around whole fields and without line ends or quotes within, and no escapes, carriage returns or zero
bytes; a backslash may begin a field. The search ends before the first line that is not plain: that
line is for `copy_csv_line` and `copy_text_line`, which know all of PostgreSQL's rules. Must not
know types of columns.
"""

from __future__ import annotations

from ringbuffer.compile.jit import inlined_kernel, kernel
from ringbuffer.decode.copy_lines import CopyFormat
from ringbuffer.decode.store_field import check_encoding
from ringbuffer.memory.addresses import load_byte, trailing_zeros
from ringbuffer.memory.byte_masks import BLOCK_BYTES, equal_mask, high_mask, ones_count
from ringbuffer.memory.row_block import Array
from ringbuffer.scalar.numbers.fields import Bytes

BACKSLASH, NEWLINE, RETURN = 92, 10, 13
# Of lines that are looked at together, so that a place in them is an int32.
SPAN_BYTES_MAX = 1 << 30


@inlined_kernel
def filled(bits: int) -> int:
    """Return a word with all bits set from each odd set bit up to the next one."""
    bits ^= bits << 1
    bits ^= bits << 2
    bits ^= bits << 4
    bits ^= bits << 8
    bits ^= bits << 16
    return bits ^ (bits << 32)


@inlined_kernel
def field_ends(
    address: int, csv: bool, delimiter: int, quote: int, escape: int, after_end: int, quoted: int, after_quote: int
) -> tuple[int, int, int, int, int, int]:
    """Return (ends of fields, newlines among them, what is not plain) of 64 bytes, and the next
    state.

    The next state is the last three arguments for the next 64 bytes. after_end: 1 when a field
    ended just before; quoted: -1 within quotes, else 0; after_quote: 1 when a quote was closed just
    before.
    """
    newlines = equal_mask(address, NEWLINE)
    ends = equal_mask(address, delimiter) | newlines
    odd = equal_mask(address, RETURN) | equal_mask(address, 0)
    if not csv:
        begins = (ends << 1) | after_end
        return ends, newlines, odd | (equal_mask(address, BACKSLASH) & ~begins), (ends >> 63) & 1, 0, 0
    quotes = equal_mask(address, quote)
    if escape != quote:
        odd |= equal_mask(address, escape)
    inside = filled(quotes) ^ quoted
    odd |= newlines & inside
    ends &= ~inside
    odd |= quotes & inside & ~((ends << 1) | after_end)
    closing = quotes & ~inside
    odd |= ((closing << 1) | after_quote) & ~ends
    return ends, newlines, odd, (ends >> 63) & 1, inside >> 63, (closing >> 63) & 1


@kernel
def find_fields(
    buffer: Bytes, start: int, end: int, written: CopyFormat, columns_count: int, rows_max: int, ends: Array
) -> int:
    """Return how many plain lines begin at `start`, at most `rows_max`, and write the ends of their
    fields.

    ends: int32[>= rows_max * columns_count + 65]; places count from `start`. ends[0] is -1, and
    field i of all lies between ends[i] + 1 and ends[i + 1]. 64 bytes after `end` can be read.
    """
    csv, delimiter, quote, escape = written.csv, written.delimiter, written.quote, written.escape
    address = buffer.ctypes.data + start
    size = min(end - start, SPAN_BYTES_MAX)
    room = ends.shape[0] - BLOCK_BYTES - 1
    ends[0] = -1
    rows, count, at = 0, 0, 0
    line_start, high_start = 0, -1
    after_end, quoted, after_quote = 1, 0, 0
    plain = not (csv and load_byte(address) == BACKSLASH)
    while plain and at < size and count <= room and rows < rows_max:
        found, newlines, odd, after_end, quoted, after_quote = field_ends(
            address + at, csv, delimiter, quote, escape, after_end, quoted, after_quote
        )
        if size - at < BLOCK_BYTES:
            odd |= -1 << (size - at)
        if high_start < 0 and high_mask(address + at) != 0:
            high_start = at + trailing_zeros(high_mask(address + at))
        if odd != 0:
            # What comes before the first of these counts.
            plain = False
            found &= (odd & -odd) - 1
        before = count
        rest = found
        while rest != 0:
            count += 1
            ends[count] = at + trailing_zeros(rest)
            rest &= rest - 1
        rest = found & newlines
        while rest != 0 and rows < rows_max:
            first = rest & -rest
            rest ^= first
            if before + ones_count(found & (first - 1)) + 1 != (rows + 1) * columns_count:
                plain = False
                break
            rows += 1
            line_start = at + trailing_zeros(first) + 1
            if csv and line_start < size and load_byte(address + line_start) == BACKSLASH:
                # It may be the marker of the end.
                plain = False
                break
        at += BLOCK_BYTES
    if 0 <= high_start < line_start and check_encoding(buffer, start + high_start, start + line_start) != 0:
        return 0
    return rows
