"""Upper and static pipelines of continuous views: Arrow in, Arrow out.

Enters: a relation over 'groups' and 'table' scans, and their rows. Leaves: a table exactly in the
forms of `views.model.arrow_schema`. Spark runs what `views.plan.hand_over` says, over rows that the
embedded engine computes; all other pipelines, and those that Spark's analysis refuses, run in the
embedded engine. So do those of few groups while Spark is not there, so that nobody waits for its
start. Spark's plan is made once (`engine.spark.prepared`). Many views may refresh at once; one view
does one refresh at a time. Inputs are values, so that a pipeline that runs while the JVM dies is
run again on the next one.
"""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from engine.embedded.query_engine import QueryEngine
from engine.embedded.result_forms import in_forms
from engine.spark.errors import sql_error
from engine.spark.pipelines import SparkPipelines
from engine.spark.runtime import SparkRuntime
from engine.spark.tables import SparkTables, named_rows
from engine.spark.turns import PipelineTurns
from engine.storage.clock import SystemClock
from engine.storage.errors import FULL, disk_error
from sql.bind.substitute import substitute_now
from sql.emit.layout import laid_out
from sql.emit.spark import emit_spark
from sql.errors import SqlError
from sql.tree.relations import Relation, Scan
from sql.tree.walks import relation_names, rewrite_everywhere, scans
from views.model.arrow_schema import arrow_schema
from views.model.protocols import COLD, TableExport
from views.plan.hand_over import HandOver, hand_over, reads_tables_alone

# Of one pipeline, the first time and after the death of a JVM that nobody has killed.
RUNS_MAX = 2
# How a JVM ends that was killed, at once or after it has stopped what it did.
KILLED = frozenset({-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP, 129, 130, 143})
# A cancelled statement waits so long for a JVM that may be busy with everything else.
CANCEL_WAIT_S_MAX = 0.5
# With the pipelines of cancelled statements that the JVM has not ended yet; a thread has its own
# connection to the JVM.
THREADS_MAX = 512
# Of the heap, for tables that no pipeline reads just now.
TABLES_SHARE = 1 / 4


@dataclass(eq=False)
class Job:
    """A pipeline that runs, under the name that its jobs have in Spark.

    Attributes:
        pipelines: of the JVM on which it runs.
        cancelled: done once it was cancelled.
    """

    name: str
    pipelines: SparkPipelines | None = None
    cancelled: Future[None] = field(default_factory=Future)

    def check_cancelled(self) -> None:
        """Raise 57014 after the job was cancelled."""
        if self.cancelled.done():
            raise SqlError("57014", "canceling statement due to user request")

    def rows_of(self, running: Future[pa.Table]) -> pa.Table:
        """Return what is computed.

        Raises its error, and 57014 soon after a cancel, whether or not the JVM has heard of that.
        """
        wait((running, self.cancelled), return_when=FIRST_COMPLETED)
        if not running.done():
            wait((running,), CANCEL_WAIT_S_MAX)
            if not running.done():
                running.cancel()
                self.check_cancelled()
        return running.result()


