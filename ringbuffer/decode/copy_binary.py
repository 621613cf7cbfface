"""COPY BINARY, fed in pieces cut anywhere, to morsels: PostgreSQL's header, tuples, and end marker.

Enters: bytes. Leaves: morsels of at most 65,536 rows, or the first bad row as a RowError; the
caller checks whether fields before a wrong size are right. A tuple is a count of fields and then
what Bind has of a row, so that the same kernel stores the fields. Columns that have no kernel come
as their bytes, in a TEXT column. Must not know SQL types.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.decode.copy_decoder import CUT_BYTES_MIN, heap_part
from ringbuffer.decode.parameters import (
    BINARY_VALUES,
    ERROR_COLUMN,
    ERROR_END,
    ERROR_ROW,
    ERROR_START,
    HEAP_SPARE_BYTES,
    RAW_BYTES,
    STATE_WORDS,
    decode_parameter_rows,
    signed_int16,
    signed_int32,
)
from ringbuffer.decode.slow_fields import NO_ZONE
from ringbuffer.memory import error_codes as codes
from ringbuffer.memory.columns import Layout, Morsel
from ringbuffer.memory.error_codes import RowError
from ringbuffer.memory.row_block import CAPACITY_STEP, MORSEL_ROWS_MAX, PADDING_BYTES, RowBlock, RowPlan
from ringbuffer.scalar.numbers.fields import Bytes

SIGNATURE = b"PGCOPY\n\xff\r\n\0"
COUNT_BYTES = 2
LENGTH_BYTES = 4
WITH_OIDS = 1 << 16
CRITICAL_FLAGS_SHIFT = 16
END_MARKER = -1

# How the walk over tuples ended: there is no more room, or no whole tuple; at the end marker; at a
# wrong count or size.
FULL, CUT, ENDED, WRONG_COUNT, WRONG_SIZE = range(5)
NO_SLOW_FIELDS = np.zeros((0, 4), dtype=np.int64)


class BinaryDecoder:
    """A decoder that takes bytes of COPY BINARY and returns morsels.

    Attributes:
        rows_count: rows of all morsels so far.

    Arguments:
        raw: which columns of the layout come as their bytes.
    """

    def __init__(self, layout: Layout, raw: Sequence[bool]) -> None:
        self.rows_count = 0
        self.plan = RowPlan(layout)
        self._columns_count = len(layout)
        self._formats = np.array([RAW_BYTES if item else BINARY_VALUES for item in raw], dtype=np.int8)
        self._state = np.zeros(STATE_WORDS, dtype=np.int64)
        self._pending = bytearray()
        self._wait_bytes = 0
        self._skip_bytes = -1
        self._has_ended = False
        self._error: RowError | None = None

    @property
    def lines_count(self) -> int:
        """How many tuples have become rows."""
        return self.rows_count

    @property
    def pending_bytes(self) -> memoryview:
        """A copy of the bytes that were fed and have not become a row yet."""
        # numpy copies without the interpreter's lock.
        return np.frombuffer(self._pending, dtype=np.uint8).copy().data

    def keeps(self, bytes_count: int) -> bool:
        """Tell whether `feed` would only keep so many more bytes, since their row is longer."""
        return len(self._pending) + bytes_count < self._wait_bytes

    def feed(self, data: bytes | bytearray | memoryview) -> list[Morsel]:
        """Take some bytes and return the rows that are complete.

        Raises RowError, after the rows before the error were returned.
        """
        self._pending += data
        if len(self._pending) < self._wait_bytes or not self._passes_header():
            return []
        return self._decode_pending()

    def finish(self) -> list[Morsel]:
        """Return the last rows; the end marker may be missing.

        Raises RowError for a header or a tuple that is cut off.
        """
        if not self._passes_header():
            raise RowError(self._header_error(), 0)
        morsels = self._decode_pending()
        if self._error is not None:
            raise self._error
        if len(self._pending) >= COUNT_BYTES:
            column, line = int(self._state[ERROR_COLUMN]), self.rows_count + 1
            raise RowError(codes.COPY_END, self.rows_count, column, line=line, raw=bytes(self._pending[COUNT_BYTES:]))
        return morsels

    def _passes_header(self) -> bool:
        """Remove the header; False while a part of it is missing. Raises RowError."""
        pending = self._pending
        if self._skip_bytes < 0:
            if len(pending) < len(SIGNATURE) + 2 * LENGTH_BYTES:
                return False
            error = header_error(pending)
            if error != codes.OK:
                raise RowError(error, 0)
            self._skip_bytes = int.from_bytes(pending[15:19], "big")
            del pending[:19]
        taken = min(self._skip_bytes, len(pending))
        del pending[:taken]
        self._skip_bytes -= taken
        return self._skip_bytes == 0

    def _header_error(self) -> int:
        """Return the error of a header that is cut off."""
        if self._skip_bytes > 0:
            return codes.COPY_HEADER_EXTENSION
        return header_error(self._pending)

    def _decode_pending(self) -> list[Morsel]:
        morsels: list[Morsel] = []
        if self._error is None:
            try:
                self._decode_tuples(morsels)
            except RowError as error:
                self._error = error
        if self._error is not None and not morsels:
            raise self._error
        return morsels

    def _decode_tuples(self, morsels: list[Morsel]) -> None:
        pending, self._pending = self._pending, bytearray()
        end = len(pending)
        pending += bytes(PADDING_BYTES)
        buffer = np.frombuffer(pending, dtype=np.uint8)
        start = 0
        status = FULL
        while status == FULL and not self._has_ended:
            rows_max = min(MORSEL_ROWS_MAX, (end - start) // (COUNT_BYTES + LENGTH_BYTES * self._columns_count) + 1)
            starts = np.empty(rows_max, dtype=np.int64)
            rows_count, after, status, place = walk_tuples(buffer, start, end, self._columns_count, starts)
            if rows_count:
                morsels.append(self._morsel(buffer, start, after, starts[:rows_count]))
            start = after
            if status in (WRONG_COUNT, WRONG_SIZE):
                raise self._tuple_error(buffer, start, status, place)
            self._state[ERROR_COLUMN] = place
        if status == ENDED:
            self._has_ended = True
        if self._has_ended and start < end:
            raise RowError(codes.COPY_AFTER_END, self.rows_count, line=self.rows_count + 1)
        self._pending += memoryview(pending)[start:end]
        # A tuple that is longer than all the bytes so far is not walked again at each feed, only
        # when they have doubled.
        self._wait_bytes = 2 * len(self._pending) if len(self._pending) > CUT_BYTES_MIN else 0

    def _morsel(self, buffer: npt.NDArray[np.uint8], start: int, end: int, starts: npt.NDArray[np.int64]) -> Morsel:
        rows_count = len(starts)
        capacity = (rows_count + CAPACITY_STEP - 1) // CAPACITY_STEP * CAPACITY_STEP
        block = self.plan.new_block(capacity)
        heap = np.empty(2 * (end - start) + HEAP_SPARE_BYTES, dtype=np.uint8)
        error, used, _ = decode_parameter_rows(
            buffer,
            end,
            starts,
            self._formats,
            RowBlock(self.plan.columns, block, capacity, heap),
            NO_ZONE,
            NO_SLOW_FIELDS,
            self._state,
        )
        if error != codes.OK:
            row, column, first, last = (
                int(self._state[at]) for at in (ERROR_ROW, ERROR_COLUMN, ERROR_START, ERROR_END)
            )
            number = self.rows_count + row
            raise RowError(error, number, column, line=number + 1, raw=buffer[first:last].tobytes())
        self.rows_count += rows_count
        return self.plan.morsel(block, capacity, rows_count, heap_part(heap, used))

    def _tuple_error(self, buffer: npt.NDArray[np.uint8], at: int, status: int, place: int) -> RowError:
        line = self.rows_count + 1
        if status == WRONG_COUNT:
            wrong = f"row field count is {signed_int16(buffer, at)}, expected {self._columns_count}"
            return RowError(codes.COPY_FIELD_COUNT, self.rows_count, field=wrong, line=line)
        raw = buffer[at + COUNT_BYTES : -PADDING_BYTES].tobytes()
        return RowError(codes.COPY_FIELD_SIZE, self.rows_count, place, line=line, raw=raw)


def header_error(data: bytes | bytearray) -> int:
    """Return the code of what is wrong with a header, or missing of it; 0 for a whole one."""
    signature, flags, length = data[:11], data[11:15], data[15:19]
    if signature != SIGNATURE:
        return codes.COPY_SIGNATURE
    if len(flags) < LENGTH_BYTES:
        return codes.COPY_FLAGS
    number = int.from_bytes(flags, "big")
    if number & WITH_OIDS:
        return codes.COPY_WITH_OIDS
    if number >> CRITICAL_FLAGS_SHIFT:
        return codes.COPY_CRITICAL_FLAGS
    if len(length) < LENGTH_BYTES or length[0] & 0x80:
        return codes.COPY_HEADER_LENGTH
    return codes.OK


@kernel
def walk_tuples(
    buffer: Bytes, at: int, end: int, columns_count: int, starts: npt.NDArray[np.int64]
) -> tuple[int, int, int, int]:
    """Return (tuples, where the next one begins, how it ended, column of a bad size or -1).

    buffer: uint8, of which bytes [at, end) are tuples. starts: int64[tuples at most], gets the
    places of the fields of each tuple.
    """
    rows_count = 0
    while rows_count < len(starts):
        if at + COUNT_BYTES > end:
            return rows_count, at, CUT, -1
        count = signed_int16(buffer, at)
        if count == END_MARKER:
            return rows_count, at + COUNT_BYTES, ENDED, -1
        if count != columns_count:
            return rows_count, at, WRONG_COUNT, -1
        place = at + COUNT_BYTES
        for column in range(columns_count):
            if place + LENGTH_BYTES > end:
                return rows_count, at, CUT, column
            size = signed_int32(buffer, place)
            place += LENGTH_BYTES
            if size < -1:
                return rows_count, at, WRONG_SIZE, column
            if size > end - place:
                return rows_count, at, CUT, column
            if size > 0:
                place += size
        starts[rows_count] = at + COUNT_BYTES
        rows_count += 1
        at = place
    return rows_count, at, FULL, -1
