"""COPY's lines into the rows of one morsel: plain lines many at a time, all others one at a time.

Enter: bytes, and the memory of a row block. Leave: rows in the block, or the first bad field in the
decoder's state. After many lines in a row that are not plain, plain lines are looked for more and
more rarely. Must not know what lines or fields look like.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.decode.copy_columns import store_lines
from ringbuffer.decode.copy_fields import find_fields
from ringbuffer.decode.copy_lines import (
    CONSUMED,
    ENDED,
    EOL,
    EOL_NEWLINE,
    EOL_UNKNOWN,
    FALLBACKS_USED,
    HEAP_USED,
    LINE,
    CopyFormat,
    CopyProgress,
)
from ringbuffer.decode.copy_rows import decode_lines
from ringbuffer.decode.slow_fields import FALLBACKS_MAX
from ringbuffer.memory.row_block import Array, RowBlock
from ringbuffer.scalar.numbers.fields import Bytes

# So many plain lines are taken at once; with fewer than FEW_LINES at once twice as many others
# follow as before, up to OTHERS_MAX.
PLAIN_LINES = 256
FEW_LINES = 16
OTHERS_MAX = 4096


@kernel
def decode_copy(
    buffer: Bytes,
    start: int,
    end: int,
    final: bool,
    header: bool,
    written: CopyFormat,
    block: RowBlock,
    ends: Array,
    progress: CopyProgress,
) -> int:
    """Store lines as rows in `block`; return how many.

    ends: see copy_fields, empty when no line is to count as plain.
    """
    state, capacity = progress.state, block.capacity
    columns_count = block.columns.shape[0]
    row = 0
    others = 1 if ends.shape[0] > 0 else capacity
    state[CONSUMED] = start
    while row < capacity and state[FALLBACKS_USED] < FALLBACKS_MAX and state[ENDED] == 0:
        if ends.shape[0] > 0 and state[EOL] == EOL_NEWLINE and state[CONSUMED] < end:
            start = state[CONSUMED]
            lines = find_fields(buffer, start, end, written, columns_count, min(PLAIN_LINES, capacity - row), ends)
            stored = 0
            if lines > 0:
                stored, state[HEAP_USED] = store_lines(
                    buffer, start, ends, written.plain, block, lines, row, state[HEAP_USED], written.zone
                )
            if stored > 0:
                row += stored
                state[LINE] += stored
                state[CONSUMED] = start + ends[stored * columns_count] + 1
            others = 1 if stored >= FEW_LINES else min(2 * others, OTHERS_MAX)
            if stored == PLAIN_LINES or row == capacity:
                continue
        elif state[EOL] != EOL_UNKNOWN:
            others = capacity
        rows_end = min(capacity, row + others)
        has_header = header and state[LINE] == 0
        row = decode_lines(buffer, state[CONSUMED], end, final, has_header, written, block, row, rows_end, progress)
        if row < rows_end:
            break
    return row
