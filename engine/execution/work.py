"""The work of one statement: the transaction, the role that says it, the engines, threads, and the
place for notices.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.catalog.image import CatalogImage
from engine.commit.transaction import Transaction
from engine.execution.after_commit import Inbox
from engine.execution.catalog_reads import context_of
from engine.execution.identity import Identity
from engine.execution.names import Names
from engine.execution.outcome import Outcome
from engine.execution.prepared import Prepared
from engine.execution.reading import StatementReader, scan_settings
from engine.execution.server_parts import ServerParts
from engine.execution.temporary import TemporaryRelations
from engine.scheduler.threads import Threads
from engine.storage.kernel_files import KernelFiles
from engine.tables.locks import SessionLocks
from engine.tables.sequence_functions import SequenceSession
from sql.errors import SqlError
from sql.parse.statements.declaration import Statement
from sql.settings.settings import Settings
from sql.tree.expressions import Literal
from sql.types.datatypes import SqlType
from views.model.protocols import UpperExecutor
from views.upkeep.refresh import Reader

# Rows of relations of the catalog, by their names.
LiveRows = Mapping[str, list[dict[str, Any]]]


class Run(Protocol):
    """The function that does a statement from its beginning, in the same transaction."""

    def __call__(
        self,
        statement: Statement,
        transaction: Transaction,
        parameters: tuple[Literal, ...],
        prepared: Prepared | None,
    ) -> Awaitable[Outcome]:
        """Return the outcome. Raises SqlError."""


@dataclass(frozen=True)
class Work:
    """The work of one statement of one session."""

    server: ServerParts
    """What all sessions share."""
    transaction: Transaction
    """Where its effects are staged; they happen at COMMIT."""
    settings: Settings
    identity: Identity
    """Who says it, and what that role may do."""
    names: Names
    """The session's prepared statements and cursors."""
    sequences: SequenceSession
    locks: SessionLocks
    temporary: TemporaryRelations
    kernels: KernelFiles
    """Where the kernels of a view that it makes are written."""
    pipelines: UpperExecutor
    """What runs the pipelines of such a view."""
    threads: Threads
    """Where it computes, and what ends it when that is asked for."""
    client: Hashable
    """What the engines know the session by, so that its statement can be cancelled there."""
    live_rows: Callable[[CatalogImage, int], LiveRows]
    """What is only true at this moment, as a role may see it: sessions, locks. On the event loop."""
    inbox: Inbox
    """What other sessions send to its client."""
    run: Run
    in_block: bool = False
    """True in a transaction of several statements."""
    in_sequence: bool = False
    """True where it is one of several statements of a Query."""
    parameters: tuple[Literal, ...] = ()
    prepared: Prepared | None = None
    """Where it was prepared: with what it was bound to."""
    notices: list[SqlError] = field(default_factory=list)
    """What the client is told before the outcome or the error."""

    def reader(self, image: CatalogImage, staleness_us: int = 0) -> StatementReader:
        """Return the reader of the statement's queries.

        image: the image to which the queries are bound.
        """
        transaction, settings = self.transaction, self.settings
        reader = Reader(transaction.now_us, self.threads.check_cancelled, self.client, staleness_us)
        scanning = scan_settings(settings, transaction)
        self.sequences.context = context_of(self, image)
        server = self.server
        return StatementReader(
            server.engines, server.transactions, transaction, image, reader, scanning, self.sequences
        )

    @property
    def parameter_types(self) -> tuple[SqlType, ...] | None:
        """The types of the parameters, None where there are none."""
        return tuple(one.type for one in self.parameters) or None

    @property
    def image(self) -> CatalogImage:
        """The catalog that the statement sees: its transaction's own, or that of its snapshot, or
        the newest.
        """
        return self.transaction.image or self.transaction.snapshot or self.server.catalog.image

    def notice(
        self, sqlstate: str, text: str, severity: str = "NOTICE", hint: str | None = None, detail: str | None = None
    ) -> None:
        """Give the client a notice. From any thread."""
        self.notices.append(SqlError(sqlstate, text, severity=severity, hint=hint, detail=detail))

    def require_alone(self, what: str) -> None:
        """Raise 25001 for a statement that has to be a transaction of its own."""
        if self.in_block:
            raise SqlError("25001", f"{what} cannot run inside a transaction block")

    def require_writable(self, what: str) -> None:
        """Raise 25006 for a statement that writes in a read-only transaction."""
        if self.settings.value("transaction_read_only") == "on":
            raise SqlError("25006", f"cannot execute {what} in a read-only transaction")
