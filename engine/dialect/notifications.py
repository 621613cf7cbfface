"""LISTEN, UNLISTEN and NOTIFY, which happen after COMMIT: who listens to which channel, and the way
of a committed notification to all listeners.

Enters: statements, the effects of committed transactions, changes of continuous views. Leaves:
messages in the inboxes of the sessions that listen. For the one event loop; nothing is kept for
sessions that do not listen.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from engine.execution.after_commit import Inbox, follows_commit
from engine.execution.catalog_reads import Rows, shows
from engine.execution.registry import handles
from engine.execution.server_parts import ServerParts
from engine.execution.work import Work
from engine.tables.session_functions import AnsweringSession, answers_rows
from sql.errors import SqlError
from sql.parse.statements.notifications import Listen, Notify
from sql.wire import writer

CHANNEL_BYTES_MAX = 63
PAYLOAD_BYTES_MAX = 7999
# The process id of notifications that no session has sent.
NOBODY = 0


class Channels:
    """The channels of one server, each with the inboxes of its listeners in the order in which they
    came.
    """

    def __init__(self) -> None:
        self._listeners: dict[str, dict[Inbox, None]] = {}

    def listen(self, inbox: Inbox, channel: str) -> None:
        """Begin to listen; it ends with the inbox."""
        self._listeners.setdefault(channel, {})[inbox] = None
        inbox.at_end.add(self.forget)

    def unlisten(self, inbox: Inbox, channel: str) -> None:
        """End to listen, if the session does."""
        listeners = self._listeners.get(channel, {})
        listeners.pop(inbox, None)
        if not listeners:
            self._listeners.pop(channel, None)

    def forget(self, inbox: Inbox) -> None:
        """End to listen to all channels."""
        for channel in self.of(inbox):
            self.unlisten(inbox, channel)

    def of(self, inbox: Inbox) -> list[str]:
        """Return the channels that a session listens to."""
        return [channel for channel, listeners in self._listeners.items() if inbox in listeners]

    def has(self, channel: str) -> bool:
        """Tell whether a session listens to a channel; from any thread."""
        return channel in self._listeners

    def publish(self, channel: str, payload: str = "", process_id: int = NOBODY) -> None:
        """Tell every listener of a channel."""
        if listeners := self._listeners.get(channel):
            message = writer.notification_response(process_id, channel, payload)
            for inbox in list(listeners):
                inbox.put(message)


def channels_of_server(server: ServerParts) -> Channels:
    """Return the channels of a server, on which its views tell of changes from now on."""
    channels, changes, loop = Channels(), server.engines.changes, asyncio.get_running_loop()
    changes.tell = lambda channel: loop.call_soon_threadsafe(channels.publish, channel)
    changes.is_heard = channels.has
    return channels


@dataclass(frozen=True, eq=False)
class Listening:
    """LISTEN (`begins`) or UNLISTEN; None stands for all channels. The last one counts, so no two
    are one.
    """

    channel: str | None
    begins: bool


@dataclass(frozen=True)
class Notice:
    """A notification; equal ones of a transaction are one."""

    channel: str
    payload: str


# Registered before notices: a transaction that listens hears itself.
@follows_commit(Listening)
def change_listening(change: Listening, server: ServerParts, inbox: Inbox) -> None:
    """Begin or end to listen."""
    channels = server.part(channels_of_server)
    if change.channel is None:
        channels.forget(inbox)
    elif change.begins:
        channels.listen(inbox, change.channel)
    else:
        channels.unlisten(inbox, change.channel)


@follows_commit(Notice)
def publish(notice: Notice, server: ServerParts, inbox: Inbox) -> None:
    """Tell all sessions that listen."""
    server.part(channels_of_server).publish(notice.channel, notice.payload, inbox.process_id)


def checked_notice(channel: str | None, payload: str | None) -> Notice:
    """Return a notification. Raises 22023 for what PostgreSQL does not take."""
    if not channel:
        raise SqlError("22023", "channel name cannot be empty")
    if len(channel.encode()) > CHANNEL_BYTES_MAX:
        raise SqlError("22023", "channel name too long")
    if payload is not None and len(payload.encode()) > PAYLOAD_BYTES_MAX:
        raise SqlError("22023", "payload string too long")
    return Notice(channel, payload or "")


@handles(Listen)
def listen(statement: Listen, work: Work) -> None:
    """Begin or end to listen to a channel."""
    work.transaction.after_commit[Listening(statement.channel, statement.on)] = None


@handles(Notify)
def notify(statement: Notify, work: Work) -> None:
    """Tell all sessions that listen to a channel. Raises 22023."""
    work.transaction.after_commit[checked_notice(statement.channel, statement.payload)] = None


@answers_rows("pg_notify", "VARCHAR VARCHAR", "VARCHAR", strict=False)
def pg_notify(session: AnsweringSession, channel: str | None, payload: str | None) -> str:
    """Let COMMIT send a notification; void is an empty text."""
    session.backend.after_commit(checked_notice(channel, payload))
    return ""


@shows("pg_listening_channels")
def listening_channels(work: Work) -> Rows:
    """Return the rows that pg_listening_channels() returns. From any thread."""
    channels = work.threads.on_loop(lambda: work.server.part(channels_of_server).of(work.inbox))
    return [{"channel": channel} for channel in channels]