class SparkUpperExecutor:
    """The `views.model.protocols.UpperExecutor` of Spark and the embedded engine.

    cold_groups_max: below so many groups no pipeline waits for a JVM.
    """

    def __init__(self, runtime: SparkRuntime, engine: QueryEngine, cold_groups_max: int = 0) -> None:
        self._runtime = runtime
        self._engine = engine
        self._cold_groups_max = cold_groups_max
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._running: dict[Hashable, list[Job]] = {}
        self._threads = ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="antumbra-spark")
        self._turns = PipelineTurns(runtime.threads_count)
        self._tables = SparkTables(int(runtime.heap_bytes_max * TABLES_SHARE))

    @property
    def is_ready(self) -> bool:
        """True when Spark answers without being waited for."""
        return self._runtime.is_ready

    @property
    def ready_jvm(self) -> object | None:
        """An object of one JVM alone, None unless Spark answers without being waited for."""
        return self._runtime.ready_pipelines

    def start(self) -> None:
        """Start Spark in the background, unless it lives or starts."""
        self._runtime.start()

    def is_cold(self, inputs: Iterable[pa.Table]) -> bool:
        """Tell whether a pipeline over these groups does not wait for Spark, which is not there,
        and is started.
        """
        if self._runtime.is_ready or sum(rows.num_rows for rows in inputs) >= self._cold_groups_max:
            return False
        self._runtime.start()
        return True

    def run(
        self,
        token: Hashable,
        relation: Relation,
        inputs: Mapping[str, pa.Table],
        tables: Mapping[str, TableExport],
        told: Callable[[str], None] = lambda how: None,
    ) -> pa.Table:
        """Return the rows of `relation` over `inputs` and `tables`, in order.

        told: as in the protocol. Raises SqlError for what PostgreSQL would raise, 57014 after
        `cancel`, 53200 or 58000 when Spark dies of it, 57P03 when no Spark answers for too long,
        and 53100 or 58030 when its rows can't be written.
        """
        deaths = 0
        until_s: float | None = None
        handed = hand_over(relation)
        with self._job(token) as job:
            while handed is not None:
                if self.is_cold(inputs.values()):
                    told(COLD)
                    break
                pipelines = self._runtime.pipelines(job.check_cancelled, until_s)
                try:
                    turn = self._turns.turn(job.check_cancelled)
                    running = self._threads.submit(self._rows, pipelines, job, handed, inputs, tables, turn, told)
                    return job.rows_of(running)
                except SqlError as error:
                    if error.sqlstate != "0A000":
                        raise
                    # Spark's analysis has no plan for it.
                    break
                except (PySparkException, Py4JError, OSError, EOFError) as error:
                    if isinstance(error, OSError) and error.errno in FULL:
                        raise disk_error(error, "hand rows to Spark") from error
                    ended = self._runtime.exit_status(pipelines)
                    if ended is None:
                        if isinstance(error, OSError):
                            raise disk_error(error, "hand rows to Spark") from error
                        raise
                # Who has killed it from outside may do so again, and the statement is not to blame.
                deaths += ended not in KILLED
                if deaths >= RUNS_MAX:
                    raise self._runtime.death(ended)
                until_s = until_s or time.monotonic() + self._runtime.wait_s_max
                if time.monotonic() > until_s:
                    raise self._runtime.is_starting()
            return self._embedded(job, relation, inputs, tables)

    def run_embedded(
        self, token: Hashable, relation: Relation, inputs: Mapping[str, pa.Table], tables: Mapping[str, TableExport]
    ) -> pa.Table:
        """Return the rows of `relation`, for which no Spark is waited. Raises as `run`."""
        with self._job(token) as job:
            return self._embedded(job, relation, inputs, tables)

    def _embedded(
        self, job: Job, relation: Relation, inputs: Mapping[str, pa.Table], tables: Mapping[str, TableExport]
    ) -> pa.Table:
        """Return the rows of a pipeline in the embedded engine alone. Raises SqlError."""
        try:
            return job.rows_of(self._threads.submit(self._computed, job, relation, inputs, tables))
        finally:
            # A cancel may have come before the engine knew of it.
            self._engine.interrupt(job)

    def check(self, token: Hashable, relation: Relation) -> None:
        """Raise SqlError for what no engine has, as the protocol says; no JVM is started."""
        # The embedded engine has all that Spark has.
        rows = {scan.name: arrow_schema(scan.schema).empty_table() for scan in scans(relation)}
        with self._job(token) as job:
            self._embedded(job, relation, rows, {})

    def warm_up(
        self,
        token: Hashable,
        relation: Relation,
        inputs: Mapping[str, pa.Table],
        tables: Mapping[str, TableExport],
    ) -> bool:
        """Run a pipeline as `run` does, for nobody, so that Spark has planned and compiled it.

        Return false where nothing was run: Spark is not there, or works for somebody. Raises
        SqlError.
        """
        handed, pipelines = hand_over(relation), self._runtime.ready_pipelines
        if handed is None or pipelines is None or self._running:
            return False
        with self._job(token) as job:
            try:
                self._rows(pipelines, job, handed, inputs, tables, nullcontext())
            except (PySparkException, Py4JError, OSError, EOFError) as error:
                raise SqlError("58000", f"Spark could not be warmed up: {error}") from error
        return True

    def _rows(
        self,
        pipelines: SparkPipelines,
        job: Job,
        handed: HandOver,
        inputs: Mapping[str, pa.Table],
        tables: Mapping[str, TableExport],
        turn: AbstractContextManager[None],
        told: Callable[[str], None] = lambda how: None,
    ) -> pa.Table:
        """Return the rows of a pipeline in Spark."""
        with self._lock:
            # A cancel before this is seen here, a later one knows whom to tell.
            job.pipelines = pipelines
        job.check_cancelled()
        views: dict[str, str] = {}
        rows: dict[str, pa.Table] = {}
        with turn, ExitStack() as used:
            try:
                for scan in scans(handed.relation):
                    source = handed.computed.get(scan.name, scan)
                    make = partial(self._computed, job, source, inputs, tables)
                    if reads_tables_alone(source):
                        versions = tuple(tables[name].version for name in sorted(relation_names(source)))
                        view = self._tables.view_of(pipelines, source, versions, make)
                        views[scan.name] = used.enter_context(view)
                    elif scan.name not in rows:
                        rows[scan.name] = named_rows(scan.schema, make())
                answer = pipelines.run(
                    job.name,
                    rows,
                    lambda names: emit_spark(handed.relation, {**views, **names}),
                    frozenset(views.values()),
                )
            except (PySparkException, Py4JJavaError) as error:
                job.check_cancelled()
                raise sql_error(error) from error
        told(answer.how)
        return in_forms(answer.rows, handed.relation.schema)

    def _computed(
        self, job: Job, relation: Relation, inputs: Mapping[str, pa.Table], tables: Mapping[str, TableExport]
    ) -> pa.Table:
        """Return the rows of a relation in the embedded engine."""
        rows = {**inputs, **{name: export.table for name, export in tables.items()}}
        if isinstance(relation, Scan):
            return rows[relation.name]
        return self._engine.run(rewrite_everywhere(relation, passing), rows, job)

    def runs_for(self, token: Hashable) -> bool:
        """Tell whether `cancel` would stop anything."""
        return token in self._running

    def cancel(self, token: Hashable) -> None:
        """Stop the jobs of `token`, from another thread.

        Returns at once: a thread of its own tells the JVM.
        """
        with self._lock:
            running = list(self._running.get(token, ()))
            jobs = [job for job in running if not job.cancelled.done()]
            for job in jobs:
                job.cancelled.set_result(None)
            told = [(job.pipelines, job.name) for job in jobs if job.pipelines is not None]
        for job in running:
            self._engine.interrupt(job)
        if told:
            # Never in a pool: what is to be cancelled may have all threads of it.
            threading.Thread(target=tell_to_cancel, args=(told,), name="antumbra-cancel", daemon=True).start()

    def explain(self, relation: Relation) -> Mapping[str, str]:
        """Return the SQL texts that `run` executes, the last one being that of the answer, and
        before them who runs them while Spark is not there; inputs have their own names, and now()
        is that of the call.

        What Spark's analysis would refuse is shown as Spark's, which nobody asks here.
        """
        relation = substitute_now(relation, SystemClock().now_us())
        handed = hand_over(relation)
        if handed is None:
            return {"DuckDB SQL": self._engine.explain(relation)}
        known: dict[str, str] = {}
        if self._cold_groups_max:
            known["While Spark is not there"] = f"DuckDB runs it for fewer than {self._cold_groups_max:,} groups"
        before = {f"DuckDB SQL of {name}": self._engine.explain(one) for name, one in handed.computed.items()}
        leaves = scans(handed.relation)
        return {
            **known,
            **before,
            "Spark SQL": laid_out(emit_spark(handed.relation, {scan.name: scan.name for scan in leaves})),
        }

    @contextmanager
    def _job(self, token: Hashable) -> Iterator[Job]:
        """Name the Spark jobs of a pipeline, so that `cancel` finds them by the token."""
        job = Job(f"job_{next(self._numbers)}")
        with self._lock:
            self._running.setdefault(token, []).append(job)
        try:
            yield job
        finally:
            with self._lock:
                self._running[token].remove(job)
                if not self._running[token]:
                    del self._running[token]


def passing(node: Relation) -> Relation:
    """Return a scan as one of rows that the embedded engine reads in one statement."""
    return replace(node, kind="rows") if isinstance(node, Scan) and node.kind != "recursive" else node


def tell_to_cancel(jobs: Sequence[tuple[SparkPipelines, str]]) -> None:
    """Let the JVM stop these jobs; a job on a JVM that dies ends by itself."""
    with suppress(Py4JError, OSError):
        for pipelines, name in jobs:
            pipelines.cancel(name)
