"""A client's transaction: staged statements and catalog changes, in order, until COMMIT or
ROLLBACK.

Nothing here takes a lock. `image` is the catalog of the transaction after it has done DDL, `tables`
its part on durable tables after it has touched one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace

from engine.catalog.image import CatalogImage, TableEntry
from engine.commit.staging import StatementStage
from engine.log.batches import Batch
from engine.streams.ring_rebuild import Reshaping
from engine.tables.locks import SessionLocks
from engine.tables.sequence_functions import SequenceSession
from engine.tables.table_transaction import TableTransaction
from engine.tables.write_journal import TableMark
from sql.errors import SqlError
from sql.settings.settings import SettingsMark
from views.upkeep.chain import Chain
from views.upkeep.cuts import Version
from views.upkeep.pinned import PinnedViews

AGAIN_MAX = 20


# Statements of one implicit transaction that are remembered, to be done again.
AGAIN_STATEMENTS_MAX = 10_000
Step = tuple[str, Callable[[], Awaitable[str]]]


@dataclass(frozen=True, slots=True)
class Again:
    """All statements of a transaction that can be done again in a new one.

    Attributes:
        steps: of each statement the tag that the client was told, or will be, and what does it in
            the transaction of the session, which the first one begins, and returns the tag.
        left: how often the statements may be done.
    """

    steps: list[Step]
    left: int = AGAIN_MAX

    async def once_more(self, error: SqlError) -> Again:
        """Do the statements, and return how they can be done again.

        Raises `error` when the client was told something else than a new tag.
        """
        for tag, run in self.steps:
            if await run() != tag or not self.left:
                raise error
        return replace(self, left=self.left - 1)


@dataclass
class CatalogChange:
    """The catalog after one DDL statement.

    Attributes:
        reshaping: the change of a stream's ring that the statement makes, or None.
    """

    image: CatalogImage
    reshaping: Reshaping | None = None


Operation = StatementStage | CatalogChange


def with_derived(operations: Iterable[Operation]) -> list[Operation]:
    """Return operations in order, each stage followed by those of the rows that are derived from
    its rows.
    """
    found: list[Operation] = []
    for one in operations:
        found += [one, *(one.derived if isinstance(one, StatementStage) else ())]
    return found


def stages_among(operations: Iterable[Operation]) -> list[StatementStage]:
    """Return the stages of operations, and those of derived rows."""
    return [one for one in with_derived(operations) if isinstance(one, StatementStage)]


@dataclass(frozen=True)
class Savepoint:
    """The point of a transaction block to which ROLLBACK TO goes back.

    Attributes:
        operations_count: operations before it.
        image: the catalog of the transaction then.
        after_commit_count: the effects that waited for COMMIT.
        settings: the settings then.
        portals: the cursors that were open.
        tables: None before the block has touched a table.
    """

    name: str
    operations_count: int
    image: CatalogImage | None
    after_commit_count: int
    settings: SettingsMark
    portals: frozenset[str]
    tables: TableMark | None


@dataclass
class Transaction:
    """A client's transaction, from its first statement to COMMIT or ROLLBACK.

    Attributes:
        now_us: its now().
        explicit: true between BEGIN and COMMIT; otherwise the transaction is one statement, one
            Query message, or a pipeline up to Sync.
        failed: true after an error; only ROLLBACK, or COMMIT, which rolls back, goes on.
        built: the continuous views that it has created, whether they are still there or not.
        snapshot: the committed catalog that belongs to the snapshot of `tables`.
        pins: the positions of the continuous views that it may read.
        versions: the versions of the views that it has read.
        waits_for_log: true if COMMIT is answered after its rows are durable (synchronous_commit).
        arrival_us: the time of arrival of its rows, which is set at COMMIT.
        serializable: true if it fails rather than do what no serial order of the serializable
            transactions would do.
        holds_snapshot: true if its client uses savepoints.
        after_commit: what it does to sessions after COMMIT, in order; equal effects are one.
        number: what txid_current() has returned.
        again: how all its statements are done again after a stream was altered before COMMIT.
        was_seen: true if a statement of it can't be done again: the client has seen rows of the
            statement, or it has changed something of the session.
        batch: what its producer names it, once it commits.
    """

    now_us: int
    explicit: bool = False
    failed: bool = False
    image: CatalogImage | None = None
    holds_ddl_lock: bool = False
    operations: list[Operation] = field(default_factory=list)
    built: list[Chain] = field(default_factory=list)
    tables: TableTransaction | None = None
    snapshot: CatalogImage | None = None
    time_zone: str = "UTC"
    sequences: SequenceSession | None = None
    locks: SessionLocks | None = None
    holds_snapshot: bool = False
    pins: PinnedViews | None = None
    versions: dict[str, tuple[Chain, Version]] = field(default_factory=dict)
    waits_for_log: bool = True
    arrival_us: int = 0
    serializable: bool = False
    savepoints: list[Savepoint] = field(default_factory=list)
    after_commit: dict[Hashable, None] = field(default_factory=dict)
    number: int | None = None
    again: Again | None = None
    was_seen: bool = False
    batch: Batch | None = None

    @property
    def writes(self) -> bool:
        """True if the transaction has staged rows, or changed tables or the catalog."""
        return bool(self.operations) or (self.tables is not None and self.tables.changed)

    @property
    def is_durable(self) -> bool:
        """True if the file of the tables decides the transaction.

        That is so if tables or the catalog change, or if rows of streams rest on what was read.
        """
        if self.tables is None:
            return self.image is not None
        return self.image is not None or self.tables.changed or (self.serializable and bool(self.operations))

    def note_again(self, step: Step | None, is_first: bool) -> None:
        """Note how the statement that was done last can be done again; None: the statement can't
        be.

        is_first: the transaction had done nothing before the statement.
        """
        if step is None or self.explicit:
            self.again, self.was_seen = None, True
        elif is_first:
            self.again = Again([step])
        elif self.again is not None:
            self.again.steps.append(step)
            if len(self.again.steps) > AGAIN_STATEMENTS_MAX:
                self.again = None

    @property
    def is_untouched(self) -> bool:
        """True if the transaction has done nothing so far that a new one would have to do as
        well.
        """
        done = self.was_seen or self.writes or self.image is not None or self.holds_ddl_lock
        return not (done or self.after_commit or self.savepoints)

    @property
    def is_fresh(self) -> bool:
        """True if its next statement sees what is committed then, and nothing else."""
        has_seen = self.tables is not None or self.pins is not None or self.versions
        return not (self.explicit or self.serializable or self.failed or has_seen or self.writes or self.image)

    def define_in(self, committed: CatalogImage) -> None:
        """Go on with the newest catalog, which this transaction will change.

        The catalog has what other transactions have defined since the snapshot of `tables`, but the
        snapshot has no rows of such tables: a statement that uses such a table gets an error that
        says so.
        """
        self.image = committed
        if self.tables is not None:
            assert self.snapshot is not None
            self.tables.image = committed
            self.tables.unseen = changed_tables(committed, self.snapshot)

    def change_catalog(self, image: CatalogImage, reshaping: Reshaping | None = None) -> None:
        """Record the catalog after a DDL statement."""
        self.image = image
        self.operations.append(CatalogChange(image, reshaping))
        if self.tables is not None:
            self.tables.image = image

    def start_over(self, operations_count: int) -> None:
        """Forget the operations of a statement that runs again. operations_count: those before
        it.
        """
        self._undo(operations_count)
        self.end_tables()

    def undo_after(self, savepoint: Savepoint) -> None:
        """Forget what was staged and defined after a savepoint.

        `TableTransaction.roll_back_to` does the same for tables.
        """
        self._undo(savepoint.operations_count)
        self.image = savepoint.image
        if self.image is None and self.tables is not None:
            self.tables.unseen = frozenset()
        for effect in list(self.after_commit)[savepoint.after_commit_count :]:
            del self.after_commit[effect]

    def drop(self) -> None:
        """Forget all operations (ROLLBACK)."""
        self._undo(0)
        self.savepoints.clear()
        self.after_commit.clear()
        self.image = None
        self.end_tables()

    def _undo(self, operations_count: int) -> None:
        """Drop all but the first operations."""
        for stage in stages_among(self.operations[operations_count:]):
            stage.close()
        del self.operations[operations_count:]

    def end_tables(self) -> None:
        """End the snapshot of tables; what was written and not committed is undone."""
        if self.tables is not None:
            self.tables.rollback()
        if self.pins is not None:
            self.pins.release()
        self.tables = self.snapshot = self.pins = None
        self.versions.clear()


def changed_tables(image: CatalogImage, before: CatalogImage) -> frozenset[int]:
    """Return the oids of tables that are not in an older catalog, or not as they are in `image`."""
    if before is image:
        return frozenset()
    tables = (entry for entry in image.entries.values() if isinstance(entry, TableEntry))
    return frozenset(one.description.oid for one in tables if before.by_oid(one.description.oid) is not one)


def refuse_unseen(views: Iterable[Chain], transaction: Transaction) -> None:
    """Raise 40001 for a continuous view that another transaction has made since this one's
    snapshot.
    """
    for view in views:
        if view not in transaction.built:
            detail = f'View "{view.definition.name}" was made in between.'
            raise SqlError("40001", "could not serialize access due to concurrent update", detail=detail)
