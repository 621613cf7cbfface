"""The parts of a server that its statements use.

A function gets the part that it needs, and not all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from engine.catalog.published import PublishedCatalog
from engine.commit.committer import Committer
from engine.commit.definitions import Definitions
from engine.commit.transactions import Transactions
from engine.embedded.result_rows import ResultLimits
from engine.log.checkpoints import Checkpoints
from engine.scans.engines import QueryEngines
from engine.settings.config import ServerConfig
from engine.streams.options import StreamOptions
from views.model.protocols import Clock

Part = TypeVar("Part")


@dataclass(frozen=True, eq=False)
class ServerParts:
    """The parts of one server.

    Attributes:
        stream_options: of streams that have none of their own.
        prepare_compilers: begins to start the processes that compile, and returns at once.
        added: the parts of the rooms above, by the function that makes each.
    """

    config: ServerConfig
    clock: Clock
    catalog: PublishedCatalog
    transactions: Transactions
    committer: Committer
    definitions: Definitions
    engines: QueryEngines
    stream_options: StreamOptions
    result_limits: ResultLimits
    checkpoints: Checkpoints
    prepare_compilers: Callable[[], None]
    added: dict[Callable[[ServerParts], Any], Any] = field(default_factory=dict)

    def part(self, make: Callable[[ServerParts], Part]) -> Part:
        """Return the part that a room above adds, which the first call makes. On the event loop."""
        if make not in self.added:
            self.added[make] = make(self)
        found: Part = self.added[make]
        return found
