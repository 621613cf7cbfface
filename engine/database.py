"""The database of one server process: the catalog image, the commit point, and the engines behind reads.

Enters: transactions to commit, bound queries to answer. Leaves: applied rows, Arrow tables. All sessions share one instance. The commit
lock is held for pointer swaps and small folds only: never for Spark, a merge into global state, or a client.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engine.catalog import CatalogImage, SequenceEntry, StreamEntry, ViewEntry
from engine.catalog_form import catalog_text
from engine.catalog_restore import restore_catalog
from engine.config import ServerConfig
from engine.kept_answers import KeptAnswers
from engine.kernel_files import remove_unused
from engine.spark import SparkRuntime
from engine.spill import SpillFile
from engine.staging import StatementStage
from engine.storage import Storage
from engine.tables.table_changes import check_changes, new_sequences
from engine.tables.table_source import CommittedTables
from engine.tables.table_store import TableStore, save_catalog
from engine.tables.table_transaction import TableTransaction
from engine.transaction import CatalogChange, Transaction
from engine.upper import SparkUpperExecutor
from engine.warm_up import warm_up
from ringbuffer.columns import Morsel
from ringbuffer.error_codes import RowError
from ringbuffer.ring import RowWriter
from sql.errors import SqlError, not_supported
from views.phases import ViewMove
from views.protocols import Clock
from views.refresh import Reader, cut
from views.view import ContinuousView, Version

log = logging.getLogger(__name__)


class Database:
    """Everything that the sessions of one server share. open() before use, close() at the end."""

    def __init__(self, config: ServerConfig, clock: Clock, storage: Storage) -> None:
        self.config = config
        self.clock = clock
        self.storage = storage
        self.image = CatalogImage()
        self.ddl_lock = asyncio.Lock()
        self.workers = ThreadPoolExecutor(config.worker_threads, thread_name_prefix="antumbra")
        self.store = TableStore(
            config.data_dir, config.query_memory_bytes, config.query_disk_bytes, config.result_bytes_max, storage
        )
        self.tables = self.store.engine
        self._spark = SparkRuntime(config.spark_memory_mb, config.spark_threads, config.data_dir / "spark")
        self.upper = SparkUpperExecutor(self._spark)
        self.committed_tables = CommittedTables(self.store, lambda: self.image)
        self.commit_lock = threading.Lock()
        self.answers = KeptAnswers()
        self._attached: frozenset[ContinuousView] = frozenset()

    @property
    def kernels_dir(self) -> Path:
        """Where the generated kernels of all views lie."""
        return self.config.data_dir / "kernels"

    def open(self) -> None:
        """Start Spark in the background and restore the definitions. Raises SqlError or OSError with what is wrong."""
        self._spark.start()
        warm_up()
        text = self.store.load()
        if text is not None:
            self.image = restore_catalog(self, text)
            numbers = (
                entry.counter.number for entry in self.image.entries.values() if isinstance(entry, SequenceEntry)
            )
            self.store.forget_sequences(numbers)
        self._views_changed(())

    def close(self) -> None:
        """Stop Spark and the worker threads."""
        self.workers.shutdown(wait=True, cancel_futures=True)
        self._spark.stop()
        self.store.settle(self.image)
        self.store.close()

    def checkpoint(self) -> None:
        """Write a checkpoint, so that the next start replays only what is committed from now on. May take long; any thread may call it."""
        raise not_supported("CHECKPOINT")

    def begin(self, explicit: bool = False) -> Transaction:
        """Return a new transaction at the present time."""
        return Transaction(self.clock.now_us(), explicit)

    def stage(self, entry: StreamEntry, image: CatalogImage, now_us: int) -> StatementStage:
        """Return the empty stage of a statement that writes to `entry`."""
        views = image.views_of(entry.description.name)
        return StatementStage(entry.stream, views, now_us, self.config.stage_memory_bytes_max, self._new_spill)

    def begin_tables(self, transaction: Transaction) -> TableTransaction:
        """Return the transaction's part on durable tables; the first call takes its snapshot, of rows and catalog alike. May wait."""
        if transaction.tables is None:
            with self.store.lock:
                transaction.tables = self.store.begin(transaction.image or self.image, transaction.sequences)
                transaction.snapshot = self.image
                transaction.tables.time_zone = transaction.time_zone
        return transaction.tables

    def commit(self, transaction: Transaction) -> None:
        """Apply the transaction, all of it or nothing. Raises SqlError, and then nothing of it is applied."""
        stages = [operation for operation in transaction.operations if isinstance(operation, StatementStage)]
        try:
            if transaction.is_durable:
                self._commit_durably(transaction, stages)
            elif stages:
                with self.commit_lock:
                    self._prepare(transaction)
                    for stage in stages:
                        stage.apply()
        except BaseException:
            transaction.drop()
            raise
        for stage in stages:
            stage.append_to_ring()
        transaction.operations.clear()
        transaction.end_tables()

    def _commit_durably(self, transaction: Transaction, stages: Sequence[StatementStage]) -> None:
        """Commit in the file of the tables, which decides, and publish the rest: catalog, streams, versions of tables.

        With rows for streams the commit lock is held all the while, since what they were prepared for must not change.
        """
        with self.store.lock:
            if transaction.tables is None:
                transaction.tables = self.store.begin(self.image)
                transaction.snapshot = self.image
            tables = transaction.tables
            check_changes(transaction, self.image)
            sequences = [] if transaction.image is None else new_sequences(transaction.image)
            if transaction.image is not None:
                records = {entry.counter.number: entry.counter.record(entry.definition) for entry in sequences}
                save_catalog(tables, catalog_text(transaction.image), records)
            if stages:
                with self.commit_lock:
                    self._prepare(transaction)
                    self.store.commit(tables)
                    self._publish(transaction, stages)
            else:
                self.store.commit(tables)
                with self.commit_lock:
                    self._publish(transaction, stages)
            for entry in sequences:
                entry.counter.log = self.store.log_sequence

    def _publish(self, transaction: Transaction, stages: Sequence[StatementStage]) -> None:
        if transaction.image is not None:
            self.image = transaction.image
        for stage in stages:
            stage.apply()

    def commit_row(self, stream_name: str, row: Morsel, ring_row: RowWriter, image: CatalogImage) -> bool:
        """Apply one whole row of a stream as a transaction of its own; ring_row: the same row on its way to the ring.

        False, and nothing is applied: the catalog is not `image` any more, or a view refuses the row.
        """
        now_us = self.clock.now_us()
        views = image.views_of(stream_name)
        try:
            for view in views:
                view.state.check(row, now_us)
        except RowError:
            return False
        with self.commit_lock:
            if self.image is not image:
                return False
            for view in views:
                view.state.apply(row, now_us)
                view.note_commit()
        ring_row.append()
        return True

    def _prepare(self, transaction: Transaction) -> None:
        """Let each stage meet the views that are attached at its place among the transaction's statements."""
        image = self.image
        for operation in transaction.operations:
            if isinstance(operation, CatalogChange):
                image = operation.image
                continue
            name = operation.stream.name
            entry = image.entries.get(name)
            if not isinstance(entry, StreamEntry) or entry.stream is not operation.stream:
                raise SqlError(
                    "40001",
                    f'stream "{name}" was dropped before this transaction committed',
                    hint="Nothing of the transaction was applied.",
                )
            operation.prepare(image.views_of(name))

    def end_ddl(self, transaction: Transaction) -> None:
        """A transaction that did DDL has ended, either way: let go of the views that are not there now, and let the next one begin."""
        self._views_changed(transaction.built)
        self.ddl_lock.release()

    def _views_changed(self, built: Sequence[ContinuousView]) -> None:
        """Move views on in their lives, now that the catalog is what it is, and delete the kernels that no view needs."""
        views = frozenset(entry.view for entry in self.image.entries.values() if isinstance(entry, ViewEntry))
        for view in views - self._attached:
            view.lifecycle.move(ViewMove.ATTACH)
        for view in (self._attached | frozenset(built)) - views:
            view.lifecycle.move(ViewMove.DROP)
            view.state.release()
        self._attached = views
        self.answers.forget(self.image)
        self.store.forget_exports(self.image)
        remove_unused(self.kernels_dir, (path for view in views for path in view.state.kernel_paths))

    def cut(self, image: CatalogImage, relations: frozenset[str], reader: Reader) -> dict[str, Version]:
        """Return one version of each continuous view in `relations`, all cut at one position per stream."""
        entries = [entry for name in sorted(relations) if isinstance(entry := image.entries.get(name), ViewEntry)]
        return cut(
            [entry.view for entry in entries], self.upper, self.clock, self.commit_lock, reader, self.committed_tables
        )

    def _new_spill(self) -> SpillFile:
        return SpillFile(self.config.data_dir)
