"""LISTEN, UNLISTEN and NOTIFY, which happen at COMMIT: who listens to which channel, and the way of
a committed notification to all listeners.

Enters: statements, and what transactions have committed. Leaves: calls of the listening sessions.
For the one event loop; nothing is kept for sessions that do not listen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import pyarrow as pa

from engine.execution.outcome import Outcome
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.tables.session_functions import AnsweringSession, answers
from sql.errors import SqlError
from sql.parse.statements.notifications import Listen, Notify

CHANNEL_BYTES_MAX = 63
PAYLOAD_BYTES_MAX = 7999


class Listener(Protocol):
    """A session that may listen."""

    def notified(self, process_id: int, channel: str, payload: str) -> None:
        """Take a notification of the session with this process id."""


class Notifications:
    """The channels of one server, each with its listeners in the order in which they came."""

    def __init__(self) -> None:
        self._channels: dict[str, dict[Listener, None]] = {}

    def change(self, listener: Listener, changes: Iterable[tuple[str | None, bool]]) -> None:
        """Begin (True) or end to listen, channel by channel; None stands for all channels."""
        for channel, begins in changes:
            if begins and channel is not None:
                self._channels.setdefault(channel, {})[listener] = None
                continue
            for name in self.channels_of(listener) if channel is None else [channel]:
                listeners = self._channels.get(name, {})
                listeners.pop(listener, None)
                if not listeners:
                    self._channels.pop(name, None)

    def has(self, channel: str) -> bool:
        """Tell whether a session listens to a channel; from any thread."""
        return channel in self._channels

    def channels_of(self, listener: Listener) -> list[str]:
        """Return the channels that a session listens to."""
        return [name for name, listeners in self._channels.items() if listener in listeners]

    def publish(self, process_id: int, notices: Iterable[tuple[str, str]]) -> None:
        """Tell every listener of channels and payloads."""
        for channel, payload in notices:
            for listener in list(self._channels.get(channel, ())):
                listener.notified(process_id, channel, payload)


def checked_notice(channel: str | None, payload: str | None) -> tuple[str, str]:
    """Return channel and payload of a notification.

    Raises 22023 for what PostgreSQL does not take.
    """
    if not channel:
        raise SqlError("22023", "channel name cannot be empty")
    if len(channel.encode()) > CHANNEL_BYTES_MAX:
        raise SqlError("22023", "channel name too long")
    if payload is not None and len(payload.encode()) > PAYLOAD_BYTES_MAX:
        raise SqlError("22023", "payload string too long")
    return channel, payload or ""


@handles(Listen)
def listen(statement: Listen, work: Work) -> Outcome:
    """Begin or end to listen to a channel."""
    work.transaction.listening.append((statement.channel, statement.on))
    return Outcome(statement.tag)


@handles(Notify)
def notify(statement: Notify, work: Work) -> Outcome:
    """Tell all sessions that listen to a channel. Raises 22023."""
    work.transaction.notices[checked_notice(statement.channel, statement.payload)] = None
    return Outcome(statement.tag)


@answers("pg_notify", "VARCHAR VARCHAR", "VARCHAR")
def pg_notify(session: AnsweringSession, channels: pa.ChunkedArray, payloads: pa.ChunkedArray) -> pa.Array:
    """Let COMMIT send a notification per row; void is an empty text."""
    for channel, payload in zip(channels.to_pylist(), payloads.to_pylist(), strict=True):
        session.backend.notify(*checked_notice(channel, payload))
    return pa.array([""] * len(channels), pa.string())
