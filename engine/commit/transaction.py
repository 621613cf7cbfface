"""A client's transaction: its staged statements and its catalog changes, in statement order, until COMMIT or ROLLBACK.

No locks here; `engine.database` commits it. `image` is the transaction's own catalog once it has done DDL, `tables` its part on durable
tables once it has touched one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace

from engine.catalog.image import CatalogImage
from engine.commit.staging import StatementStage
from engine.streams.ring_rebuild import Reshaping
from engine.tables.locks import SessionLocks
from engine.tables.sequence_functions import SequenceSession
from engine.tables.table_transaction import TableTransaction
from engine.tables.write_journal import TableMark
from sql.errors import SqlError
from sql.settings.settings import SettingsMark
from views.upkeep.pinned import PinnedViews
from views.upkeep.view import ContinuousView, Version

AGAIN_MAX = 20


@dataclass(frozen=True, slots=True)
class Again:
    """How a statement is done again in a new transaction. tag: what its client was told, or will be. left: how often it may be done.

    run: does it in the session's transaction, which it begins, and returns the tag.
    """

    tag: str
    run: Callable[[], Awaitable[str]]
    left: int = AGAIN_MAX

    async def once_more(self, error: SqlError) -> Again:
        """Do it, and return how it can be done again. Raises `error` when its client was told something else."""
        if await self.run() != self.tag or not self.left:
            raise error
        return replace(self, left=self.left - 1)


@dataclass
class CatalogChange:
    """The catalog after one DDL statement. reshaping: it makes the ring of a stream anew."""

    image: CatalogImage
    reshaping: Reshaping | None = None


Operation = StatementStage | CatalogChange


@dataclass(frozen=True)
class Savepoint:
    """Where a transaction block stood. image: its own catalog then; notices_count, listening_count: how much waited for COMMIT.

    settings: as they were; portals: the cursors that were there; tables: None before the block's first table.
    """

    name: str
    operations_count: int
    image: CatalogImage | None
    notices_count: int
    listening_count: int
    settings: SettingsMark
    portals: frozenset[str]
    tables: TableMark | None


@dataclass
class Transaction:
    """explicit: between BEGIN and COMMIT; otherwise one statement, one Query message, or a pipeline up to Sync.

    now_us: the transaction's now(). failed: an error happened; only ROLLBACK (or COMMIT, which rolls back) goes on. built: the views that
    it created, whether they are to stay or not. snapshot: the committed catalog that belongs to the snapshot of `tables`. pins: where
    the views are that it may read; versions: of those that it has read. waits_for_log: COMMIT is answered when its rows are durable
    (synchronous_commit). arrival_us: when its rows arrived, which is settled at COMMIT. serializable: it fails rather than do what no order
    of serializable transactions, one after the other, would do. holds_snapshot: its client uses savepoints. notices: channels and payloads
    of NOTIFY, each once; listening: LISTEN (True) and UNLISTEN (False) by channel, None for all channels. Both happen at COMMIT. number:
    what txid_current() has said. again: how its only statement is done again when its stream was altered before COMMIT.
    """

    now_us: int
    explicit: bool = False
    failed: bool = False
    image: CatalogImage | None = None
    holds_ddl_lock: bool = False
    operations: list[Operation] = field(default_factory=list)
    built: list[ContinuousView] = field(default_factory=list)
    tables: TableTransaction | None = None
    snapshot: CatalogImage | None = None
    time_zone: str = "UTC"
    sequences: SequenceSession | None = None
    locks: SessionLocks | None = None
    holds_snapshot: bool = False
    pins: PinnedViews | None = None
    versions: dict[str, tuple[ContinuousView, Version]] = field(default_factory=dict)
    waits_for_log: bool = True
    arrival_us: int = 0
    serializable: bool = False
    savepoints: list[Savepoint] = field(default_factory=list)
    notices: dict[tuple[str, str], None] = field(default_factory=dict)
    listening: list[tuple[str | None, bool]] = field(default_factory=list)
    number: int | None = None
    again: Again | None = None

    @property
    def writes(self) -> bool:
        """True once there is anything that COMMIT makes more than an end."""
        return bool(self.operations) or (self.tables is not None and self.tables.changed)

    @property
    def is_durable(self) -> bool:
        """True when the file of the tables decides: they change, or the catalog, or rows of streams rest on what was read."""
        if self.tables is None:
            return self.image is not None
        return self.image is not None or self.tables.changed or (self.serializable and bool(self.operations))

    def define_in(self, committed: CatalogImage) -> None:
        """Go on with the newest catalog, which this transaction will change.

        What others have defined since the snapshot of `tables` is there, but their tables have no rows that the snapshot would show: who
        uses one of these is told that it came in between.
        """
        self.image = committed
        if self.tables is not None:
            assert self.snapshot is not None
            self.tables.image = committed
            self.tables.unseen = committed.changed_tables(self.snapshot)

    def change_catalog(self, image: CatalogImage, reshaping: Reshaping | None = None) -> None:
        """Record the catalog after a DDL statement."""
        self.image = image
        self.operations.append(CatalogChange(image, reshaping))
        if self.tables is not None:
            self.tables.image = image

    def start_over(self, operations_count: int) -> None:
        """Forget what a statement has done that runs again; operations_count: those before it."""
        for operation in self.operations[operations_count:]:
            if isinstance(operation, StatementStage):
                operation.close()
        del self.operations[operations_count:]
        self.end_tables()

    def undo_after(self, savepoint: Savepoint) -> None:
        """Forget what was staged and defined after a savepoint; tables go back by `TableTransaction.roll_back_to`."""
        for operation in self.operations[savepoint.operations_count :]:
            if isinstance(operation, StatementStage):
                operation.close()
        del self.operations[savepoint.operations_count :]
        self.image = savepoint.image
        if self.image is None and self.tables is not None:
            self.tables.unseen = frozenset()
        for notice in list(self.notices)[savepoint.notices_count :]:
            del self.notices[notice]
        del self.listening[savepoint.listening_count :]

    def drop(self) -> None:
        """Forget all operations (ROLLBACK)."""
        for operation in self.operations:
            if isinstance(operation, StatementStage):
                operation.close()
        self.operations.clear()
        self.savepoints.clear()
        self.notices.clear()
        self.listening.clear()
        self.image = None
        self.end_tables()

    def end_tables(self) -> None:
        """Let go of the snapshot; what was written and not committed is undone."""
        if self.tables is not None:
            self.tables.rollback()
        if self.pins is not None:
            self.pins.release()
        self.tables = self.snapshot = self.pins = None
        self.versions.clear()


def refuse_unseen(views: Iterable[ContinuousView], transaction: Transaction) -> None:
    """Raise 40001 for a continuous view that another transaction has made since this one's snapshot."""
    for view in views:
        if view not in transaction.built:
            detail = f'View "{view.definition.name}" was made in between.'
            raise SqlError("40001", "could not serialize access due to concurrent update", detail=detail)
