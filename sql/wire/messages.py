"""All messages of a frontend in protocol 3, as immutable values: `Conversation.receive` returns
them.

Enters: nothing; `reader` and `startup` build the messages from bytes. Leaves: values that `engine`
dispatches on by type. Must not know of sockets, sessions or transactions. The messages without a
body exist once (`SYNC`, `FLUSH`, ...).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sql.errors import SqlError

ObjectKind = Literal["S", "P"]


@dataclass(frozen=True, slots=True)
class Startup:
    """The message StartupMessage.

    Attributes:
        parameters: user, database (always filled in) and any setting; the settings of `options` are
            merged into them.
        minor_version: of protocol 3.
        protocol_options: the `_pq_.` names asked for, all of them unknown to us.
    """

    parameters: Mapping[str, str]
    minor_version: int = 0
    protocol_options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SslRequest:
    """The client asks for TLS; the answer is one byte."""


@dataclass(frozen=True, slots=True)
class GssRequest:
    """The client asks for GSSAPI encryption; the answer is one byte."""


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """The request of a connection that only asks to cancel the statement of another connection."""

    process_id: int
    secret_key: int


@dataclass(frozen=True, slots=True)
class Password:
    """The message of PasswordMessage, SASLInitialResponse and SASLResponse, which share one type
    byte.

    Attributes:
        payload: the body.
    """

    payload: bytes


@dataclass(frozen=True, slots=True)
class Query:
    """Simple query: any number of statements in one text."""

    text: str


@dataclass(frozen=True, slots=True)
class Parse:
    """Prepare `text` under `name` ('' is the unnamed statement).

    Parameter type OIDs, 0 where the server shall infer.
    """

    name: str
    text: str
    parameter_oids: tuple[int, ...] = ()


class Bind(NamedTuple):
    """The request to make a portal of a prepared statement.

    The values stay in the bytes that were received: at `parameters_offset` of `payload` stand
    `parameters_count` times an int32 length (-1: NULL) and that many bytes; the reader has checked
    that they fit. Binds received together share one `payload`, so a run of them can be decoded in
    one kernel call. Formats: none (all text), one for all, or one each; 0 text, 1 binary.
    """

    portal: str
    statement: str
    parameter_formats: tuple[int, ...]
    payload: bytes
    parameters_offset: int
    parameters_count: int
    result_formats: tuple[int, ...]

    def is_larger_than(self, bytes_count: int) -> bool:
        """Tell whether the values take more bytes.

        The payload may have the values of other messages after them.
        """
        payload, offset = self.payload, self.parameters_offset
        end = offset + bytes_count
        if len(payload) <= end:
            return False
        for _ in range(self.parameters_count):
            offset += 4 + max(int.from_bytes(payload[offset : offset + 4], "big", signed=True), 0)
            if offset > end:
                return True
        return False

    def alone(self) -> Bind:
        """Return the message with its own values only, for a message that is kept."""
        payload, offset = self.payload, self.parameters_offset
        for _ in range(self.parameters_count):
            offset += 4 + max(int.from_bytes(payload[offset : offset + 4], "big", signed=True), 0)
        return self._replace(payload=payload[self.parameters_offset : offset], parameters_offset=0)

    def parameters(self) -> list[bytes | None]:
        """Return the raw parameter values, None for NULL."""
        values: list[bytes | None] = []
        payload, offset = self.payload, self.parameters_offset
        for _ in range(self.parameters_count):
            length = int.from_bytes(payload[offset : offset + 4], "big", signed=True)
            offset += 4
            if length < 0:
                values.append(None)
            else:
                values.append(payload[offset : offset + length])
                offset += length
        return values


@dataclass(frozen=True, slots=True)
class BindRun:
    """Binds that are alike but for their heads (statements and formats) and values, each followed
    by [a Describe and] an Execute of its portal, which is the unnamed one.

    Attributes:
        payload[start:end]: the messages. places: of each Bind where it begins and where its values
        begin, from `start` on, and the number of its head. heads: the first row of each head.
    """

    payload: bytes
    start: int
    end: int
    places: Sequence[Sequence[int]]
    heads: Sequence[int]
    is_described: bool

    @property
    def rows_count(self) -> int:
        """How many Binds there are."""
        return len(self.places)

    def message_start(self, row: int) -> int:
        """Return the place of a row's Bind in the payload; of the row after the last: the end."""
        return self.end if row == len(self.places) else self.start + int(self.places[row][0])


@dataclass(frozen=True, slots=True)
class Describe:
    """Describe a prepared statement ('S') or a portal ('P')."""

    kind: ObjectKind
    name: str


@dataclass(frozen=True, slots=True)
class Execute:
    """Run a portal; row_limit 0 means all rows."""

    portal: str
    row_limit: int = 0


@dataclass(frozen=True, slots=True)
class Close:
    """Forget a prepared statement ('S') or a portal ('P')."""

    kind: ObjectKind
    name: str


@dataclass(frozen=True, slots=True)
class Flush:
    """Send what is buffered."""


@dataclass(frozen=True, slots=True)
class Sync:
    """The end of a pipeline segment."""


@dataclass(frozen=True, slots=True)
class CopyData:
    """The bytes of a COPY FROM STDIN.

    Short neighbouring messages that arrived together are one CopyData: the borders between them
    mean nothing.
    """

    data: bytes | memoryview


@dataclass(frozen=True, slots=True)
class CopyDone:
    """The COPY data is complete."""


@dataclass(frozen=True, slots=True)
class CopyFail:
    """The client gives up a COPY."""

    reason: str


@dataclass(frozen=True, slots=True)
class Terminate:
    """The client says goodbye."""


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """The obsolete fast-path call of a function by OID, which is only refused politely."""

    function_oid: int


@dataclass(frozen=True, slots=True)
class Malformed:
    """A message that was framed well but has an unreadable body: its statement fails with `error`
    (severity ERROR).

    Attributes:
        extended: the message belongs to the extended protocol, so that all messages are skipped
            until Sync; otherwise it stands for a Query.
        kind, body: the received bytes.
    """

    error: SqlError
    extended: bool
    kind: int = 0
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Violation:
    """The end of a byte stream that can't be followed any further; always the last message.

    Attributes:
        error: the error (severity FATAL) that is reported before the connection is closed.
    """

    error: SqlError


SSL_REQUEST = SslRequest()
GSS_REQUEST = GssRequest()
FLUSH = Flush()
SYNC = Sync()
COPY_DONE = CopyDone()
TERMINATE = Terminate()

FrontendMessage = (
    Startup
    | SslRequest
    | GssRequest
    | CancelRequest
    | Password
    | Query
    | Parse
    | Bind
    | BindRun
    | Describe
    | Execute
    | Close
    | Flush
    | Sync
    | CopyData
    | CopyDone
    | CopyFail
    | Terminate
    | FunctionCall
    | Malformed
    | Violation
)
