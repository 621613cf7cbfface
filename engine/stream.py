"""A stream as the process runs it: columns, their layout, the ring, and how values given for some columns become whole rows.

Enters: morsels of a statement's target columns. Leaves: morsels of all columns, and appends to the ring. Must not know sessions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from engine.stream_activity import StreamActivity
from ringbuffer.columns import Layout, Morsel, empty_column
from ringbuffer.ring import Ring
from sql.catalog import ColumnDescription
from sql.errors import SqlError
from views.arrow_schema import stream_layout


@dataclass(frozen=True, eq=False)
class Stream:
    """A stream's fixed facts and its ring. columns: in their order in the ring.

    every: the indexes of all columns; not_null: of those that take no NULL; row_bytes: of a row without its long strings. timeout_ms: of
    its scans, None where the session's stream_timeout counts.
    """

    name: str
    oid: int
    columns: tuple[ColumnDescription, ...]
    layout: Layout
    ring: Ring
    every: tuple[int, ...]
    not_null: tuple[int, ...]
    row_bytes: int
    timeout_ms: int | None = None
    activity: StreamActivity = field(default_factory=StreamActivity)


def make_stream(
    name: str, oid: int, columns: tuple[ColumnDescription, ...], capacity: int, timeout_ms: int | None = None
) -> Stream:
    """Return an empty stream whose ring holds `capacity` tuples (a power of two)."""
    layout = stream_layout(columns)
    not_null = tuple(index for index, column in enumerate(columns) if column.not_null)
    row_bytes = sum(empty_column(column.physical, 1).nbytes + 1 for column in layout)
    ring = Ring(layout, capacity)
    return Stream(name, oid, columns, layout, ring, tuple(range(len(columns))), not_null, row_bytes, timeout_ms)


def whole_rows(stream: Stream, given: Morsel, targets: tuple[int, ...], defaults: Morsel) -> Morsel:
    """Return `given`, whose column i is the stream's column targets[i], widened by the defaults of all other columns.

    defaults: one row of all the stream's columns. Raises 23502 for a NULL in a NOT NULL column.
    """
    if targets != stream.every:
        widen = _one_row_with_defaults if given.rows_count == 1 else _with_defaults
        given = widen(stream, given, targets, defaults)
    for index in stream.not_null:
        if given.nulls[index].any():
            name = stream.columns[index].name
            message = f'null value in column "{name}" of relation "{stream.name}" violates not-null constraint'
            raise SqlError("23502", message)
    return given


def _one_row_with_defaults(stream: Stream, given: Morsel, targets: tuple[int, ...], defaults: Morsel) -> Morsel:
    """As `_with_defaults` for one row: the default row's arrays serve as they are."""
    if len(defaults.heap):
        return _with_defaults(stream, given, targets, defaults)
    data, nulls = list(defaults.data), list(defaults.nulls)
    for source, target in enumerate(targets):
        data[target] = given.data[source]
        nulls[target] = given.nulls[source]
    return Morsel(1, tuple(data), tuple(nulls), given.heap)


def _with_defaults(stream: Stream, given: Morsel, targets: tuple[int, ...], defaults: Morsel) -> Morsel:
    rows_count = given.rows_count
    source = {target: index for index, target in enumerate(targets)}
    data, nulls = [], []
    heap = given.heap
    for index, layout in enumerate(stream.layout):
        if index in source:
            data.append(given.data[source[index]])
            nulls.append(given.nulls[source[index]])
            continue
        column = empty_column(layout.physical, rows_count)
        column[:] = defaults.data[index][0]
        if layout.physical == "TEXT" and int(defaults.data[index][0][0]) & 0xFFFFFFFF > 12:
            length = int(defaults.data[index][0][0]) & 0xFFFFFFFF
            start = int(defaults.data[index][0][1])
            column[:, 1] = len(heap)
            heap = np.concatenate([heap, defaults.heap[start : start + length]])
        data.append(column)
        nulls.append(np.full(rows_count, defaults.nulls[index][0], dtype=np.uint8))
    return Morsel(rows_count, tuple(data), tuple(nulls), heap)
