"""Is a stream in a SELECT quicker than a file in Spark? The thirteen TPC-H queries with one scan of
lineitem, end to end.

Ours: the query and COPYs of lineitem's CSV into an empty stream start together, one COPY per core,
published every 100 ms, each of a file of the server as Spark reads it; the time is from there to
the answer. The query has waited for the rows, folded them as they came, and joined them with
durable tables; what lies above its groups has run in a Spark of its own. Spark reads the same CSV
with as many cores. Both have compiled the query before, over few rows. Every figure is the median
of interleaved runs, and both must give the same rows. Prints a table, the geometric mean of the
ratios and its threshold, and the machine. `--write` puts it into bench/README.md.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from bench.clients import Client
from bench.figures import Figure, interleaved, machine, write_report
from bench.spark_csv import STREAM, spark_tables, use_stream_files
from bench.workload import WITH_SPARK
from engine.demo.child import child_server
from tests.tpch.workload import SCANNED_ONCE, TABLES, generate, queries

CORES_COUNT = 2
PIECE_BYTES = 1 << 20
COPY = f"COPY {STREAM} FROM '{{}}' WITH (FORMAT csv, HEADER, publish '100ms')"
# The rows of some seconds, for a query that still builds its join tables.
CAPACITY = 1 << 22
# Five times as long as a COPY waits before it publishes. A scan that ended too early would give
# another answer, which is an error here.
STREAM_TIMEOUT = "500ms"
# No checkpoint falls into a run.
OPTIONS = (*WITH_SPARK, "--set", "checkpoint_log_bytes=64GB", "--set", "checkpoint_interval_s=0")
# The first read of such a view waits for Spark; queries over streams do without as long as it still
# starts.
AWAIT_SPARK = (
    "CREATE FOREIGN TABLE first_rows (k integer) SERVER stream",
    (
        "CREATE VIEW first_view AS SELECT k, rank() OVER (ORDER BY n) FROM "
        "(SELECT k, count(*) AS n FROM first_rows GROUP BY k) AS g"
    ),
    "INSERT INTO first_rows VALUES (1)",
    "SELECT * FROM first_view",
    "DROP FOREIGN TABLE first_rows CASCADE",
)
TOLERANCE = 1e-6
THRESHOLD = 2.0
FEW_SCALE_FACTOR = "0.01"

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table: seconds of a query, ours and Spark's."""

    query: str
    ours_s: float
    spark_s: float

    @property
    def ratio(self) -> float:
        """How often ours has been done by then."""
        return self.spark_s / self.ours_s


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return 1 if the threshold is missed."""
    parser = argparse.ArgumentParser(prog="bench.stream_relation", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=3, help="interleaved runs (default 3)")
    parser.add_argument("--scale-factor", default="1", help="of TPC-H's data (default 1)")
    parser.add_argument(
        "--only", choices=SCANNED_ONCE, nargs="+", default=list(SCANNED_ONCE), help="the queries to run"
    )
    parser.add_argument("--data", type=Path, help="the folder of the CSV files; those that are not there are made")
    parser.add_argument("--stream-timeout", default=STREAM_TIMEOUT, help=f"ends a query (default {STREAM_TIMEOUT})")
    parser.add_argument("--write", action="store_true", help="put the table into bench/README.md")
    options = parser.parse_args(arguments)
    lines = measure(options.scale_factor, options.only, options.runs, options.data, options.stream_timeout)
    text = report(lines, options.scale_factor, options.runs)
    print(text)
    if options.write:
        write_report(text, "stream relation")
    return 0 if geometric_mean(lines).holds else 1


def measure(
    scale_factor: str, names: Sequence[str], runs_count: int, data: Path | None = None, timeout: str = STREAM_TIMEOUT
) -> list[Line]:
    """Run both beside each other. Fails where their answers differ."""
    with tempfile.TemporaryDirectory(prefix="antumbra-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        data = folder if data is None else data
        generate(data, scale_factor)
        few = folder / "few"
        few.mkdir()
        generate(few, FEW_SCALE_FACTOR)
        session = stack.enter_context(spark_tables(data, folder, CORES_COUNT))
        ours = stack.enter_context(StreamServer(folder, data, few, timeout))
        lines = []
        for name in names:
            query = queries()[name]
            found: dict[str, list[Row]] = {}
            spark = partial(timed, found, "spark", partial(spark_rows, session, query))
            use_stream_files(session, [few / f"{STREAM}.csv"])
            spark()
            use_stream_files(session, ours.files)
            ours.prepare(query)
            stream = partial(timed, found, "ours", partial(ours.rows, query), ours.empty)
            ours_s, spark_s = interleaved(runs_count, stream, spark)
            assert are_equal(found["ours"], found["spark"]), f"{name}: {found}"
            lines.append(Line(name, statistics.median(ours_s), statistics.median(spark_s)))
            print(table_line(lines[-1]), file=sys.stderr, flush=True)
        return lines


def nothing() -> None:
    """The common preparations of runs."""


def timed(
    found: dict[str, list[Row]], whose: str, run: Callable[[], list[Row]], prepare: Callable[[], None] = nothing
) -> float:
    """Return how many seconds a run takes after `prepare`, and keep its rows."""
    prepare()
    start_s = time.perf_counter()
    found[whose] = run()
    return time.perf_counter() - start_s


def spark_rows(session: Any, query: str) -> list[Row]:
    """Return Spark's answer."""
    return [tuple(row) for row in session.sql(query).collect()]


