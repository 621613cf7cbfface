"""How long is the queue in front of a view while ten clients write to it? Six integers of 1 to
10,000, one view (thesis, figure 4.14).

Each client writes COPYs of more groups than a view takes at once, so that they wait for the next
refresh; a reader refreshes again and again. The queue of pg_stat_continuous_views is looked at all
the while. Prints a table with thresholds and a checksum; `--write` puts it into bench/README.md,
and the drawing beside it.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.charts import chart
from bench.clients import copy_in
from bench.figures import README, Figure, report, told, write_report
from bench.workload import NO_SPARK, SEED
from engine.demo.child import child_server

DRAWING = "queue.svg"
CREATE = (
    "CREATE FOREIGN TABLE numbers (a int, b int, c int, d int, e int, f int) SERVER stream",
    "CREATE VIEW v AS SELECT a, count(*) AS n, sum(b) AS b, sum(c) AS c, sum(d) AS d, sum(e) AS e, sum(f) AS f FROM numbers GROUP BY a",
)
QUEUE = "SELECT queue, queue_most, queue_max FROM pg_stat_continuous_views WHERE relname = 'v'"
POINTS_MAX = 200


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; the tests use tiny numbers. refresh_s: the reader's pause."""

    keys_count: int = 10_000
    clients_count: int = 10
    statement_rows: int = 20_000
    seconds: float = 20.0
    refresh_s: float = 0.2


@dataclass(frozen=True, slots=True)
class Found:
    """The observations: (seconds, statements that wait), the most of them, the bound, what is left
    after the last refresh, rows written.
    """

    looks: list[tuple[float, float]]
    queue_most: int
    queue_max: int
    left: int
    rows_count: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return 1 if a threshold is missed."""
    parser = argparse.ArgumentParser(prog="bench.queue", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="put table and drawing into bench/")
    options = parser.parse_args(arguments)
    found = measure(Sizes())
    known = told(*figures(found))
    text = report(known, f"{found.rows_count} rows, all counted", 1)
    print(text)
    if options.write:
        write_report(text, "queue")
        README.with_name(DRAWING).write_text(draw(found))
    return 0 if all(figure.holds for figure in known) else 1


def measure(sizes: Sizes) -> Found:
    """Write, refresh and look for a while. Fails when the view has not counted every row."""
    chance = random.Random(SEED)
    rows = [
        "\t".join(str(chance.randrange(1, sizes.keys_count + 1)) for _ in range(6)) for _ in range(sizes.statement_rows)
    ]
    text = "".join(f"{row}\n" for row in rows).encode()
    with (
        tempfile.TemporaryDirectory(prefix="antumbra-bench-") as folder,
        child_server(Path(folder), options=NO_SPARK) as child,
        psycopg.connect(child.dsn, autocommit=True) as client,
        ThreadPoolExecutor(sizes.clients_count + 1) as threads,
    ):
        for statement in CREATE:
            client.execute(statement)
        ends = threading.Event()
        writers = [threads.submit(write, child.dsn, text, ends) for _ in range(sizes.clients_count)]
        reader = threads.submit(refresh, child.dsn, sizes.refresh_s, ends)
        began_s = time.perf_counter()
        looks: list[tuple[float, float]] = []
        while (passed_s := time.perf_counter() - began_s) < sizes.seconds:
            row = client.execute(QUEUE).fetchone() or (0,)
            looks.append((passed_s, float(str(row[0]))))
            time.sleep(sizes.seconds / POINTS_MAX)
        ends.set()
        written = sum(writer.result() for writer in writers) * sizes.statement_rows
        reader.result()
        counted = client.execute("SELECT sum(n) FROM v").fetchone()
        assert counted is not None and int(str(counted[0])) == written, f"{counted} of {written}"
        left, most, bound = (int(str(value)) for value in client.execute(QUEUE).fetchone() or ())
        return Found(looks, most, bound, left, written)


def write(dsn: str, text: bytes, ends: threading.Event) -> int:
    """Write the same rows again and again; return how often."""
    count = 0
    with psycopg.connect(dsn, autocommit=True) as client:
        while not ends.is_set():
            copy_in(client, text, "COPY numbers FROM STDIN")
            count += 1
    return count


def refresh(dsn: str, pause_s: float, ends: threading.Event) -> None:
    """Read the view again and again."""
    with psycopg.connect(dsn, autocommit=True) as client:
        while not ends.wait(pause_s):
            client.execute("SELECT count(*) FROM v")


def figures(found: Found) -> list[Figure]:
    """Return the queue at most, beside its bound, and what is left of it."""
    return [
        Figure(
            "statements in the queue, at most",
            f"bound {found.queue_max}",
            found.queue_most,
            "",
            found.queue_max + 1,
            False,
        ),
        Figure("statements in the queue after the last refresh", f"{len(found.looks)} looks", found.left, "", 1, False),
    ]


def draw(found: Found) -> str:
    """Return the drawing."""
    looks = [(0.0, 0.0), *found.looks]
    ticks = {0.0: "0", looks[-1][0] / 2: f"{looks[-1][0] / 2:.0f}", looks[-1][0]: f"{looks[-1][0]:.0f}"}
    bound = [(0.0, float(found.queue_max)), (looks[-1][0], float(found.queue_max))]
    return chart("Queue in front of a view", "seconds", "statements", {"queue": looks, "view_queue_max": bound}, ticks)


if __name__ == "__main__":
    sys.exit(main())
