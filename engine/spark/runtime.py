"""The Spark session that runs upper pipelines, in one JVM; a JVM that dies is replaced.

The JVM is started in the background and stopped with the server. Everything that it writes (local
files, warehouse, its own log) is in one folder; `engine.spark.classes` has the classes with which
it starts. The JVM's output goes to a log file there, never to the server's terminal. Must not know
of views.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyspark
from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from engine.spark.classes import SparkClasses, compile_classes, spark_classes
from engine.spark.compilation import DIRECTIVES, DIRECTIVES_NAME, LATE_C2
from engine.spark.errors import disk_full_reason
from engine.spark.functions import FUNCTIONS, result_type_json
from engine.spark.pipelines import SparkPipelines
from engine.spark.ports import SETTINGS as PORT_SETTINGS
from engine.spark.ports import close_ports
from engine.storage.errors import DISK_FULL
from sql.errors import SqlError

log = logging.getLogger(__name__)

STOP_WAIT_S_MAX = 10.0
TASKS_MAX = 1024
CANCEL_POLL_S = 0.05
# Of a statement for a JVM, the first or the next one; and how many it sees die while they start.
WAIT_S_MAX = 120.0
STARTS_MAX = 8
# Before a JVM is started after one that has not come up: twice as long each time. A statement waits
# no longer than a pause of `PAUSE_WAIT_S_MAX`.
PAUSE_S, PAUSE_WAIT_S_MAX, PAUSE_S_MAX = 0.1, 2.0, 60.0
# Between the end of the JVM's connections and that of its process.
DEATH_WAIT_S_MAX = 10.0
# The heap follows its use, where the JVM would begin with a 64th of the machine's memory; and the
# class archive lies where it was made for, so that its 160 MB are the page cache's and not copies
# that were patched. An idle JVM takes 316 MB in place of 500.
SMALL = (
    "-Xms64m", "-XX:MinHeapFreeRatio=30", "-XX:MaxHeapFreeRatio=50",
    "-XX:+UnlockDiagnosticVMOptions", "-XX:+IgnoreUnrecognizedVMOptions", "-XX:ArchiveRelocationMode=0",
)  # fmt: skip
# Of -XX:+ExitOnOutOfMemoryError.
OUT_OF_MEMORY_STATUS = 3
# Without an appender Spark would put its own settings in place of these.
LOG_SETTINGS = """rootLogger.level = off
rootLogger.appenderRef.none.ref = none
appender.none.type = Null
appender.none.name = none
"""
LOG_SETTINGS_NAME = "log4j2.properties"
HEAP_MB_MIN = 512
# Rows on their way to the JVM and back.
EXCHANGE_NAME = "exchange"

EXCLUDED_RULES = (
    # It breaks the plan of a union of two parts of one input.
    "org.apache.spark.sql.catalyst.optimizer.RemoveRedundantAliases",
    # It makes a date of an infinite timestamp that is compared with one, which overflows.
    "org.apache.spark.sql.catalyst.optimizer.UnwrapCastInBinaryComparison",
)
# What the answers depend on, then what the latency depends on.
SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.caseSensitive": "false",
    # '${...}' in a user's text is a text.
    "spark.sql.variable.substitute": "false",
    # A common part of AND's right side must not be computed for rows that its left side decides.
    "spark.sql.subexpressionElimination.skipForShortcutExpression": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Joins of inputs that are read by one task need no exchange, however large they are.
    "spark.sql.maxSinglePartitionBytes": str(2**63 - 1) + "b",
    "spark.sql.execution.pythonUDF.arrow.enabled": "false",
    "spark.sql.adaptive.enabled": "false",
    # Of a side that is much smaller, a hash table; else both would be sorted.
    "spark.sql.join.preferSortMergeJoin": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.optimizer.excludedRules": ",".join(EXCLUDED_RULES),
    "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
    "spark.sql.codegen.cache.maxEntries": "1000",
    "spark.scheduler.mode": "FAIR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.shutdown.timeout": "5s",
}


class SparkRuntime:
    """The owner of the JVM.

    `start` returns at once; `session` waits until Spark answers queries, and starts a JVM if none
    lives.
    """

    def __init__(
        self,
        memory_mb_max: int,
        threads_count: int,
        folder: Path,
        classes: SparkClasses | None = None,
        is_idle_priority: bool = False,
        wait_s_max: float = WAIT_S_MAX,
    ) -> None:
        assert memory_mb_max >= HEAP_MB_MIN and threads_count >= 1
        self._memory_mb_max = memory_mb_max
        self.threads_count = threads_count
        self._is_idle_priority = is_idle_priority
        self.wait_s_max = wait_s_max
        self._folder = folder.absolute()
        self._classes = classes if classes is not None else spark_classes(self._folder)
        self._lock = threading.Lock()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._failure: str | None = None
        self._failures_count = 0
        self._next_start_s = 0.0
        self._session: Any = None
        self._pipelines: SparkPipelines | None = None
        self._gateway: Any = None
        self._last_status = 0
        # Of the JVM, while it lives.
        self.process_ids = np.zeros(1, dtype=np.int64)
        self._stopped = False

    def start(self) -> None:
        """Start Spark in a thread of its own, unless a JVM lives or starts, or has just failed to
        start.
        """
        with self._lock:
            if self._stopped or (self._thread is not None and not self._has_died) or self._pause_s > 0:
                return
            if self._thread is not None:
                self._forget()
            self._thread = threading.Thread(target=self._start, name="spark-start", daemon=True)
            self._thread.start()

    def session(self, check_cancelled: Callable[[], None] = lambda: None, until_s: float | None = None) -> Any:
        """Return the SparkSession after its start, or after the next start when its JVM dies
        before.

        check_cancelled: called now and then; what it raises ends the waiting. until_s: by the
        monotonic clock, else `wait_s_max` from now. Raises SqlError 57P03 after that time, 53100
        when a full disk refuses what a start writes, 58000 when Spark could not start for another
        reason or is stopped.
        """
        until_s = time.monotonic() + self.wait_s_max if until_s is None else until_s
        for attempts_left in reversed(range(STARTS_MAX)):
            while self._has_died and 0 < self._pause_s < PAUSE_WAIT_S_MAX and not self._stopped:
                check_cancelled()
                time.sleep(CANCEL_POLL_S)
            self.start()
            while self._thread is not None and not self._ready.wait(CANCEL_POLL_S):
                check_cancelled()
                if time.monotonic() > until_s:
                    raise self.is_starting()
            failure = self._failure
            if failure is None and not self._stopped:
                return self._session
            is_over = time.monotonic() > until_s or self._pause_s >= PAUSE_WAIT_S_MAX or not attempts_left
            if self._stopped or not self._has_died or is_over:
                break
        if failure is None:
            raise SqlError("58000", "Spark is not running", detail="The server is stopping.")
        sqlstate = "58000" if disk_full_reason(failure) is None else DISK_FULL
        raise SqlError(sqlstate, "Spark is not running", detail=failure.splitlines()[0])

    def is_starting(self) -> SqlError:
        """Return the client's error of a wait that is over."""
        detail = f"The statement has waited {self.wait_s_max:g} seconds for it."
        hint = "Try again in a moment; spark/spark.log in the data folder tells what the JVM said."
        return SqlError("57P03", "Spark is starting", detail=detail, hint=hint)

    def pipelines(
        self, check_cancelled: Callable[[], None] = lambda: None, until_s: float | None = None
    ) -> SparkPipelines:
        """Return the pipelines of the session; waits and raises as `session` does."""
        while True:
            self.session(check_cancelled, until_s)
            pipelines = self._pipelines
            # None: this JVM has just been found dead by somebody else.
            if pipelines is not None:
                return pipelines

    def exit_status(self, pipelines: SparkPipelines) -> int | None:
        """Return how the JVM of pipelines has ended, whose connections have failed; None: it
        lives.
        """
        with self._lock:
            if pipelines is not self._pipelines:
                return self._last_status
            process = self._gateway.proc
        with suppress(subprocess.TimeoutExpired):
            process.wait(DEATH_WAIT_S_MAX)
        status: int | None = process.poll()
        return status

    @property
    def is_ready(self) -> bool:
        """True when `session` returns at once."""
        return self._ready.is_set() and self._failure is None and not self._stopped and not self._has_died

    @property
    def ready_pipelines(self) -> SparkPipelines | None:
        """The pipelines of the session, None unless `pipelines` returns at once."""
        return self._pipelines if self.is_ready else None

    def death(self, status: int) -> SqlError:
        """Return the client's error of a JVM that has ended: 53200 when its heap was too small,
        else 58000.
        """
        if status == OUT_OF_MEMORY_STATUS:
            hint = f"Raise spark_memory_mb, which is {self._memory_mb_max}, or group more coarsely below."
            return SqlError("53200", "out of memory", detail="Spark's heap is too small for this query.", hint=hint)
        hint = "spark/spark.log in the data folder tells what the JVM said."
        return SqlError("58000", f"Spark has ended with status {status} while it computed the answer", hint=hint)

    @property
    def heap_bytes_max(self) -> int:
        """The largest size of the JVM's heap in bytes."""
        return self._memory_mb_max * 2**20

    @property
    def process_id(self) -> int:
        """The number of the JVM's process, after `session` has returned."""
        return int(self._gateway.proc.pid)

    def kill(self) -> None:
        """End the JVM at once, if there is one, from any thread.

        Calls that wait for its answers fail.

        No other JVM is started.
        """
        with self._lock:
            self._stopped = True
            gateway = self._gateway
        if gateway is not None:
            gateway.proc.kill()

    def stop(self, wait_s_max: float = STOP_WAIT_S_MAX) -> None:
        """Stop Spark and end the JVM; also while it still starts.

        Kills a JVM that has not ended after `wait_s_max` seconds.
        """
        with self._lock:
            self._stopped = True
            thread = self._thread
        if thread is not None:
            if not self._ready.is_set() and self._gateway is not None:
                self._gateway.proc.kill()
            thread.join()
        if self._session is not None and self._failure is None:
            # The JVM may be gone already, as when a signal went to the whole process group.
            with suppress(Py4JError, OSError):
                self._session.stop()
        if self._gateway is not None:
            end_java(self._gateway, wait_s_max)

    @property
    def _pause_s(self) -> float:
        """For how long no JVM is started."""
        return self._next_start_s - time.monotonic()

    @property
    def _has_died(self) -> bool:
        if not self._ready.is_set():
            return False
        # Without a gateway it has died before it could say where it listens.
        return self._failure is not None if self._gateway is None else self._gateway.proc.poll() is not None

    def _forget(self) -> None:
        """Forget the JVM, so that another one can be started."""
        if self._gateway is None:
            log.warning(
                "Spark's JVM has not started, and is started again: %s", (self._failure or "").partition("\n")[0]
            )
        else:
            self._last_status = self._gateway.proc.returncode
            log.warning("Spark's JVM has ended with status %d, and is started again", self._last_status)
            end_java(self._gateway)
        self.process_ids[0] = 0
        self._session = self._pipelines = self._gateway = self._failure = None
        self._ready.clear()

    def _start(self) -> None:
        # Whatever ends the start, a bug, too, whose trace goes to the log of the server.
        self._failure = "Spark has not started, because of a bug that the log of the server shows."
        try:
            self._session = self._started_session()
            self._pipelines = SparkPipelines(self._session, self._folder / EXCHANGE_NAME, self.threads_count)
            self._pipelines.run("first", {}, lambda names: "SELECT count(*) FROM range(10) GROUP BY id % 2")
            self._failures_count, self._failure = 0, None
        except (RuntimeError, OSError, ValueError, Py4JError, PySparkException) as error:
            self._failure = str(error) or type(error).__name__
        finally:
            if self._failure is not None:
                self._end_failed_start(self._failure)
            self._ready.set()

    def _end_failed_start(self, failure: str) -> None:
        """End the JVM, which would live on, and no other one be started; begin a pause."""
        self._next_start_s = time.monotonic() + min(PAUSE_S * 2**self._failures_count, PAUSE_S_MAX)
        # Who makes room on a full disk need not wait.
        self._failures_count += disk_full_reason(failure) is None
        if self._gateway is not None:
            self._gateway.proc.kill()
            self._gateway.proc.wait()

    def _started_session(self) -> Any:
        """Start the JVM, compile our functions in it, and open the session."""
        configuration = spark_configuration(self._folder, self._classes, self._memory_mb_max, self.threads_count)
        self._gateway = launch_java(self._folder, self._classes, configuration)
        self.process_ids[0] = self._gateway.proc.pid
        if self._is_idle_priority:
            give_way(self.process_id, self.threads_count)
        if self._stopped:
            raise RuntimeError("stopped while starting")
        compile_classes(self._gateway, self._classes)
        context = SparkContext(conf=configuration, gateway=self._gateway)
        close_ports(context, self._gateway)
        session = SparkSession(context)
        register_functions(session, self._gateway)
        self._gateway.jvm.antumbra.SparkPipelines.open(session._jsparkSession)
        return session


