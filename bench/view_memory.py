"""Does the memory of a view depend on its groups alone? Tuples of 10,000 keys into views of 1, 2, 4
and 6 aggregates (thesis, figure 4.13).

One stream, four views over it; after each step they are read, and their `state_bytes` of
pg_stat_continuous_views are noted. The figure of each view is how much they change from the last
new group to the last tuple. Prints a table with thresholds and a checksum; `--write` puts it into
bench/README.md, and the drawing beside it.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.charts import chart
from bench.clients import Client, copy_in
from bench.figures import README, Figure, report, told, write_report
from bench.workload import NO_SPARK, SEED
from engine.demo.child import child_server

DRAWING = "view_memory.svg"
AGGREGATES = ("sum(a) AS a", "count(b) AS b", "max(c) AS c", "min(d) AS d", "avg(e) AS e", "sum(f) AS f")
VIEWS = (1, 2, 4, 6)
CREATE_STREAM = "CREATE FOREIGN TABLE numbers (k int, a int, b int, c int, d int, e int, f int) SERVER stream"
SIZES = "SELECT relname, state_bytes, groups FROM pg_stat_continuous_views"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured.

    The tests use tiny numbers. drawn: tuples after which the views are looked at, besides the last.
    """

    keys_count: int = 10_000
    tuples_count: int = 10_000_000
    drawn: tuple[int, ...] = (
        1_000,
        5_000,
        10_000,
        20_000,
        35_000,
        50_000,
        100_000,
        200_000,
        500_000,
        1_000_000,
        5_000_000,
    )
    block_rows: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Point:
    """The views after so many tuples: bytes and groups by number of aggregates."""

    tuples_count: int
    state_bytes: dict[int, int]
    groups: dict[int, int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return 1 if a threshold is missed."""
    parser = argparse.ArgumentParser(prog="bench.view_memory", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="put table and drawing into bench/")
    options = parser.parse_args(arguments)
    points, checksum = measure(Sizes())
    text = report(told(*figures(points)), checksum, 1)
    print(text)
    if options.write:
        write_report(text, "view memory")
        README.with_name(DRAWING).write_text(draw(points))
    return 0 if all(figure.holds for figure in figures(points)) else 1


def measure(sizes: Sizes) -> tuple[list[Point], str]:
    """Return a point for each step, and what the largest view has counted."""
    with (
        tempfile.TemporaryDirectory(prefix="antumbra-bench-") as folder,
        child_server(Path(folder), options=NO_SPARK) as child,
        psycopg.connect(child.dsn, autocommit=True) as client,
    ):
        client.execute(CREATE_STREAM)
        for count in VIEWS:
            client.execute(
                f"CREATE VIEW v{count} AS SELECT k, {', '.join(AGGREGATES[:count])} FROM numbers GROUP BY k".encode()
            )
        block = numbers_text(sizes)
        lines = block.splitlines(keepends=True)
        points, done = [], 0
        for step in (*(step for step in sizes.drawn if step < sizes.tuples_count), sizes.tuples_count):
            while done < step:
                start = done % len(lines)
                part = lines[start : start + step - done]
                copy_in(client, b"".join(part), "COPY numbers FROM STDIN")
                done += len(part)
            points.append(look(client, done))
        row = client.execute("SELECT count(*), sum(a) FROM v6").fetchone()
        return points, " ".join(map(str, row or ()))


def numbers_text(sizes: Sizes) -> bytes:
    """Return seeded rows as COPY text, which repeat; the first ones have all keys."""
    chance = random.Random(SEED)
    rows = min(sizes.block_rows, sizes.tuples_count)
    numbers = ["\t".join(str(chance.randrange(1, sizes.keys_count + 1)) for _ in range(7)) for _ in range(rows)]
    return "".join(f"{row}\n" for row in numbers).encode()


def look(client: Client, tuples_count: int) -> Point:
    """Bring all views up to date, and return their sizes."""
    for count in VIEWS:
        client.execute(f"SELECT count(*) FROM v{count}".encode())
    found = {
        int(str(name)[1:]): (int(str(size)), int(str(groups)))
        for name, size, groups in client.execute(SIZES).fetchall()
    }
    return Point(
        tuples_count,
        {key: size for key, (size, _) in found.items()},
        {key: groups for key, (_, groups) in found.items()},
    )


def figures(points: Sequence[Point]) -> list[Figure]:
    """Return how much each view's memory has changed since its last new group, in percent."""
    found = []
    last = points[-1]
    for count in VIEWS:
        full = next(point for point in points if point.groups[count] == last.groups[count])
        before, after = full.state_bytes[count], last.state_bytes[count]
        change = abs(after - before) / before * 100
        name = f"memory of {count} aggregate{'' if count == 1 else 's'}, {last.groups[count]:,} groups, {last.tuples_count:,} tuples"
        found.append(Figure(name, f"{before / 1024:,.0f} kB / {after / 1024:,.0f} kB", change, "% change", 5, False))
    return found


def draw(points: Sequence[Point]) -> str:
    """Return the drawing."""
    series = {
        f"{count} aggregates": [(float(point.tuples_count), point.state_bytes[count] / 1024) for point in points]
        for count in VIEWS
    }
    ticks = {
        float(point.tuples_count): f"{point.tuples_count:,}"
        for point in (points[0], points[len(points) // 2], points[-1])
    }
    return chart("Memory of views over tuples", "tuples", "kB", series, ticks)


if __name__ == "__main__":
    sys.exit(main())
