"""One client's socket: replies to it, with back-pressure, its encryption and its end.

Enters: the socket's events. Leaves: received bytes to the pump (`engine.server.pump`), and replies
in batches. Must not know SQL.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from typing import TYPE_CHECKING, cast

from engine.server.pump import Pump
from engine.server.socket_writer import SocketWriter
from engine.sessions.bind_runs import bind_run
from engine.sessions.session_registry import SessionProtocol
from engine.sessions.timeouts import terminated
from sql.errors import SqlError
from sql.settings.settings import Settings
from sql.values.encodings import UTF8
from sql.wire import writer
from sql.wire.conversation import Conversation
from sql.wire.recoding import sent

if TYPE_CHECKING:
    from engine.server.server import Server

log = logging.getLogger(__name__)

# A batch of replies is handed to the transport when it has grown to this size, and at the end of
# each batch of messages.
REPLY_BATCH_BYTES = 64 * 1024

# Larger ones are handed over one by one.
JOINED_BYTES_MAX = 4 * REPLY_BATCH_BYTES


class Connection(asyncio.Protocol):
    """One client's socket, as its session (`ClientConnection`), the admission and the pump see it.

    The session uses the first methods, `conversation`, `neighbours`, `process_id`, `secret_key` and
    `role`.

    Attributes:
        role: the oid of the role that the client was let in as.
        address, peer_port: of the client.
        may_write: set while the client takes replies.
    """

    def __init__(self, server: Server) -> None:
        self.conversation = Conversation(server.limits.message_bytes_max, lets_in=True, find_run=bind_run)
        self.role = 0
        self.encoding = UTF8
        self.address, self.peer_port = "", 0
        self.is_encrypted = False
        self.process_id = 0
        self.secret_key = 0
        self.neighbours = server.neighbours
        self._server = server
        self._limits = server.limits
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._writer: SocketWriter | None = None
        self._closed = asyncio.Event()
        self._startup_timer: asyncio.TimerHandle | None = None
        # Those that are buffered.
        self.replies: list[bytes] = []
        self._replies_bytes = 0
        self.may_write = asyncio.Event()
        self.may_write.set()
        self._ending: asyncio.Task[None] | None = None
        self._pump = pump = Pump(self, server)
        # The event loop calls them, and the session.
        self.data_received = pump.take  # type: ignore[method-assign]
        self.end_packet = pump.end_packet
        self.go_on = pump.go_on

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
        self.replies.append(data)
        self._replies_bytes += len(data)
        if self._replies_bytes >= REPLY_BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Hand the buffered replies to the socket now."""
        if self.replies:
            # Few large replies need not be copied to be one.
            for data in [b"".join(self.replies)] if self._replies_bytes < JOINED_BYTES_MAX else self.replies:
                self.send(data)
            self.replies.clear()
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
    def session(self) -> SessionProtocol | None:
        """The session, once there is one."""
        return self._pump.session

    @property
    def is_idle(self) -> bool:
        """True while nothing is handled, waits to be handled, or is partly received: a message may
        go out on its own.
        """
        return self._transport is not None and self._pump.is_idle

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
        self._pump.drop()
        if self._transport is not None:
            self._transport.close()

    def end_soon(self) -> None:
        """Begin to end the connection, if that has not begun."""
        if self._ending is None:
            self._ending = self._loop.create_task(self.shut_down())

    # The methods for the admission.

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Begin a TLS handshake; the next bytes of the client come after it."""
        self.flush()
        self._pump.hold(self._start_tls(context))

    def begin(self, session: SessionProtocol) -> None:
        """Let `session` handle the client's messages from now on: the client is in."""
        self._pump.session = session
        self._stop_startup_timer()

    # What the pump uses.

    def send(self, data: bytes) -> None:
        """Send a reply now, which does not need to be recoded; nothing is buffered."""
        if self._writer is not None:
            self._writer.send(data)

    def pause_reading(self) -> None:
        """Leave what the client sends in its socket."""
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read what the client sends."""
        if self._transport is not None:
            self._transport.resume_reading()

    def abort(self) -> None:
        """Close the socket without a word."""
        if self._transport is not None:
            self._transport.abort()

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

    def pause_writing(self) -> None:
        self.may_write.clear()

    def resume_writing(self) -> None:
        self.may_write.set()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._transport = self._writer = None
        self._stop_startup_timer()
        self.replies.clear()
        self.may_write.set()
        self._server.connections.discard(self)
        self._server.is_known(self)
        self._server.sessions.pop(self.process_id, None)
        self._pump.client_has_gone()
        self._closed.set()

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

    async def shut_down(self) -> None:
        """Stop with the server: cancel the running statement, wait for it a while, say why,
        close.
        """
        end_s = self._loop.time() + self._limits.shutdown_wait_s_max
        await self._pump.stop(end_s)
        if self._transport is None:
            return
        if not self._transport.is_closing():
            self.terminate(terminated())
        try:
            await asyncio.wait_for(self._closed.wait(), end_s - self._loop.time())
        except TimeoutError:
            self.abort()

    def _startup_timed_out(self) -> None:
        if self._pump.has_task:
            # In the middle of a handshake nothing can be said.
            self.abort()
            return
        self.terminate(SqlError("57014", "canceling authentication due to timeout"))

    def _stop_startup_timer(self) -> None:
        if self._startup_timer is not None:
            self._startup_timer.cancel()
            self._startup_timer = None
