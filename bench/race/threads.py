"""The contest of threads: TPC-H's first pipelines with two threads beside one, and COPY over two
connections beside one.

Each thread folds its morsels into a table of its own, several times in a run. Values are rows per
second.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from bench import wire_clients as clients
from bench.race import numbers, tpch
from bench.race.first_pipeline import fold, morsels_of, open_tpch, opened, program_of
from bench.race.measuring import Arena, Measure
from bench.race.servers import ANTUMBRA, antumbra
from bench.race.wire import COPIED_ROWS, NUMBERS_STREAM, NUMBERS_VIEW
from ringbuffer.memory.columns import Morsel
from tests.tpch.workload import queries, without_order
from views.upkeep.program import StreamProgram

ONE = f"{ANTUMBRA}, one thread"
FOLDS = 10
COUNTS = {ANTUMBRA: 2, ONE: 1}


def wall_rate(program: StreamProgram, morsels: Sequence[Morsel], threads_count: int) -> float:
    """Return the rows per second of threads that share the morsels."""
    with ThreadPoolExecutor(threads_count) as threads:
        began_s = time.perf_counter()
        shares = [morsels[number::threads_count] for number in range(threads_count)]
        list(threads.map(lambda share: [fold(program, share) for _ in range(FOLDS)], shares))
        return FOLDS * sum(morsel.rows_count for morsel in morsels) / (time.perf_counter() - began_s)


def pipelines(arena: Arena) -> None:
    """First pipelines."""
    with opened(arena, tpch.DATA) as world:
        client = world.client()
        open_tpch(arena, world, client)
        morsels = morsels_of(world, tpch.STREAM)
        for name in tpch.QUERIES:
            with program_of(world, client, without_order(queries()[name])) as program:
                measures: dict[str, Measure] = {
                    whose: partial(wall_rate, program, morsels, count) for whose, count in COUNTS.items()
                }
                arena.race(f"first pipeline of {name} with two threads", "rows/s", measures)


def copy(arena: Arena) -> None:
    """COPY over connections."""
    rows_count = arena.sizes.rows(COPIED_ROWS)
    messages = numbers.copy_messages(numbers.delimited(numbers.numbers(rows_count), "\t"))
    with antumbra(arena.folder, (NUMBERS_STREAM, NUMBERS_VIEW)) as ours:
        measures: dict[str, Measure] = {
            whose: partial(clients.copied, ours.place("points"), "text", messages, rows_count, count)
            for whose, count in COUNTS.items()
        }
        arena.race("COPY text over two connections", "rows/s", measures)


PARTS: Mapping[str, Callable[[Arena], None]] = {"pipelines": pipelines, "copy": copy}
