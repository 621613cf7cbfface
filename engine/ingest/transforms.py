"""Transforms: the rows of one stream that a view `WITH (action = transform)` makes rows of another.

Enters: morsels of whole rows as they are staged. Leaves: whole rows of the other stream. Conditions
and values are computed as those of a stream pipeline that no kernel has (`views.upkeep.computed`):
for all rows of a morsel at once. A value that fails is an error only in a row that passes the
conditions. Must not stage.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.catalog.image import CatalogImage, StreamEntry, ViewEntry
from engine.ddl.query_views import bound_as_then, statement_of
from engine.embedded.query_engine import QueryEngine
from engine.ingest.insert import InsertTarget, make_target, now_columns
from engine.ingest.transform_kernels import TransformKernel, beside, kernel_part, taken
from engine.storage.kernel_files import KernelFiles, KernelNeededError
from engine.streams.failing_rows import FailingRowError
from engine.streams.stream import Stream
from engine.streams.view_statistics import Transformed
from ringbuffer.compile.loader import KernelFileError
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

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class TransformTools:
    """The parts of the server with which transforms run.

    Attributes:
        engine: computes what no kernel does.
        kernels: their files.
        submit: runs a function for which no statement waits.
    """

    engine: QueryEngine
    kernels: KernelFiles
    submit: Callable[[Callable[[], object]], None]

    def begin(self, made: StreamTransform) -> None:
        """Let a transform have its kernel, which is compiled while its first rows do without."""
        try:
            made.compile(self.kernels.compiling_later())
        except KernelNeededError:
            self.submit(lambda: self._compile(made))
        except KernelFileError as error:
            log.warning("transform %s has no kernel: %s", made.name, error)

    def _compile(self, made: StreamTransform) -> None:
        try:
            made.compile(self.kernels)
            self.kernels.make_durable(made.kernel_paths)
        except (SqlError, KernelFileError, OSError) as error:
            log.warning("transform %s has no kernel: %s", made.name, error)


def prepare_transforms(tools: TransformTools, image: CatalogImage) -> None:
    """Make what transforms do before their first row."""
    for stream in image.streams.values():
        for view in image.transforms_of(stream.name):
            present_transform(tools, view, image)


def found_transform(
    tools: TransformTools, view: ViewEntry, image: CatalogImage, now_us: int
) -> tuple[RowsAtTime, StreamEntry]:
    """Return what a transform does in a transaction that began at now_us, and the stream that gets
    its rows.

    Raises 42501 if its owner may not write to this stream.
    """
    _, target = streams_of(view, image)
    owner, oid = image.privileges.owner(view.description.oid), target.description.oid
    if not image.privileges.may(image.roles, owner, oid, "a"):
        message = f"permission denied for foreign table {target.description.name}"
        name = view.description.name
        raise SqlError("42501", message, context=f'transform "{name}", which runs with the rights of its owner')
    return present_transform(tools, view, image).at(now_us), target


def present_transform(tools: TransformTools, view: ViewEntry, image: CatalogImage) -> StreamTransform:
    """Return the program of a transform for the present form of its streams."""
    known, (source, target) = made_of(view), streams_of(view, image)
    made_for = (view.description.query, source.stream, target.stream)
    if known is not None and all(one is other for one, other in zip(known.made_for, made_for, strict=True)):
        return known
    made = StreamTransform(view, image, tools.engine)
    if known is not None:
        made.rows_in, made.rows_out, made.rows_skipped = known.rows_in, known.rows_out, known.rows_skipped
    assert view.output is not None
    view.output.kept[:] = [made]
    tools.begin(made)
    return made


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
            counts: tuple[int, int, int, float | None] = (0, 0, 0, None)
            if made is not None:
                counts = (made.rows_in, made.rows_out, made.rows_skipped, made.seconds)
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
        rows_in, rows_out, rows_skipped: so many rows it has read, made and left out since they
            failed, committed or not.
    """

    def __init__(self, view: ViewEntry, image: CatalogImage, engine: QueryEngine) -> None:
        """Raises 42804 and 0A000."""
        self._engine = engine
        self.name = view.description.name
        assert view.output is not None, view
        self._output = view.output
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
        self.rows_in = self.rows_out = self.rows_skipped = 0

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
        self._plan_kernel(computed)
        self._computed: ComputedColumns | None = None
        if computed:
            schema = source_rows(source).schema
            self._computed = ComputedColumns(computed, schema, [(place,) for place in source.places], self._engine)

    def _plan_kernel(self, computed: Sequence[Expression]) -> None:
        """Note what a kernel does, once it is compiled, and what is computed besides."""
        first = 1 if self.conditions else 0
        items = list(enumerate(computed))[first:]
        rows = source_rows(self._source.stream).schema
        self._part = kernel_part(self.conditions, items, rows)
        self._kernel: TransformKernel | None = None
        self._left: ComputedColumns | None = None
        self._left_numbers: list[int] = []
        if self._part is not None:
            left = [(number, item) for number, item in items if number not in self._part.items]
            if left and self._output.skips:
                # Rows that fail are left out of all of the computed values at once.
                self._part = None
                return
            self._left_numbers = [number for number, _ in left]
            if left:
                places = [(place,) for place in self._source.stream.places]
                self._left = ComputedColumns([item for _, item in left], rows, places, self._engine)

    def compile(self, files: KernelFiles) -> None:
        """Compile the kernel, if there is one. Raises what `files` raises."""
        if self._part is not None and self._kernel is None:
            kernel = TransformKernel(self._part, self._source.stream.places, files)
            self._output.kernels[:] = kernel.paths
            self._kernel = kernel

    @property
    def kernel_paths(self) -> list[Path]:
        """The files of the kernel."""
        return [] if self._kernel is None else self._kernel.paths

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
        if self._output.skips:
            given = self._without_refused(given)
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

    def _without_refused(self, given: Morsel) -> Morsel:
        """Return the rows without NULLs in columns that may have none."""
        refused = np.zeros(given.rows_count, dtype=np.bool_)
        for column, nulls in zip(self._layout, given.nulls, strict=True):
            if column.not_null:
                refused |= nulls != 0
        kept = np.flatnonzero(~refused)
        self._note_skipped(given.rows_count - len(kept))
        return taken(given, kept)

    def _note_skipped(self, count: int) -> None:
        with self._counting:
            self.rows_skipped += count

    def _given(self, morsel: Morsel, now_us: int) -> Morsel:
        """Return the rows in the columns that the transform fills."""
        if self._kernel is not None:
            try:
                return self._by_kernel(self._kernel, morsel, now_us)
            except SqlError:
                # Which rows fail, only the other way tells.
                if not self._output.skips:
                    raise
        rows = morsel if self._computed is None else self._computed.extended(morsel, now_us)
        first = len(morsel.data)
        kept, count = np.arange(morsel.rows_count), morsel.rows_count
        if self.conditions:
            self._require(0, rows.nulls[first], kept, morsel, now_us)
            kept = np.flatnonzero((rows.nulls[first] == 0) & (rows.data[first] != 0))
        places = [first + place if is_computed else place for is_computed, place in self._values]
        for (is_computed, number), place in zip(self._values, places, strict=True):
            if is_computed:
                kept = self._require(number, rows.nulls[place], kept, morsel, now_us)
        is_part, count = len(kept) < count, len(kept)
        data = tuple(rows.data[place][kept] if is_part else rows.data[place] for place in places)
        nulls = tuple(rows.nulls[place][kept] if is_part else rows.nulls[place] for place in places)
        return compact_morsel(Morsel(count, data, nulls, rows.heap), self._layout)

    def _by_kernel(self, kernel: TransformKernel, morsel: Morsel, now_us: int) -> Morsel:
        """Return the rows as `_given` does."""
        try:
            kept, made = kernel.run(morsel, now_us)
        except SqlError as error:
            raise replace(error, context=f'transform "{self.name}", {error.context}') from None
        passing = taken(morsel, kept)
        rows = passing if self._left is None else self._left.extended(passing, now_us)
        first = len(morsel.data)
        for place, number in enumerate(self._left_numbers, first):
            every = np.arange(len(kept))
            self._require(number, rows.nulls[place], every, passing, now_us)
        where = {number: place for place, number in enumerate((*self._left_numbers, *kernel.part.items), first)}
        values = zip(self._values, self._layout, strict=True)
        kinds = {number: column.physical for (is_computed, number), column in values if is_computed}
        whole = beside(rows, made, [kinds[number] for number in kernel.part.items])
        places = [where[place] if is_computed else place for is_computed, place in self._values]
        data, nulls = tuple(whole.data[place] for place in places), tuple(whole.nulls[place] for place in places)
        return compact_morsel(Morsel(len(kept), data, nulls, whole.heap), self._layout)

    def _require(
        self, index: int, marks: npt.NDArray[np.uint8], kept: npt.NDArray[np.int64], morsel: Morsel, now_us: int
    ) -> npt.NDArray[np.int64]:
        """Return the kept rows whose computed value has not failed.

        Raises the error of the first one that has, unless such rows are left out.
        """
        failed = np.flatnonzero(marks[kept] == FAILED)
        if not len(failed):
            return kept
        if self._output.skips:
            self._note_skipped(len(failed))
            return np.delete(kept, failed)
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
