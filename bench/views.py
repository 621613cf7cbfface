"""The cost of one more view: COPY of the same events with 1, 2, 4 and 8 views attached (thesis,
figure 4.15).

Every view has another aggregate, so that none can share the work of another. The figure is the time
with eight views over that with one. Eight views with one and the same stream pipeline take their
rows together: they are to cost what one does. Prints a table with its threshold and a checksum;
`--write` puts it into bench/README.md, and the drawing beside it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg

from bench.charts import chart
from bench.clients import Client, copy_in
from bench.figures import README, Figure, interleaved, report, told, write_report
from bench.workload import COLUMNS, NO_SPARK, copy_text
from engine.demo.child import child_server

DRAWING = "views.svg"
COUNTS = (1, 2, 4, 8)
# The name's end of the stream with so many equal views.
EQUAL = "equal"
EQUAL_COUNT = 8
AGGREGATES = (
    "sum(amount)", "max(taken)", "avg(weight)", "min(amount)", "count(label)", "max(weight)", "min(taken)", "avg(amount)",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured.

    The tests use tiny numbers. repeats: how often the same rows are written per run.
    """

    rows_count: int = 1_000_000
    repeats: int = 10
    runs_count: int = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return 1 if the threshold is missed."""
    parser = argparse.ArgumentParser(prog="bench.views", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=Sizes().runs_count, help="interleaved runs (default 3)")
    parser.add_argument("--write", action="store_true", help="put table and drawing into bench/")
    options = parser.parse_args(arguments)
    sizes = Sizes(runs_count=options.runs)
    seconds, equal_s, checksum = measure(sizes)
    known = told(*figures(seconds, equal_s, sizes))
    text = report(known, checksum, sizes.runs_count)
    print(text)
    if options.write:
        write_report(text, "views")
        README.with_name(DRAWING).write_text(draw(seconds))
    return 0 if all(figure.holds for figure in known) else 1


def measure(sizes: Sizes) -> tuple[dict[int, float], float, str]:
    """Return the median seconds by number of views, those with equal views, and what the views have
    counted.

    Fails where they differ.
    """
    text = copy_text(sizes.rows_count)
    with (
        tempfile.TemporaryDirectory(prefix="antumbra-bench-") as folder,
        child_server(Path(folder), options=NO_SPARK) as child,
        psycopg.connect(child.dsn, autocommit=True) as client,
    ):
        client.execute("SET synchronous_commit = off")
        for count in COUNTS:
            client.execute(f"CREATE FOREIGN TABLE events{count} ({COLUMNS}) SERVER stream".encode())
            for number, aggregate in enumerate(AGGREGATES[:count]):
                query = f"SELECT key, count(*) AS n, {aggregate} FROM events{count} GROUP BY key"
                client.execute(f"CREATE VIEW v{count}_{number} AS {query}".encode())
        client.execute(f"CREATE FOREIGN TABLE events{EQUAL} ({COLUMNS}) SERVER stream".encode())
        for number in range(EQUAL_COUNT):
            query = (
                f"SELECT key, count(*) AS n, {AGGREGATES[0]} FROM events{EQUAL} GROUP BY key HAVING count(*) > {number}"
            )
            client.execute(f"CREATE VIEW v{EQUAL}_{number} AS {query}".encode())
        names = (*COUNTS, EQUAL)
        runs = interleaved(sizes.runs_count, *(partial(write, client, text, name, sizes.repeats) for name in names))
        counted = {
            client.execute(f"SELECT sum(n) FROM v{name}_{number}".encode()).fetchone()
            for name in names
            for number in range(name if isinstance(name, int) else 1)
        }
        assert len(counted) == 1, counted
        *medians, equal_s = (statistics.median(seconds) for seconds in runs)
        (total,) = next(iter(counted)) or (None,)
        return dict(zip(COUNTS, medians, strict=True)), equal_s, str(total)


def write(client: Client, text: bytes, name: int | str, repeats: int) -> float:
    """Return the seconds of the COPYs into the stream whose name ends so, and of the refreshes that
    belong to them.
    """
    return sum(copy_in(client, text, f"COPY events{name} FROM STDIN") for _ in range(repeats))


def figures(seconds: dict[int, float], equal_s: float, sizes: Sizes) -> list[Figure]:
    """Return the time with each number of views over that with one: less than linear, and no more
    for equal ones.
    """
    rows = sizes.rows_count * sizes.repeats
    equal = Figure(
        f"COPY with {EQUAL_COUNT} views whose stream pipelines are equal, over that with one",
        f"{rows / equal_s:,.0f} / {rows / seconds[1]:,.0f} rows/s",
        equal_s / seconds[1],
        "x",
        1.25,
        False,
    )
    return [
        Figure(
            f"COPY with {count} views, over that with one",
            f"{rows / seconds[count]:,.0f} / {rows / seconds[1]:,.0f} rows/s",
            seconds[count] / seconds[1],
            "x",
            count,
            False,
        )
        for count in COUNTS[1:]
    ] + [equal]


def draw(seconds: dict[int, float]) -> str:
    """Return the drawing, beside what linear growth would be."""
    measured = [(float(count), seconds[count]) for count in COUNTS]
    linear = [(float(count), seconds[1] * count) for count in COUNTS]
    ticks = {float(count): str(count) for count in COUNTS}
    return chart(
        "Seconds of a COPY over attached views", "views", "seconds", {"measured": measured, "linear": linear}, ticks
    )


if __name__ == "__main__":
    sys.exit(main())
