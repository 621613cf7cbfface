"""Streams in FROM: the rows of a stream that a statement sees, as Arrow tables that its query
reads.

Enters: streams, the statement's queries, and how the session wants streams scanned. Leaves: the
rows of each stream, scanned once however often the statement names it, in order of tids, or the
groups into which the rows were folded. A scan has the semantics of a session window: it ends when
no row has come for `stream_timeout`, or with 0 at the end that the stream had when the scan began.
A scan is in no transaction's snapshot. Must not know sessions or the protocol.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from engine.catalog.image import CatalogImage, StreamEntry
from engine.scans.kernels import GroupingTable, StreamKernels, new_tables
from engine.scans.stream_joins import StreamJoins
from engine.streams.stream import Stream
from ringbuffer.memory.arrow import morsel_to_arrow
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.row_block import MORSEL_ROWS_MAX
from ringbuffer.ring.ring import OverwrittenError
from ringbuffer.ring.scan import RingScan
from sql.errors import SqlError
from sql.tree.needed_columns import needed_columns
from sql.tree.relations import OutputColumn, Relation, Schema
from views.model.arrow_schema import arrow_schema, arrow_type, stored_layout
from views.plan.stream_grouping import StreamGrouping, cut_groupings

# How long a scan that waits for more sleeps before it looks again: a part of its timeout, but no
# longer than this.
LOOK_AGAIN_S = 0.005
# Pieces with fewer rows than this on average become one.
PIECE_ROWS_MIN = 1024
NO_VALUES = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """How a statement scans streams.

    Attributes:
        from_newest: begin after the newest row.
        bytes_max: of all that the statement collects.
        now_us: now() of the statement.
        spark_groups_min: from how many groups on Spark runs what lies above them, -1: never.
        kernel_bytes_min: from how many bytes of rows in a ring on groupings are folded and not
            collected.
    """

    from_newest: bool
    timeout_s: float
    bytes_max: int
    now_us: int
    spark_groups_min: int = -1
    kernel_bytes_min: int = 0


@dataclass
class StreamScan:
    """The scan of one stream for a statement.

    Attributes:
        columns: those that are copied.
        collects: true if the statement reads the rows themselves.
        end: the tid at which the scan ends, None while more rows may come.
        tables: into which the rows are folded.
        looked_s: when rows last came.
    """

    stream: Stream
    columns: tuple[int, ...]
    collects: bool
    scan: RingScan
    end: int | None
    timeout_s: float
    tables: list[GroupingTable] = field(default_factory=list)
    looked_s: float = 0.0
    pieces: list[pa.Table] = field(default_factory=list)
    pieces_bytes: int = 0
    is_over: bool = False

    @property
    def bytes_count(self) -> int:
        """Bytes of rows and groups so far."""
        return self.pieces_bytes + sum(folding.table.bytes_count for folding in self.tables)

    def take(self) -> Morsel | None:
        """Return the next rows, None when there are none now.

        Raises SqlError 54000 when the rows were overwritten, or are in another ring.
        """
        ring = self.stream.ring
        is_retired = ring.is_retired
        try:
            rows = self.scan.take(ring.tuples_count if self.end is None else self.end)
        except OverwrittenError:
            self.stream.activity.note_abort()
            raise overwritten(self.stream, self.scan.position) from None
        if rows is None and self.end is None and is_retired:
            self.stream.activity.note_abort()
            raise altered(self.stream)
        return rows


def streams_among(relations: frozenset[str], image: CatalogImage) -> list[Stream]:
    """Return the streams among `relations`."""
    entries = (image.entries.get(name) for name in sorted(relations))
    return [entry.stream for entry in entries if isinstance(entry, StreamEntry)]


def scan_streams(
    streams: Sequence[Stream],
    roots: Sequence[Relation],
    settings: ScanSettings,
    kernels: StreamKernels,
    run_on_tables: Callable[[Relation], pa.Table],
    check_cancelled: Callable[[], None],
) -> tuple[list[Relation], dict[str, pa.Table]]:
    """Return the queries of a statement, and the rows or groups that they read of the streams.

    Waits.

    run_on_tables: answers the queries with which a stream is joined below a grouping. Raises
    SqlError: 54000 for a scan that writers have overtaken, 53200 for more than settings.bytes_max,
    the errors of rows in groupings, and what check_cancelled and run_on_tables raise.
    """
    # Where scans begin is settled now, however long join tables and kernels take.
    newest = {stream.name: stream.ring.tuples_count for stream in streams}
    folded = frozenset(stream.name for stream in streams if is_folded(stream, settings))
    joins = StreamJoins(run_on_tables, settings.bytes_max)
    rest, groupings = cut_groupings(roots, folded, joins.take) if folded else (list(roots), [])
    scans = begin(streams, rest, groupings, settings)
    for scan in scans:
        if settings.from_newest:
            scan.scan.position = newest[scan.stream.name]
    tables = new_tables(groupings, joins.tables, kernels, check_cancelled)
    for scan in scans:
        scan.tables = [table for table in tables if table.stream_name == scan.stream.name]
        scan.looked_s = time.monotonic()
    with ExitStack() as running:
        for scan in scans:
            running.enter_context(scan.stream.activity.scan())
        run_to_end(scans, settings, joins.bytes_count, check_cancelled)
    inputs = {scan.stream.name: joined(scan) for scan in scans if scan.collects}
    return rest, inputs | {table.grouping.name: table.rows(settings.now_us) for table in tables}


def run_to_end(
    scans: Sequence[StreamScan], settings: ScanSettings, joins_bytes: int, check_cancelled: Callable[[], None]
) -> None:
    """Take the rows of all scans until no row comes any more.

    joins_bytes: memory that the join tables have taken already.
    """
    while waiting := [scan for scan in scans if not scan.is_over]:
        check_cancelled()
        has_come = False
        for scan in waiting:
            morsel = scan.take()
            now_s = time.monotonic()
            if morsel is not None:
                has_come, scan.looked_s = True, now_s
                add(morsel, scan, settings.now_us)
                bytes_count = joins_bytes + sum(scan.bytes_count for scan in scans)
                if bytes_count > settings.bytes_max:
                    raise too_much(scan.stream, bytes_count, settings.bytes_max)
            elif now_s - scan.looked_s >= scan.timeout_s:
                scan.is_over = True
        if not has_come:
            time.sleep(min(LOOK_AGAIN_S, *(scan.timeout_s / 4 for scan in waiting)))


def timeout_of(stream: Stream, settings: ScanSettings) -> float:
    """Return how many seconds a scan waits for rows: the stream's option, else the session's
    setting.
    """
    return settings.timeout_s if stream.timeout_ms is None else stream.timeout_ms / 1000


def is_folded(stream: Stream, settings: ScanSettings) -> bool:
    """Tell whether groupings over a stream run in kernels.

    A kernel may take a second to compile, which a few rows are not worth.
    """
    bytes_count = stream.ring.kept_count * stream.row_bytes
    return timeout_of(stream, settings) > 0 or bytes_count >= min(settings.kernel_bytes_min, settings.bytes_max)


def begin(
    streams: Sequence[Stream], roots: Sequence[Relation], groupings: Sequence[StreamGrouping], settings: ScanSettings
) -> list[StreamScan]:
    """Return the scans of all streams at their beginning."""
    collected = [needed_columns(root) for root in roots]
    grouped = [needed_columns(grouping.relation) for grouping in groupings]
    scans = []
    for stream in streams:
        name, ring = stream.name, stream.ring
        columns = sorted(frozenset[int]().union(*(needed.get(name, ()) for needed in (*collected, *grouped))))
        collects = any(name in needed for needed in collected)
        timeout_s = timeout_of(stream, settings)
        scan = RingScan(ring, stream.places_of(columns), settings.from_newest)
        # After its beginning, which writers may not have passed.
        end = ring.tuples_count if timeout_s == 0 else None
        scans.append(StreamScan(stream, tuple(columns), collects, scan, end, timeout_s))
    return scans


def add(morsel: Morsel, scan: StreamScan, now_us: int) -> None:
    """Take rows of a scan. Raises SqlError for a row that a grouping can't evaluate."""
    if scan.collects:
        rows = as_table(morsel, scan)
        scan.pieces.append(rows)
        scan.pieces_bytes += sum(rows.column(index).nbytes for index in scan.columns)
    if scan.tables:
        whole = as_whole(morsel, scan)
        for table in scan.tables:
            table.fold(whole, now_us)


