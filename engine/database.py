"""The composition root: the catalog, the commit point, the log and the engines of one server
process.

Enters: the configuration, the clock, the disk. Leaves: what the sessions share (`Shared`), with the
definitions and rows of the data folder.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

import engine.dialect
import engine.statements
from engine.catalog.image import SequenceEntry, StreamEntry
from engine.catalog.published import PublishedCatalog
from engine.commit.committer import Committer
from engine.commit.definitions import Definitions
from engine.commit.spill import SpillFile
from engine.commit.transactions import Transactions
from engine.ddl.restore import Engines as Builders
from engine.ddl.restore import restore_catalog
from engine.ddl.schemas import drop_schemas
from engine.ddl.table_work import TableWork
from engine.embedded.result_rows import ResultLimits
from engine.embedded.warm_up import warm_up_functions
from engine.execution.registry import load
from engine.execution.server_parts import ServerParts
from engine.execution.view_outputs import ViewOutputs
from engine.ingest.transforms import TransformTools, found_transform, prepare_transforms
from engine.log.checkpoints import Checkpoints
from engine.log.commit_log import CommitLog
from engine.log.recovery import recover
from engine.scans.answer_cache import KeptAnswers
from engine.scans.engines import QueryEngines
from engine.scans.kernels import StreamKernels
from engine.scans.point_reads import PointReads
from engine.scans.query_view_cache import WholeVersions
from engine.scans.scheduled import ScheduledRefreshes
from engine.scans.table_rows import TablesByKey
from engine.scans.view_changes import ViewChanges
from engine.scans.view_versions import ViewVersions
from engine.scans.warm_pipelines import WarmPipelines
from engine.scheduler.conflict_turns import Turns
from engine.scheduler.workers import Workers
from engine.sessions.shared import Shared
from engine.settings.config import ServerConfig
from engine.settings.shown import server_settings
from engine.spark.runtime import SparkRuntime
from engine.spark.upper import SparkUpperExecutor
from engine.storage.kernel_files import KernelFiles
from engine.storage.mapped_files import map_new_file
from engine.storage.storage import Storage
from engine.streams.options import StreamOptions
from engine.streams.warm_up import warm_up
from engine.system_catalog.registration import register_catalog_functions
from engine.tables.locks import Locks
from engine.tables.table_source import CommittedTables
from engine.tables.table_store import TableStore
from ringbuffer.compile.processes import CompileProcesses
from ringbuffer.memory.kept_memory import kept_memory
from ringbuffer.memory.spilled_memory import SpilledMemory
from sql.catalog.catalog import SessionSettings
from sql.names.relation_keys import is_temporary
from views.model.protocols import Clock
from views.upkeep.caps import StateCaps
from views.upkeep.twins import Sharing

# For threads whose sessions have ended.
SPARK_WAIT_S_MAX = 1.0
# A definition that takes long leaves one for those of others.
COMPILE_PROCESSES_MAX = 2

# Statements, and what PostgreSQL's dialect adds to functions and encodings, register themselves.
load(engine.statements, engine.dialect)


class Database:
    """Everything that the sessions of one server share. open() before use, close() at the end.

    Only who starts a server has the whole; sessions get `shared`, and everything below the parts
    that it uses.
    """

    def __init__(
        self,
        config: ServerConfig,
        clock: Clock,
        storage: Storage,
        compilers: CompileProcesses | None = None,
        spark: SparkRuntime | None = None,
    ) -> None:
        """Compose it. compilers: what compiles its kernels; spark: its JVM, of which a process has
        one at most; None: its own.
        """
        self.config = config
        self.clock = clock
        self.storage = storage
        self._given = (compilers, spark)
        kept_memory.bytes_max = config.kept_memory_bytes_max
        self.stream_options = StreamOptions(config.stream_capacity_default, config.stream_string_bytes_default)
        self.catalog = catalog = PublishedCatalog()
        self.workers = Workers(config.worker_threads, config.worker_turn_ms / 1000, config.connections_max)
        result_limits = ResultLimits(config.result_memory_bytes, config.result_bytes_max, config.data_dir)
        bytes_max = config.query_memory_bytes, config.query_disk_bytes
        self.store = TableStore(config.data_dir, *bytes_max, result_limits, storage)
        self.store.engine.add_functions(register_catalog_functions)
        self._spark = spark or new_spark(config)
        self.compilers = compilers or CompileProcesses(
            COMPILE_PROCESSES_MAX, config.compile_memory_bytes, config.compile_s_max
        )
        folder = config.data_dir / "kernels"
        self.kernels = KernelFiles(folder, storage, self.compilers)
        committed_tables = CommittedTables(self.store, lambda: catalog.image)
        self.engines = QueryEngines(
            catalog,
            clock,
            self.store.engine,
            committed_tables,
            SparkUpperExecutor(self._spark, self.store.engine, config.cold_upper_groups),
            self.kernels,
            StreamKernels(KernelFiles(folder / "select", storage, self.compilers)),
            KeptAnswers(),
            WholeVersions(),
            ViewChanges(),
            PointReads(catalog.lock, self._tables_by_key(committed_tables)),
            ViewVersions(clock, config.kept_versions_max, config.kept_versions_bytes),
        )
        self.builders = Builders(self.store, self.stream_options, self.kernels, self.engines.upper)
        log_limits = config.log_segment_bytes, config.log_flush_interval_ms, config.batch_producer_ttl
        self.log = CommitLog(storage, config.data_dir / "log", clock, catalog.lock, *log_limits)
        self.sharing = Sharing()
        self.caps = StateCaps(config.view_bytes_max, catalog.lock)
        self.committer = Committer(catalog, self.store, clock, self.sharing, self.caps, self.log)
        self.checkpoints = Checkpoints(catalog, self.log, self.store, storage, clock, config)
        self.transform_tools = TransformTools(self.store.engine, self.kernels, self.workers.submit)
        self.transactions = Transactions(
            catalog,
            self.store,
            committed_tables,
            clock,
            self.workers,
            config.stage_memory_bytes_max,
            lambda: SpillFile(storage, config.data_dir),
            self.caps,
            partial(found_transform, self.transform_tools),
        )
        self.outputs = ViewOutputs(self.engines, self.transactions, self.committer)
        self.scheduled = ScheduledRefreshes(self.engines, self.outputs.emit)
        self.warm_pipelines = WarmPipelines(self.engines, config.spark_preload)
        self.definitions = self._definitions()
        self.shared = self._shared(result_limits)

    def _definitions(self) -> Definitions:
        """Return who defines, and all who follow the catalog."""
        config, engines = self.config, self.engines
        caches = engines.answers.forget, engines.wholes.forget, engines.points.tables.forget, self.store.forget_exports
        memory = None
        if config.view_memory_bytes:
            memory = SpilledMemory(partial(map_new_file, config.data_dir), config.view_memory_bytes)
        followers = (*caches, self.scheduled.follow, self.warm_pipelines.follow)
        return Definitions(self.catalog, self.kernels, config.view_queue_max, memory, followers)

    def _tables_by_key(self, tables: CommittedTables) -> TablesByKey:
        return TablesByKey(tables, lambda: self.catalog.image, self.workers.submit, self.config.table_rows_bytes)

    def _shared(self, result_limits: ResultLimits) -> Shared:
        """Return what sessions get."""
        parts = ServerParts(
            self.config,
            self.clock,
            self.catalog,
            self.transactions,
            self.committer,
            self.definitions,
            self.engines,
            self.stream_options,
            result_limits,
            self.checkpoints,
            lambda: self.workers.submit(self.compilers.prepare),
        )
        settings = server_settings(self.config)
        return Shared(parts, self.clock.now_us(), self.workers, Locks(), Turns(), settings)

    @property
    def process_ids(self) -> npt.NDArray[np.int64]:
        """The processes that are to end with this one, int64[n]; 0: none."""
        return self._spark.process_ids

    def open(self) -> None:
        """Start Spark in the background, if it is wanted, and restore the definitions.

        Raises SqlError or OSError with what is wrong.
        """
        if self.config.spark_preload:
            self._spark.start()
        warm_up(warm_up_functions)
        self.engines.stream_kernels.clear()
        last_position = self.recover()
        self._drop_left_behind()
        for entry in self.catalog.image.entries.values():
            if isinstance(entry, StreamEntry):
                entry.stream.activity.begin(entry.stream.ring.tuples_count)
        prepare_transforms(self.transform_tools, self.catalog.image)
        self.definitions.follow()
        if any(isinstance(entry, StreamEntry) for entry in self.catalog.image.entries.values()):
            # A view may follow, and is to find a process that compiles.
            self.workers.submit(self.compilers.prepare)
        self.kernels.make_durable(path for view in self.definitions.attached for path in view.state.kernel_paths)
        self.checkpoints.start(last_position)
        self.scheduled.periodic.start()

    def recover(self) -> int:
        """Restore the definitions, and what checkpoint and log have of the streams' rows.

        Return the checkpoint's position.

        Raises SqlError or OSError with what is wrong.
        """
        self.restore_definitions()
        image = self.catalog.image
        self.definitions.equip(image.chains)
        position = recover(image, self.log, self.store, self.storage, self.clock, self.config)
        self.sharing.follow(image.together)
        self.caps.follow(image.chains)
        return position

    def restore_definitions(self) -> None:
        """Publish the catalog that the file of the tables has, if it has one.

        Raises SqlError or OSError with what is wrong.
        """
        text = self.store.load()
        if text is not None:
            image = self.catalog.image = restore_catalog(self.builders, text)
            numbers = (entry.counter.number for entry in image.entries.values() if isinstance(entry, SequenceEntry))
            self.store.forget_sequences(numbers)

    def _drop_left_behind(self) -> None:
        """Drop the temporary relations of sessions that ended with the last process."""
        image = self.catalog.image
        schemas = [name for name in image.schemas if is_temporary(name)]
        if schemas:
            transaction = self.transactions.begin()
            work = TableWork(SessionSettings(), self.transactions.begin_tables(transaction), transaction.now_us)
            drop_schemas(schemas, cascade=True, work=work)
            transaction.change_catalog(replace(work.image, version=work.image.version + 1))
            self.committer.commit(transaction)

    def close(self) -> None:
        """Make a last checkpoint, and stop the threads, and Spark and what compiles unless they
        were given.

        No session goes on.
        """
        self.scheduled.periodic.stop()
        self.warm_pipelines.stop()
        # What waits for a Spark that does not answer ends with it.
        killing = threading.Timer(SPARK_WAIT_S_MAX, self._spark.kill)
        killing.start()
        if self.compilers not in self._given:
            self.compilers.close()
        self.workers.shutdown()
        killing.cancel()
        self.checkpoints.stop()
        self.log.close()
        if self._spark not in self._given:
            self._spark.stop()
        self.store.settle(self.catalog.image)
        self.store.close()


def new_spark(config: ServerConfig) -> SparkRuntime:
    """Return the process's own JVM, not started yet."""
    return SparkRuntime(
        config.spark_memory_mb,
        config.spark_threads,
        config.data_dir / "spark",
        is_idle_priority=config.spark_idle_priority,
        wait_s_max=config.spark_wait_s_max,
    )
