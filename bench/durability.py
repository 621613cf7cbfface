"""The cost of losing nothing that was accepted: rates beside PostgreSQL's and beside our own
without a log; checkpoints; restarts.

PostgreSQL writes a logged table with its defaults, which wait for the disk at each COMMIT as ours
do; one grouped view is attached to our stream. Every figure is the median of interleaved runs.
Prints a table with the threshold of each figure, how many rows were counted, and the machine.
`--write` puts it into bench/README.md; `--only` runs some of the parts, `--scale` makes rows and
seconds fewer.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import psycopg

from bench.clients import Client, Inserting, copy_in
from bench.figures import Figure, compared, interleaved, report, told, write_report
from bench.restarts import check_rows, measure_load, measure_replay
from bench.workload import (
    COLUMNS,
    COPY_VISITS,
    CREATE_GROUPED_VIEW,
    CREATE_STREAM,
    CREATE_VISITORS_VIEW,
    CREATE_VISITS,
    GROUPED_QUERY,
    INSERT_SCRIPT,
    NO_SPARK,
    copy_text,
    visits_text,
)
from engine.demo.child import child_server
from tests.oracle.postgres import PostgresCluster

CREATE_LOGGED_TABLE = f"CREATE TABLE events ({COLUMNS})"
UNLOGGED = "bench.unlogged_server"
CHECKPOINTS_COUNT = 6


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; the tests use tiny ones.

    pgbench_s: of each rate in a run, with each of connections_counts, in turns of a second;
    checkpointed_s: of a run with six checkpoints, or with none, beside a view of
    checkpointed_groups; replayed_rows, replayed_s: what a start replays of COPY and of single-row
    INSERTs; loaded_groups: of the view in the large checkpoint.
    """

    runs_count: int = 5
    copy_rows_count: int = 500_000
    connections_counts: tuple[int, ...] = (1, 8)
    pgbench_s: int = 3
    checkpointed_s: int = 60
    checkpointed_groups_count: int = 1_000_000
    replayed_rows_count: int = 5_000_000
    replayed_s: int = 20
    loaded_groups_count: int = 10_000_000

    def scaled(self, factor: float) -> Sizes:
        """Return sizes with fewer rows and seconds."""
        return replace(
            self,
            copy_rows_count=max(1000, int(self.copy_rows_count * factor)),
            pgbench_s=max(1, round(self.pgbench_s * factor)),
            checkpointed_s=max(CHECKPOINTS_COUNT // 2, round(self.checkpointed_s * factor)),
            checkpointed_groups_count=max(1000, int(self.checkpointed_groups_count * factor)),
            replayed_rows_count=max(1000, int(self.replayed_rows_count * factor)),
            replayed_s=max(1, round(self.replayed_s * factor)),
            loaded_groups_count=max(1000, int(self.loaded_groups_count * factor)),
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return 1 if a threshold is missed."""
    sizes = Sizes()
    parser = argparse.ArgumentParser(prog="bench.durability", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=sizes.runs_count, help=f"runs (default {sizes.runs_count})")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="the parts to run (default all)")
    parser.add_argument("--scale", type=float, default=1.0, help="part of the rows and seconds (default 1)")
    parser.add_argument("--write", action="store_true", help="put the table into bench/README.md")
    options = parser.parse_args(arguments)
    figures, checksum = measure(replace(sizes, runs_count=options.runs).scaled(options.scale), options.only)
    text = report(figures, checksum, options.runs)
    print(text)
    if options.write:
        write_report(text, "durability")
    return 0 if all(figure.holds for figure in figures) else 1


def measure(sizes: Sizes, parts: Sequence[str]) -> tuple[list[Figure], str]:
    """Run the parts in temporary folders.

    Return the figures, and the rows that each part has counted at its end.
    """
    figures: list[Figure] = []
    counts: list[str] = []
    for part in parts:
        print(f"{part} ...", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="antumbra-bench-") as name:
            folder = Path(name)
            # PostgreSQL's own user has to reach its folder, and pgbench the script.
            folder.chmod(0o755)
            found, rows_count = PARTS[part](folder, sizes)
        figures += told(*found)
        counts.append(f"{part} {rows_count}")
    return figures, ", ".join(counts)


# Rates.


class Rates:
    """The same load on three servers: ours, ours without its log, and PostgreSQL.

    Counts the rows that each has acknowledged.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        cluster = PostgresCluster(folder / "postgres", durable=True)
        cluster.start()
        stack.callback(cluster.stop)
        ours = stack.enter_context(child_server(folder / "data", options=NO_SPARK))
        unlogged = stack.enter_context(child_server(folder / "unlogged", module=UNLOGGED, options=NO_SPARK))
        self.ports = {"on": ours.port, "off": ours.port, "unlogged": unlogged.port, "postgres": cluster.port}
        self.clients: dict[str, Client] = {}
        for name, dsn in {"on": ours.dsn, "off": ours.dsn, "unlogged": unlogged.dsn, "postgres": cluster.dsn}.items():
            self.clients[name] = stack.enter_context(psycopg.connect(dsn, autocommit=True))
        for name in ("on", "unlogged"):
            self.clients[name].execute(CREATE_STREAM)
            self.clients[name].execute(CREATE_GROUPED_VIEW)
        self.clients["off"].execute("SET synchronous_commit = off")
        self.clients["postgres"].execute(CREATE_LOGGED_TABLE)
        self.acknowledged = dict.fromkeys(self.clients, 0)

    def copy(self, name: str, text: bytes, rows_count: int) -> float:
        """Return the rows per second of one COPY."""
        seconds = copy_in(self.clients[name], text)
        self.acknowledged[name] += rows_count
        return rows_count / seconds

    def insert(self, name: str, script: Path, mode: str, connections_count: int, seconds: int) -> float:
        """Return pgbench's transactions per second."""
        database = "postgres" if name == "postgres" else "antumbra"
        options = "-c synchronous_commit=off" if name == "off" else ""
        load = Inserting(self.ports[name], database, script, mode, connections_count, options)
        rate, rows_count = load.run(seconds)
        self.acknowledged[name] += rows_count
        return rate

    def compare(self, what: str, unit: str, runs_count: int, rate: Callable[[str], float]) -> list[Figure]:
        """Run all in turns and return the figures: synchronous_commit on beside PostgreSQL, off
        beside no log.
        """
        order = ("on", "postgres", "off", "unlogged")
        on, theirs, off, unlogged = interleaved(runs_count, *(partial(rate, name) for name in order))
        return [
            compared(f"{what}, {unit}", on, theirs, 1.0, "PostgreSQL"),
            compared(f"{what}, synchronous_commit off, {unit}", off, unlogged, 0.8, "no log"),
        ]

    def check(self) -> int:
        """Return the rows that our server has; all servers must have what they have
        acknowledged.
        """
        acknowledged = self.acknowledged
        expected = {"on": acknowledged["on"] + acknowledged["off"]}
        expected |= {name: acknowledged[name] for name in ("unlogged", "postgres")}
        for name, rows_count in expected.items():
            source = f"({GROUPED_QUERY})" if name == "postgres" else "per_key"
            check_rows(self.clients[name], source, rows_count)
        return expected["on"]


def measure_inserts(folder: Path, sizes: Sizes) -> tuple[list[Figure], int]:
    """Single-row INSERTs by pgbench, transactions per second."""
    script = write_script(folder)
    figures: list[Figure] = []
    with ExitStack() as stack:
        rates = Rates(folder, stack)
        for mode in ("simple", "prepared"):
            for count in sizes.connections_counts:
                insert = partial(rates.insert, script=script, mode=mode, connections_count=count, seconds=1)
                name = f"pgbench -M {mode} INSERT, {count} connection{'s' if count > 1 else ''}"
                # Short turns: how long the disk takes for a sync drifts from one second to the
                # next.
                figures += rates.compare(name, "tps", sizes.runs_count * sizes.pgbench_s, insert)
        return figures, rates.check()


def measure_copy(folder: Path, sizes: Sizes) -> tuple[list[Figure], int]:
    """COPY text through psycopg in pieces of 64 KiB, rows per second.

    The first of each server is not counted.
    """
    text = copy_text(sizes.copy_rows_count)
    with ExitStack() as stack:
        rates = Rates(folder, stack)
        copy = partial(rates.copy, text=text, rows_count=sizes.copy_rows_count)
        for name in rates.clients:
            copy(name)
        return rates.compare("COPY text", "rows/s", sizes.runs_count, copy), rates.check()


# Checkpoints.


def measure_checkpoints(folder: Path, sizes: Sizes) -> tuple[list[Figure], int]:
    """INSERTs over 8 connections with six checkpoints forced meanwhile, and with none.

    A view with many groups is in each checkpoint.
    """
    groups_count = sizes.checkpointed_groups_count
    pause_s = sizes.checkpointed_s / CHECKPOINTS_COUNT
    with (
        child_server(folder / "data", options=[*NO_SPARK, "--set", "checkpoint_interval_s=0"]) as child,
        psycopg.connect(child.dsn, autocommit=True) as client,
    ):
        client.execute(CREATE_STREAM)
        client.execute(CREATE_GROUPED_VIEW)
        client.execute(CREATE_VISITS)
        client.execute(CREATE_VISITORS_VIEW)
        for text in visits_text(groups_count):
            copy_in(client, text, COPY_VISITS)
        load = Inserting(child.port, "antumbra", write_script(folder), "simple", 8)
        rows_count = load.run(1)[1]
        counts: list[int] = []
        checkpoints_s: list[float] = []

        def insert() -> float:
            rate, count = load.run(sizes.checkpointed_s)
            counts.append(count)
            return rate

        def insert_with_checkpoints() -> float:
            done = threading.Event()
            thread = threading.Thread(target=force_checkpoints, args=(child.dsn, pause_s, done, checkpoints_s))
            thread.start()
            rate = insert()
            done.set()
            thread.join()
            return rate

        without, checkpointed = interleaved(sizes.runs_count, insert, insert_with_checkpoints)
        rows_count += sum(counts)
        check_rows(client, "per_key", rows_count)
    name = f"INSERT, 8 connections, a checkpoint of {groups_count:,} groups every {pause_s:g} s, tps"
    found = compared(name, checkpointed, without, 0.9, "no checkpoints")
    took = f"{len(checkpoints_s)} checkpoints of {statistics.median(checkpoints_s):.1f} s"
    return [replace(found, detail=f"{found.detail}; {took}")], rows_count


def force_checkpoints(dsn: str, pause_s: float, done: threading.Event, checkpoints_s: list[float]) -> None:
    """Force a checkpoint in the middle of each pause until `done`.

    Note the seconds that each one took.
    """
    with psycopg.connect(dsn, autocommit=True) as client:
        due_s = time.perf_counter() + pause_s / 2
        while not done.wait(max(0.0, due_s - time.perf_counter())):
            began_s = time.perf_counter()
            client.execute("CHECKPOINT")
            checkpoints_s.append(time.perf_counter() - began_s)
            due_s += pause_s


def write_script(folder: Path) -> Path:
    """Return pgbench's script."""
    script = folder / "insert.sql"
    script.write_text(INSERT_SCRIPT)
    return script


def measure_restarts(folder: Path, sizes: Sizes) -> tuple[list[Figure], int]:
    """See bench.restarts."""
    return measure_replay(folder, sizes.replayed_rows_count, sizes.replayed_s, sizes.runs_count)


def measure_loading(folder: Path, sizes: Sizes) -> tuple[list[Figure], int]:
    """See bench.restarts."""
    return measure_load(folder, sizes.loaded_groups_count, sizes.runs_count)


PARTS: dict[str, Callable[[Path, Sizes], tuple[list[Figure], int]]] = {
    "inserts": measure_inserts,
    "copy": measure_copy,
    "checkpoints": measure_checkpoints,
    "replay": measure_restarts,
    "load": measure_loading,
}


if __name__ == "__main__":
    sys.exit(main())
