"""One client's connection: bytes from the socket to the session and back, in order, with
back-pressure both ways.

Enters: bytes that the event loop reads. Leaves: messages handed to `Session.handle` one at a time,
and replies. A message whose work is done at once costs no task; a message that returns an awaitable
is awaited before the next. A packet that waits for nothing but the log costs no task either. An
error that a session raises never ends the server or another connection. Must not know SQL.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import sys
from collections import deque
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, cast

from engine.server.admission import Admission
from engine.server.first_step import first_step
from engine.server.socket_writer import SocketWriter
from engine.sessions.bug_barrier import BugBarrier
from engine.sessions.session_registry import SessionProtocol
from engine.sessions.timeouts import terminated
from sql.errors import SqlError
from sql.settings.settings import Settings
from sql.values.client_encodings import UTF8
from sql.wire import writer
from sql.wire.conversation import Conversation
from sql.wire.messages import (
    SYNC,
    FrontendMessage,
    FunctionCall,
    Query,
    Sync,
    Terminate,
    Violation,
)
from sql.wire.recoding import sent

if TYPE_CHECKING:
    from engine.server.server import Server

log = logging.getLogger(__name__)

# A batch of replies is handed to the transport when it has grown to this size, and at the end of
# each batch of messages.
REPLY_BATCH_BYTES = 64 * 1024

# Reads up to this size are first shown to the session as a whole.
PACKET_BYTES_MAX = 4096
_PACKET_KINDS = frozenset(b"BQ")

# After so many messages without waiting, a busy connection lets the others have a turn.
MESSAGES_PER_TURN_MAX = 1000


class Connection(asyncio.Protocol):
    """One client's socket.

    The session uses the first methods, `conversation`, `neighbours`, `process_id`, `secret_key` and
    `role`.

    Attributes:
        role: the oid of the role that the client was let in as.
        address, peer_port: of the client.
        may_write: set while the client takes replies.
    """

    def __init__(self, server: Server) -> None:
        self.conversation = Conversation(server.limits.message_bytes_max, lets_in=True)
        self.role = 0
        self.encoding = UTF8
        self.address, self.peer_port = "", 0
        self.is_encrypted = False
        self._admission = Admission(self, server)
        self.session: SessionProtocol | None = None
        self.process_id = 0
        self.secret_key = 0
        self._server = server
        self._limits = server.limits
        self.neighbours = server.neighbours
        self._packet_bytes_max = min(PACKET_BYTES_MAX, server.limits.message_bytes_max)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._writer: SocketWriter | None = None
        self._closed = asyncio.Event()
        # False once the server stops: later messages are not looked at, since a Sync before them
        # may have been dropped.
        self._takes_messages = True
        self._startup_timer: asyncio.TimerHandle | None = None
        self._queue: deque[FrontendMessage] = deque()
        self._queued_bytes = 0
        self._reading_is_paused = False
        self._replies: list[bytes] = []
        self._replies_bytes = 0
        self.may_write = asyncio.Event()
        self.may_write.set()
        # The connection is busy while it has a task, or while a packet waits for the log.
        self._task: asyncio.Task[None] | None = None
        self._packet_waits = False
        self._packet_ended: asyncio.Future[None] | None = None
        self._current: FrontendMessage | None = None
        self._ending: asyncio.Task[None] | None = None

    # The methods for the session.

    def follow(self, settings: Settings) -> None:
        """Speak the client_encoding of these settings, whatever it becomes."""

        def look() -> None:
            # On any thread: received bytes are read again on the event loop.
            self.encoding = settings.encoding

        settings.watchers.append(look)
        look()

    def write(self, data: bytes) -> None:
        """Buffer replies, which leave at the end of the present batch of messages, or when there
        are many.

        Texts are in UTF-8, but those of rows and COPY data in the client's encoding already. Raises
        SqlError for characters that the encoding does not have.
        """
        if self.encoding.converts:
            data = sent(data, self.encoding)
        self._replies.append(data)
        self._replies_bytes += len(data)
        if self._replies_bytes >= REPLY_BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand the buffered replies to the socket now."""
        if self._replies:
            if self._writer is not None:
                self._writer.send(b"".join(self._replies))
            self._replies.clear()
            self._replies_bytes = 0

    async def drain(self) -> None:
        """Flush, let other connections have a turn, and wait while the client has too many replies
        to take.

        Raises ConnectionError when the client is gone.
        """
        self.flush()
        # Without the turn, a client that reads fast, or one that has gone, would keep the event
        # loop to itself.
        await asyncio.sleep(0)
        await self.may_write.wait()
        if self._transport is None:
            raise ConnectionResetError("the client has gone")

    @property
    def is_idle(self) -> bool:
        """True while nothing is handled, waits to be handled, or is partly received: a message may
        go out on its own.
        """
        return (
            self._task is None
            and not self._packet_waits
            and not self._queue
            and self._current is None
            and self._transport is not None
        )

    @property
    def _takes_packets(self) -> bool:
        """True when a packet that comes now is the first of the open work, and may be answered at
        once.
        """
        is_busy = self._packet_waits or self._task is not None or self._queue or self._replies
        can_answer = self._takes_messages and self.may_write.is_set() and not self.encoding.converts
        return not is_busy and can_answer and self.conversation.is_between_messages

    @property
    def is_open(self) -> bool:
        """False once the client is gone or the end was sent."""
        return self._transport is not None

    def terminate(self, error: SqlError | None = None) -> None:
        """End the connection, with a last FATAL error if given; messages that wait are dropped."""
        if error is not None:
            error.severity = "FATAL"
            self.write(writer.error_response(error))
        self.flush()
        self.conversation.close()
        self._queue.clear()
        if self._transport is not None:
            self._transport.close()

    def end_soon(self) -> None:
        """Begin to end the connection, if that has not begun."""
        if self._ending is None:
            self._ending = self._loop.create_task(self.shut_down())

    # The methods for the admission.

    def go_on(self, messages: Sequence[FrontendMessage]) -> None:
        """Handle these messages next: they were received before they could be looked at."""
        self._queue.extend(messages)

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Begin a TLS handshake; the next bytes of the client come after it."""
        self.flush()
        self._task = self._loop.create_task(self._start_tls(context))

    def begin(self, session: SessionProtocol) -> None:
        """Let `session` handle the client's messages from now on: the client is in."""
        self.session = session
        self._stop_startup_timer()

    def end_packet(self, error: SqlError | None) -> None:
        """Send the reply to the packet that waits, after the log has answered it, and go on with
        later messages.

        On the event loop.
        """
        session, socket_writer = self.session, self._writer
        assert session is not None and self._packet_waits
        with BugBarrier(self):
            reply = session.packets.end(error)
            if socket_writer is not None:
                socket_writer.send(reply)
        self._packet_waits = False
        if self._packet_ended is not None:
            self._packet_ended.set_result(None)
        if self._queue:
            # Not right here: the log answers others after us.
            self._task = self._loop.create_task(self._work_on(None))
            return
        self._batch_done()
        if socket_writer is None:
            self._close_session()

    # The methods for the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._writer = SocketWriter(self._transport)
        self._transport.set_write_buffer_limits(high=self._limits.write_high_water_bytes)
        raw = transport.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self.address, self.peer_port = (transport.get_extra_info("peername") or ("", 0))[:2]
        try:
            self._server.take_in(self)
        except SqlError as error:
            self.terminate(error)
            return
        self._startup_timer = self._loop.call_later(self._limits.startup_wait_s_max, self._startup_timed_out)

    def data_received(self, data: bytes) -> None:
        if data[0] in _PACKET_KINDS and len(data) <= self._packet_bytes_max and self._answer_packet(data):
            return
        self._queued_bytes += len(data)
        self._queue.extend(self.conversation.receive(data) if self._takes_messages else ())
        if self._task is None and not self._packet_waits:
            self._work()
        elif self._queued_bytes > self._limits.read_high_water_bytes and not self._reading_is_paused:
            self._reading_is_paused = True
            if self._transport is not None:
                self._transport.pause_reading()

    def pause_writing(self) -> None:
        self.may_write.clear()

    def resume_writing(self) -> None:
        self.may_write.set()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._transport = self._writer = None
        self._stop_startup_timer()
        self.conversation.close()
        self._queue.clear()
        self._replies.clear()
        self.may_write.set()
        self._server.connections.discard(self)
        self._server.is_known(self)
        self._server.sessions.pop(self.process_id, None)
        if self._task is not None:
            if self.session is not None:
                self.session.cancel()
        elif not self._packet_waits:
            self._close_session()
        self._closed.set()

    # Messages, in order.

    def _answer_packet(self, data: bytes) -> bool:
        """Let the session answer a whole packet at once; False: its messages are to be handled one
        by one.
        """
        session, socket_writer = self.session, self._writer
        if session is None or socket_writer is None or not self._takes_packets:
            return False
        # A bug inside would leave work half done; that ends with this message.
        self._current = SYNC
        # The log may answer at once.
        self._packet_waits = True
        reply: bytes | bool = b""
        with BugBarrier(self):
            reply = session.packets.answer(data)
            if reply is True:
                return True
            if reply:
                socket_writer.send(reply)
        self._packet_waits = False
        self._current = None
        if self._replies:
            self.flush()
        return reply is not False

    def _work(self) -> None:
        """Handle the queued messages that are done at once.

        Go on in a task from the first message that has to wait.
        """
        while self._queue and self._task is None:
            with BugBarrier(self):
                waiting = self._handle_until_wait(sys.maxsize)
                if waiting is not None:
                    self.flush()
                    self._task = self._loop.create_task(self._work_on(waiting))
        if self._task is None:
            self._batch_done()

    async def _work_on(self, waiting: Awaitable[None] | None) -> None:
        """Wait for the present message, then go on with the queue until it is empty."""
        try:
            while waiting is not None or self._queue:
                with BugBarrier(self):
                    if waiting is not None:
                        pending, waiting = waiting, None
                        await pending
                    waiting = self._handle_until_wait(MESSAGES_PER_TURN_MAX)
                    self.flush()
                    if waiting is None and self._queue:
                        waiting = asyncio.sleep(0)
        finally:
            self._task = None
            self._batch_done()
            if self._transport is None:
                self._close_session()

    def _handle_until_wait(self, messages_max: int) -> Awaitable[None] | None:
        """Handle queued messages.

        Return the awaitable of the last message that was taken from the queue, or None.
        """
        queue = self._queue
        admit = self.conversation.admit
        for _ in range(min(len(queue), messages_max)):
            if self.conversation.encoding is not self.encoding:
                received = self.conversation.read_again(queue, self.encoding)
                queue.clear()
                queue.extend(received)
            if not queue:
                break
            message = self._current = queue.popleft()
            session = self.session
            if session is None:
                self._admission.handle(message)
                continue
            if not admit(message):
                continue
            if type(message) is Terminate:
                self.terminate()
                return None
            if type(message) is Violation:
                self.terminate(message.error)
                return None
            work = session.handle(message)
            if work is not None:
                # Most coroutines never suspend: the first step runs here, and only a suspended one
                # costs a task.
                work = first_step(work)
                if work is not None:
                    return work
            if not self.may_write.is_set():
                return self.drain()
        return None

    def _batch_done(self) -> None:
        self.flush()
        self._current = None
        self._queued_bytes = 0
        if self._reading_is_paused and self._transport is not None:
            self._reading_is_paused = False
            self._transport.resume_reading()

    def answer_bug(self, error: Exception) -> None:
        """Answer an exception of `handle`: a bug of ours, unless it is an SqlError that the session
        passed on.
        """
        message, session = self._current, self.session
        if self._transport is None and isinstance(error, ConnectionError):
            return
        if isinstance(error, SqlError) and (error.severity == "FATAL" or session is None):
            self.terminate(error)
            return
        if isinstance(error, SqlError):
            answer = error
        else:
            log.error(
                "a bug while handling %s of connection %d", type(message).__name__, self.process_id, exc_info=error
            )
            answer = SqlError(
                "XX000", f"internal error: {type(error).__name__}", hint="The server's log has the details."
            )
        if session is None:
            self.terminate(answer)
            return
        self.write(writer.error_response(answer))
        status = session.abort_after_bug()
        self.conversation.end_copy_in()
        if status is not None:
            self.write(writer.ready_for_query(status))
        elif isinstance(message, Query | Sync | FunctionCall):
            self.terminate()
        else:
            self.conversation.fail_until_sync()

    # Beginning and end.

    async def _start_tls(self, context: ssl.SSLContext) -> None:
        """Go on encrypted; a client that can't is dropped."""
        transport = self._transport
        try:
            if transport is None:
                return
            wait_s = self._limits.startup_wait_s_max
            secure = await self._loop.start_tls(
                transport, self, context, server_side=True, ssl_handshake_timeout=wait_s
            )
            if secure is not None and self._transport is not None:
                self._transport, self._writer, self.is_encrypted = secure, SocketWriter(secure), True
                secure.set_write_buffer_limits(high=self._limits.write_high_water_bytes)
        except OSError as error:
            # ssl.SSLError is one of them.
            log.info("no TLS with the client at %s: %s", self.address, error)
            if transport is not None:
                transport.abort()
        finally:
            self._task = None
            if self._queue:
                self._work()

    async def shut_down(self) -> None:
        """Stop with the server: cancel the running statement, wait for it a while, say why, close."""
        self._takes_messages = False
        end = self._loop.time() + self._limits.shutdown_wait_s_max
        if self._packet_waits:
            self._queue.clear()
            self._packet_ended = self._loop.create_future()
            await asyncio.wait([self._packet_ended], timeout=end - self._loop.time())
        if self._task is not None:
            self._queue.clear()
            if self.session is not None:
                self.session.end()
            elif self._transport is not None:
                self._transport.abort()
            _, running = await asyncio.wait([self._task], timeout=end - self._loop.time())
            for task in running:
                log.warning("connection %d did not stop in time", self.process_id)
                task.cancel()
        if self._transport is None:
            return
        if not self._transport.is_closing():
            self.terminate(terminated())
        try:
            await asyncio.wait_for(self._closed.wait(), end - self._loop.time())
        except TimeoutError:
            if self._transport is not None:
                self._transport.abort()

    def _close_session(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            with BugBarrier(self):
                session.close()

    def _startup_timed_out(self) -> None:
        if self._task is not None and self._transport is not None:
            # In the middle of a handshake nothing can be said.
            self._transport.abort()
            return
        self.terminate(SqlError("57014", "canceling authentication due to timeout"))

    def _stop_startup_timer(self) -> None:
        if self._startup_timer is not None:
            self._startup_timer.cancel()
            self._startup_timer = None
