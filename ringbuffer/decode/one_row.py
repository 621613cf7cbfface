"""One row of Bind parameters or literals, decoded into the same memory each time, without an
object.

Enters: the bytes of one parameter block (see decode_parameters) whose column types and formats are
fixed, or the text of one row (see LiteralDecoder). Leaves: one morsel, always the same, of whole
rows: columns that are not given keep the value that they began with. Fields that no kernel reads
are decoded as strings, and read by functions of the caller. Any row that isn't plain and right is
refused without a reason; the caller decodes it again in the general way, which knows the reason.
For one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import entry_of, kernel
from ringbuffer.decode.literals import NO_COLUMNS, STATE_WORDS, AskTime, literal_plan, literals_entry, timed
from ringbuffer.decode.parameters import HEAP_SPARE_BYTES, decode_parameter_rows, signed_int32
from ringbuffer.decode.slow_fields import NO_ZONE
from ringbuffer.memory.columns import INLINE_BYTES_MAX, Layout, Morsel
from ringbuffer.memory.error_codes import OK
from ringbuffer.memory.few_rows import string_at, string_words
from ringbuffer.memory.row_block import CAPACITY_STEP, PADDING_BYTES, Array, RowBlock
from ringbuffer.memory.widening import widen, widenings
from ringbuffer.scalar.calendars.time_zones import Zone
from ringbuffer.scalar.numbers.fields import Bytes

# What is longer is left to the general decoders: buffers of this size are kept per prepared
# statement.
BLOCK_BYTES_MAX = 2048


# Where the heap has room for what readers return: after what a block may fill, as much again.
READ_OFFSET = 2 * BLOCK_BYTES_MAX + HEAP_SPARE_BYTES
HEAP_BYTES = READ_OFFSET + 2 * BLOCK_BYTES_MAX

# Returns the string, or the number, that a column stores for a field; None where the field needs
# the general way.
Reader = Callable[[bytes], bytes | int | None]

# The machine code of `decode_block`, for the types that all rows have.
_entries: list[Callable[..., Any]] = []


class OneRow:
    """A row that is filled again and again.

    Attributes:
        morsel: the whole row, valid until the next `fill`.

    Arguments:
        layout: of the parameters as they arrive.
        formats: 0 text, 1 binary, by parameter.
        start: the row before the first `fill`, without long strings.
        targets: the column of `start` that each parameter gives, of the same type or a wider one.
        read: the parameters that are decoded as strings, and read by `Reader`s.
        takes: of literals, as of a `LiteralDecoder`.
    """

    def __init__(
        self,
        layout: Layout,
        formats: Sequence[int],
        start: Morsel,
        targets: Sequence[int],
        read: Sequence[int] = (),
        takes: Mapping[int, int] = NO_COLUMNS,
    ) -> None:
        assert start.rows_count == 1 and len(start.heap) == 0
        self._plan = plan = literal_plan(layout, takes)
        self._formats = np.array(formats, dtype=np.int8)
        self._buffer = np.zeros(BLOCK_BYTES_MAX + PADDING_BYTES, dtype=np.uint8)
        self._view = self._buffer.data
        self._block = plan.new_block(CAPACITY_STEP)
        self._heap = np.zeros(HEAP_BYTES if read else READ_OFFSET, dtype=np.uint8)
        self._heap_view = self._heap.data
        self._state = np.zeros(STATE_WORDS, dtype=np.int64)
        self._starts = np.zeros(1, dtype=np.int64)
        # No room for a field that needs Python, and no zone: either is an error to the kernel.
        self._slow = np.zeros((0, 4), dtype=np.int64)
        given = plan.morsel(self._block, CAPACITY_STEP, 1, self._heap)
        data = [column.copy() for column in start.data]
        nulls = [column.copy() for column in start.nulls]
        widened = []
        for index, target in enumerate(targets):
            if given.data[index].dtype == data[target].dtype and given.data[index].shape == data[target].shape:
                data[target] = given.data[index]
            elif index in read:
                # The number of a field, which itself is a string.
                pass
            else:
                widened.append((given.data[index], data[target]))
            nulls[target] = given.nulls[index]
        self._fields = [
            (given.data[index].data.cast("B"), given.nulls[index].data, data[targets[index]]) for index in read
        ]
        self.morsel = Morsel(1, tuple(data), tuple(nulls), self._heap)
        self._widenings = widenings(widened)
        rows = RowBlock(plan.columns, self._block, CAPACITY_STEP, self._heap)
        # What the kernels take after the place of the row.
        self._literals = (rows, NO_ZONE, self._slow, self._state)
        self._parameters = (self._formats, *self._literals, self._widenings)
        self._decode_literals = literals_entry(self._buffer, 0, 0, *self._literals)
        if not _entries:
            _entries.append(entry_of(decode_block, self._buffer, 0, self._starts, *self._parameters))
        self._decode_block = _entries[0]

    def fill(self, data: bytes, start: int, end: int, readers: Sequence[Reader] = ()) -> bool:
        """Decode data[start:end], which must be one block and nothing else.

        readers: of the fields that no kernel reads. False: it is not, or the block needs the
        general way.
        """
        size = end - start
        if size > BLOCK_BYTES_MAX:
            return False
        self._view[:size] = data[start:end]
        is_filled: bool = self._decode_block(self._buffer, size, self._starts, *self._parameters)
        return is_filled and (not self._fields or self._read(readers))

    def _read(self, readers: Sequence[Reader]) -> bool:
        """Put values in place of the fields that no kernel reads.

        False: one of them needs the general way.
        """
        heap, end = self._heap_view, READ_OFFSET
        for (words, is_null, target), read in zip(self._fields, readers, strict=True):
            if is_null[0]:
                target[:] = 0
                continue
            field = string_at(words, heap)
            value = read(field)
            if value is None:
                return False
            if isinstance(value, int):
                target[0] = value
            elif value is not field:
                words[:] = string_words(value, end)
                if len(value) > INLINE_BYTES_MAX:
                    if end + len(value) > HEAP_BYTES:
                        return False
                    heap[end : end + len(value)] = value
                    end += len(value)
        return True

    def fill_literals(
        self, text: bytes, start: int, readers: Sequence[Reader] = (), ask_time: AskTime | None = None
    ) -> bool:
        """Decode text[start:], which must be one `(literal, ...)`; a semicolon may follow.

        readers: of the literals that no kernel reads. False: it is not, or the literals are not
        plain.
        """
        size = len(text)
        if size > BLOCK_BYTES_MAX:
            return False
        self._view[:size] = text
        rows_count, error = timed(
            ask_time, self._state, self._decode_literals, self._buffer, start, size, *self._literals
        )
        if rows_count != 1 or error != OK or len(self._widenings):
            return False
        return not self._fields or self._read(readers)


@kernel
def decode_block(
    buffer: Bytes,
    size: int,
    starts: npt.NDArray[np.int64],
    formats: npt.NDArray[np.int8],
    rows: RowBlock,
    zone: Zone,
    slow: Array,
    state: Array,
    table: Array,
) -> bool:
    """Decode one block into row 0 of a row block, and widen the values.

    Return whether that was possible.

    buffer[starts[0] : size] must be the parameter block. starts: int64[1]; table: int64[n, 4], see
    `widen`.
    """
    at = starts[0]
    for _ in range(rows.columns.shape[0]):
        if at + 4 > size:
            return False
        length = signed_int32(buffer, at)
        if length < -1:
            return False
        at += 4 + max(length, 0)
    if at != size:
        return False
    error, _, slow_used = decode_parameter_rows(buffer, size, starts, formats, rows, zone, slow, state)
    if error != OK or slow_used != 0:
        return False
    widen(table)
    return True
