"""How far from memory's own speed are the ring's appends and scans? Both beside memcpy of the same
bytes, in the same run.

Append: decoded morsels into a ring, round after round. Scan: all rows of a full ring, some of its
columns. memcpy: numpy's copy between two arrays, of as many bytes at once as a morsel has, null
bytes included, over as much memory as the ring has of them. Each figure is the median of the ratios
of neighbours in time. The growth of the cost per row with capacity, columns and the length of
strings is drawn. Prints a table with the threshold of each figure and a checksum; `--write` puts it
into bench/README.md, and the drawings beside it.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.charts import chart
from bench.figures import README, Figure, interleaved, report, told, write_report
from ringbuffer.decode.copy_formats import TextDecoder
from ringbuffer.memory.columns import ColumnLayout, Layout, Morsel, PhysicalType
from ringbuffer.memory.row_block import MORSEL_ROWS_MAX
from ringbuffer.ring.ring import Ring
from ringbuffer.ring.scan import RingScan

SEED = 20_261_122
# Ten columns of fixed size, and the two of them that a scan needs.
FIXED = "INT64 INT32 FLOAT64 NUMERIC TIMESTAMP DATE INT64 BOOL INT16 FLOAT64".split()
SCANNED = (0, 2)
NARROW = "INT64 FLOAT64 INT32 TIMESTAMP".split()

Bytes = npt.NDArray[np.uint8]
# Seconds of the appends, of a memcpy of their bytes, of the scans, of a memcpy of theirs.
Round = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; the tests use tiny ones.

    runs_count: of the table, each short, so that few of them are disturbed; drawn_runs_count: of
    each point of the drawings. morsel_rows_count: rows of a decoded morsel, as many as a block of
    COPY has; measured_rows_count: rows that each run moves at least; capacities, columns_counts,
    string_lengths: the points of the drawings.
    """

    runs_count: int = 101
    drawn_runs_count: int = 9
    capacity: int = 2**18
    morsel_rows_count: int = 16_384
    measured_rows_count: int = 2**18
    capacities: tuple[int, ...] = tuple(2**power for power in range(10, 25, 2))
    columns_counts: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    string_lengths: tuple[int, ...] = (0, 12, 13, 50, 100, 200, 400, 600, 800, 1000)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return 1 if a threshold is missed."""
    sizes = Sizes()
    parser = argparse.ArgumentParser(prog="bench.ring", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=sizes.runs_count, help=f"runs (default {sizes.runs_count})")
    parser.add_argument("--write", action="store_true", help="put table and drawings into bench/")
    options = parser.parse_args(arguments)
    sizes = replace(sizes, runs_count=options.runs)
    figures, checksum = measure(sizes)
    text = report(figures, checksum, sizes.runs_count)
    print(text)
    charts = draw(sizes)
    if options.write:
        write_report(text, "ring")
        for name, drawing in charts.items():
            README.with_name(name).write_text(drawing)
    return 0 if all(figure.holds for figure in figures) else 1


def measure(sizes: Sizes) -> tuple[list[Figure], str]:
    """Return append and scan beside memcpy, and the sum of the numbers that the last scan has
    read.
    """
    bench = Bench(fixed_layout(FIXED), sizes.capacity, sizes, SCANNED)
    rounds = bench.rounds()
    return told(
        compared(f"append, {len(FIXED)} columns of fixed size", bench.append_bytes, rounds, 0),
        compared(f"scan of {len(SCANNED)} of {len(FIXED)} columns", bench.scan_bytes, rounds, 2),
    ), bench.checksum()


def compared(name: str, bytes_count: int, rounds: Sequence[Round], place: int) -> Figure:
    """Return the figure of what is at `place` of a round, beside the memcpy after it."""
    ours, theirs = (statistics.median(seconds[place + at] for seconds in rounds) for at in (0, 1))
    ratio = statistics.median(seconds[place + 1] / seconds[place] for seconds in rounds)
    detail = f"{bytes_count / ours / 1e9:.1f} / {bytes_count / theirs / 1e9:.1f} GB/s"
    return Figure(name, detail, ratio, "of memcpy", 0.5, True)


def draw(sizes: Sizes) -> dict[str, str]:
    """Return the drawings by file name: nanoseconds per row over capacity, over columns and over
    the length of a string.
    """
    sizes = replace(sizes, runs_count=sizes.drawn_runs_count)
    narrow = fixed_layout(NARROW)
    over_capacity = growth(sizes, {capacity: (narrow, capacity, 0) for capacity in sizes.capacities})
    over_columns = growth(
        sizes, {count: (fixed_layout(["INT64"] * count), sizes.capacity, 0) for count in sizes.columns_counts}
    )
    text = (ColumnLayout("text", PhysicalType.TEXT),)
    capacity = sizes.capacity // 4
    over_length = growth(sizes, {length: (text, capacity, length) for length in sizes.string_lengths})
    powers = {float(capacity): f"2^{capacity.bit_length() - 1}" for capacity in sizes.capacities}
    counts = {float(count): str(count) for count in sizes.columns_counts}
    lengths = {float(length): str(length) for length in sizes.string_lengths if length % 200 == 0}
    y_name = "ns per row"
    return {
        "ring_capacity.svg": chart(
            "Cost and capacity", f"capacity, rows of {len(NARROW)} columns", y_name, over_capacity, powers
        ),
        "ring_columns.svg": chart("Cost and columns", "bigint columns", y_name, over_columns, counts),
        "ring_strings.svg": chart("Cost and strings", "bytes of a text", y_name, over_length, lengths),
    }


def growth(sizes: Sizes, points: dict[int, tuple[Layout, int, int]]) -> dict[str, list[tuple[float, float]]]:
    """Return nanoseconds per row at each point. points: layout, capacity and length of strings by
    x.
    """
    series: dict[str, list[tuple[float, float]]] = {"append": [], "scan": [], "memcpy": []}
    for x, (layout, capacity, length) in points.items():
        print(f"{len(layout)} columns, capacity {capacity}, strings of {length} bytes ...", file=sys.stderr, flush=True)
        bench = Bench(layout, capacity, sizes, range(len(layout)), length)
        rounds = bench.rounds()
        for name, place in (("append", 0), ("scan", 2), ("memcpy", 1)):
            # The fastest run is the one that nothing else on the machine has held up.
            seconds = min(found[place] for found in rounds)
            series[name].append((x, seconds / bench.rows_count * 1e9))
    return series


class Bench:
    """One ring that is filled by morsels of its layout, and copies of as many bytes. columns: those
    that are scanned.

    rows_count: rows that each run moves; append_bytes, scan_bytes: the bytes of their values, null
    bytes and long strings.
    """

    def __init__(
        self, layout: Layout, capacity: int, sizes: Sizes, columns: Sequence[int], string_length: int = 0
    ) -> None:
        self._ring = Ring(layout, capacity)
        self._columns = columns
        self._runs_count = sizes.runs_count
        self._morsel = decoded(layout, min(sizes.morsel_rows_count, capacity), string_length)
        self._appends_count = max(capacity, sizes.measured_rows_count) // self._morsel.rows_count
        self._scans_count = self._appends_count * self._morsel.rows_count // capacity
        self.rows_count = self._scans_count * capacity
        morsel_bytes = sum(self._morsel.data[index].nbytes + self._morsel.nulls[index].nbytes for index in columns)
        if len(columns) == len(layout):
            morsel_bytes = self._morsel.bytes_count
        self.append_bytes = self._morsel.bytes_count * self._appends_count
        self.scan_bytes = morsel_bytes * self._appends_count
        # A ring of bytes for the copies, which come from one morsel, and go to one that a scan
        # would take.
        ring_bytes = self._morsel.bytes_count * (capacity // self._morsel.rows_count)
        self._memory: Bytes = np.ones(ring_bytes, dtype=np.uint8)
        self._source: Bytes = np.ones(self._morsel.bytes_count, dtype=np.uint8)
        taken_count = max(1, min(MORSEL_ROWS_MAX, capacity) // self._morsel.rows_count)
        self._target: Bytes = np.ones(morsel_bytes * taken_count, dtype=np.uint8)

    def rounds(self) -> list[Round]:
        """Return the seconds of each run, after one that is not counted."""
        measures = [partial(timed, run) for run in (self._append, self._copy_in, self._scan, self._copy_out)]
        append, copy_in, scan, copy_out = interleaved(self._runs_count + 1, *measures)
        return list(zip(append, copy_in, scan, copy_out, strict=True))[1:]

    def checksum(self) -> str:
        """Return the rows of a scan and the sum of its first column, which must be that of what was
        appended last.
        """
        morsels = list(self._morsels())
        found = (sum(morsel.rows_count for morsel in morsels), sum(sum_of(morsel.data[0]) for morsel in morsels))
        times = self._ring.capacity // self._morsel.rows_count
        expected = (self._ring.capacity, sum_of(self._morsel.data[self._columns[0]]) * times)
        assert found == expected, f"{found} instead of {expected}"
        return f"{found[0]} {found[1]}"

    def _append(self) -> None:
        for _ in range(self._appends_count):
            self._ring.append(self._morsel)

    def _scan(self) -> None:
        for _ in range(self._scans_count):
            for _ in self._morsels():
                pass

    def _morsels(self) -> Iterator[Morsel]:
        scan = RingScan(self._ring, self._columns)
        while (morsel := scan.take(self._ring.tuples_count)) is not None:
            yield morsel

    def _copy_in(self) -> None:
        size = len(self._source)
        for place in islice(cycle(range(0, len(self._memory), size)), self._appends_count):
            np.copyto(self._memory[place : place + size], self._source)

    def _copy_out(self) -> None:
        size = len(self._target)
        for place in islice(cycle(range(0, len(self._memory) - size + 1, size)), self.scan_bytes // size):
            np.copyto(self._target, self._memory[place : place + size])


def timed(run: Callable[[], None]) -> float:
    """Return the seconds of a run."""
    start_s = time.perf_counter()
    run()
    return time.perf_counter() - start_s


def sum_of(values: npt.NDArray[Any]) -> int:
    """Return the sum of a column of integers."""
    return int(values.sum())


def fixed_layout(kinds: Sequence[str]) -> Layout:
    """Return columns of these physical types."""
    return tuple(
        ColumnLayout(f"c{index}", PhysicalType(kind), precision=18 if kind == "NUMERIC" else 0)
        for index, kind in enumerate(kinds)
    )


def decoded(layout: Layout, rows_count: int, string_length: int) -> Morsel:
    """Return seeded rows as COPY's decoder gives them; strings are of `string_length` bytes."""
    chance = random.Random(SEED)
    decoder = TextDecoder(layout)
    lines = ("\t".join(value(column, chance, string_length) for column in layout) for _ in range(rows_count))
    text = "".join(f"{line}\n" for line in lines).encode()
    # The decoder has learned how long a row is when the same rows come again.
    decoder.feed(text)
    (morsel,) = decoder.feed(text)
    assert morsel.rows_count == rows_count
    return morsel


def value(column: ColumnLayout, chance: random.Random, string_length: int) -> str:
    """Return a value as COPY text."""
    if column.physical == PhysicalType.TEXT:
        return "x" * string_length
    if column.physical in (PhysicalType.DATE, PhysicalType.TIMESTAMP):
        return f"2026-05-{chance.randint(1, 28):02}"
    return str(chance.randint(0, 1) if column.physical == PhysicalType.BOOL else chance.randint(0, 30_000))


if __name__ == "__main__":
    sys.exit(main())
