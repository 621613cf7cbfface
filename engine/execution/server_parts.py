"""The parts of a server that its statements use.

A function gets the part that it needs, and not all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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


@dataclass(frozen=True, eq=False)
class ServerParts:
    """The parts of one server.

    Attributes:
        stream_options: of streams that have none of their own.
        prepare_compilers: begins to start the processes that compile, and returns at once.
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
