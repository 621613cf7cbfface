"""Streams in FROM: what a statement that names streams gets to see of them, as Arrow tables that its query reads.

Enters: streams, the columns that the query needs, and how the session wants them scanned. Leaves: one table for each stream, however often
the query scans it, in order of tids. A scan has the semantics of a session window: it ends when nothing has come for `stream_timeout`, or
with 0 at what was there when it began. Nothing of it is in a transaction's snapshot. Must not know sessions or the protocol.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from engine.catalog import CatalogImage, StreamEntry
from engine.stream import Stream
from ringbuffer.columns import Morsel
from ringbuffer.ring import OverwrittenError
from ringbuffer.ring_scan import MORSEL_ROWS_MAX, RingScan
from sql.errors import SqlError
from sql.needed_columns import needed_columns
from sql.relations import OutputColumn, Relation, Schema
from views.arrow_schema import arrow_schema, arrow_type
from views.hand_over import to_arrow

# How long a scan that waits for more sleeps before it looks again: a part of its timeout, but no longer than this.
LOOK_AGAIN_S = 0.005
# Pieces with fewer rows than this on average become one.
PIECE_ROWS_MIN = 1024


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """How a session wants streams scanned. from_newest: begin behind what is there; bytes_max: of all rows that a statement collects."""

    from_newest: bool
    timeout_s: float
    bytes_max: int


@dataclass
class StreamScan:
    """One stream on its way into a statement. end: tid at which it ends, None while more may come; looked_s: when rows last came."""

    stream: Stream
    columns: tuple[int, ...]
    scan: RingScan
    end: int | None
    looked_s: float
    pieces: list[pa.Table] = field(default_factory=list)
    is_over: bool = False

    def take(self) -> Morsel | None:
        """Return the next rows, None when there are none now. Raises SqlError 54000 when they were overwritten."""
        ring = self.stream.ring
        try:
            return self.scan.take(ring.tuples_count if self.end is None else self.end)
        except OverwrittenError:
            raise overwritten(self.stream, self.scan.position) from None


def streams_among(relations: frozenset[str], image: CatalogImage) -> list[Stream]:
    """Return the streams among `relations`."""
    entries = (image.entries.get(name) for name in sorted(relations))
    return [entry.stream for entry in entries if isinstance(entry, StreamEntry)]


def scan_streams(
    streams: Sequence[Stream], roots: Sequence[Relation], settings: ScanSettings, check_cancelled: Callable[[], None]
) -> dict[str, pa.Table]:
    """Return the rows of each stream for a statement of these queries, with nulls in the columns that none of them looks at. Waits.

    Raises SqlError: 54000 for a scan that writers have overtaken, 53200 for more than settings.bytes_max, what check_cancelled raises.
    """
    needed = [needed_columns(root) for root in roots]
    now_s = time.monotonic()
    scans = []
    for stream in streams:
        columns = frozenset[int]().union(*(columns.get(stream.name, ()) for columns in needed))
        scans.append(begin(stream, columns, settings, now_s))
    bytes_count = 0
    while waiting := [scan for scan in scans if not scan.is_over]:
        check_cancelled()
        has_come = False
        for scan in waiting:
            morsel = scan.take()
            now_s = time.monotonic()
            if morsel is not None:
                has_come, scan.looked_s = True, now_s
                bytes_count += morsel.bytes_count
                if bytes_count > settings.bytes_max:
                    raise too_much(scan.stream, bytes_count, settings.bytes_max)
                scan.pieces.append(as_table(morsel, scan))
            elif now_s - scan.looked_s >= settings.timeout_s:
                scan.is_over = True
        if not has_come:
            time.sleep(min(settings.timeout_s / 4, LOOK_AGAIN_S))
    return {scan.stream.name: joined(scan) for scan in scans}


def begin(stream: Stream, needed: frozenset[int], settings: ScanSettings, now_s: float) -> StreamScan:
    """Return a scan at its beginning."""
    columns = tuple(sorted(needed))
    end = stream.ring.tuples_count if settings.timeout_s == 0 else None
    return StreamScan(stream, columns, RingScan(stream.ring, columns, settings.from_newest), end, now_s)


def as_table(morsel: Morsel, scan: StreamScan) -> pa.Table:
    """Return a scan's rows with all columns of the stream. Those that are not needed have one column of nulls in common."""
    whole = stream_schema(scan.stream)
    columns: list[pa.Array | pa.ChunkedArray] = [absent(column).slice(0, morsel.rows_count) for column in whole]
    if scan.columns:
        found = to_arrow(morsel, tuple(whole[index] for index in scan.columns))
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
    """Return a stream's columns as a query sees them."""
    return tuple(OutputColumn(column.name, column.type) for column in stream.columns)


def overwritten(stream: Stream, position: int) -> SqlError:
    """Return the error of a scan that writers have overtaken."""
    ring = stream.ring
    return SqlError(
        "54000",
        f'stream "{stream.name}" was overwritten while it was scanned',
        detail=f"The scan was at tuple {position:,}; the oldest that is left is {ring.oldest_tid:,}, the newest {ring.newest_tid:,}.",
        hint=f"Raise the stream's capacity, which is {ring.capacity:,} tuples, or make a continuous view of the query.",
    )


def too_much(stream: Stream, bytes_count: int, bytes_max: int) -> SqlError:
    """Return the error of a statement that would collect more than it may."""
    return SqlError(
        "53200",
        f'rows of stream "{stream.name}" need more memory than a query may have',
        detail=f"The query has collected {bytes_count:,} bytes; query_memory_max allows {bytes_max:,}.",
        hint="Name fewer columns, raise query_memory_max, or make a continuous view of the query.",
    )
