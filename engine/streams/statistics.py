"""Rows of pg_stat_streams: the contents of each stream's ring, the rate of its rows, and its scans.

Enters: streams. Leaves: an Arrow table with a row for each, made anew for each statement that reads
it. Must not scan a stream.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from engine.streams.stream import Stream
from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.names.relation_keys import name_of
from sql.tree.relations import OutputColumn
from sql.types.datatypes import FLOAT8, INT8, TEXT
from views.model.arrow_schema import arrow_schema

NAME = "pg_stat_streams"
# Below those of users' relations, above those of PostgreSQL's own.
OID = 16_000

COLUMNS = (
    ("relname", TEXT),
    ("capacity", INT8),
    ("bytes", INT8),
    ("tuples", INT8),
    ("tuples_per_second", FLOAT8),
    ("oldest_tid", INT8),
    ("newest_tid", INT8),
    ("rounds", INT8),
    ("scans_running", INT8),
    ("scans_aborted", INT8),
    ("even_string_bytes", INT8),
    ("odd_string_bytes", INT8),
    ("string_capacity", INT8),
)
DESCRIPTION = RelationDescription(
    NAME, "statistics", OID, tuple(ColumnDescription(name, kind) for name, kind in COLUMNS), "pg_catalog"
)


def stream_statistics(streams: Iterable[Stream]) -> pa.Table:
    """Return the rows of pg_stat_streams; oldest_tid and newest_tid are NULL for an empty ring."""
    rows = [_row(stream) for stream in streams]
    schema = arrow_schema(tuple(OutputColumn(name, kind) for name, kind in COLUMNS))
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema)


def _row(stream: Stream) -> tuple[object, ...]:
    ring, activity = stream.ring, stream.activity
    even, odd = ring.string_bytes_counts
    first, end = ring.kept
    is_empty = first == end
    return (
        name_of(stream.name), ring.capacity, ring.bytes_count, end, activity.tuples_per_second(end),
        None if is_empty else first, None if is_empty else end - 1, -(-end // ring.capacity), activity.running, activity.aborted, even, odd,
        ring.string_capacity,
    )  # fmt: skip
