"""Arrow's IPC stream, fed in pieces cut anywhere, to record batches that are safe to read.

Enters: bytes of a client. Leaves: batches, or 22P04 for bytes that are no such stream, 54000 for
messages that are too large, 0A000 for compressed ones. Nothing is read before all of a message is
there; pyarrow checks every offset of a batch before it leaves. Must not know relations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.types as kinds

from engine.ingest.arrow_columns import require_readable
from engine.ingest.arrow_messages import BAD_FORMAT, DICTIONARY, RECORDS, SCHEMA, TOO_LARGE, message_parts
from sql.errors import SqlError

CONTINUATION = b"\xff\xff\xff\xff"
FILE_MAGIC = b"ARROW1"
HEAD_BYTES = 8
METADATA_BYTES_MAX = 1 << 24
# Of one message, and of all dictionaries of a stream together.
MESSAGE_BYTES_MAX = 1 << 28

# Name, type, and the type's text.
Field = tuple[str, pa.DataType, str]


class ArrowStream:
    """The reader of one stream.

    accept: is told the fields before any batch is read, and raises SqlError for a field whose
    arrays are not to be read.
    """

    def __init__(self, accept: Callable[[list[Field]], None]) -> None:
        self._accept = accept
        self._messages = Messages()
        self._reader: pa.RecordBatchReader | None = None
        self._kind = 0
        self._dictionary_bytes = 0
        # Columns whose dictionaries were read since they came last.
        self._known: set[int] = set()
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
        return self._reader is not None and (self._has_ended or self._filled == 0)

    def feed(self, data: bytes | bytearray | memoryview) -> Iterator[pa.RecordBatch]:
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
        # Else the body would not be aligned.
        if not 0 < size <= METADATA_BYTES_MAX or size % HEAD_BYTES:
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
            self._known.clear()
            self._dictionary_bytes += len(message)
            if self._dictionary_bytes > MESSAGE_BYTES_MAX:
                raise too_large()
        elif (kind == SCHEMA) != (self._reader is None):
            raise SqlError(BAD_FORMAT, "an Arrow stream has one schema, before all else")
        self._messages.add(message)
        try:
            if kind == SCHEMA:
                self._reader = pa.ipc.open_stream(pa.PythonFile(self._messages, mode="r"))
                # Names and zones are UTF-8, or this raises.
                self._accept([(one.name, one.type, str(one.type)) for one in self._reader.schema])
            if kind != RECORDS:
                return None
            assert self._reader is not None
            batch = self._reader.read_next_batch()
            # A row takes a bit, but for columns that have nothing but NULLs.
            if batch.num_rows > 8 * len(message):
                raise SqlError(BAD_FORMAT, "an Arrow batch has more rows than bytes")
            batch.validate()
            for place, column in enumerate(batch.columns):
                self._require_valid(place, column)
        except (pa.ArrowException, OSError, ValueError, StopIteration) as error:
            said = str(error).splitlines() or [type(error).__name__]
            raise SqlError(BAD_FORMAT, "invalid Arrow message", detail=said[0][:200]) from None
        return batch

    def _require_valid(self, place: int, column: pa.Array) -> None:
        """Check every offset of a column. Raises ArrowInvalid and SqlError."""
        if place in self._known:
            # A short batch may have a long dictionary.
            column.indices.validate(full=True)
            bounds = pc.min_max(column.indices).as_py()
            if bounds["max"] is not None and not 0 <= bounds["min"] <= bounds["max"] < len(column.dictionary):
                raise SqlError(BAD_FORMAT, "an index of an Arrow batch is not in its dictionary")
            return
        require_readable(column)
        column.validate(full=True)
        if kinds.is_dictionary(column.type):
            self._known.add(place)


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