def spark_configuration(folder: Path, classes: SparkClasses, memory_mb_max: int, threads_count: int) -> SparkConf:
    """Return Spark's settings, and those of the JVM, for a runtime that writes into `folder`."""
    options = [
        f"-Dlog4j2.configurationFile={(folder / LOG_SETTINGS_NAME).as_uri()}",
        f"-Dderby.system.home={folder}",
        f"-Djava.io.tmpdir={folder / 'local'}",
        "-XX:+UseSerialGC",
        *SMALL,
        *LATE_C2,
        f"-XX:CompilerDirectivesFile={folder / DIRECTIVES_NAME}",
        "-Xss4m",
        "-XX:-UsePerfData",
        # A thread that ends for want of memory would let its client wait for ever.
        "-XX:+ExitOnOutOfMemoryError",
        *classes.options,
    ]
    own = {
        "spark.app.name": "antumbra",
        # More places for tasks than pipelines run: who begins and when is said by
        # `engine.spark.turns`.
        "spark.master": f"local[{TASKS_MAX}]",
        "spark.default.parallelism": str(threads_count),
        "spark.driver.memory": f"{memory_mb_max}m",
        "spark.driver.extraClassPath": str(classes.functions),
        "spark.driver.extraJavaOptions": " ".join(options),
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
        "spark.sql.artifact.isolation.enabled": "false",
    }
    configuration = SparkConf(loadDefaults=False)
    for key, value in {**SETTINGS, **PORT_SETTINGS, **own}.items():
        configuration.set(key, value)
    return configuration


