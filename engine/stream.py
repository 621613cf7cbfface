"""A stream as the process runs it: columns, their layout, the ring, and how values given for some columns become whole rows.

Enters: morsels of a statement's target columns. Leaves: morsels of all columns, and appends to the ring. Must not know sessions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringbuffer.columns import Layout, Morsel, empty_column
from ringbuffer.ring import Ring
from sql.catalog import ColumnDescription
from sql.errors import SqlError
from views.arrow_schema import stream_layout


@dataclass(frozen=True, eq=False)
class Stream:
    """A stream's fixed facts and its ring. columns: in their order in the ring."""

    name: str
    columns: tuple[ColumnDescription, ...]
    layout: Layout
    ring: Ring


def make_stream(name: str, columns: tuple[ColumnDescription, ...], capacity: int) -> Stream:
    """Return an empty stream whose ring holds `capacity` tuples (a power of two)."""
    layout = stream_layout(columns)
    return Stream(name, columns, layout, Ring(layout, capacity))


def whole_rows(stream: Stream, given: Morsel, targets: tuple[int, ...], defaults: Morsel) -> Morsel:
    """Return `given`, whose column i is the stream's column targets[i], widened by the defaults of all other columns.

    defaults: one row of all the stream's columns. Raises 23502 for a NULL in a NOT NULL column.
    """
    if targets != tuple(range(len(stream.columns))):
        given = _with_defaults(stream, given, targets, defaults)
    for column, nulls in zip(stream.columns, given.nulls, strict=True):
        if column.not_null and nulls.any():
            raise SqlError(
                "23502",
                f'null value in column "{column.name}" of relation "{stream.name}" violates not-null constraint',
            )
    return given


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
