"""The command `antumbra demo`: a server of its own, tables, a year of flights in a stream, and
three continuous views shown while they change.

A thread feeds one long COPY at the wanted rate; this one reads the views like any client and draws
them. At the end the views are compared with the same SQL over the whole file. Talks to the server
through psycopg only.
"""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import psycopg
from psycopg.sql import SQL
from tqdm import tqdm

from engine.demo.child import Child, ChildError, child_server
from engine.demo.flights import (
    COPY_FLIGHTS,
    CREATE_STREAM,
    TABLES,
    VIEWS,
    DataMissingError,
    comparable,
    load_lines,
    recompute,
    table_data,
)

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130

FEED_S = 0.02
REDRAW_S = 0.5
REPORT_S = 5.0
PIECE_LINES_MAX = 1000
TABLE_ROWS_MAX = 8

CLEAR_SCREEN = "\x1b[2J"
HOME = "\x1b[H"
CLEAR_LINE_END = "\x1b[K"
CLEAR_BELOW = "\x1b[J"

Rows = Sequence[Sequence[object]]


@dataclass(slots=True)
class Progress:
    """The progress of the feeding.

    Attributes:
        sent_count: flights handed to the connection.
    """

    total_count: int
    started_s: float
    sent_count: int = 0

    def bar(self, width: int) -> str:
        """Return the progress bar as one line."""
        elapsed_s = time.monotonic() - self.started_s
        return str(tqdm.format_meter(self.sent_count, self.total_count, elapsed_s, ncols=width, unit=" flights"))