def launch_java(folder: Path, classes: SparkClasses, configuration: SparkConf) -> Any:
    """Start the JVM with its output in `folder`; return PySpark's gateway to it.

    Raises OSError and RuntimeError.
    """
    quiet_python_logs()
    shutil.rmtree(folder / EXCHANGE_NAME, ignore_errors=True)
    for needed in (folder / "local", folder / "warehouse", folder / EXCHANGE_NAME, classes.configuration):
        needed.mkdir(parents=True, exist_ok=True)
    if not classes.are_packed:
        classes.functions.mkdir(exist_ok=True)
    (folder / LOG_SETTINGS_NAME).write_text(LOG_SETTINGS)
    (folder / DIRECTIVES_NAME).write_text(DIRECTIVES)
    # Another Spark on this machine, or its settings, must not get in.
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).resolve().parent)
    os.environ["SPARK_CONF_DIR"] = str(classes.configuration)
    os.environ["PYSPARK_SUBMIT_ARGS"] = "pyspark-shell"
    with (folder / "spark.log").open("ab") as log:
        start: Callable[..., Any] = launch_gateway
        return start(conf=configuration, popen_kwargs={"stdout": log, "stderr": log})


def give_way(process_id: int, processors_count: int) -> None:
    """Let a process and its threads run only where nothing else wants to, on so many processors.

    The policy is SCHED_IDLE: with a nice value, a thread that wakes up waits for the end of the
    other's time slice, some milliseconds. Even so a processor may go on with the process until the
    next tick (a lazily preempting Linux wakes no other processor), so another processor is left
    free of it. Raises OSError.
    """
    processors = sorted(os.sched_getaffinity(0))[:processors_count]
    done: set[int] = set()
    while left := {int(name) for name in os.listdir(f"/proc/{process_id}/task")} - done:
        for thread in left:
            # It may have ended.
            with suppress(ProcessLookupError):
                os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
                os.sched_setaffinity(thread, processors)
        done |= left


