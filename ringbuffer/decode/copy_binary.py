"""COPY BINARY, fed in pieces cut anywhere, to morsels: PostgreSQL's header, tuples, and end marker.

Enters: bytes. Leaves: morsels of at most 65,536 rows, or the first bad row as a RowError; the
caller checks whether fields before a wrong size are right. Columns that have no kernel come as
their bytes, in a TEXT column. Must not know SQL types.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ringbuffer.decode.copy_decoder import CUT_ROWS_SPARE, PendingBytes, Piece, heap_part
from ringbuffer.decode.copy_tuples import (
    COUNT_BYTES,
    ENDED,
    FULL,
    LENGTH_BYTES,
    TUPLES_AT_ONCE,
    WRONG_COUNT,
    WRONG_SIZE,
    WRONG_VALUE,
    decode_tuples,
)
from ringbuffer.decode.parameters import (
    BINARY_VALUES,
    ERROR_COLUMN,
    ERROR_END,
    ERROR_START,
    HEAP_SPARE_BYTES,
    RAW_BYTES,
    STATE_WORDS,
    decode_parameter_rows,
)
from ringbuffer.decode.slow_fields import NO_ZONE
from ringbuffer.memory import error_codes as codes
from ringbuffer.memory.byte_masks import BLOCK_BYTES
from ringbuffer.memory.columns import Layout, Morsel
from ringbuffer.memory.error_codes import RowError
from ringbuffer.memory.row_block import RowBlock, RowPlan, rounded_capacity

SIGNATURE = b"PGCOPY\n\xff\r\n\0"
WITH_OIDS = 1 << 16
CRITICAL_FLAGS_SHIFT = 16
NO_SLOW_FIELDS = np.zeros((0, 4), dtype=np.int64)


class BinaryDecoder(PendingBytes):
    """A decoder that takes bytes of COPY BINARY and returns morsels.

    Attributes:
        rows_count: rows of all morsels so far.

    Arguments:
        raw: which columns of the layout come as their bytes.
    """

    def __init__(self, layout: Layout, raw: Sequence[bool]) -> None:
        super().__init__()
        self.rows_count = 0
        self.plan = RowPlan(layout)
        self._columns_count = len(layout)
        self._formats = np.array([RAW_BYTES if item else BINARY_VALUES for item in raw], dtype=np.int8)
        self._state = np.zeros(STATE_WORDS, dtype=np.int64)
        self._lengths = np.empty(len(layout), dtype=np.int64)
        self._places = np.empty(TUPLES_AT_ONCE * len(layout), dtype=np.int64)
        self._row_bytes = float(COUNT_BYTES + LENGTH_BYTES * len(layout))
        self._skip_bytes = -1
        self._has_ended = False
        self._error: RowError | None = None

    @property
    def lines_count(self) -> int:
        """How many tuples have become rows."""
        return self.rows_count

    def feed(self, *pieces: Piece) -> list[Morsel]:
        """Take some bytes and return the rows that are complete.

        Raises RowError, after the rows before the error were returned.
        """
        if self._skip_bytes != 0 or self.keeps(sum(map(len, pieces))):
            self._keep(*pieces)
            pieces = ()
            if len(self._pending) < self._wait_bytes or not self._passes_header():
                return []
        return self._decode(pieces)

    def finish(self) -> list[Morsel]:
        """Return the last rows; the end marker may be missing.

        Raises RowError for a header or a tuple that is cut off.
        """
        if not self._passes_header():
            raise RowError(self._header_error(), 0)
        morsels = self._decode(())
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

    def _decode(self, pieces: Sequence[Piece]) -> list[Morsel]:
        morsels: list[Morsel] = []
        if self._error is None:
            try:
                self._decode_tuples(self._taken(*pieces), morsels)
            except RowError as error:
                self._error = error
        if self._error is not None and not morsels:
            raise self._error
        return morsels

    def _decode_tuples(self, taken: bytearray, morsels: list[Morsel]) -> None:
        end = len(taken) - BLOCK_BYTES
        buffer = np.frombuffer(taken, dtype=np.uint8)
        start = 0
        status = FULL
        while status == FULL and not self._has_ended:
            before = start
            capacity = rounded_capacity(int((end - start) / self._row_bytes * 1.1) + CUT_ROWS_SPARE)
            block = self.plan.new_block(capacity)
            heap = np.empty(2 * (end - start) + HEAP_SPARE_BYTES, dtype=np.uint8)
            rows = RowBlock(self.plan.columns, block, capacity, heap)
            rows_count, start, status, place, used = decode_tuples(
                buffer, start, end, self._formats, rows, self._lengths, self._places
            )
            if status == WRONG_VALUE:
                raise self._value_error(buffer, start, end, rows, self.rows_count + rows_count)
            if rows_count:
                self._row_bytes = max(1.0, (start - before) / rows_count)
                self.rows_count += rows_count
                morsels.append(self.plan.morsel(block, capacity, rows_count, heap_part(heap, used)))
            if status in (WRONG_COUNT, WRONG_SIZE):
                raise self._tuple_error(buffer, start, status, place)
            self._state[ERROR_COLUMN] = place
        if status == ENDED:
            self._has_ended = True
        if self._has_ended and start < end:
            raise RowError(codes.COPY_AFTER_END, self.rows_count, line=self.rows_count + 1)
        del buffer
        self._give_back(taken, start)

    def _value_error(self, buffer: npt.NDArray[np.uint8], at: int, end: int, rows: RowBlock, number: int) -> RowError:
        """Return the error of the tuple that begins at `at`."""
        starts = np.array([at + COUNT_BYTES])
        error, _, _ = decode_parameter_rows(
            buffer, end, starts, self._formats, rows, NO_ZONE, NO_SLOW_FIELDS, self._state
        )
        assert error != codes.OK
        column, first, last = (int(self._state[at]) for at in (ERROR_COLUMN, ERROR_START, ERROR_END))
        return RowError(error, number, column, line=number + 1, raw=buffer[first:last].tobytes())

    def _tuple_error(self, buffer: npt.NDArray[np.uint8], at: int, status: int, place: int) -> RowError:
        line = self.rows_count + 1
        if status == WRONG_COUNT:
            count = int.from_bytes(buffer[at : at + COUNT_BYTES].tobytes(), "big", signed=True)
            wrong = f"row field count is {count}, expected {self._columns_count}"
            return RowError(codes.COPY_FIELD_COUNT, self.rows_count, field=wrong, line=line)
        raw = buffer[at + COUNT_BYTES : -BLOCK_BYTES].tobytes()
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
