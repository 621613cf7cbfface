"""The connections of one server as its sessions see them, and what a connection needs of its
session.

A session reaches its own connection, and cancels or ends those of others. Enters: messages, whole
reads of the socket, process ids. Leaves: replies as bytes, roles, signals. Must not know sockets or
SQL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Protocol

from sql.errors import SqlError
from sql.settings.settings import Settings
from sql.values.encodings import Encoding
from sql.wire.conversation import Conversation
from sql.wire.messages import FrontendMessage


class PacketsProtocol(Protocol):
    """Whole reads of the socket, each of which is answered in one go."""

    def answer(self, data: bytes) -> bytes | bool:
        """Return the reply to a read that begins with Bind or Query, if all of the read can be done
        in one go.

        False: nothing was done. True: all is done but for the log, whose answer comes by
        `Connection.end_packet`, if it has not come; no message is handled before that.
        """

    def end(self, error: SqlError | None) -> bytes:
        """Return the reply to a packet that has waited for the log.

        error: the reason why the log has not taken it.
        """


class SessionProtocol(Protocol):
    """The session of a connection, as the connection needs it.

    All but `cancel` are called on the event loop.
    """

    @property
    def packets(self) -> PacketsProtocol:
        """The object that answers whole reads of the socket."""

    def startup_reports(self) -> Mapping[str, str]:
        """Return the settings that the client is told of by ParameterStatus before its first
        query.
        """

    def handle(self, message: FrontendMessage) -> Awaitable[None] | None:
        """Act on one message and write the replies to the connection.

        None: done. Client errors are answered, not raised.
        """

    async def abort_after_bug(self) -> str | None:
        """Get back to order after `handle` raised, and nothing is `under_way` any more; the client
        has its XX000.

        Return the transaction status when ReadyForQuery is due (simple protocol), or None when the
        pipeline is skipped until Sync.
        """

    def cancel(self) -> None:
        """Stop the running statement, if there is one. From any thread."""

    def end(self) -> None:
        """Stop the running statement, if there is one: the connection is about to be closed."""

    def under_way(self) -> Awaitable[None] | None:
        """Return what threads still do for the messages before, while the next ones are handled.

        None: nothing.
        """

    def close(self) -> None:
        """Roll back and let go: the client is gone.

        Called once, and never while an awaitable of `handle` runs, something is `under_way` or a
        packet waits.
        """


class ClientConnection(Protocol):
    """The connection of a client, as its session and those of others see it.

    All methods are called on the event loop.
    """

    @property
    def process_id(self) -> int:
        """The number by which others cancel its session."""

    @property
    def role(self) -> int:
        """The oid of the role that the client was let in as."""

    @property
    def address(self) -> str:
        """The client's address; empty where there is none."""

    @property
    def peer_port(self) -> int:
        """The client's port."""

    @property
    def encoding(self) -> Encoding:
        """The encoding that the client speaks."""

    @property
    def neighbours(self) -> Neighbours:
        """All connections of the server."""

    @property
    def conversation(self) -> Conversation:
        """The state of its protocol."""

    @property
    def may_write(self) -> asyncio.Event:
        """Set while the client takes data."""

    @property
    def is_idle(self) -> bool:
        """True while the client's next message is waited for."""

    @property
    def session(self) -> SessionProtocol | None:
        """The session, once there is one."""

    def follow(self, settings: Settings) -> None:
        """Speak the client_encoding of these settings, whatever it becomes."""

    def write(self, data: bytes) -> None:
        """Send data after all data that was written before.

        Raises SqlError for characters that the client's encoding does not have.
        """

    def flush(self) -> None:
        """Hand the written data to the socket now."""

    async def drain(self) -> None:
        """Return once the client takes more."""

    def terminate(self, error: SqlError | None = None) -> None:
        """End the connection, after a last error."""

    def end_soon(self) -> None:
        """End the connection with 57P01 once its session has stopped the running statement."""

    def end_packet(self, error: SqlError | None) -> None:
        """Answer the packet that has waited for the log.

        error: the reason why the log has not taken it.
        """


class Neighbours:
    """The connections of one server.

    Attributes:
        sessions: by process id, as they come and go.
    """

    def __init__(self, sessions: Mapping[int, ClientConnection]) -> None:
        self._sessions = sessions

    def connections(self) -> list[ClientConnection]:
        """Return the connections that have a session. On the event loop."""
        return list(self._sessions.values())

    def role_of(self, process_id: int) -> int:
        """Return the oid of the role that a session was let in as, 0 if there is none.

        From any thread.
        """
        found = self._sessions.get(process_id)
        return 0 if found is None else found.role

    def signal(self, process_id: int, terminates: bool) -> None:
        """Cancel a session's statement, or end the session. On the event loop."""
        target = self._sessions.get(process_id)
        if target is None or target.session is None:
            return
        if terminates:
            target.end_soon()
        else:
            target.session.cancel()