class StreamServer:
    """Our server with all tables but lineitem, which is a stream that each run fills anew. files:
    parts of lineitem, one for each core.
    """

    def __init__(self, folder: Path, data: Path, few: Path, timeout: str) -> None:
        self._folder = folder
        self._timeout = timeout
        self._data = data
        self._few = few
        self.files: list[Path] = []
        self._stack = ExitStack()

    def __enter__(self) -> StreamServer:
        folder = self._folder / "files"
        folder.mkdir()
        self.files = split(self._data / f"{STREAM}.csv", folder, CORES_COUNT)
        options = (*OPTIONS, "--set", f"copy_directory={folder}")
        child = self._stack.enter_context(child_server(self._folder / "data", options=options))
        self._clients: list[Client] = [
            self._stack.enter_context(psycopg.connect(child.dsn, autocommit=True)) for _ in range(CORES_COUNT + 1)
        ]
        self._pool = self._stack.enter_context(ThreadPoolExecutor(CORES_COUNT + 1))
        asking = self._clients[0]
        for client in self._clients[1:]:
            # Spark keeps nothing either.
            client.execute("SET synchronous_commit = off")
        for table, columns in TABLES.items():
            if table != STREAM:
                asking.execute(f"CREATE TABLE {table} ({columns})".encode())
                copy_file(asking, self._data / f"{table}.csv", f"COPY {table} FROM STDIN WITH (FORMAT csv, HEADER)")
        for statement in AWAIT_SPARK:
            asking.execute(statement.encode())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def prepare(self, query: str) -> None:
        """Run a query over few rows; the log of the runs before goes, or they would fill the
        disk.
        """
        self.empty()
        copy_file(self._clients[0], self._few / f"{STREAM}.csv", f"COPY {STREAM} FROM STDIN WITH (FORMAT csv, HEADER)")
        self._clients[0].execute("CHECKPOINT")
        self._clients[0].execute("SET stream_timeout = '1ms'")
        self._clients[0].execute(query.encode())
        self._clients[0].execute(f"SET stream_timeout = '{self._timeout}'".encode())

    def empty(self) -> None:
        """Make the stream anew, for a run to fill."""
        self._clients[0].execute(f"DROP FOREIGN TABLE IF EXISTS {STREAM}".encode())
        options = f"SERVER stream OPTIONS (capacity '{CAPACITY}')"
        self._clients[0].execute(f"CREATE FOREIGN TABLE {STREAM} ({TABLES[STREAM]}) {options}".encode())

    def rows(self, query: str) -> list[Row]:
        """Return the answer over the empty stream, which is filled meanwhile."""
        asking, *copying = self._clients
        copies = [
            self._pool.submit(client.execute, COPY.format(file.name).encode())
            for client, file in zip(copying, self.files, strict=True)
        ]
        answer = asking.execute(query.encode()).fetchall()
        for copy in copies:
            copy.result()
        return answer


def copy_file(client: Client, path: Path, statement: str) -> None:
    """Send the bytes of a file."""
    with path.open("rb") as file, client.cursor().copy(statement.encode()) as copy:
        while piece := file.read(PIECE_BYTES):
            copy.write(piece)


def split(path: Path, folder: Path, count: int) -> list[Path]:
    """Write the lines of a CSV file with a header as `count` such files of about equal size into a
    folder, and return them.
    """
    parts = [folder / f"{path.stem}.{number}.csv" for number in range(count)]
    with path.open("rb") as file:
        header = file.readline()
        left = path.stat().st_size - len(header)
        for number, part in enumerate(parts):
            with part.open("wb") as target:
                target.write(header)
                wanted = left // (count - number)
                taken = 0
                while taken < wanted and (piece := file.read(min(PIECE_BYTES, wanted - taken))):
                    piece += file.readline()
                    target.write(piece)
                    taken += len(piece)
                left -= taken
    return parts


def are_equal(ours: Sequence[Row], theirs: Sequence[Row]) -> bool:
    """Tell whether two answers are the same, whatever order ties have.

    Spark rounds its quotients to six digits after the point.
    """
    if len(ours) != len(theirs):
        return False
    pairs = zip(sorted(ours, key=rounded), sorted(theirs, key=rounded), strict=True)
    return all(is_close(our, their) for rows in pairs for our, their in zip(*rows, strict=True))


def rounded(row: Row) -> list[str]:
    """Return a row's values as text to sort by, numbers with few digits."""
    return [f"{value:.2e}" if isinstance(value, Decimal | float | int) else str(value) for value in row]


def is_close(our: object, their: object) -> bool:
    """Tell whether two values are the same."""
    if isinstance(our, Decimal | float | int) and isinstance(their, Decimal | float | int):
        return math.isclose(our, their, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return our == their


def geometric_mean(lines: Sequence[Line]) -> Figure:
    """Return the figure that the threshold is about."""
    mean = statistics.geometric_mean([line.ratio for line in lines])
    return Figure("geometric mean", "", mean, "x as fast", THRESHOLD, True)


def report(lines: Sequence[Line], scale_factor: str, runs_count: int) -> str:
    """Return the table in Markdown."""
    mean = geometric_mean(lines)
    verdict = "holds" if mean.holds else "MISSED"
    return "\n".join(
        (
            "| query | stream, s | Spark, s | Spark / stream |",
            "|---|---|---|---|",
            *(table_line(line) for line in lines),
            f"| geometric mean, at least {mean.threshold:g}: {verdict} | | | {mean.value:.2f} |",
            "",
            f"Scale factor {scale_factor}, median of {runs_count} interleaved runs; both gave the same rows.",
            f"Machine: {machine()}.",
        )
    )


def table_line(line: Line) -> str:
    """Return a query's line of the table."""
    return f"| {line.query} | {line.ours_s:.2f} | {line.spark_s:.2f} | {line.ratio:.2f} |"


if __name__ == "__main__":
    sys.exit(main())
