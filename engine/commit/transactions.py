"""The beginnings of transactions, and of what they read and write: snapshots of tables, positions
of views, stages of streams.

Enters: transactions. Leaves: their parts, which the first statement that needs one takes. The
snapshot of the tables, the catalog that belongs to it, and the positions of the views are of one
moment between two commits.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from engine.catalog.disabled_views import refuse_rows
from engine.catalog.image import CatalogImage, StreamEntry, ViewEntry
from engine.catalog.published import PublishedCatalog
from engine.commit.spill import SpillFile
from engine.commit.staging import Derived, RowTransform, StatementStage
from engine.commit.transaction import Transaction
from engine.scheduler.workers import Workers
from engine.streams.backfills import Progress
from engine.tables.table_source import CommittedTables
from engine.tables.table_store import TableStore
from engine.tables.table_transaction import TableTransaction
from engine.tables.write_journal import WriteJournal
from views.model.protocols import Clock
from views.upkeep.caps import StateCaps
from views.upkeep.chain import Chain
from views.upkeep.pinned import pin

Transforming = Callable[[ViewEntry, CatalogImage, int], tuple[RowTransform, StreamEntry]]


class Transactions:
    """The transactions of one server.

    Attributes:
        backfills: those that run.

    Arguments:
        new_spill: makes the file for staged rows beyond `stage_bytes_max`.
        transform: makes what a transform does at a time, and returns the stream that gets its rows,
            too.
    """

    def __init__(
        self,
        catalog: PublishedCatalog,
        store: TableStore,
        committed_tables: CommittedTables,
        clock: Clock,
        workers: Workers,
        stage_bytes_max: int,
        new_spill: Callable[[], SpillFile],
        caps: StateCaps,
        transform: Transforming,
    ) -> None:
        self._catalog = catalog
        self._store = store
        self._committed_tables = committed_tables
        self._clock = clock
        self._workers = workers
        self._stage_bytes_max = stage_bytes_max
        self._new_spill = new_spill
        self._caps = caps
        self._transform = transform
        self.backfills: list[Progress] = []
        # Of transactions that ask: later starts give greater ones.
        self._numbers = itertools.count(clock.now_us())

    def begin(self, explicit: bool = False) -> Transaction:
        """Return a new transaction at the present time."""
        return Transaction(self._clock.now_us(), explicit)

    def stage(self, entry: StreamEntry, image: CatalogImage, now_us: int) -> StatementStage:
        """Return the empty stage of a statement that writes to `entry`.

        Raises 55000 where a disabled view would miss its rows, and 42501 where the owner of a
        transform may not write to its stream.
        """
        made: dict[int, StatementStage] = {}
        stage = self._stage(entry, image, now_us, made)
        stage.derived = tuple(one for one in made.values() if one is not stage)
        return stage

    def _stage(
        self, entry: StreamEntry, image: CatalogImage, now_us: int, made: dict[int, StatementStage]
    ) -> StatementStage:
        """Return a stage with those of derived rows. made: the stages of the statement, by
        stream.
        """
        name, stream = entry.description.name, entry.stream
        if stream.oid not in made:
            refuse_rows(image, name)
            views = image.chains_of(name)
            stage = StatementStage(stream, views, now_us, self._stage_bytes_max, self._new_spill, self._caps)
            made[stream.oid] = stage
            stage.transforms = tuple(
                Derived(view, transform, self._stage(target, image, now_us, made))
                for view in image.transforms_of(name)
                for transform, target in (self._transform(view, image, now_us),)
            )
        return made[stream.oid]

    def begin_tables(
        self, transaction: Transaction, read_views: Iterable[Chain] = (), note: Callable[[], None] | None = None
    ) -> TableTransaction:
        """Return the transaction's part on durable tables; the first call takes its snapshot.

        May wait.

        The same moment fixes the views: all of them in a transaction block, else `read_views`,
        those that the only statement reads. note: called at that moment, which lies between two
        commits that change tables.
        """
        if transaction.tables is None:
            with self._store.lock:
                if note is not None:
                    note()
                transaction.tables = self._store.begin(transaction.image or self._catalog.image, transaction.sequences)
                transaction.snapshot = self._catalog.image
                transaction.tables.time_zone = transaction.time_zone
                transaction.tables.locks = transaction.locks
                if transaction.explicit:
                    transaction.tables.journal = WriteJournal(self._stage_bytes_max)
                    if transaction.savepoints or transaction.holds_snapshot:
                        self._store.hold(transaction.tables, transaction.tables.journal)
                self._pin_views(transaction, read_views)
        return transaction.tables

    def hold(self, tables: TableTransaction) -> None:
        """Keep the snapshot of a transaction's tables for a savepoint, and a journal of what it
        writes.
        """
        if tables.journal is None:
            tables.journal = WriteJournal(self._stage_bytes_max)
        if not tables.journal.holds:
            with self._store.lock:
                self._store.hold(tables, tables.journal)

    def number_of(self, transaction: Transaction, assign: bool) -> int | None:
        """Return the number of a transaction, one of its own for each; assign: also to one that has
        only read.
        """
        if transaction.number is None and (assign or transaction.writes):
            transaction.number = next(self._numbers)
        return transaction.number

    def begin_reading(self, transaction: Transaction) -> None:
        """Fix what a transaction block reads, tables and views, unless that is done. May wait."""
        if transaction.pins is not None or not (transaction.explicit or transaction.serializable):
            return
        if transaction.tables is None and (self._catalog.image.has_tables or transaction.serializable):
            self.begin_tables(transaction)
        else:
            self._pin_views(transaction, ())

    def _pin_views(self, transaction: Transaction, read_views: Iterable[Chain]) -> None:
        def views() -> Iterable[Chain]:
            return self._catalog.image.chains if transaction.explicit else read_views

        if transaction.pins is None:
            lock, run = self._catalog.lock, self._workers.submit
            transaction.pins = pin(views, lock, transaction.now_us, self._committed_tables, run)