def register_functions(session: Any, gateway: JavaGateway) -> None:
    """Make our functions known to the session's SQL."""
    registry = session._jsparkSession.udf()
    for name, (arguments_count, result) in FUNCTIONS.items():
        kind = getattr(gateway.jvm.antumbra, f"SparkFunctions$Function{arguments_count}")
        java_type = session._jsparkSession.parseDataType(result_type_json(result))
        registry.register(name, kind(name), java_type)


def quiet_python_logs() -> None:
    """Silence PySpark's logs.

    PySpark logs each failed query with its stack, where ours are the client's errors, and warns of
    a pandas that we don't use.
    """
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "py4j"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_is_not_py4j)


def _is_not_py4j(record: logging.LogRecord) -> bool:
    """Drop Py4J's records in the root logger: it logs whenever the JVM does not answer, and raises
    as well.
    """
    return record.module != "java_gateway"


def end_java(gateway: Any, wait_s_max: float = STOP_WAIT_S_MAX) -> None:
    """Close the gateway and wait for the JVM, which ends when its input closes.

    Kill it when it does not.
    """
    process = getattr(gateway, "proc", None)
    gateway.shutdown()
    if process is not None:
        process.stdin.close()
        try:
            process.wait(wait_s_max)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    _forget_gateway()


def _forget_gateway() -> None:
    """Forget PySpark's gateway of this process; a later runtime needs one of its own."""
    SparkContext._active_spark_context = None
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    os.environ.pop("PYSPARK_GATEWAY_PORT", None)
