"""A stream in the process: columns, their layout, the ring, and how some columns become whole rows.

Enters: morsels of a statement's target columns. Leaves: morsels of all columns, and appends to the
ring. The ring has one column more, the time of a row's arrival. A morsel has that column as well
only if its statement gave it; otherwise COMMIT sets the time. Must not know sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from engine.streams.activity import StreamActivity
from engine.streams.failing_rows import FailingRowError, null_error, tell_row
from ringbuffer.memory.arrow import morsel_to_arrow
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK, Layout, Morsel, empty_column
from ringbuffer.ring.ring import STRING_CAPACITY_MAX, Ring
from sql.catalog.catalog import ARRIVAL, ColumnDescription
from views.model.arrow_schema import column_layout, stream_layout

NO_HEAP = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True, eq=False)
class Stream:
    """The facts of a stream, and its ring.

    ALTER FOREIGN TABLE makes another `Stream` with the same oid, and with the same ring if that
    suits it.

    Attributes:
        stored: the columns in the ring, in the order of the ring; the place of a column there is
            its number less one, for ever.
        dropped: the numbers of the columns that were dropped.
        missing: one row of all columns: the values of those that a row is too old to have.
        timeout_ms: of scans; None: the stream_timeout of the session counts.
        string_capacity: bytes of each string buffer of the ring, after this `Stream` is committed.
    """

    name: str
    oid: int
    stored: tuple[ColumnDescription, ...]
    dropped: frozenset[int]
    ring: Ring
    missing: Morsel
    timeout_ms: int | None = None
    string_capacity: int = STRING_CAPACITY_MAX
    activity: StreamActivity = field(default_factory=StreamActivity)
    # What follows from these: the columns that are seen; the same with the arrival, and their
    # places; the layout without and with the arrival; the places of all columns but that one, and
    # of those that take no NULL; the bytes of a row without its long strings.
    columns: tuple[ColumnDescription, ...] = field(init=False)
    row: tuple[ColumnDescription, ...] = field(init=False)
    places: tuple[int, ...] = field(init=False)
    layout: Layout = field(init=False)
    row_layout: Layout = field(init=False)
    every: tuple[int, ...] = field(init=False)
    not_null: tuple[int, ...] = field(init=False)
    row_bytes: int = field(init=False)

    def __post_init__(self) -> None:
        columns = tuple(column for column in self.stored if column.number not in self.dropped)
        layout = stream_layout(self.stored)
        found: dict[str, object] = {
            "columns": columns,
            "row": (*columns, ARRIVAL),
            "places": (*(column.number - 1 for column in columns), len(layout)),
            "layout": layout,
            "row_layout": (*layout, column_layout(ARRIVAL)),
            "every": tuple(range(len(layout))),
            "not_null": tuple(column.number - 1 for column in columns if column.not_null),
            "row_bytes": row_bytes(layout),
        }
        for name, value in found.items():
            object.__setattr__(self, name, value)

    def places_of(self, indexes: Sequence[int]) -> tuple[int, ...]:
        """Return the places of the columns with these indexes in the ring."""
        return tuple(self.places[index] for index in indexes)

    def layout_of(self, morsel: Morsel) -> Layout:
        """Return the layout of whole rows, with or without the column of their arrival."""
        return self.row_layout if has_arrival(morsel, self) else self.layout


def make_stream(
    name: str,
    oid: int,
    columns: Sequence[ColumnDescription],
    capacity: int,
    timeout_ms: int | None = None,
    string_capacity: int = STRING_CAPACITY_MAX,
) -> Stream:
    """Return an empty stream, whose columns get their numbers. capacity: tuples, a power of two."""
    stored = tuple(replace(column, number=number) for number, column in enumerate(columns, 1))
    layout = stream_layout(stored)
    ring = Ring((*layout, column_layout(ARRIVAL)), capacity, string_capacity=string_capacity)
    return Stream(name, oid, stored, frozenset(), ring, row_of_nulls(layout), timeout_ms, string_capacity)


def row_bytes(layout: Layout) -> int:
    """Return the bytes of a row without its long strings."""
    return sum(empty_column(column.physical, 1).nbytes + 1 for column in layout)


def row_of_nulls(layout: Layout) -> Morsel:
    """Return one row of NULLs."""
    data = tuple(empty_column(column.physical, 1) for column in layout)
    return Morsel(1, data, tuple(np.ones(1, dtype=np.uint8) for _ in layout), NO_HEAP)


def with_missing(stream: Stream, rows: Morsel) -> Morsel:
    """Return rows with all columns that the stream stores; they may be of a time when it had
    fewer.
    """
    count = len(rows.data)
    return rows if count == len(stream.layout) else with_defaults(stream.layout, rows, range(count), stream.missing)


def with_missing_before(stream: Stream, rows: Morsel) -> Morsel:
    """Return rows as `with_missing` does; the last column of the rows is their arrival."""
    whole = with_missing(stream, replace(rows, data=rows.data[:-1], nulls=rows.nulls[:-1]))
    return replace(whole, data=(*whole.data, rows.data[-1]), nulls=(*whole.nulls, rows.nulls[-1]))


def has_arrival(morsel: Morsel, stream: Stream) -> bool:
    """Tell whether whole rows of a stream have the column of their arrival."""
    return len(morsel.data) > len(stream.layout)


def arrived(morsel: Morsel, times_us: npt.ArrayLike) -> Morsel:
    """Return whole rows with the column of their arrival, which they do not have yet.

    times_us: microseconds, of each row or of all.
    """
    column = np.empty(morsel.rows_count, dtype=np.int64)
    column[:] = times_us
    nulls = np.zeros(morsel.rows_count, dtype=np.uint8)
    return replace(morsel, data=(*morsel.data, column), nulls=(*morsel.nulls, nulls))


def whole_rows(stream: Stream, given: Morsel, targets: tuple[int, ...], defaults: Morsel, time_zone: str) -> Morsel:
    """Return `given`, whose column i lies at targets[i] in the ring, with the defaults of other
    columns.

    defaults: one row of all columns of the stream but the arrival, which is absent unless it is
    given. Raises 23502 for a NULL in a NOT NULL column, and shows the first such row in
    `time_zone`.
    """
    if targets != stream.every:
        if len(stream.layout) in targets:
            return _with_given_arrival(stream, given, targets, defaults, time_zone)
        widen = _one_row_with_defaults if given.rows_count == 1 else with_defaults
        given = widen(stream.layout, given, targets, defaults)
    for index in stream.not_null:
        if given.nulls[index].any():
            raise _null_error(stream, given, targets, time_zone)
    return given


def seen(stream: Stream, rows: Morsel) -> pa.Table:
    """Return whole rows with the columns that `SELECT *` shows, as an Arrow table."""
    table = morsel_to_arrow(rows, stream.layout_of(rows))
    return table.select([place for place in stream.places if place < len(stream.layout)])


def _null_error(stream: Stream, rows: Morsel, targets: Sequence[int], time_zone: str) -> FailingRowError:
    """Return the error of the first row with a forbidden NULL."""
    row, index = min((int(rows.nulls[index].argmax()), index) for index in stream.not_null if rows.nulls[index].any())
    columns = tuple(column[row : row + 1] for column in rows.data)
    table = seen(stream, Morsel(1, columns, tuple(nulls[row : row + 1] for nulls in rows.nulls), rows.heap))
    given = [place for place, column in enumerate(stream.columns) if column.number - 1 in targets]
    error = null_error(stream.name, stream.stored[index].name)
    error.row = row
    tell_row(error, stream.oid, stream.columns, table, given, time_zone)
    return error


def _with_given_arrival(
    stream: Stream, given: Morsel, targets: tuple[int, ...], defaults: Morsel, time_zone: str
) -> Morsel:
    index = len(stream.layout)
    place = targets.index(index)
    arrival, nulls = given.data[place], given.nulls[place]
    rest = Morsel(
        given.rows_count,
        (*given.data[:place], *given.data[place + 1 :]),
        (*given.nulls[:place], *given.nulls[place + 1 :]),
        given.heap,
    )
    whole = whole_rows(stream, rest, (*targets[:place], *targets[place + 1 :]), defaults, time_zone)
    if nulls.any():
        error = null_error(stream.name, ARRIVAL.name)
        error.row = int(nulls.argmax())
        raise error
    return replace(whole, data=(*whole.data, arrival), nulls=(*whole.nulls, nulls))


def _one_row_with_defaults(layout: Layout, given: Morsel, targets: Sequence[int], defaults: Morsel) -> Morsel:
    """Return one row as `with_defaults` does; the arrays of the default row are used as they
    are.
    """
    if len(defaults.heap):
        return with_defaults(layout, given, targets, defaults)
    data, nulls = list(defaults.data), list(defaults.nulls)
    for source, target in enumerate(targets):
        data[target] = given.data[source]
        nulls[target] = given.nulls[source]
    return Morsel(1, tuple(data), tuple(nulls), given.heap)


def with_defaults(layout: Layout, given: Morsel, targets: Sequence[int], defaults: Morsel) -> Morsel:
    """Return `given`, whose column i lies at targets[i] of `layout`, with the other columns of
    `defaults`.

    defaults: one row for all, or one for each.
    """
    rows_count = given.rows_count
    source = {target: index for index, target in enumerate(targets)}
    data, nulls = [], []
    for index, form in enumerate(layout):
        if index in source:
            data.append(given.data[source[index]])
            nulls.append(given.nulls[source[index]])
            continue
        column: npt.NDArray[Any] = empty_column(form.physical, rows_count)
        column[:] = defaults.data[index]
        if form.physical == "TEXT":
            is_long = column[:, 0] & LENGTH_MASK > INLINE_BYTES_MAX
            column[is_long, 1] += len(given.heap)
        data.append(column)
        nulls.append(np.empty(rows_count, dtype=np.uint8))
        nulls[-1][:] = defaults.nulls[index]
    heap = np.concatenate([given.heap, defaults.heap]) if len(defaults.heap) else given.heap
    return Morsel(rows_count, tuple(data), tuple(nulls), heap)