def as_whole(morsel: Morsel, scan: StreamScan) -> Morsel:
    """Return a scan's rows with all columns of the stream, as kernels take them.

    Unneeded ones are empty.
    """
    data: list[npt.NDArray[np.generic]] = [NO_VALUES] * len(scan.stream.row)
    nulls: list[npt.NDArray[np.uint8]] = [NO_VALUES] * len(scan.stream.row)
    for place, index in enumerate(scan.columns):
        data[index], nulls[index] = morsel.data[place], morsel.nulls[place]
    return Morsel(morsel.rows_count, tuple(data), tuple(nulls), morsel.heap)


def as_table(morsel: Morsel, scan: StreamScan) -> pa.Table:
    """Return a scan's rows with all columns of the stream; unneeded ones share one column of
    NULLs.
    """
    whole = stream_schema(scan.stream)
    columns: list[pa.Array | pa.ChunkedArray] = [absent(column).slice(0, morsel.rows_count) for column in whole]
    if scan.columns:
        found = morsel_to_arrow(morsel, stored_layout([whole[index] for index in scan.columns]))
        for index, values in zip(scan.columns, found.columns, strict=True):
            columns[index] = values
    return pa.Table.from_arrays(columns, schema=arrow_schema(whole))


_absent: dict[pa.DataType, pa.Array] = {}


