"""The set-up of the archive of `engine.spark.classes`: Spark runs once, and its classes are kept.

`python -m engine.spark.archive` does it, in about half a minute, unless it has been done. There are
two JVMs: the first compiles our functions, since the second must find them in its class path when
it starts; the second runs everything that views use. Raises nothing for an archive that can't be
made: servers do without.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from engine.spark.classes import ARCHIVE_NAME, SparkClasses, archived_classes, compiled, own_classes, shared_folder
from engine.spark.pipelines import SparkPipelines
from engine.spark.runtime import SparkRuntime, end_java, launch_java, spark_configuration
from sql.errors import SqlError

MEMORY_MB = 1024
DUMP_S_MAX = 120.0
# Of each query: planned, and run again.
RUNS = 2
# A table of every kind of column, and what upper and static pipelines are made of: together they
# load most of what a server will.
ROWS = pa.table(
    {"k": [1, 2, 2], "n": pa.array([1, 2, 3], pa.decimal128(38, 2)), "t": ["a", "b", None], "x": [0.5, 1.5, None]}
)
QUERIES = (
    "SELECT k, sum(n), avg(x), min(t), count(*) FROM rows GROUP BY k HAVING count(*) > 0 ORDER BY k LIMIT 10",
    "SELECT a.k, rank() OVER (PARTITION BY a.k ORDER BY b.n DESC) FROM rows a LEFT JOIN rows b ON a.k = b.k",
    "SELECT k FROM rows WHERE k IN (SELECT k FROM rows WHERE x > 1) UNION SELECT length(t) FROM rows",
    "SELECT coalesce(upper(t), ''), CASE WHEN k > 1 THEN n + 1 ELSE 0 END, CAST(k AS string), DATE'2000-01-01' FROM rows",
)

log = logging.getLogger(__name__)


def main() -> None:
    """Make the archive, unless it is there; say why if it can't be."""
    folder = shared_folder()
    if (folder / ARCHIVE_NAME).exists():
        return
    try:
        make_archive(folder)
    except (OSError, RuntimeError, Py4JError, PySparkException, SqlError) as error:
        log.warning("Spark will start more slowly, since the archive of its classes could not be made: %s", error)


def make_archive(folder: Path) -> None:
    """Make the jar and the archive in `folder`.

    Raises OSError, and what Spark raises when it does not start or answer.
    """
    remove_others(folder)
    classes = archived_classes(folder)
    classes.configuration.mkdir(parents=True, exist_ok=True)
    # Under another name until it is whole; where the JVM can't make it, there is none.
    new = folder / f"{ARCHIVE_NAME}.new"
    new.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="antumbra-spark-") as name:
        write_jar(classes.functions, Path(name) / "compiling")
        dumping = SparkClasses(
            classes.functions, classes.configuration, (f"-XX:ArchiveClassesAtExit={new}", "-XX:TieredStopAtLevel=1")
        )
        runtime = SparkRuntime(MEMORY_MB, 1, Path(name) / "dumping", dumping)
        try:
            run_queries(runtime.pipelines())
        finally:
            runtime.stop(DUMP_S_MAX)
    new.replace(folder / ARCHIVE_NAME)


def remove_others(folder: Path) -> None:
    """Delete what earlier sources of our functions have left beside `folder`."""
    for other in folder.parent.glob("spark-*"):
        if other != folder:
            shutil.rmtree(other)


def write_jar(jar: Path, folder: Path) -> None:
    """Compile our functions in a JVM of `folder` into `jar`."""
    without = own_classes(folder)
    gateway = launch_java(folder, without, spark_configuration(folder, without, MEMORY_MB, 1))
    try:
        classes = compiled(gateway)
    finally:
        end_java(gateway)
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, code in classes.items():
            archive.writestr(name, code)


def run_queries(pipelines: SparkPipelines) -> None:
    """Run a query of each kind."""
    for text in QUERIES:
        for _ in range(RUNS):
            pipelines.run("archived", {"rows": ROWS}, partial(over_rows, text))


def over_rows(text: str, names: Mapping[str, str]) -> str:
    """Return a query of `QUERIES` with the name that its rows have."""
    return text.replace(" rows", f" {names['rows']}")


if __name__ == "__main__":
    main()
