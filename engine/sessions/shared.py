"""The parts of a server that its sessions share."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.execution.server_parts import ServerParts
from engine.scheduler.conflict_turns import Turns
from engine.scheduler.workers import Workers
from engine.settings.shown import server_settings
from engine.tables.locks import Locks
from sql.settings.table import Setting


@dataclass(frozen=True, eq=False)
class Shared:
    """The parts of a server that its sessions use.

    Attributes:
        server: those that statements use, too.
        started_us: when the server began.
        settings: what SHOW says of the server's settings, by name.
    """

    server: ServerParts
    started_us: int
    workers: Workers
    locks: Locks
    turns: Turns
    settings: dict[str, Setting]

    def listens_on(self, port: int) -> None:
        """Note the port that the system has given, if the settings left the port to the system."""
        self.settings.update(server_settings(replace(self.server.config, port=port)))