def demo(rate: int, port: int, keep: bool) -> int:
    """Run the demo and return the exit status. rate: flights per second, 0 for no limit.

    Port 0 takes a free one.
    """
    try:
        lines = load_lines()
        print("Starting the server ...", flush=True)
        with (
            tempfile.TemporaryDirectory(prefix="antumbra-demo-") as folder,
            child_server(Path(folder) / "data", port) as server,
        ):
            status = run(server, lines, rate)
            if keep:
                wait_for_interrupt(server)
    except (DataMissingError, ChildError, psycopg.Error) as error:
        print(f"antumbra: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        print("\nStopped.")
        return EXIT_INTERRUPTED
    return status


def run(server: Child, lines: Sequence[bytes], rate: int) -> int:
    """Fill the tables, create stream and views, stream the flights, show the views, and check them
    at the end.
    """
    with psycopg.connect(server.dsn, autocommit=True) as reader:
        fill_tables(reader)
        reader.execute(CREATE_STREAM)
        for view in VIEWS:
            reader.execute(SQL("CREATE VIEW {} AS {}").format(SQL(view.name), SQL(view.query)))
        progress = Progress(len(lines) - 1, time.monotonic())
        stop = Event()
        with ThreadPoolExecutor(1) as feeder:
            feeding = feeder.submit(feed, server.dsn, lines, rate, progress, stop)
            try:
                watch(reader, feeding, progress, server)
            finally:
                stop.set()
            feeding.result()
        seconds = time.monotonic() - progress.started_s
        found = {view.name: read(reader, view.name, view.order) for view in VIEWS}
    print(f"\n{progress.sent_count:,} flights in {seconds:.1f} s.", end=" ")
    return compare(found, lines)


def fill_tables(connection: psycopg.Connection) -> None:
    """Create the durable tables that the views join, each filled by one COPY."""
    for filled in TABLES:
        connection.execute(filled.create.encode())
        with connection.cursor().copy(filled.copy.encode()) as copy:
            copy.write(table_data(filled))


def feed(dsn: str, lines: Sequence[bytes], rate: int, progress: Progress, stop: Event) -> None:
    """Send the lines through one COPY that publishes what it has every 100 ms."""
    with (
        psycopg.connect(dsn, autocommit=True) as connection,
        connection.cursor() as cursor,
        cursor.copy(COPY_FLIGHTS) as copy,
    ):
        copy.write(lines[0])
        while progress.sent_count < progress.total_count and not stop.is_set():
            due = due_count(progress, rate)
            if due == 0:
                stop.wait(FEED_S)
                continue
            start = progress.sent_count + 1
            copy.write(b"".join(lines[start : start + due]))
            progress.sent_count += due


def due_count(progress: Progress, rate: int) -> int:
    """Return how many flights to send now to keep the rate."""
    rest = progress.total_count - progress.sent_count
    if rate > 0:
        wanted = int((time.monotonic() - progress.started_s) * rate) - progress.sent_count
        rest = min(rest, max(wanted, 0))
    return min(rest, PIECE_LINES_MAX)


def watch(reader: psycopg.Connection, feeding: Future[None], progress: Progress, server: Child) -> None:
    """Show the views until the feeding has ended: drawn over and over on a terminal, else a line
    now and then.
    """
    on_terminal = sys.stdout.isatty()
    if on_terminal:
        print(CLEAR_SCREEN, end="")
    reported_s = progress.started_s
    while not feeding.done():
        if on_terminal:
            draw(reader, progress, server)
        elif time.monotonic() - reported_s >= REPORT_S:
            reported_s = time.monotonic()
            print(progress.bar(100), flush=True)
        time.sleep(REDRAW_S)
    if on_terminal:
        draw(reader, progress, server)
    else:
        print("\n".join([*screen(reader), progress.bar(100)]), flush=True)


def draw(reader: psycopg.Connection, progress: Progress, server: Child) -> None:
    """Paint the screen anew, from its top left corner."""
    size = shutil.get_terminal_size()
    lines = screen(reader)[: size.lines - 4]
    lines += [progress.bar(min(size.columns, 100)), f"Look for yourself: {server.psql}"]
    body = "".join(f"{line[: size.columns - 1]}{CLEAR_LINE_END}\n" for line in lines)
    print(HOME + body + CLEAR_BELOW, end="", flush=True)


def screen(reader: psycopg.Connection) -> list[str]:
    """Return the present rows of all views as lines."""
    lines = []
    for view in VIEWS:
        with reader.cursor() as cursor:
            cursor.execute(SQL("SELECT * FROM {} ORDER BY {}").format(SQL(view.name), SQL(view.order)))
            names = [column.name for column in cursor.description or ()]
            rows = cursor.fetchmany(TABLE_ROWS_MAX)
        lines += [view.title, *table(names, rows), ""]
    return lines


def read(reader: psycopg.Connection, name: str, order: str) -> list[tuple[object, ...]]:
    """Return all rows of a view in order."""
    return reader.execute(SQL("SELECT * FROM {} ORDER BY {}").format(SQL(name), SQL(order))).fetchall()


def table(names: Sequence[str], rows: Rows) -> list[str]:
    """Return a small table: numbers to the right, text to the left."""
    shown = [["" if value is None else str(value) for value in row] for row in rows]
    widths = [max(len(text) for text in column) for column in zip(names, *shown, strict=True)]
    to_left = [bool(rows) and isinstance(value, str) for value in (rows[0] if rows else names)]
    return [
        "  "
        + "  ".join(
            text.ljust(width) if left else text.rjust(width)
            for text, width, left in zip(row, widths, to_left, strict=True)
        )
        for row in [list(names), *shown]
    ]


def compare(found: dict[str, list[tuple[object, ...]]], lines: Sequence[bytes]) -> int:
    """Say whether the views equal the same SQL over the whole file."""
    expected = recompute(lines)
    different = [view for view in VIEWS if comparable(found[view.name]) != comparable(expected[view.name])]
    if not different:
        print(
            f"The {len(VIEWS)} views equal the same SQL recomputed over the whole file by SQLite, "
            "which has no part in the server."
        )
        return 0
    for view in different:
        print(f"\n{view.name} DIFFERS from the same SQL over the whole file. The view, then SQLite:")
        print("\n".join(str(row) for row in (*comparable(found[view.name]), "", *comparable(expected[view.name]))))
    return EXIT_FAILED


def wait_for_interrupt(server: Child) -> None:
    """Keep the server running until Ctrl-C."""
    print(f"The server keeps running until Ctrl-C. Connect with: {server.psql}", flush=True)
    signal.pause()
