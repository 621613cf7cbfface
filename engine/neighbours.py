"""The sessions of one server as one of them sees the others: who they are, and how to cancel or end them.

Enters: process ids. Leaves: connections, roles, signals. Must not know messages or SQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.connection import Connection


class Neighbours:
    """Of one server. sessions: its connections by process id, as they come and go."""

    def __init__(self, sessions: Mapping[int, Connection]) -> None:
        self._sessions = sessions

    def connections(self) -> list[Connection]:
        """Return the connections that have a session. On the event loop."""
        return list(self._sessions.values())

    def role_of(self, process_id: int) -> int:
        """Return the oid of the role that a session was let in as, 0 if there is none; from any thread."""
        found = self._sessions.get(process_id)
        return 0 if found is None else found.role

    def signal(self, process_id: int, terminates: bool) -> None:
        """Cancel what a session runs, or end it. On the event loop."""
        target = self._sessions.get(process_id)
        if target is None or target.session is None:
            return
        if terminates:
            target.end_soon()
        else:
            target.session.cancel()
