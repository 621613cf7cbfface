"""The database of one server process: the catalog image, the commit point, and the engines behind reads.

Enters: transactions to commit, bound queries to answer. Leaves: applied rows, Arrow tables. All sessions share one instance. The commit
lock is held for pointer swaps and small folds only: never for Spark, a merge into global state, or a client.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.catalog.disabled_views import refuse_checkpoint, refuse_rows
from engine.catalog.image import CatalogImage, SequenceEntry, StreamEntry, ViewEntry
from engine.commit.committer import Committer
from engine.commit.notifications import Notifications
from engine.commit.spill import SpillFile
from engine.commit.staging import StatementStage
from engine.commit.transaction import Transaction, refuse_unseen
from engine.ddl.restore import restore_catalog
from engine.ddl.schemas import drop_schemas
from engine.ddl.table_work import TableWork
from engine.embedded.result_rows import ResultLimits
from engine.log.checkpoint_contents import Noted, make_checkpoint
from engine.log.checkpointer import Checkpointer
from engine.log.commit_log import CommitLog
from engine.log.commits import Mark
from engine.log.recovery import recover, relations_of
from engine.scans.answer_cache import KeptAnswers
from engine.scans.kernels import StreamKernels
from engine.scans.query_view_cache import WholeVersions
from engine.scheduler.conflict_turns import Turns
from engine.scheduler.workers import Workers
from engine.settings.config import ServerConfig
from engine.settings.shown import server_settings
from engine.spark.runtime import SparkRuntime
from engine.spark.upper import SparkUpperExecutor
from engine.storage.errors import disk_error
from engine.storage.kernel_files import KernelFiles
from engine.storage.storage import Storage
from engine.streams.options import StreamOptions
from engine.streams.warm_up import warm_up
from engine.system_catalog.catalog_engine import CatalogEngine
from engine.tables.locks import Locks
from engine.tables.table_source import CommittedTables
from engine.tables.table_store import TableStore
from engine.tables.table_transaction import TableTransaction
from engine.tables.write_journal import WriteJournal
from ringbuffer.compile.processes import CompileProcesses
from ringbuffer.memory.kept_memory import kept_memory
from sql.catalog.catalog import SessionSettings
from sql.names.relation_keys import is_temporary
from views.model.protocols import Clock
from views.upkeep.phases import ViewMove
from views.upkeep.pinned import pin
from views.upkeep.refresh import Engines, Reader, cut
from views.upkeep.twins import Sharing
from views.upkeep.view import ContinuousView, Version

log = logging.getLogger(__name__)

# For threads whose sessions have ended.
SPARK_WAIT_S_MAX = 1.0
# A definition that takes long leaves one for those of others.
COMPILE_PROCESSES_MAX = 2


class Database:
    """Everything that the sessions of one server share. open() before use, close() at the end."""

    def __init__(
        self,
        config: ServerConfig,
        clock: Clock,
        storage: Storage,
        compilers: CompileProcesses | None = None,
        spark: SparkRuntime | None = None,
    ) -> None:
        """Compose it. compilers: what compiles its kernels; spark: its JVM, of which a process has one at most; None: its own."""
        self.config = config
        self._given = (compilers, spark)
        self.server_settings = server_settings(config)
        kept_memory.bytes_max = config.kept_memory_bytes_max
        self.stream_options = StreamOptions(config.stream_capacity_default, config.stream_string_bytes_default)
        self.clock = clock
        self.started_us = clock.now_us()
        # Of transactions that ask: later starts give greater ones.
        self._numbers = itertools.count(self.started_us)
        self.storage = storage
        self.image = CatalogImage()
        self.ddl_lock = asyncio.Lock()
        self.workers = Workers(config.worker_threads, config.worker_turn_ms / 1000, config.connections_max)
        self.result_limits = ResultLimits(config.result_memory_bytes, config.result_bytes_max, config.data_dir)
        bytes_max = config.query_memory_bytes, config.query_disk_bytes
        self.store = TableStore(config.data_dir, *bytes_max, self.result_limits, storage)
        self.tables = self.store.engine
        self.system_catalog = CatalogEngine()
        self._spark = spark or SparkRuntime(
            config.spark_memory_mb,
            config.spark_threads,
            config.data_dir / "spark",
            is_idle_priority=config.spark_idle_priority,
            wait_s_max=config.spark_wait_s_max,
        )
        self.upper = SparkUpperExecutor(self._spark)
        self.committed_tables = CommittedTables(self.store, lambda: self.image)
        self.commit_lock = threading.Lock()
        self.compilers = compilers or CompileProcesses(
            COMPILE_PROCESSES_MAX, config.compile_memory_bytes, config.compile_s_max
        )
        self.kernels = KernelFiles(config.data_dir / "kernels", storage, self.compilers)
        self.stream_kernels = StreamKernels(
            KernelFiles(config.data_dir / "kernels" / "select", storage, self.compilers)
        )
        self.log = CommitLog(
            storage,
            config.data_dir / "log",
            clock,
            self.commit_lock,
            config.log_segment_bytes,
            config.log_flush_interval_ms,
        )
        self.committer = Committer(self, self.log)
        self._checkpointer = Checkpointer(
            self._make_checkpoint,
            lambda: self.log.place.position,
            clock,
            config.checkpoint_log_bytes,
            config.checkpoint_interval_s,
        )
        self._is_open = False
        self.answers = KeptAnswers()
        self.wholes = WholeVersions()
        self.turns = Turns()
        self.locks = Locks()
        self.notifications = Notifications()
        self.sharing = Sharing()
        self._attached: frozenset[ContinuousView] = frozenset()

    @property
    def checkpoints_dir(self) -> Path:
        """Where the checkpoints lie."""
        return self.config.data_dir / "checkpoints"

    @property
    def process_ids(self) -> npt.NDArray[np.int64]:
        """The processes that are to end with this one, int64[n]; 0: none."""
        return self._spark.process_ids

    @property
    def spark_is_ready(self) -> bool:
        """Whether Spark answers without being waited for."""
        return self._spark.is_ready

    @property
    def running_upper(self) -> SparkUpperExecutor | None:
        """What runs pipelines in Spark, None where it does not run."""
        return self.upper if self.spark_is_ready else None

    def listens_on(self, port: int) -> None:
        """Note the port that the system has given, if the settings left that to it."""
        self.server_settings = server_settings(replace(self.config, port=port))

    def open(self) -> None:
        """Start Spark in the background, if it is wanted, and restore the definitions. Raises SqlError or OSError with what is wrong."""
        if self.config.spark_preload:
            self._spark.start()
        warm_up()
        self.stream_kernels.clear()
        last_position = self.recover()
        self._drop_left_behind()
        for entry in self.image.entries.values():
            if isinstance(entry, StreamEntry):
                entry.stream.activity.begin(entry.stream.ring.tuples_count)
        self._views_changed(())
        self.kernels.make_durable(path for view in self._attached for path in view.state.kernel_paths)
        self._checkpointer.start(last_position)
        self._is_open = True

    def recover(self) -> int:
        """Restore the definitions, and what checkpoint and log have of the streams' rows; return the checkpoint's position.

        Raises SqlError or OSError with what is wrong.
        """
        text = self.store.load()
        if text is not None:
            self.image = restore_catalog(self, text)
            numbers = (
                entry.counter.number for entry in self.image.entries.values() if isinstance(entry, SequenceEntry)
            )
            self.store.forget_sequences(numbers)
        position = recover(self)
        self.sharing.follow(self.image.together)
        return position

    def _drop_left_behind(self) -> None:
        """Drop the temporary relations of sessions that ended with the last process."""
        schemas = [name for name in self.image.schemas if is_temporary(name)]
        if schemas:
            transaction = self.begin()
            work = TableWork(self.image, SessionSettings(), self.begin_tables(transaction))
            drop_schemas(schemas, cascade=True, work=work)
            transaction.change_catalog(replace(work.image, version=work.image.version + 1))
            self.committer.commit(transaction)

    def close(self) -> None:
        """Make a last checkpoint, and stop the threads, and Spark and what compiles unless they were given. No session goes on."""
        # What waits for a Spark that does not answer ends with it.
        killing = threading.Timer(SPARK_WAIT_S_MAX, self._spark.kill)
        killing.start()
        if self.compilers not in self._given:
            self.compilers.close()
        self.workers.shutdown()
        killing.cancel()
        if self._is_open:
            self._is_open = False
            self._checkpointer.stop(finally_one=True)
        self.log.close()
        if self._spark not in self._given:
            self._spark.stop()
        self.store.settle(self.image)
        self.store.close()

    def checkpoint(self, check_cancelled: Callable[[], None] = lambda: None) -> None:
        """Return once there is a checkpoint, so that the next start replays only what is committed from now on. Any thread may call it.

        check_cancelled: called now and then; what it raises ends the waiting. Raises SqlError 53100 or 58030; all is as before then.
        """
        if self._is_open:
            self._checkpointer.request(check_cancelled)
            return
        try:
            self._make_checkpoint(check_cancelled)
        except OSError as error:
            raise disk_error(error, "write a checkpoint") from None

    def _make_checkpoint(self, check_cancelled: Callable[[], None]) -> int:
        """Make a checkpoint and remove what it makes superfluous; return its position. One at a time. Raises OSError and SqlError."""
        marks: list[Mark] = []
        refuse_checkpoint(self.image)

        @contextmanager
        def standstill() -> Iterator[None]:
            with self.log.standstill() as mark:
                marks.append(mark)
                yield

        def note() -> Noted:
            (mark,) = marks
            views, streams = relations_of(self.image)
            counts = tuple((stream, stream.ring.tuples_count) for stream in streams.values())
            return Noted(
                *mark.decided,
                *mark.first,
                mark.next_transaction,
                self.image.next_oid,
                tuple(views.values()),
                counts,
                self.log.newest_us,
                self.image.taking_rows,
            )

        def make_log_durable() -> None:
            self.log.flush(sync=True)
            self.log.check()

        folder = self.checkpoints_dir
        made = make_checkpoint(self.storage, folder, self.clock, standstill(), note, make_log_durable, check_cancelled)
        self.log.remove_before(marks[0].first.position)
        self.store.forget_transactions(marks[0].oldest_transaction)
        return made.position

    def begin(self, explicit: bool = False) -> Transaction:
        """Return a new transaction at the present time."""
        return Transaction(self.clock.now_us(), explicit)

    def stage(self, entry: StreamEntry, image: CatalogImage, now_us: int) -> StatementStage:
        """Return the empty stage of a statement that writes to `entry`. Raises 55000 where a disabled view would miss its rows."""
        refuse_rows(image, entry.description.name)
        views = image.views_of(entry.description.name)
        return StatementStage(entry.stream, views, now_us, self.config.stage_memory_bytes_max, self._new_spill)

    def begin_tables(self, transaction: Transaction, read_views: Iterable[ContinuousView] = ()) -> TableTransaction:
        """Return the transaction's part on durable tables; the first call takes its snapshot, of rows and catalog alike. May wait.

        The same moment fixes the views: all of them in a transaction block, else `read_views`, those that the only statement reads.
        """
        if transaction.tables is None:
            with self.store.lock:
                transaction.tables = self.store.begin(transaction.image or self.image, transaction.sequences)
                transaction.snapshot = self.image
                transaction.tables.time_zone = transaction.time_zone
                transaction.tables.locks = transaction.locks
                if transaction.explicit:
                    journal = transaction.tables.journal = WriteJournal(self.config.stage_memory_bytes_max)
                    if transaction.savepoints or transaction.holds_snapshot:
                        self.store.hold(transaction.tables, journal)
                self._pin_views(transaction, read_views)
        return transaction.tables

    def number_of(self, transaction: Transaction, assign: bool) -> int | None:
        """Return the number of a transaction, one of its own for each; assign: also to one that has only read."""
        if transaction.number is None and (assign or transaction.writes):
            transaction.number = next(self._numbers)
        return transaction.number

    def begin_reading(self, transaction: Transaction) -> None:
        """Fix what a transaction block reads, tables and views, unless that is done. May wait."""
        if transaction.pins is not None or not (transaction.explicit or transaction.serializable):
            return
        if transaction.tables is None and (self.image.has_tables or transaction.serializable):
            self.begin_tables(transaction)
        else:
            self._pin_views(transaction, ())

    def _pin_views(self, transaction: Transaction, read_views: Iterable[ContinuousView]) -> None:
        def views() -> Iterable[ContinuousView]:
            return self.image.continuous_views if transaction.explicit else read_views

        if transaction.pins is None:
            run = self.workers.submit
            transaction.pins = pin(views, self.commit_lock, transaction.now_us, self.committed_tables, run)

    def end_ddl(self, transaction: Transaction) -> None:
        """A transaction that did DDL has ended, either way: let go of the views that are not there now, and let the next one begin."""
        self._views_changed(transaction.built)
        self.ddl_lock.release()

    def _views_changed(self, built: Sequence[ContinuousView]) -> None:
        """Move views on in their lives, now that the catalog is what it is, and delete the kernels that no view needs."""
        views = frozenset(entry.view for entry in self.image.entries.values() if isinstance(entry, ViewEntry))
        for view in views - self._attached:
            view.lifecycle.move(ViewMove.ATTACH)
        for view in views:
            view.state.queue_max = self.config.view_queue_max
        for view in (self._attached | frozenset(built)) - views:
            view.lifecycle.move(ViewMove.DROP)
        self._attached = views
        self.answers.forget(self.image)
        self.wholes.forget(self.image)
        self.store.forget_exports(self.image)
        self.kernels.remove_unused(path for view in views for path in view.state.kernel_paths)

    def versions(self, transaction: Transaction, views: Sequence[ContinuousView], reader: Reader) -> dict[str, Version]:
        """Return a version of each view: as the transaction has fixed it, or at the last commit, the same one for all others."""
        engines = Engines(self.upper, self.clock, self.committed_tables)
        pins = transaction.pins
        fixed = [] if pins is None else [view for view in views if view in pins]
        others = [view for view in views if view not in fixed]
        if transaction.explicit and transaction.snapshot is not None:
            refuse_unseen(others, transaction)
        found = cut(others, self.commit_lock, engines, reader)
        for view in fixed:
            assert pins is not None
            found[view.definition.name] = pins.version(view, engines, reader)
        return found

    def _new_spill(self) -> SpillFile:
        return SpillFile(self.storage, self.config.data_dir)
