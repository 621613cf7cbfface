"""What a connection needs of the session behind it.

Enters: messages, and whole reads of the socket. Leaves: replies. Must not know sockets.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Protocol

from sql.errors import SqlError
from sql.wire.messages import FrontendMessage


class PacketsProtocol(Protocol):
    """Whole reads of the socket, each of which is answered in one go."""

    def answer(self, data: bytes) -> bytes | bool:
        """Return the reply to a read that begins with Bind or Query, if all of it can be done in one go. False: nothing was done.

        True: all is done but for the log, whose answer comes by `Connection.end_packet`, if it has not; no message is handled before that.
        """

    def end(self, error: SqlError | None) -> bytes:
        """Return the reply to a packet that has waited for the log. error: why the log has not taken it."""


class SessionProtocol(Protocol):
    """What a connection needs of the session behind it. All but `cancel` are called on the event loop."""

    @property
    def packets(self) -> PacketsProtocol:
        """Who answers whole reads of the socket."""

    def startup_reports(self) -> Mapping[str, str]:
        """Return the settings that the client is told of by ParameterStatus before its first query."""

    def handle(self, message: FrontendMessage) -> Awaitable[None] | None:
        """Act on one message and write the replies to the connection. None: done. Client errors are answered, not raised."""

    def abort_after_bug(self) -> str | None:
        """Get back to order after `handle` raised; the client has its XX000.

        Return the transaction status when ReadyForQuery is due (simple protocol), or None when the pipeline is skipped until Sync.
        """

    def cancel(self) -> None:
        """Stop what runs, if anything does. From any thread."""

    def end(self) -> None:
        """Stop what runs, if anything does: the connection is about to be closed."""

    def close(self) -> None:
        """The client is gone: roll back and let go. Called once, and never while an awaitable of `handle` runs or a packet waits."""
