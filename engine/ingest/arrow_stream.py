"""Arrow's IPC stream, fed in pieces cut anywhere, to record batches that are safe to read.

Enters: bytes of a client. Leaves: batches, or 22P04 for bytes that are no such stream, 54000 for
messages that are too large, 0A000 for compressed ones. The places of a message's parts are read
here, since nothing may be read before all of it is there; the rest is pyarrow's, which checks every
offset of a batch before it leaves. Must not know relations.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.ipc

from sql.errors import SqlError, not_supported

CONTINUATION = b"\xff\xff\xff\xff"
FILE_MAGIC = b"ARROW1"
HEAD_BYTES = 8
METADATA_BYTES_MAX = 1 << 24
# Of one message, and of all dictionaries of a stream together.
MESSAGE_BYTES_MAX = 1 << 28
BAD_FORMAT, TOO_LARGE = "22P04", "54000"

# Fields of flatbuffers tables: of a message, of a batch of rows, of a batch of a dictionary.
HEADER_TYPE, HEADER, BODY_BYTES = 1, 2, 3
COMPRESSION = 3
DICTIONARY_DATA = 1
# Types of headers.
SCHEMA, DICTIONARY, RECORDS = 1, 2, 3


class ArrowStream:
    """The reader of one stream.

    Attributes:
        fields: name, type, and the type's text, of each field, once the schema has come.
    """

    def __init__(self) -> None:
        self.fields: list[tuple[str, pa.DataType, str]] = []
        self._messages = Messages()
        self._reader: pa.RecordBatchReader | None = None
        self._kind = 0
        self._dictionary_bytes = 0
        self._has_ended = False
        self._begin()

    def _begin(self) -> None:
        """Expect the next message."""
        self._message = np.empty(HEAD_BYTES, dtype=np.uint8)
        self._filled = 0
        self._is_whole = False

    @property
    def is_at_end(self) -> bool:
        """True when the stream may end here."""
        return self._has_ended or (self._reader is not None and self._filled == 0)

    def feed(self, data: bytes | memoryview) -> Iterator[pa.RecordBatch]:
        """Yield the batches that are complete with these bytes. Raises SqlError."""
        view = np.frombuffer(data, dtype=np.uint8)
        at = 0
        while at < len(view):
            if self._has_ended:
                raise SqlError(BAD_FORMAT, "received copy data after the end of the Arrow stream")
            size = min(len(self._message) - self._filled, len(view) - at)
            self._message[self._filled : self._filled + size] = view[at : at + size]
            self._filled += size
            at += size
            while self._filled == len(self._message) and not self._has_ended:
                if self._is_whole:
                    batch = self._taken()
                    if batch is not None:
                        yield batch
                    break
                self._extend()

    def _extend(self) -> None:
        """Make room for the next part of the message, whose size the last part has told."""
        head = self._message[:HEAD_BYTES].tobytes()
        if not head.startswith(CONTINUATION):
            hint = "This is Arrow's file format: send the streaming format." if head.startswith(FILE_MAGIC) else None
            raise SqlError(BAD_FORMAT, "COPY data is not an Arrow stream", hint=hint)
        size = int.from_bytes(head[4:], "little", signed=True)
        if size == 0:
            self._has_ended = True
            return
        if not 0 < size <= METADATA_BYTES_MAX:
            raise SqlError(BAD_FORMAT, "invalid size of an Arrow message")
        whole = HEAD_BYTES + size
        if self._filled > HEAD_BYTES:
            self._kind, body_bytes = message_parts(self._message[HEAD_BYTES:].tobytes())
            if body_bytes > MESSAGE_BYTES_MAX:
                raise too_large()
            whole += body_bytes
            self._is_whole = True
        message = np.empty(whole, dtype=np.uint8)
        message[: self._filled] = self._message
        self._message = message

    def _taken(self) -> pa.RecordBatch | None:
        """Hand the message over, and return the batch that it is."""
        message, kind = self._message, self._kind
        self._begin()
        if kind == DICTIONARY:
            self._dictionary_bytes += len(message)
            if self._dictionary_bytes > MESSAGE_BYTES_MAX:
                raise too_large()
        elif (kind == SCHEMA) != (self._reader is None):
            raise SqlError(BAD_FORMAT, "an Arrow stream has one schema, before all else")
        self._messages.add(message)
        try:
            if kind == SCHEMA:
                self._reader = pa.ipc.open_stream(pa.PythonFile(self._messages, mode="r"))
                # Names are UTF-8, or this raises.
                self.fields = [(one.name, one.type, str(one.type)) for one in self._reader.schema]
            if kind != RECORDS:
                return None
            assert self._reader is not None
            batch = self._reader.read_next_batch()
            # A row takes a bit, but for columns that have nothing but NULLs.
            if batch.num_rows > 8 * len(message):
                raise SqlError(BAD_FORMAT, "an Arrow batch has more rows than bytes")
            batch.validate(full=True)
        except (pa.ArrowException, OSError, ValueError, StopIteration) as error:
            said = str(error).splitlines() or [type(error).__name__]
            raise SqlError(BAD_FORMAT, "invalid Arrow message", detail=said[0][:200]) from None
        return batch


class Messages:
    """Whole messages as a file for pyarrow, which reads just as much as it gets."""

    closed = False

    def __init__(self) -> None:
        self._parts: deque[memoryview] = deque()

    def add(self, message: npt.NDArray[np.uint8]) -> None:
        """Add a message after the others."""
        self._parts.append(message.data)

    def read_buffer(self, size: int) -> memoryview | bytes:
        """Return the next bytes, without a copy."""
        if not self._parts:
            return b""
        first = self._parts.popleft()
        if len(first) > size:
            self._parts.appendleft(first[size:])
        return first[:size]

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        return bytes(self.read_buffer(size))

    def close(self) -> None:
        """Do nothing."""


def too_large() -> SqlError:
    hint = f"Send batches of at most {MESSAGE_BYTES_MAX >> 20} MB, and not more than that in dictionaries."
    return SqlError(TOO_LARGE, "an Arrow message is too large", hint=hint)


def message_parts(metadata: bytes) -> tuple[int, int]:
    """Return the kind of a message and the bytes of its body. Raises SqlError."""
    try:
        table = place_after(metadata, 0)
        kind_at, header_at, size_at = (field(metadata, table, one) for one in (HEADER_TYPE, HEADER, BODY_BYTES))
        kind = metadata[kind_at] if kind_at else 0
        size = number(metadata, size_at, "<q") if size_at else 0
        if kind not in (SCHEMA, DICTIONARY, RECORDS) or size < 0 or not header_at or (kind == SCHEMA and size):
            raise ValueError(kind, size)
        records = place_after(metadata, header_at)
        if kind == DICTIONARY:
            records = place_after(metadata, field(metadata, records, DICTIONARY_DATA))
        if kind != SCHEMA and field(metadata, records, COMPRESSION):
            raise not_supported("a compressed Arrow batch", hint="Write the stream without compression.")
    except (struct.error, IndexError, ValueError):
        raise SqlError(BAD_FORMAT, "invalid head of an Arrow message") from None
    return kind, size


def field(data: bytes, table: int, index: int) -> int:
    """Return the place of a field of a flatbuffers table, 0 if the table has none."""
    entries = table - number(data, table, "<i")
    offset = 4 + 2 * index
    if offset + 2 > number(data, entries, "<H"):
        return 0
    found = number(data, entries + offset, "<H")
    return table + found if found else 0


def place_after(data: bytes, at: int) -> int:
    """Return the place to which the offset at `at` points."""
    return at + number(data, at, "<I")


def number(data: bytes, at: int, form: str) -> int:
    """Return a number. Raises struct.error outside of the data."""
    if at < 0:
        raise struct.error(at)
    (found,) = struct.unpack_from(form, data, at)
    return int(found)
