"""A packet that inserts one row, from the bytes that a socket gave to the record of the log that has the row: one kernel call.

Enters: the packet of a statement that was taken apart properly before, and has the same bytes around its values; where the record goes to.
Leaves: the record, and the row decoded in its own memory. What isn't such a packet is refused without a reason, and nothing is written; the
caller takes it apart the general way. One thread only. Must not know messages, files or statements.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import entry_of, kernel
from ringbuffer.decode.one_row import BLOCK_BYTES_MAX, OneRow, decode_block
from ringbuffer.memory.row_block import PADDING_BYTES, Array
from ringbuffer.pages.log_rows import RowRecord, pack_row
from ringbuffer.scalar.calendars.time_zones import Offsets, Transitions
from ringbuffer.scalar.numbers.fields import Bytes

# The type of the message and its length come before what is always the same.
LENGTH_OFFSET = 1
HEAD_OFFSET = 5


class RowPacket:
    """Packets of one statement, and the memory of their row.

    row: decodes the values; record: what packs it; kind: the first byte; head, tail: the bytes between length and values, and
    behind the values; messages_bytes: of the messages behind the first, which has the values. packet uint8[n], size: the packet that
    `pack` is for; behind `size` another PADDING_BYTES can be read.
    """

    __slots__ = ("_arguments", "_pack", "packet", "size")

    def __init__(
        self, row: OneRow, record: RowRecord, kind: int, head: bytes, tail: bytes, messages_bytes: int
    ) -> None:
        self.packet: Bytes = np.zeros(PADDING_BYTES, dtype=np.uint8)
        self.size = 0
        head_array, tail_array = (np.frombuffer(part, dtype=np.uint8).copy() for part in (head, tail))
        starts = np.zeros(1, dtype=np.int64)
        self._arguments = (kind, head_array, tail_array, messages_bytes, starts, *row.memory, *record.memory)
        self._pack = entry_of(pack_packet, self.packet, 0, *self._arguments, self.packet, 0, 0, 0, 0, 0, 0)

    def pack(
        self, buffer: Array, position: int, sequence: int, durable: int, transaction: int, time_us: int, now_us: int
    ) -> int:
        """Decode the packet's row and write its record; see RowRecord.pack. 0 also for another packet, or values that aren't plain."""
        size: int = self._pack(
            self.packet, self.size, *self._arguments, buffer, position, sequence, durable, transaction, time_us, now_us
        )
        return size

    def tobytes(self) -> bytes:
        """Return a copy of the packet."""
        return self.packet[: self.size].tobytes()


@kernel
def pack_packet(
    packet: Bytes, size: int, kind: int, head: Bytes, tail: Bytes, messages_bytes: int, starts: npt.NDArray[np.int64],
    formats: npt.NDArray[np.int8], columns: Array, transitions: Transitions, offsets: Offsets, block: Bytes, heap: Bytes, slow: Array,
    state: Array, table: Array, record_head: Array, places: Array, buffer: Array, position: int, sequence: int, durable: int,
    transaction: int, time_us: int, now_us: int,
) -> int:  # fmt: skip
    """-> bytes of the record written to buffer uint8[n] at `position`, 0 if it is not such a packet or there is no room.

    starts int64[1]: where the values begin; the others as of `decode_block` and `pack_row`.
    """
    start = HEAD_OFFSET + head.shape[0]
    end = size - tail.shape[0]
    if end < start or end - start > BLOCK_BYTES_MAX or packet[0] != kind:
        return 0
    length = 0
    for index in range(LENGTH_OFFSET, HEAD_OFFSET):
        length = length << 8 | packet[index]
    if length != size - LENGTH_OFFSET - messages_bytes:
        return 0
    for index in range(head.shape[0]):
        if packet[HEAD_OFFSET + index] != head[index]:
            return 0
    for index in range(tail.shape[0]):
        if packet[end + index] != tail[index]:
            return 0
    starts[0] = start
    if not decode_block(packet, end, starts, formats, columns, transitions, offsets, block, heap, slow, state, table):
        return 0
    record_bytes: int = pack_row(buffer, position, record_head, places, sequence, durable, transaction, time_us, now_us)
    return record_bytes
