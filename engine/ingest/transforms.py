"""Transforms: the rows of one stream that a view `WITH (action = transform)` makes rows of another.

Enters: morsels of whole rows as they are staged. Leaves: whole rows of the other stream. Conditions
and values are computed as those of a stream pipeline that no kernel has (`views.upkeep.computed`):
for all rows of a morsel at once. A value that fails is an error only in a row that passes the
conditions. Must not stage.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from engine.catalog.image import CatalogImage, StreamEntry, ViewEntry
from engine.ddl.query_views import bound_as_then, statement_of
from engine.embedded.query_engine import QueryEngine
from engine.ingest.insert import InsertTarget, make_target, now_columns
from engine.streams.failing_rows import FailingRowError
from engine.streams.stream import Stream
from engine.streams.view_statistics import Transformed
from ringbuffer.memory.arrow import compact_morsel
from ringbuffer.memory.columns import ColumnLayout, Layout, Morsel
from ringbuffer.memory.error_codes import COMPUTED, RowError
from sql.bind.expressions.context import BindContext, ParameterTypes
from sql.bind.queries.query import QUERIES
from sql.bind.readers import with_zone
from sql.bind.writes.assignments import assign
from sql.bind.writes.write_target import stored
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError
from sql.tree.expressions import Call, Column, Expression
from sql.tree.relations import OutputColumn, Project, Scan
from sql.types.datatypes import BOOL
from views.codegen.expressions import text_of
from views.codegen.stream_kernel import FAILED
from views.model.arrow_schema import stored_layout
from views.model.trees import taken_apart
from views.upkeep.computed import ComputedColumns, ComputedError


def found_transform(
    engine: QueryEngine, view: ViewEntry, image: CatalogImage, now_us: int
) -> tuple[RowsAtTime, StreamEntry]:
    """Return what a transform does in a transaction that began at now_us, and the stream that gets
    its rows.

    Raises 42501 if its owner may not write to this stream.
    """
    source, target = streams_of(view, image)
    owner, oid = image.privileges.owner(view.description.oid), target.description.oid
    if not image.privileges.may(image.roles, owner, oid, "a"):
        message = f"permission denied for foreign table {target.description.name}"
        name = view.description.name
        raise SqlError("42501", message, context=f'transform "{name}", which runs with the rights of its owner')
    known = made_of(view)
    made_for = (view.description.query, source.stream, target.stream)
    if known is None or any(one is not other for one, other in zip(known.made_for, made_for, strict=True)):
        made = StreamTransform(view, image, engine)
        if known is not None:
            made.rows_in, made.rows_out = known.rows_in, known.rows_out
        known = made
        assert view.output is not None
        view.output.kept[:] = [made]
    return known.at(now_us), target


def made_of(view: ViewEntry) -> StreamTransform | None:
    """Return the program of a transform, None before its first row."""
    assert view.output is not None, view
    for one in view.output.kept:
        assert isinstance(one, StreamTransform)
        return one
    return None


def transforms_counted(image: CatalogImage) -> Iterator[Transformed]:
    """Yield the counts of all transforms."""
    for stream in image.streams.values():
        for view in image.transforms_of(stream.name):
            made = made_of(view)
            counts = (0, 0, None) if made is None else (made.rows_in, made.rows_out, made.seconds)
            yield view.description.name, stream.name, *counts


def streams_of(view: ViewEntry, image: CatalogImage) -> tuple[StreamEntry, StreamEntry]:
    """Return the stream that a transform reads, and the one that gets its rows."""
    assert view.output is not None and view.description.query is not None, view
    (name,) = view.description.query.relations
    source, target = image.entries[name], image.by_oid(view.output.oid)
    assert isinstance(source, StreamEntry) and isinstance(target, StreamEntry), view
    return source, target


class StreamTransform:
    """The program of one transform.

    Attributes:
        made_for: the query and the streams.
        rows_in, rows_out: so many rows it has read and made, committed or not.
    """

    def __init__(self, view: ViewEntry, image: CatalogImage, engine: QueryEngine) -> None:
        """Raises 42804 and 0A000."""
        self._engine = engine
        self.name = view.description.name
        self._zone = view.source.settings.time_zone
        self._source, self._target_entry = streams_of(view, image)
        self.made_for = (view.description.query, self._source.stream, self._target_entry.stream)
        self.conditions, items = program_of(view, image)
        target = self._target_entry
        names = [(column.name, 0) for column in columns_filled(view, target)]
        self._names = names
        indexes = {column.name: index for index, column in enumerate(target.stream.columns)}
        places = target.stream.places_of([indexes[name] for name, _ in names])
        known = now_columns(target, places)
        self._target = None if known is None else replace(self._made_target(0), now_columns=known)
        layout = tuple(target.stream.row_layout[place] for place in places)
        self._plan(items, layout)
        self._counting = threading.Lock()
        self.rows_in = self.rows_out = 0

    def _plan(self, items: Sequence[Expression], layout: Layout) -> None:
        """Note where each value of a row comes from: a place in the morsel or a computed column."""
        source: Stream = self._source.stream
        computed: list[Expression] = []
        if self.conditions:
            condition = self.conditions[0] if len(self.conditions) == 1 else Call("and", tuple(self.conditions), BOOL)
            computed.append(condition)
        self._values: list[tuple[bool, int]] = []
        for item, column in zip(items, layout, strict=True):
            if isinstance(item, Column):
                place = source.places[item.index]
                if are_alike(source.layout[place], column):
                    self._values.append((False, place))
                    continue
            (made,) = stored_layout(Project(source_rows(source), (("c", item),)).schema)
            assert are_alike(made, column), (made, column)
            self._values.append((True, len(computed)))
            computed.append(item)
        self._texts = [text_of(one) for one in computed]
        self._layout = layout
        self._computed: ComputedColumns | None = None
        if computed:
            schema = source_rows(source).schema
            self._computed = ComputedColumns(computed, schema, [(place,) for place in source.places], self._engine)

    @property
    def seconds(self) -> float | None:
        """The time that computing took, None where columns go on as they are."""
        return None if self._computed is None else self._computed.seconds

    def _made_target(self, now_us: int) -> InsertTarget:
        return make_target(self._target_entry, self._names, self._engine, now_us, self._zone)

    def at(self, now_us: int) -> RowsAtTime:
        """Return the transform of one transaction."""
        return RowsAtTime(self, self._target or self._made_target(now_us))

    def rows(self, morsel: Morsel, now_us: int, target: InsertTarget) -> Morsel:
        """Return whole rows of the other stream. Raises SqlError."""
        given = self._given(morsel, now_us)
        with self._counting:
            self.rows_in += morsel.rows_count
            self.rows_out += given.rows_count
        try:
            return target.rows(given, now_us, self._zone)
        except FailingRowError as error:
            # No row of the statement, which only knows the rows that it has read.
            raise SqlError(
                error.sqlstate,
                error.message,
                detail=error.detail,
                detail_without=error.detail_without,
                read_oid=error.read_oid,
                table_name=error.table_name,
                column_name=error.column_name,
                context=f'transform "{self.name}"',
            ) from None

    def _given(self, morsel: Morsel, now_us: int) -> Morsel:
        """Return the rows in the columns that the transform fills."""
        rows = morsel if self._computed is None else self._computed.extended(morsel, now_us)
        first = len(morsel.data)
        kept, count = np.arange(morsel.rows_count), morsel.rows_count
        if self.conditions:
            self._require(0, rows.nulls[first], kept, morsel, now_us)
            kept = np.flatnonzero((rows.nulls[first] == 0) & (rows.data[first] != 0))
        is_part, count = len(kept) < count, len(kept)
        places = [first + place if is_computed else place for is_computed, place in self._values]
        for (is_computed, number), place in zip(self._values, places, strict=True):
            if is_computed:
                self._require(number, rows.nulls[place], kept, morsel, now_us)
        data = tuple(rows.data[place][kept] if is_part else rows.data[place] for place in places)
        nulls = tuple(rows.nulls[place][kept] if is_part else rows.nulls[place] for place in places)
        return compact_morsel(Morsel(count, data, nulls, rows.heap), self._layout)

    def _require(
        self, index: int, marks: npt.NDArray[np.uint8], kept: npt.NDArray[np.int64], morsel: Morsel, now_us: int
    ) -> None:
        """Raise the error of the first of the kept rows whose computed value has failed."""
        failed = np.flatnonzero(marks[kept] == FAILED)
        if not len(failed):
            return
        assert self._computed is not None
        error = self._computed.exact(RowError(COMPUTED, int(kept[failed[0]])), self._texts[index], morsel, now_us)
        raise SqlError(
            error.sqlstate,
            error.message,
            detail=error.error.detail if isinstance(error, ComputedError) else None,
            context=f'transform "{self.name}", expression {self._texts[index]}',
        )


@dataclass(frozen=True)
class RowsAtTime:
    """A transform in one transaction, whose time the defaults of the other columns have."""

    transform: StreamTransform
    target: InsertTarget

    def rows(self, morsel: Morsel, now_us: int) -> Morsel:
        """Return whole rows of the other stream; see `engine.commit.staging.RowTransform`."""
        return self.transform.rows(morsel, now_us, self.target)


def program_of(view: ViewEntry, image: CatalogImage) -> tuple[list[Expression], list[Expression]]:
    """Return the conditions on the rows of a transform's stream, and the values of the columns that
    it fills, in the zone of its creator.

    Raises 42804 for a value that can't be assigned.
    """
    settings = view.source.settings
    # As it is written: to readers of the view, constants of unknown type are texts.
    query = bound_as_then(statement_of(view.source.text), view.source, view.used, image, untyped=True)
    _, conditions, items = taken_apart(with_zone(query.root, settings.time_zone))
    context = BindContext(image, settings, ParameterTypes(), QUERIES)
    columns = columns_filled(view, streams_of(view, image)[1])
    values = [stored(assign(item, column, context, None), column) for item, column in zip(items, columns, strict=True)]
    return conditions, values


def columns_filled(view: ViewEntry, target: StreamEntry) -> list[ColumnDescription]:
    """Return the columns that a transform fills, in the order of its own columns."""
    assert view.output is not None, view
    by_number = {column.number: column for column in target.stream.columns}
    return [by_number[number] for number in view.output.columns]


def source_rows(stream: Stream) -> Scan:
    """Return the scan of a stream's rows with their arrival."""
    return Scan(stream.name, "stream", tuple(OutputColumn(column.name, column.type) for column in stream.row))


def are_alike(one: ColumnLayout, other: ColumnLayout) -> bool:
    """Tell whether values of one column are those of another one as they lie in memory."""
    forms = [(layout.physical, layout.scale, layout.value_form) for layout in (one, other)]
    return forms[0] == forms[1]
