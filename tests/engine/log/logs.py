"""Logs for tests: records written by the segments themselves, into files of a few records each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.log.records import STATEMENT_SHIFT, Bytes, Record, pieces
from engine.log.segments import FIRST_SEQUENCE, PAGE_BYTES, Segments
from engine.storage.storage import Storage
from ringbuffer.memory.columns import ColumnLayout, PhysicalType
from ringbuffer.pages.log_rows import FLAG_COMMITS, ROW_FORM, ROWS_HEAD, encode_rows
from tests.ringbuffer.plain_rows import make_morsel

LAYOUT = (ColumnLayout("n", PhysicalType.INT64), ColumnLayout("words", PhysicalType.TEXT))
SEGMENT_BYTES = PAGE_BYTES + 1000


class LogWriter:
    """Appends records. durable: what they say of how far the log was synced; None: up to
    themselves.
    """

    def __init__(self, storage: Storage, folder: Path, segment_bytes: int = SEGMENT_BYTES) -> None:
        self.storage = storage
        self.folder = folder
        self.durable: int | None = None
        self._segments = Segments(storage, folder, segment_bytes)
        for _ in self._segments.read(0, FIRST_SEQUENCE):
            pass
        self._segments.open()

    def add(self, kind: int, transaction: int = 0, payload: Sequence[Bytes] = (), flags: int = 0) -> int:
        """Append a record and return its number."""
        segments = self._segments
        size = sum(memoryview(piece).nbytes for piece in pieces(kind, flags, 0, 0, 0, 0, payload))
        if size > segments.room:
            segments.sync()
            segments.roll(size)
        durable = segments.position if self.durable is None else self.durable
        data = b"".join(pieces(kind, flags, segments.sequence, durable, transaction, 5, payload))
        sequence = segments.sequence
        segments.write(segments.take(len(data)), data)
        return sequence

    def rows(self, transaction: int, stream: int, count: int, statement: int = 0, commits: bool = False) -> int:
        """Append a record of `count` rows."""
        morsel = make_morsel([(number, f"word {number}") for number in range(count)], LAYOUT)
        head = ROWS_HEAD.pack(stream, ROW_FORM, len(LAYOUT), 0)
        flags = statement << STATEMENT_SHIFT | (FLAG_COMMITS if commits else 0)
        return self.add(1, transaction, [head, *encode_rows(morsel, LAYOUT)], flags)

    def close(self) -> None:
        self._segments.sync()
        self._segments.close()

    @property
    def names(self) -> list[str]:
        """The segments' files in order."""
        return [name for name in self.storage.list(self.folder) if name.endswith(".log")]


def read_log(storage: Storage, folder: Path, position: int = 0, sequence: int = FIRST_SEQUENCE) -> list[Record]:
    """Return what is read from a place on."""
    return list(Segments(storage, folder, SEGMENT_BYTES).read(position, sequence))


def damage(path: Path, offset: int) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[offset] ^= 1
    path.write_bytes(content)
