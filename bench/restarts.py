"""How fast is a start? What the log has after a SIGKILL beside the ingest of the same rows, and a
checkpoint of many groups.

Enters: an empty folder and how much to write. Leaves: figures, and the rows that the views have
counted. A start is timed from the process to its ready line; the start of a server with the same
definitions and no rows is subtracted.
"""

from __future__ import annotations

import os
import signal
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import psycopg

from bench.clients import Client, Inserting, copy_in
from bench.figures import Figure, compared
from bench.workload import (
    COPY_VISITS,
    CREATE_GROUPED_VIEW,
    CREATE_STREAM,
    CREATE_VISITORS_VIEW,
    CREATE_VISITS,
    INSERT_SCRIPT,
    NO_SPARK,
    copy_text,
    visits_text,
)
from engine.demo.child import Child, child_server

# No checkpoint but at the end of a server that may end in order, so that a start after SIGKILL
# replays all.
NO_CHECKPOINTS = (*NO_SPARK, "--set", "checkpoint_interval_s=0", "--set", "checkpoint_log_bytes=1024GB")
COPY_ROWS_MAX = 500_000
# Time that two starts may differ in anyhow.
NOISE_S = 0.001

# Writes rows and returns the seconds that it took, and how many.
Ingest = Callable[[Child, Client], tuple[float, int]]


def measure_replay(folder: Path, rows_count: int, seconds: int, runs_count: int) -> tuple[list[Figure], int]:
    """Rows per second of a start after SIGKILL, beside the rows per second with which they came."""
    script = folder / "insert.sql"
    script.write_text(INSERT_SCRIPT)
    copied, copied_count = compare_replay("COPY", folder / "copied", partial(copy_all, rows_count), runs_count)
    inserted, inserted_count = compare_replay(
        "single-row INSERTs", folder / "inserted", partial(insert_all, script, seconds), runs_count
    )
    return [copied, inserted], copied_count + inserted_count


def compare_replay(what: str, data: Path, ingest: Ingest, runs_count: int) -> tuple[Figure, int]:
    """Let `ingest` write, kill the server, and start it again."""
    create(data, CREATE_STREAM, CREATE_GROUPED_VIEW)
    total_count = 0
    empty_s: list[float] = []
    runs: list[tuple[int, float, float]] = []
    for _ in range(runs_count):
        with started(data) as (child, start_s), psycopg.connect(child.dsn, autocommit=True) as client:
            empty_s.append(start_s)
            ingest_s, rows_count = ingest(child, client)
            # What has been written before this one is durable, too.
            copy_in(client, copy_text(1))
            os.kill(child.process_id, signal.SIGKILL)
        total_count += rows_count + 1
        with started(data) as (child, start_s), psycopg.connect(child.dsn, autocommit=True) as client:
            runs.append((rows_count, ingest_s, start_s))
            check_rows(client, "per_key", total_count)
    baseline_s = statistics.median(empty_s)
    ingested = [rows_count / ingest_s for rows_count, ingest_s, _ in runs]
    replayed = [rows_count / max(start_s - baseline_s, NOISE_S) for rows_count, _, start_s in runs]
    return compared(f"replay of {what}, rows/s", replayed, ingested, 1.0, "the ingest"), total_count


def copy_all(rows_count: int, _: Child, client: Client) -> tuple[float, int]:
    """Write rows by COPY, some 500,000 at a time."""
    text = copy_text(min(rows_count, COPY_ROWS_MAX))
    times = -(-rows_count // COPY_ROWS_MAX)
    return sum(copy_in(client, text) for _ in range(times)), times * min(rows_count, COPY_ROWS_MAX)


def insert_all(script: Path, seconds: int, child: Child, _: Client) -> tuple[float, int]:
    """Write rows by single INSERTs over 8 connections that do not wait for the disk, which is as
    fast as they can come.
    """
    load = Inserting(child.port, "antumbra", script, "prepared", 8, "-c synchronous_commit=off")
    rate, rows_count = load.run(seconds)
    return rows_count / rate, rows_count


def measure_load(folder: Path, groups_count: int, runs_count: int) -> tuple[list[Figure], int]:
    """Seconds in which a start loads a checkpoint of one view with many groups."""
    empty, data = folder / "empty", folder / "data"
    for one in (empty, data):
        create(one, CREATE_VISITS, CREATE_VISITORS_VIEW)
    with started(data) as (child, _), psycopg.connect(child.dsn, autocommit=True) as client:
        for text in visits_text(groups_count):
            copy_in(client, text, COPY_VISITS)
        client.execute("CHECKPOINT")
        os.kill(child.process_id, signal.SIGKILL)
    empty_s, loaded_s = [], []
    for _ in range(runs_count):
        with started(empty) as (_, start_s):
            empty_s.append(start_s)
        with started(data) as (child, start_s):
            loaded_s.append(start_s)
            os.kill(child.process_id, signal.SIGKILL)
    with started(data) as (child, _), psycopg.connect(child.dsn, autocommit=True) as client:
        check_rows(client, "per_visitor", groups_count)
    seconds = statistics.median(loaded_s) - statistics.median(empty_s)
    detail = f"{statistics.median(loaded_s):.1f} s - {statistics.median(empty_s):.1f} s"
    return [Figure(f"load of a checkpoint of {groups_count:,} groups", detail, seconds, "s", 10.0, False)], groups_count


def create(data: Path, *statements: str) -> None:
    """Make a server's folder with streams and views, their kernels compiled."""
    with started(data) as (child, _), psycopg.connect(child.dsn, autocommit=True) as client:
        for statement in statements:
            client.execute(statement.encode())


@contextmanager
def started(data: Path) -> Iterator[tuple[Child, float]]:
    """Run a server; also gives the seconds until it was ready."""
    began_s = time.perf_counter()
    with child_server(data, options=NO_CHECKPOINTS) as child:
        yield child, time.perf_counter() - began_s


def check_rows(client: Client, view: str, rows_count: int) -> None:
    """Fail if the groups of a view, or of a subquery, have not counted exactly the acknowledged
    rows.
    """
    row = client.execute(f"SELECT sum(events) FROM {view} AS groups".encode()).fetchone()
    assert row is not None and row[0] == rows_count, f"{row} instead of {rows_count} rows"