def absent(column: OutputColumn) -> pa.Array:
    """Return nulls for a column of a whole morsel; all scans share them."""
    kind = arrow_type(column.type)
    if kind not in _absent:
        _absent[kind] = pa.nulls(MORSEL_ROWS_MAX, kind)
    return _absent[kind]


def joined(scan: StreamScan) -> pa.Table:
    """Return all rows of a scan that is over."""
    if not scan.pieces:
        return arrow_schema(stream_schema(scan.stream)).empty_table()
    table = pa.concat_tables(scan.pieces)
    return table.combine_chunks() if table.num_rows < PIECE_ROWS_MIN * len(scan.pieces) else table


def stream_schema(stream: Stream) -> Schema:
    """Return a stream's columns as a query scans them."""
    return tuple(OutputColumn(column.name, column.type) for column in stream.row)


def overwritten(stream: Stream, position: int) -> SqlError:
    """Return the error of a scan that writers have overtaken."""
    first, end = stream.ring.kept
    return SqlError(
        "54000",
        f'stream "{stream.name}" was overwritten while it was scanned',
        detail=f"The scan was at tuple {position:,}; the oldest that is left is {first:,}, the newest {end - 1:,}.",
        hint=f"Raise the stream's capacity, which is {stream.ring.capacity:,} tuples, or make a continuous view of the query.",
    )


def altered(stream: Stream) -> SqlError:
    """Return the error of a scan that waits for rows where none come any more."""
    message = f'stream "{stream.name}" was altered while it was scanned'
    return SqlError("54000", message, hint="Start the query again: the stream's new rows are in another ring.")


def too_much(stream: Stream, bytes_count: int, bytes_max: int) -> SqlError:
    """Return the error of a statement that would collect more than it may."""
    return SqlError(
        "53200",
        f'what the query keeps of stream "{stream.name}" takes more memory than it may have',
        detail=f"Its rows and groups, and what it is joined with, take {bytes_count:,} bytes; query_memory_max allows {bytes_max:,}.",
        hint="Name fewer columns, raise query_memory_max, or make a continuous view of the query.",
    )
