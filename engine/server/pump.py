"""The messages of one client: from received bytes to the session, one at a time and in order.

Enters: bytes that the socket gives. Leaves: messages handed to `Session.handle`, whole packets
handed to the session's inserts, and a socket that is not read while too many bytes wait. A message
whose work is done at once costs no task; a message that returns an awaitable is awaited before the
next. A packet that waits for nothing but the log costs no task either. An error that a session
raises never ends the server or another connection. Must not know SQL.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import deque
from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING

from engine.server.admission import Admission
from engine.server.bug_barrier import BugBarrier
from engine.server.first_step import first_step
from engine.sessions.session_registry import SessionProtocol
from sql.errors import SqlError
from sql.wire import writer
from sql.wire.messages import SYNC, FrontendMessage, FunctionCall, Query, Sync, Terminate, Violation

if TYPE_CHECKING:
    from engine.server.connection import Connection
    from engine.server.server import Server

log = logging.getLogger(__name__)

# Reads up to this size are first shown to the session as a whole.
PACKET_BYTES_MAX = 4096
_PACKET_KINDS = frozenset(b"BQ")

# After so many messages without waiting, a busy connection lets the others have a turn.
MESSAGES_PER_TURN_MAX = 1000


class Pump:
    """The messages of one connection, which is busy while it has a task, or while a packet waits
    for the log.
    """

    def __init__(self, connection: Connection, server: Server) -> None:
        self.session: SessionProtocol | None = None
        self._connection = connection
        self._barrier = BugBarrier(self)
        self._admission = Admission(connection, server)
        self._conversation = connection.conversation
        self._read_high_water_bytes = server.limits.read_high_water_bytes
        self._packet_bytes_max = min(PACKET_BYTES_MAX, server.limits.message_bytes_max)
        self._loop = asyncio.get_running_loop()
        # False once the server stops: later messages are not looked at, since a Sync before them
        # may have been dropped.
        self._takes_messages = True
        self._queue: deque[FrontendMessage] = deque()
        self._queued_bytes = 0
        self._reading_is_paused = False
        self._task: asyncio.Task[None] | None = None
        self._packet_waits = False
        self._packet_ended: asyncio.Future[None] | None = None
        self._current: FrontendMessage | None = None
        # What the session still does after a bug.
        self._recovery: Awaitable[None] | None = None

    @property
    def has_task(self) -> bool:
        """True while something is waited for but the log."""
        return self._task is not None

    @property
    def is_idle(self) -> bool:
        """True while nothing is handled, waits to be handled, or is partly received: a message may
        go out on its own.
        """
        works = self._task is not None or self._packet_waits or self._queue or self._current is not None
        return not works and (self.session is None or self.session.under_way() is None)

    def take(self, data: bytes) -> None:
        """Handle what was received, after what came before it."""
        if data[0] in _PACKET_KINDS and len(data) <= self._packet_bytes_max and self._answer_packet(data):
            return
        self._queued_bytes += len(data)
        self._queue.extend(self._conversation.receive(data) if self._takes_messages else ())
        if self._task is None and not self._packet_waits:
            self._work()
        elif self._queued_bytes > self._read_high_water_bytes and not self._reading_is_paused:
            self._reading_is_paused = True
            self._connection.pause_reading()

    def go_on(self, messages: Iterable[FrontendMessage]) -> None:
        """Handle these messages next: they were received before they could be looked at."""
        self._queue.extend(messages)

    def hold(self, work: Awaitable[None]) -> None:
        """Handle nothing before `work` is done."""

        async def held() -> None:
            try:
                await work
            finally:
                self._task = None
                if self._queue:
                    self._work()

        self._task = self._loop.create_task(held())

    def drop(self) -> None:
        """Forget what waits to be handled."""
        self._conversation.close()
        self._queue.clear()

    def client_has_gone(self) -> None:
        """Drop what waits, and end the session, after what it does now."""
        self.drop()
        if self._task is not None:
            if self.session is not None:
                self.session.cancel()
        elif not self._packet_waits:
            self._close_session()

    async def stop(self, end_s: float) -> None:
        """Take no more messages, cancel what runs, and wait for it. end_s: by the loop's clock,
        when the wait is over.
        """
        self._takes_messages = False
        if self._packet_waits:
            self._queue.clear()
            self._packet_ended = self._loop.create_future()
            await asyncio.wait([self._packet_ended], timeout=end_s - self._loop.time())
        if self._task is None:
            self._takes_rest()
        if self._task is None:
            return
        self._queue.clear()
        if self.session is not None:
            self.session.end()
        else:
            self._connection.abort()
        _, running = await asyncio.wait([self._task], timeout=end_s - self._loop.time())
        for task in running:
            log.warning("connection %d did not stop in time", self._connection.process_id)
            task.cancel()

    def end_packet(self, error: SqlError | None) -> None:
        """Send the reply to the packet that waits, after the log has answered it, and go on with
        later messages.

        On the event loop.
        """
        session, connection = self.session, self._connection
        assert session is not None and self._packet_waits
        with self._barrier:
            reply = session.packets.end(error)
            connection.send(reply)
        self._packet_waits = False
        if self._packet_ended is not None:
            self._packet_ended.set_result(None)
        if self._queue or self._recovery is not None:
            # Not right here: the log answers others after us.
            self._task = self._loop.create_task(self._work_on(None))
            return
        self._batch_done()
        if not connection.is_open:
            self._close_session()

    def _answer_packet(self, data: bytes) -> bool:
        """Let the session answer a whole packet at once; False: its messages are to be handled one
        by one.
        """
        session, connection = self.session, self._connection
        # Only the first of the open work may be answered at once.
        is_busy = self._packet_waits or self._task is not None or self._queue or connection.replies
        if session is None or is_busy or not self._takes_messages or not self._conversation.is_between_messages:
            return False
        if not connection.may_write.is_set() or connection.encoding.converts or not connection.is_open:
            return False
        # A bug inside would leave work half done; that ends with this message.
        self._current = SYNC
        # The log may answer at once.
        self._packet_waits = True
        reply: bytes | bool = b""
        with self._barrier:
            reply = session.packets.answer(data)
            if reply is True:
                return True
            if reply:
                connection.send(reply)
        self._packet_waits = False
        self._current = None
        if connection.replies:
            connection.flush()
        if self._recovery is not None:
            self._work()
        return reply is not False

    def _work(self) -> None:
        """Handle the queued messages that are done at once.

        Go on in a task from the first message that has to wait.
        """
        while (self._queue or self._recovery is not None) and self._task is None:
            with self._barrier:
                waiting = self._handle_until_wait(sys.maxsize)
                if waiting is not None:
                    self._connection.flush()
                    self._task = self._loop.create_task(self._work_on(waiting))
        if self._task is None:
            self._batch_done()

    async def _work_on(self, waiting: Awaitable[None] | None) -> None:
        """Wait for the present message, then go on with the queue until it is empty."""
        try:
            while waiting is not None or self._queue or self._recovery is not None:
                with self._barrier:
                    if waiting is not None:
                        pending, waiting = waiting, None
                        await pending
                    waiting = self._handle_until_wait(MESSAGES_PER_TURN_MAX)
                    self._connection.flush()
                    if waiting is None and self._queue:
                        waiting = asyncio.sleep(0)
        finally:
            self._task = None
            self._batch_done()
            if not self._connection.is_open:
                self._close_session()

    def _handle_until_wait(self, messages_max: int) -> Awaitable[None] | None:
        """Handle queued messages.

        Return the awaitable of the last message that was taken from the queue, or None.
        """
        queue, connection, conversation = self._queue, self._connection, self._conversation
        admit = conversation.admit
        if self._recovery is not None:
            recovery, self._recovery = self._recovery, None
            return recovery
        for _ in range(min(len(queue), messages_max)):
            if conversation.encoding is not connection.encoding:
                received = conversation.read_again(queue, connection.encoding)
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
                connection.terminate()
                return None
            if type(message) is Violation:
                connection.terminate(message.error)
                return None
            work = session.handle(message)
            if work is not None:
                # Most coroutines never suspend: the first step runs here, and only a suspended one
                # costs a task.
                work = first_step(work)
                if work is not None:
                    return work
            if not connection.may_write.is_set():
                return connection.drain()
        return None

    def _batch_done(self) -> None:
        self._connection.flush()
        self._current = None
        self._queued_bytes = 0
        if self._reading_is_paused and self._connection.is_open:
            self._reading_is_paused = False
            self._connection.resume_reading()

    def answer_bug(self, error: Exception) -> None:
        """Answer an exception of `handle`: a bug of ours, unless it is an SqlError that the session
        passed on.
        """
        message, session, connection = self._current, self.session, self._connection
        if not connection.is_open and isinstance(error, ConnectionError):
            return
        if isinstance(error, SqlError) and (error.severity == "FATAL" or session is None):
            connection.terminate(error)
            return
        if isinstance(error, SqlError):
            answer = error
        else:
            log.error(
                "a bug while handling %s of connection %d",
                type(message).__name__,
                connection.process_id,
                exc_info=error,
            )
            answer = SqlError(
                "XX000", f"internal error: {type(error).__name__}", hint="The server's log has the details."
            )
        if session is None:
            connection.terminate(answer)
            return
        connection.write(writer.error_response(answer))
        self._recovery = first_step(self._recover(session, message))

    async def _recover(self, session: SessionProtocol, message: FrontendMessage | None) -> None:
        """Bring the session back to order after a bug that is answered."""
        status = await session.abort_after_bug()
        self._conversation.end_copy_in()
        if status is not None:
            self._connection.write(writer.ready_for_query(status))
        elif isinstance(message, Query | Sync | FunctionCall):
            self._connection.terminate()
        else:
            self._conversation.fail_until_sync()

    def _takes_rest(self) -> bool:
        """Let what the session still does beside its messages be the present task.

        False: it does nothing.
        """
        rest = None if self.session is None else self.session.under_way()
        if rest is not None:
            self._task = self._loop.create_task(self._work_on(rest))
        return rest is not None

    def _close_session(self) -> None:
        if self.session is not None and self._takes_rest():
            # The session is closed after it.
            self.session.cancel()
            return
        session, self.session = self.session, None
        if session is not None:
            with self._barrier:
                session.close()
