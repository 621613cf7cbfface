"""The decoder of COPY data, which is fed bytes cut anywhere and returns morsels.

Enters: bytes. Leaves: morsels of at most 65,536 rows, or the first bad field as a RowError with
row, column and line; good rows before it, in the same feed, are not returned. Must not know
formats, which are numbers here, or what becomes of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ringbuffer.decode.copy_columns import BACKSLASH, FORM_WORDS, NULL_BYTES, NULL_BYTES_MAX, NULL_WORD, QUOTE
from ringbuffer.decode.copy_lines import (
    CONSUMED,
    DELIMITER,
    ENDED,
    ERROR,
    ERROR_COLUMN,
    ERROR_END,
    ERROR_IN_HEAP,
    ERROR_START,
    FALLBACK_ROW,
    FALLBACKS_USED,
    HEAP_USED,
    LINE,
    STATE_WORDS,
    CopyFormat,
    CopyProgress,
)
from ringbuffer.decode.copy_morsel import PLAIN_LINES, decode_copy
from ringbuffer.decode.slow_fields import FALLBACKS_MAX, Fallback, slow_value
from ringbuffer.memory import error_codes as codes
from ringbuffer.memory.byte_masks import BLOCK_BYTES
from ringbuffer.memory.columns import Layout, Morsel
from ringbuffer.memory.error_codes import OK, RowError
from ringbuffer.memory.row_block import FORCE, PADDING_BYTES, RowBlock, RowPlan, rounded_capacity
from ringbuffer.scalar.calendars.time_zones import zone_table
from ringbuffer.scalar.numbers.fields import Bytes

Piece = bytes | bytearray | memoryview

# Of fewer bytes nothing is lost when they are looked at again.
CUT_BYTES_MIN = 65_536
# So much is copied at once: it holds the interpreter.
PIECE_BYTES = 4 << 20
CUT_ROWS_SPARE = 64


class PendingBytes:
    """The pending bytes of one decoder."""

    def __init__(self) -> None:
        self._pending = bytearray()
        self._wait_bytes = 0

    @property
    def pending_bytes(self) -> memoryview:
        """A copy of the bytes that were fed and have not become a row yet."""
        # numpy copies without the interpreter's lock.
        return np.frombuffer(self._pending, dtype=np.uint8).copy().data

    def keeps(self, bytes_count: int) -> bool:
        """Tell whether `feed` would only keep so many more bytes, since their row is longer."""
        return len(self._pending) + bytes_count < self._wait_bytes

    def _taken(self, *pieces: Piece) -> bytearray:
        """Return all pending bytes and these, with BLOCK_BYTES zeros after them; nothing is pending
        then.
        """
        pending, self._pending = self._pending, bytearray()
        padded = (*pieces, bytes(BLOCK_BYTES))
        if len(pending) <= CUT_BYTES_MIN:
            return bytearray().join((pending, *padded))
        # Nothing is copied of a row that is not complete yet.
        for piece in padded:
            pending += piece
        return pending

    def _keep(self, *pieces: Piece) -> None:
        for piece in pieces:
            self._pending += piece

    def _give_back(self, buffer: bytearray, start: int) -> None:
        """Keep what no row was made of: the bytes of `_taken` from `start` on. No array shares its
        memory any more.
        """
        end = len(buffer) - BLOCK_BYTES
        if start:
            rest = memoryview(buffer)[:end]
            for place in range(start, end, PIECE_BYTES):
                self._pending += rest[place : place + PIECE_BYTES]
        else:
            del buffer[end:]
            self._pending = buffer
        # A row that is longer than all the bytes so far is not scanned again at each feed, only
        # when they have doubled.
        self._wait_bytes = 2 * len(self._pending) if len(self._pending) > CUT_BYTES_MIN else 0


class CopyDecoder(PendingBytes):
    """A decoder that takes bytes of COPY and returns morsels.

    Attributes:
        rows_count: rows of all morsels so far.

    Arguments:
        settings: whether the format is CSV, quote, escape, and classes of bytes (see
            copy_formats).
        force: FORCE of each column; empty: no column has one.
        fallback: returns, for (column, text), the value of a date or timestamp that is not ISO;
            raises RowError for a bad one.
    """

    def __init__(
        self, layout: Layout, settings: tuple[bool, int, int, Bytes], null: str, header: bool, fallback: Fallback | None,
        time_zone: str, force: Sequence[int] = (),
    ) -> None:  # fmt: skip
        super().__init__()
        self.rows_count = 0
        self.plan = RowPlan(layout)
        csv, quote, escape, classes = settings
        delimiter = int(np.flatnonzero(classes == DELIMITER)[0])
        null_text = np.frombuffer(null.encode() + bytes(PADDING_BYTES), dtype=np.uint8).copy()
        plain = plain_form(csv, quote, null.encode())
        self._written = CopyFormat(csv, delimiter, quote, escape, classes, null_text, plain, zone_table(time_zone))
        self.plan.columns[:, FORCE] = force or 0
        self._header = header
        self._fallback = fallback
        self._heap = np.empty(0, dtype=np.uint8)
        self._row_bytes = float(max(2, 2 * len(layout)))
        self._state = np.zeros(STATE_WORDS, dtype=np.int64)
        fields = np.zeros((len(layout) + 1, 3), dtype=np.int64)
        self._fallbacks = np.zeros((FALLBACKS_MAX + len(layout), 6), dtype=np.int64)
        self._progress = CopyProgress(fields, self._fallbacks, self._state)
        has_plain = bool(layout) and not any(force) and plain[NULL_BYTES] >= 0
        self._ends = np.zeros(PLAIN_LINES * len(layout) + BLOCK_BYTES + 1 if has_plain else 0, dtype=np.int32)

    @property
    def lines_count(self) -> int:
        """How many lines have become rows, the header included."""
        return int(self._state[LINE])

    def feed(self, *pieces: Piece) -> list[Morsel]:
        """Take some bytes and return the rows that are complete. Raises RowError."""
        if self._state[ENDED]:
            return []
        if self.keeps(sum(map(len, pieces))):
            self._keep(*pieces)
            return []
        return self._decode(self._taken(*pieces), False)

    def finish(self) -> list[Morsel]:
        """Return the rows of the last bytes, whose line end may be missing. Raises RowError."""
        if self._state[ENDED]:
            return []
        return self._decode(self._taken(), True)

    def _decode(self, taken: bytearray, final: bool) -> list[Morsel]:
        end = len(taken) - BLOCK_BYTES
        buffer = np.frombuffer(taken, dtype=np.uint8)
        morsels: list[Morsel] = []
        start = 0
        while start < end and not self._state[ENDED]:
            before = start
            morsel = self._next_morsel(buffer, start, end, final)
            start = int(self._state[CONSUMED])
            if morsel.rows_count:
                morsels.append(morsel)
            elif start == before:
                break
        del buffer
        self._give_back(taken, start)
        return morsels

    def _next_morsel(self, buffer: npt.NDArray[np.uint8], start: int, end: int, final: bool) -> Morsel:
        state = self._state
        capacity = rounded_capacity(int((end - start) / self._row_bytes * 1.1) + CUT_ROWS_SPARE)
        block = self.plan.new_block(capacity)
        heap = self._heap
        if len(heap) < end - start + BLOCK_BYTES:
            heap = self._heap = np.empty(end - start + BLOCK_BYTES, dtype=np.uint8)
        state[HEAP_USED] = state[FALLBACKS_USED] = state[ERROR] = 0
        rows_count = decode_copy(
            buffer,
            start,
            end,
            final,
            self._header and bool(state[LINE] == 0),
            self._written,
            RowBlock(self.plan.columns, block, capacity, heap),
            self._ends,
            self._progress,
        )
        morsel = self.plan.morsel(block, capacity, rows_count, self._heap_part(int(state[HEAP_USED])))
        self._settle_fallbacks(buffer, heap, block, capacity)
        if state[ERROR]:
            state[ENDED] = 1
            raise self._error(buffer, heap, rows_count)
        if rows_count:
            self._row_bytes = max(1.0, (int(state[CONSUMED]) - start) / rows_count)
        self.rows_count += rows_count
        return morsel

    def _heap_part(self, used: int) -> npt.NDArray[np.uint8]:
        """Return the used bytes of the heap, most of which is used again."""
        part = heap_part(self._heap, used)
        if part.base is not None:
            self._heap = np.empty(0, dtype=np.uint8)
        return part

    def _settle_fallbacks(
        self, buffer: npt.NDArray[np.uint8], heap: npt.NDArray[np.uint8], block: npt.NDArray[np.uint8], capacity: int
    ) -> None:
        count = int(self._state[FALLBACKS_USED])
        if count == 0:
            return
        last = int(self._fallbacks[count - 1, FALLBACK_ROW]) + 1
        data = self.plan.morsel(block, capacity, last, heap).data
        for row, line, column, in_heap, start, end in self._fallbacks[:count].tolist():
            text = (heap if in_heap else buffer)[start:end].tobytes().decode()
            error = RowError(OK, self.rows_count + row, column, text, line)
            data[column][row] = slow_value(self.plan.layout[column].physical, column, text, self._fallback, error)

    def _error(self, buffer: npt.NDArray[np.uint8], heap: npt.NDArray[np.uint8], row: int) -> RowError:
        state = self._state
        source = heap if state[ERROR_IN_HEAP] else buffer
        # The bytes that are no UTF-8 come out again of a text with surrogates.
        errors = "surrogateescape" if state[ERROR] == codes.INVALID_ENCODING else "replace"
        field = source[int(state[ERROR_START]) : int(state[ERROR_END])].tobytes().decode(errors=errors)
        return RowError(int(state[ERROR]), self.rows_count + row, int(state[ERROR_COLUMN]), field, int(state[LINE]))


def plain_form(csv: bool, quote: int, null: bytes) -> npt.NDArray[np.int64]:
    """Return the words that copy_columns needs of a format.

    NULL_BYTES is -1 if no line counts as plain.
    """
    form = np.full(FORM_WORDS, -1, dtype=np.int64)
    # A backslash says more than itself in the text format; only this one's meaning is known without
    # looking further.
    if len(null) <= NULL_BYTES_MAX and (csv or b"\\" not in null or null == b"\\N"):
        form[NULL_BYTES] = len(null)
        form[NULL_WORD] = int.from_bytes(null.ljust(NULL_BYTES_MAX, b"\0"), "little", signed=True)
    form[QUOTE if csv else BACKSLASH] = quote if csv else ord("\\")
    return form


def heap_part(heap: npt.NDArray[np.uint8], used: int) -> npt.NDArray[np.uint8]:
    """Return the used bytes of a heap; a mostly empty one is copied so that its memory can go."""
    return heap[:used] if 2 * used >= len(heap) else heap[:used].copy()
