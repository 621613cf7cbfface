"""The records of the log: one header for all kinds, and the payload after it.

Enters: kinds and payloads. Leaves: the pieces to be written, and records read back and verified. A
record is the header, a payload and zeros up to the next multiple of 8 bytes. Its checksum covers
the header after the checksum itself, and the payload. Must not know files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ringbuffer.memory.checksums import crc32, joined_crc32
from ringbuffer.pages.log_rows import ALIGNMENT, CHECKED_OFFSET, FLAG_COMMITS, HEADER, KIND_ROWS, MAGIC

Bytes = bytes | bytearray | memoryview

ROWS = KIND_ROWS
COMMIT = 2
PREPARE = 3
COMMITTED = 4
KINDS = {ROWS: "ROWS", COMMIT: "COMMIT", PREPARE: "PREPARE", COMMITTED: "COMMITTED"}

# The statement's number within its transaction, in the bits of the flags above FLAG_COMMITS.
STATEMENT_SHIFT = 1
STATEMENTS_MAX = (1 << 15) - 1


@dataclass(frozen=True, slots=True)
class Record:
    """A record that was read and verified.

    Attributes:
        position: where it begins in the endless log, in bytes.
        end: where the next record may begin.
        durable: the position up to which the log was synced when the record was appended.
        time_us: when the record was appended.
    """

    position: int
    end: int
    kind: int
    flags: int
    sequence: int
    durable: int
    transaction: int
    time_us: int
    payload: memoryview

    @property
    def commits(self) -> bool:
        """True for the rows of a transaction that has no other record."""
        return bool(self.flags & FLAG_COMMITS)

    @property
    def statement(self) -> int:
        """The number of the statement within its transaction."""
        return self.flags >> STATEMENT_SHIFT


def checksum_of(payload: Sequence[Bytes]) -> int:
    """Return the checksum of a payload alone, for `pieces`."""
    checksum = 0
    for piece in payload:
        checksum = crc32(memoryview(piece).cast("B"), checksum)
    return checksum


def pieces(
    kind: int, flags: int, sequence: int, durable: int, transaction: int, time_us: int, payload: Sequence[Bytes],
    payload_checksum: int | None = None,
) -> list[Bytes]:  # fmt: skip
    """Return a record as pieces of bytes to be written one after the other.

    payload_checksum: if it is known.
    """
    payload = [memoryview(piece).cast("B") for piece in payload]
    length = HEADER.size + sum(map(len, payload))
    head = HEADER.pack(MAGIC, length, 0, kind, flags, sequence, durable, transaction, time_us)
    checksum = crc32(head[CHECKED_OFFSET:])
    if payload_checksum is None:
        for piece in payload:
            checksum = crc32(piece, checksum)
    else:
        checksum = joined_crc32(checksum, payload_checksum, length - HEADER.size)
    head = HEADER.pack(MAGIC, length, checksum, kind, flags, sequence, durable, transaction, time_us)
    return [head, *payload, bytes(-length % ALIGNMENT)]


def runs(record: Iterable[Bytes], bytes_min: int) -> Iterator[Bytes]:
    """Yield the pieces of a record; pieces that are too short are joined with each other."""
    short: list[Bytes] = []
    short_bytes = 0
    for piece in record:
        if len(piece) >= bytes_min:
            if short:
                yield b"".join(short)
            yield piece
            short, short_bytes = [], 0
            continue
        short.append(piece)
        short_bytes += len(piece)
        if short_bytes >= bytes_min:
            yield b"".join(short)
            short, short_bytes = [], 0
    if short_bytes:
        yield b"".join(short)


def record_at(data: memoryview, offset: int, position: int) -> Record | None:
    """Return the record that begins at data[offset]; None when no record verifies there.

    data[offset] is at `position` of the log.
    """
    if offset + HEADER.size > len(data):
        return None
    magic, length, checksum, kind, flags, sequence, durable, transaction, time_us = HEADER.unpack_from(data, offset)
    if magic != MAGIC or kind not in KINDS or length < HEADER.size or offset + length > len(data):
        return None
    if crc32(data[offset + CHECKED_OFFSET : offset + length]) != checksum:
        return None
    end = position + length + -length % ALIGNMENT
    payload = data[offset + HEADER.size : offset + length]
    return Record(position, end, kind, flags, sequence, durable, transaction, time_us, payload)


def later_records(data: memoryview, offset: int, position: int) -> list[Record]:
    """Return all records that verify in data[offset:], wherever they begin.

    data[offset] is at `position` of the log.
    """
    words = np.frombuffer(data[offset : offset + (len(data) - offset) // ALIGNMENT * ALIGNMENT], dtype="<u4")[::2]
    places = np.flatnonzero(words == MAGIC) * ALIGNMENT
    found = (record_at(data, offset + int(place), position + int(place)) for place in places)
    return [record for record in found if record is not None]
