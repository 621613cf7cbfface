"""The protocol state of one connection, without I/O: bytes in, messages out, and the messages that
the state admits.

Enters: bytes as the socket gave them. Leaves: messages in order. `receive` only frames and decodes;
the caller asks `admit` right before it handles a message, because the handling of an earlier
message may have begun a COPY or failed a pipeline that is received already. Must not touch a socket
or know of transactions.

    STARTUP --Startup--> READY, or ADMISSION where clients are let in by name
                         ADMISSION --ask_password--> PASSWORD --Password--> ADMISSION --let_in-->
                         READY READY --begin_copy_in--> COPY_IN --CopyDone, CopyFail, end_copy_in-->
                         READY READY, COPY_IN --fail_until_sync--> SKIP_UNTIL_SYNC --Sync--> READY
                         any --Violation, close--> CLOSED
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import Enum, auto
from itertools import chain

from sql.errors import SqlError
from sql.values.encodings import UTF8, Encoding
from sql.wire.messages import (
    GSS_REQUEST,
    SSL_REQUEST,
    Bind,
    BindRun,
    CancelRequest,
    Close,
    CopyData,
    CopyDone,
    CopyFail,
    Describe,
    Execute,
    Flush,
    FrontendMessage,
    FunctionCall,
    Malformed,
    Parse,
    Password,
    Query,
    Startup,
    Sync,
    Terminate,
    Violation,
)
from sql.wire.reader import CONSTANTS, DECODERS, HEAD_BYTES, read_run
from sql.wire.recoding import received
from sql.wire.startup import (
    GSS_CODE,
    SSL_CODE,
    STARTUP_BYTES_MAX,
    STARTUP_BYTES_MIN,
    fatal,
    read_opening,
    unsupported_protocol,
)

# PostgreSQL's PQ_SMALL_MESSAGE_LIMIT, for the messages that hold a name at most.
SMALL_MESSAGE_BYTES_MAX = 10_000

# PostgreSQL's PG_MAX_SASL_MESSAGE_LENGTH.
SASL_BYTES_MAX = 1024

# Neighbouring CopyData of fewer bytes on average are joined.
JOINED_BYTES_MAX = 32 << 10

_COPY_DATA = ord("d")
_BIND = ord("B")
_SMALL_KINDS = frozenset(b"CDEHSXcf")
_EXTENDED_KINDS = frozenset(b"BCDEHP")
_REPEATED_KINDS = frozenset(b"DE")
# Decoded messages of these kinds are kept, a few small ones per connection: a tenth of a prepared
# INSERT's time.
REPEATED_BYTES_MAX = 64
REPEATED_MAX = 64
# More than Describe, Execute, Sync and the shortest Parse.
RUN_BYTES_MIN = 32
_INT32 = struct.Struct("!i").unpack_from

_KIND_OF = {
    Query: "Q",
    Parse: "P",
    Bind: "B",
    BindRun: "B",
    Describe: "D",
    Execute: "E",
    Close: "C",
    FunctionCall: "F",
    Password: "p",
}
_COPY_MESSAGES = frozenset({CopyData, CopyDone, CopyFail})

# Takes received bytes and the place of a Bind in them; returns the run of which it is the first.
FindRun = Callable[[bytes, int], BindRun | None]


def no_run(_: bytes, __: int) -> None:
    """Return that a Bind is the first of no run."""


class State(Enum):
    """The states of a conversation; the table of moves is in the docstring of the module."""

    STARTUP = auto()
    ADMISSION = auto()
    PASSWORD = auto()
    READY = auto()
    COPY_IN = auto()
    SKIP_UNTIL_SYNC = auto()
    CLOSED = auto()


class Conversation:
    """The protocol of one connection.

    Attributes:
        message_bytes_max: the limit of every message but CopyData, which is passed on as it comes.
        lets_in: no message after a Startup is read before `let_in`, but for passwords that were
            asked for.
        find_run: finds Binds that are handled together.
    """

    __slots__ = (
        "_asked",
        "_copy_bytes_left",
        "_find_run",
        "_is_deaf",
        "_lets_in",
        "_message_bytes_max",
        "_partial",
        "_partial_bytes_needed",
        "_repeated",
        "encoding",
        "state",
    )

    def __init__(self, message_bytes_max: int, lets_in: bool = False, find_run: FindRun = no_run) -> None:
        self.state = State.STARTUP
        self.encoding = UTF8
        self._lets_in = lets_in
        self._find_run = find_run
        # The kinds of encryption that the client has asked for, once each.
        self._asked: tuple[FrontendMessage, ...] = ()
        self._message_bytes_max = message_bytes_max
        self._partial = bytearray()
        self._partial_bytes_needed = 0
        self._copy_bytes_left = 0
        self._is_deaf = False
        self._repeated: dict[bytes, FrontendMessage] = {}

    def receive(self, data: bytes) -> list[FrontendMessage]:
        """Return the messages that `data` completes. After a Violation no message follows."""
        messages: list[FrontendMessage] = []
        if self._is_deaf:
            return messages
        if self._partial:
            self._partial += data
            if len(self._partial) < self._partial_bytes_needed:
                return messages
            data = bytes(self._partial)
            self._partial = bytearray()
        offset = 0
        try:
            while self.state is State.STARTUP:
                end = self._startup_end(data, offset)
                if end < 0:
                    return messages
                messages.append(read_opening(data[offset + 4 : end]))
                offset = end
                if isinstance(messages[-1], Startup):
                    self.state = State.ADMISSION if self._lets_in else State.READY
                elif isinstance(messages[-1], CancelRequest):
                    self.close()
                    return messages
                else:
                    self._ask(messages.pop(), offset < len(data))
                    messages.append(self._asked[-1])
            if self.state is State.PASSWORD:
                offset = self._receive_password(data, offset, messages)
            if self.state is State.ADMISSION:
                self._keep(data, offset, 0)
            elif self.state is not State.PASSWORD:
                self._receive_messages(data, offset, messages)
        except SqlError as error:
            assert error.severity == "FATAL"
            messages.append(Violation(error))
            self._stop_listening()
        return messages

    @property
    def is_between_messages(self) -> bool:
        """True when any message may come next and no part of a message is kept.

        Bytes may then be handled without `receive`.
        """
        return self.state is State.READY and not self._partial and not self._copy_bytes_left

    def admit(self, message: FrontendMessage) -> bool:
        """Return whether `message` is to be handled now, False to ignore it, and take the
        transition that it causes.

        Raises SqlError (FATAL) for a message that the state does not allow.
        """
        kind = type(message)
        state = self.state
        if kind is Violation:
            self.state = State.CLOSED
            return True
        if state is State.READY:
            if kind is Password:
                raise fatal("08P01", "unexpected password message")
            # A client may still be sending after its COPY failed.
            return kind not in _COPY_MESSAGES
        if state is State.SKIP_UNTIL_SYNC:
            if kind is Sync:
                self.state = State.READY
                return True
            return kind is Terminate
        if state is State.COPY_IN:
            return self._admit_in_copy(message)
        return kind is Startup

    def ask_password(self) -> list[FrontendMessage]:
        """Expect a Password as the next message; return it if it is there already."""
        assert self.state is State.ADMISSION, self.state
        self.state = State.PASSWORD
        return self._received_meanwhile()

    def grant_encryption(self) -> None:
        """Note that the client has the encryption that it asked for, and may not ask for more."""
        self._asked = (SSL_REQUEST, GSS_REQUEST)

    def let_in(self) -> list[FrontendMessage]:
        """Let the client send any message; return the messages that it has sent already."""
        assert self.state is State.ADMISSION, self.state
        self.state = State.READY
        return self._received_meanwhile()

    def read_again(self, messages: Iterable[FrontendMessage], encoding: Encoding) -> list[FrontendMessage]:
        """Take `encoding` from now on.

        Return messages that were received, and not yet handled, as they read in this encoding.
        """
        before, self.encoding = self.encoding, encoding
        singles = (read_run(one) if isinstance(one, BindRun) else (one,) for one in messages)
        return [read_in_other(message, before, encoding) for message in chain.from_iterable(singles)]

    def fail_until_sync(self) -> None:
        """Ignore everything up to the next Sync: an extended message has failed."""
        if self.state is not State.CLOSED:
            self.state = State.SKIP_UNTIL_SYNC

    def begin_copy_in(self) -> None:
        """Expect COPY data: CopyInResponse was sent."""
        assert self.state is State.READY, self.state
        self.state = State.COPY_IN

    def end_copy_in(self) -> None:
        """Ignore the rest of the COPY data: the COPY has failed on our side."""
        if self.state is State.COPY_IN:
            self.state = State.READY

    def close(self) -> None:
        """Take no more input."""
        self.state = State.CLOSED
        self._stop_listening()

    def _stop_listening(self) -> None:
        self._is_deaf = True
        self._partial = bytearray()
        self._copy_bytes_left = 0

    def _admit_in_copy(self, message: FrontendMessage) -> bool:
        kind = type(message)
        if kind is CopyData or kind is Terminate:
            return True
        if kind is CopyDone or kind is CopyFail or kind is Malformed:
            self.state = State.READY
            return True
        if kind is Flush or kind is Sync:
            # A client of the extended protocol sends Sync before it knows that the server waits for
            # data.
            return False
        raise fatal("08P01", f"unexpected message type 0x{ord(_KIND_OF[kind]):02X} during COPY from stdin")

    def _startup_end(self, data: bytes, offset: int) -> int:
        """Return the end of the opening packet at `offset`, or -1 after keeping the bytes of it
        that are there.
        """
        if len(data) - offset < 4:
            self._keep(data, offset, 4)
            return -1
        (length,) = _INT32(data, offset)
        if not STARTUP_BYTES_MIN <= length <= STARTUP_BYTES_MAX:
            raise fatal("08P01", "invalid length of startup packet")
        if len(data) - offset < length:
            self._keep(data, offset, length)
            return -1
        end: int = offset + length
        return end

    def _ask(self, request: FrontendMessage, is_followed: bool) -> None:
        """Note that the client asks for encryption.

        Raises SqlError the second time, and when the client goes on without waiting for the answer.
        """
        if request in self._asked:
            raise unsupported_protocol(SSL_CODE if request == SSL_REQUEST else GSS_CODE)
        if is_followed:
            raise unencrypted_data("SSL" if request == SSL_REQUEST else "GSSAPI encryption")
        self._asked += (request,)

    def _received_meanwhile(self) -> list[FrontendMessage]:
        kept, self._partial = bytes(self._partial), bytearray()
        return self.receive(kept) if kept else []

    def _receive_password(self, data: bytes, offset: int, messages: list[FrontendMessage]) -> int:
        """Append the one Password that is due; return the offset after it."""
        if len(data) - offset < HEAD_BYTES:
            self._keep(data, offset, HEAD_BYTES)
            return len(data)
        kind = data[offset]
        (length,) = _INT32(data, offset + 1)
        if kind != ord("p"):
            raise fatal("08P01", f"expected SASL response, got message type {kind}")
        if not 4 <= length <= SASL_BYTES_MAX:
            raise fatal("08P01", "invalid message length")
        end: int = offset + 1 + length
        if len(data) < end:
            self._keep(data, offset, length + 1)
            return len(data)
        messages.append(Password(data[offset + HEAD_BYTES : end]))
        self.state = State.ADMISSION
        return end

    def _receive_messages(self, data: bytes, offset: int, messages: list[FrontendMessage]) -> None:
        """Append every complete message of `data` from `offset` on; keep the rest."""
        size = len(data)
        if self._copy_bytes_left:
            offset = self._receive_copy_data(data, offset, offset + self._copy_bytes_left, messages)
        append = messages.append
        while size - offset >= HEAD_BYTES:
            kind = data[offset]
            (length,) = _INT32(data, offset + 1)
            end = offset + 1 + length
            if kind == _COPY_DATA and length >= 4:
                offset = self._receive_copy_data(data, offset, end, messages)
                continue
            decode = DECODERS.get(kind)
            if decode is None or not 4 <= length <= SMALL_MESSAGE_BYTES_MAX:
                self._check_head(kind, length)
            if end > size:
                self._keep(data, offset, length + 1)
                return
            if kind == _BIND and (run := self._run(data, offset, end)) is not None:
                append(run)
                offset = run.end
                continue
            if decode is None:
                append(CONSTANTS[kind])
            elif self.encoding.converts:
                append(read_message(kind, data[offset + HEAD_BYTES : end], self.encoding))
            elif kind in _REPEATED_KINDS and length <= REPEATED_BYTES_MAX:
                append(self._repeated_message(data[offset:end]))
            else:
                try:
                    append(decode(data, offset + HEAD_BYTES, end))
                except SqlError as error:
                    append(Malformed(error, kind in _EXTENDED_KINDS, kind, data[offset + HEAD_BYTES : end]))
            offset = end
        if offset < size:
            self._keep(data, offset, HEAD_BYTES)

    def _run(self, data: bytes, offset: int, end: int) -> BindRun | None:
        """Return the run that begins with the Bind data[offset:end]; nothing is looked for where no
        second Bind can be.
        """
        has_room = len(data) - end > RUN_BYTES_MIN and len(data) <= self._message_bytes_max
        return self._find_run(data, offset) if has_room and not self.encoding.converts else None

    def _repeated_message(self, message: bytes) -> FrontendMessage:
        """Return the message of the bytes.

        A prepared statement's Describe and Execute come again and again, byte for byte.
        """
        known = self._repeated.get(message)
        if known is not None:
            return known
        try:
            found: FrontendMessage = DECODERS[message[0]](message, HEAD_BYTES, len(message))
        except SqlError as error:
            return Malformed(error, True, message[0], message[HEAD_BYTES:])
        if len(self._repeated) < REPEATED_MAX:
            self._repeated[message] = found
        return found

    def _check_head(self, kind: int, length: int) -> None:
        """Refuse an unknown type and a length that the type does not allow."""
        if kind not in DECODERS and kind not in CONSTANTS and kind != _COPY_DATA:
            raise fatal("08P01", f"invalid frontend message type {kind}")
        if (
            length < 4
            or (kind in _SMALL_KINDS and length > SMALL_MESSAGE_BYTES_MAX)
            or (kind in CONSTANTS and length != 4)
        ):
            raise fatal("08P01", "invalid message length")
        if length > self._message_bytes_max:
            raise fatal("54000", f"message of {length} bytes exceeds the limit of {self._message_bytes_max} bytes")

    def _receive_copy_data(self, data: bytes, offset: int, end: int, messages: list[FrontendMessage]) -> int:
        """Append the bytes of this and all CopyData that follow it at once, as one CopyData if they
        are short.

        Return the offset after them.

        end: the end of the body that begins or goes on at `offset`, possibly after the received
        bytes.
        """
        view = memoryview(data)
        start = offset if self._copy_bytes_left else offset + HEAD_BYTES
        pieces: list[memoryview] = []
        while True:
            if end > len(data):
                pieces.append(view[start:])
                self._copy_bytes_left = end - len(data)
                offset = len(data)
                break
            pieces.append(view[start:end])
            self._copy_bytes_left = 0
            offset = end
            if len(data) - offset < HEAD_BYTES or data[offset] != _COPY_DATA:
                break
            (length,) = _INT32(data, offset + 1)
            if length < 4:
                break
            start, end = offset + HEAD_BYTES, offset + 1 + length
        if len(pieces) > 1 and sum(map(len, pieces)) < len(pieces) * JOINED_BYTES_MAX:
            pieces = [memoryview(b"".join(pieces))]
        messages.extend(CopyData(piece) for piece in pieces if piece)
        return offset

    def _keep(self, data: bytes, offset: int, bytes_needed: int) -> None:
        self._partial = bytearray(memoryview(data)[offset:])
        self._partial_bytes_needed = bytes_needed


def read_message(kind: int, body: bytes, encoding: Encoding) -> FrontendMessage:
    """Return the message of a body whose strings are in `encoding`."""
    try:
        in_utf8 = received(kind, body, encoding)
        return DECODERS[kind](in_utf8, 0, len(in_utf8))
    except SqlError as error:
        return Malformed(error, kind in _EXTENDED_KINDS, kind, body)


def read_in_other(message: FrontendMessage, before: Encoding, encoding: Encoding) -> FrontendMessage:
    """Return a message that was taken to be in the encoding `before`."""

    def turned(text: str) -> str:
        return text if text.isascii() else encoding.decoded(before.encoded(text))

    try:
        match message:
            case Malformed() if message.kind:
                return read_message(message.kind, message.body, encoding)
            case Query():
                return Query(turned(message.text))
            case Parse():
                return replace(message, name=turned(message.name), text=turned(message.text))
            case Bind():
                return message._replace(portal=turned(message.portal), statement=turned(message.statement))
            case Describe() | Close():
                return replace(message, name=turned(message.name))
            case Execute():
                return replace(message, portal=turned(message.portal))
            case CopyFail():
                return CopyFail(turned(message.reason))
    except SqlError as error:
        return Malformed(error, not isinstance(message, Query))
    return message


def unencrypted_data(kind: str) -> SqlError:
    """Return the error for bytes after a request for encryption: anybody on the way may have put
    them there.
    """
    error = fatal("08P01", f"received unencrypted data after {kind} request")
    error.detail = "This could be either a client-software bug or evidence of an attempted man-in-the-middle attack."
    return error
