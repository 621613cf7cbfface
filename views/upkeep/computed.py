"""The columns of a stream pipeline that no kernel computes: the embedded engine computes them
before the kernel runs, for all rows of a morsel at once.

Enters: morsels of the view's stream. Leaves: the same morsels with the computed columns at their
end. A value whose computation fails is marked, and its error is found when the kernel comes to need
the value: what a filter, a join or a CASE leaves out raises nothing. Must not know DuckDB.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.memory.arrow import morsel_from_arrow, morsel_to_arrow, slice_morsel
from ringbuffer.memory.columns import Layout, Morsel, PhysicalType, new_column
from ringbuffer.memory.error_codes import RowError
from ringbuffer.memory.few_rows import column_of, reader_of, values_of, writer_of
from ringbuffer.memory.strings import shift_strings
from sql.catalog.catalog import ARRIVAL
from sql.errors import SqlError
from sql.tree.expressions import Call, Column, Expression
from sql.tree.relations import OutputColumn, Project, Relation, Scan, Schema
from sql.types.datatypes import BOOL
from views.codegen.expressions import text_of
from views.codegen.stream_kernel import FAILED, REFUSED
from views.model.arrow_schema import arrow_schema, stored_layout
from views.model.protocols import RowEvaluator
from views.model.trees import columns_of, rewrite, substitute_now, uses_now
from views.upkeep.kernels import FIRST_FROM_END, LAST, WRITABLE, index_of

ROWS = "rows"
# With fewer rows in a morsel, the engine takes longer than Python does.
FEW_ROWS = 256
FAILED_BYTE = np.uint8(FAILED)
# Rows whose errors are asked for one by one, where only the engine tells them.
ERRORS_MAX = 16
# What ends a statement whatever its rows are.
ENDINGS = ("57", "53", "58", "XX")


Function = Callable[[Sequence[Any]], Any]
# Computes a value of a row, and puts it where the kernel reads it.
Step = tuple[Function, Callable[[Any], bool]]


@dataclass(frozen=True, slots=True)
class ComputedRows(Morsel):
    """A morsel with computed columns at its end."""


class ComputedError(RowError):
    """A row with a value that can't be computed.

    Attributes:
        error: what the evaluator says.
    """

    def __init__(self, row: RowError, error: SqlError) -> None:
        super().__init__(row.code, row.row, expression=row.expression)
        self.error = error

    @property
    def sqlstate(self) -> str:
        return self.error.sqlstate

    @property
    def message(self) -> str:
        return self.error.message


class RowProgram(Protocol):
    """The methods of a `StreamProgram` that look at rows."""

    def extended(self, morsel: Morsel, now_us: int) -> Morsel:
        """Return the rows with computed columns."""

    def check(self, morsel: Morsel, now_us: int) -> None:
        """Evaluate the rows."""


class RowTaker(Protocol):
    """The methods of a `ViewState` that take rows."""

    @property
    def program(self) -> RowProgram:
        """The program of the state."""

    def apply(self, morsel: Morsel, now_us: int) -> None:
        """Fold the rows."""

    def row_fold(self, row: Morsel) -> Callable[[int], None]:
        """Return a function that folds a row which lies in the same memory each time."""


class ComputedRow:
    """One row with computed columns that lies in the same memory each time: its check, which
    computes them, and its fold.
    """

    def __init__(self, state: RowTaker, row: Morsel, computed: ComputedColumns) -> None:
        self._state = state
        self._compute = computed.of_one_row(row)
        if self._compute is not None:
            self._fold = state.row_fold(self._compute.row)
        # The row, where it is not in the memory of `_compute`.
        self._other: Morsel | None = None

    def check(self, row: Morsel, now_us: int) -> None:
        """Evaluate the row. Raises RowError."""
        if self._compute is not None and self._compute():
            self._other = None
            self._state.program.check(self._compute.row, now_us)
            return
        self._other = self._state.program.extended(row, now_us)
        self._state.program.check(self._other, now_us)

    def fold(self, now_us: int) -> None:
        """Fold the row that was checked last."""
        if self._other is None:
            self._fold(now_us)
        else:
            self._state.apply(self._other, now_us)


class OneRow:
    """The computation of one row's columns in memory that stays.

    Attributes:
        row: the row with its computed columns.
    """

    def __init__(
        self,
        row: ComputedRows,
        steps: Sequence[Step],
        readers: Sequence[Callable[[], Any]],
        note: Callable[[int, float], None],
    ) -> None:
        self.row = row
        self._note = note
        self._steps = steps
        self._readers = readers

    def __call__(self) -> bool:
        """Compute the columns; False where that needs more than this memory, or fails."""
        began_s = perf_counter()
        values = [read() for read in self._readers]
        try:
            return all(write(function(values)) for function, write in self._steps)
        except SqlError:
            return False
        finally:
            self._note(1, perf_counter() - began_s)


class ComputedColumns:
    """The computed columns of one stream pipeline.

    Attributes:
        rows_count, seconds: for how many rows they were computed, and how long that took.

    Arguments:
        input: the columns that `expressions` address.
        places: of the input's columns in a morsel.
        tells_refused: a value that is not supported has another mark than one that fails
            (on_error = skip).
    """

    def __init__(
        self,
        expressions: Sequence[Expression],
        input: Schema,
        places: Sequence[tuple[int, ...]],
        evaluator: RowEvaluator,
        tells_refused: bool = False,
    ) -> None:
        """Try the expressions on no rows. Raises SqlError: 0A000 for what can't be evaluated."""
        read = sorted({index for part in expressions for index in columns_of(part)}) or [0]
        self._evaluator = evaluator
        self._tells_refused = tells_refused
        self._read: Schema = tuple(input[index] for index in read)
        self._given = places
        self._places = [places[index] for index in read]
        self._reads_arrival = any(column.name == ARRIVAL.name for column in self._read)
        self._texts = [text_of(part) for part in expressions]
        self._expressions = [_over(part, read) for part in expressions]
        self._schema: Schema = tuple(OutputColumn(f"c{n}", part.type) for n, part in enumerate(expressions))
        self._layout, self._read_layout = stored_layout(self._schema), stored_layout(self._read)
        self._uses_now = any(map(uses_now, expressions))
        self._rows_relation = Scan(ROWS, "rows", self._read)
        self._relation = self._project(self._expressions)
        self._lock = threading.Lock()
        self.rows_count = 0
        self.seconds = 0.0
        self._run(self._relation, self._rows_of(None), 0)
        self._functions = self._row_functions()
        self._are_tried = [self._can_be_tried(part) for part in self._expressions]

    def _row_functions(self) -> list[Function] | None:
        """Return the functions for a few rows, None where one of them is missing."""
        found = [self._evaluator.row_function(part) for part in self._expressions]
        functions = [function for function in found if function is not None]
        return functions if len(functions) == len(found) else None

    def of_one_row(self, row: Morsel) -> OneRow | None:
        """Return the computation for a row that lies in the same memory each time; None where only
        the engine computes it.
        """
        if self._functions is None:
            return None
        data = [new_column(column.physical, 1) for column in self._layout]
        nulls = [np.zeros(1, dtype=np.uint8) for _ in self._layout]
        writers = map(writer_of, self._layout, data, nulls)
        read = zip(self._read_layout, (index_of(place[0]) for place in self._places), strict=True)
        readers = [reader_of(column, row.data[place], row.nulls[place], row.heap) for column, place in read]
        extended = ComputedRows(1, (*row.data, *data), (*row.nulls, *nulls), row.heap)
        return OneRow(extended, list(zip(self._functions, writers, strict=True)), readers, self._note)

    @property
    def extended_places(self) -> list[tuple[int, ...]]:
        """The places in an extended morsel of the arrays of the input's columns, then of the
        computed ones.
        """
        count = len(self._layout)
        known = [tuple(_before(place, count) for place in places) for places in self._given]
        return known + [(place, ~place) for place in range(LAST + 1 - count, LAST + 1)]

    def extended(self, morsel: Morsel, now_us: int) -> Morsel:
        """Return the rows with the computed columns."""
        if isinstance(morsel, ComputedRows):
            return morsel
        began_s = perf_counter()
        if morsel.rows_count < FEW_ROWS and self._functions is not None:
            extended = self._row_by_row(morsel, self._functions)
        else:
            extended = self._at_once(morsel, now_us)
        self._note(morsel.rows_count, perf_counter() - began_s)
        return extended

    def _note(self, rows_count: int, seconds: float) -> None:
        with self._lock:
            self.rows_count += rows_count
            self.seconds += seconds

    def _row_by_row(self, morsel: Morsel, functions: Sequence[Function]) -> ComputedRows:
        """Compute the columns of a few rows."""
        rows = list(zip(*self._values_of(morsel), strict=True))
        data, nulls, heap = list(morsel.data), list(morsel.nulls), bytearray()
        for column, function in zip(self._layout, functions, strict=True):
            values: list[Any] = []
            marks = np.zeros(len(rows), dtype=np.uint8)
            for number, row in enumerate(rows):
                try:
                    value = function(row)
                except SqlError as error:
                    if error.sqlstate.startswith(ENDINGS):
                        raise
                    value = None
                    marks[number] = self._mark(error)
                if value is None and not marks[number]:
                    marks[number] = 1
                values.append(value)
            data.append(column_of(column, values, heap, len(morsel.heap)))
            nulls.append(marks)
        whole = np.concatenate([morsel.heap, np.frombuffer(heap, dtype=np.uint8)]) if heap else morsel.heap
        return ComputedRows(morsel.rows_count, tuple(data), tuple(nulls), whole)

    def _at_once(self, morsel: Morsel, now_us: int) -> ComputedRows:
        """Compute the columns of all rows by the engine."""
        rows = self._rows_of(morsel)
        failed: list[npt.NDArray[np.uint8]] | None = None
        try:
            values = self._run(self._relation, rows, now_us)
        except SqlError as error:
            if error.sqlstate.startswith(ENDINGS):
                raise
            values, failed = self._tried(rows, now_us)
        computed = morsel_from_arrow(values, self._layout)
        if failed is not None:
            marked = zip(failed, computed.nulls, strict=True)
            nulls = tuple(np.where(marks, marks, nulls) for marks, nulls in marked)
            if self._tells_refused:
                for place in (place for place, is_tried in enumerate(self._are_tried) if is_tried):
                    self._tell_refused(self._expressions[place], nulls[place], morsel, now_us)
            computed = replace(computed, nulls=nulls)
        return _joined(morsel, computed, self._layout)

    def _mark(self, error: SqlError) -> int:
        """Return the mark of a value whose computation raises an error."""
        is_refused = error.sqlstate == "0A000" and error.message.endswith("is not supported yet")
        return REFUSED if self._tells_refused and is_refused else FAILED

    def _tell_refused(self, expression: Expression, marks: npt.NDArray[np.uint8], morsel: Morsel, now_us: int) -> None:
        """Give the values that are refused, of those that have failed, their mark."""
        function = self._evaluator.row_function(expression)
        failed = np.flatnonzero(marks == FAILED)
        for row in failed[: ERRORS_MAX if function is None else None].tolist():
            one = slice_morsel(morsel, row, 1)
            try:
                if function is None:
                    self._run(self._project([expression]), self._rows_of(one), now_us)
                else:
                    function([values[0] for values in self._values_of(one)])
            except SqlError as error:
                marks[row] = self._mark(error)

    def _values_of(self, morsel: Morsel) -> list[list[Any]]:
        """Return the Python values of the columns that the expressions read."""
        places = [index_of(place[0]) for place in self._places]
        return [
            values_of(column, morsel.data[place], morsel.nulls[place], morsel.heap)
            for column, place in zip(self._read_layout, places, strict=True)
        ]

    def arrived(self, before: Morsel, morsel: Morsel, now_us: int) -> Morsel:
        """Return `extended` of rows whose arrival was a guess in `before`, which is known now."""
        if self._reads_arrival:
            return self.extended(morsel, now_us)
        count = len(before.data) - len(morsel.data)
        data, nulls = (*morsel.data, *before.data[-count:]), (*morsel.nulls, *before.nulls[-count:])
        return ComputedRows(morsel.rows_count, data, nulls, before.heap)

    def exact(self, error: RowError, text: str, morsel: Morsel, now_us: int) -> RowError:
        """Return the error of a kernel that has come to a value marked as failed.

        text: of the expression.
        """
        row = self._rows_of(slice_morsel(morsel, error.row, 1))
        for known, expression in zip(self._texts, self._expressions, strict=True):
            if known != text:
                continue
            try:
                self._run(self._project([expression]), row, now_us)
            except SqlError as found:
                return ComputedError(error, found)
        return error

    def _rows_of(self, morsel: Morsel | None) -> pa.Table:
        """Return the columns that the expressions read, None: of no rows."""
        if morsel is None:
            return arrow_schema(self._read).empty_table()
        kept = [index_of(place[0]) for place in self._places]
        data, nulls = tuple(morsel.data[k] for k in kept), tuple(morsel.nulls[k] for k in kept)
        rows = morsel_to_arrow(Morsel(morsel.rows_count, data, nulls, morsel.heap), self._read_layout)
        return rows.cast(arrow_schema(self._read))

    def _project(self, expressions: Sequence[Expression]) -> Relation:
        return Project(self._rows_relation, tuple((f"c{n}", part) for n, part in enumerate(expressions)))

    def _run(self, relation: Relation, rows: pa.Table, now_us: int) -> pa.Table:
        if self._uses_now:
            relation = substitute_now(relation, now_us)
        return self._evaluator.run(relation, {ROWS: rows})

    def _tried(self, rows: pa.Table, now_us: int) -> tuple[pa.Table, list[npt.NDArray[np.uint8]]]:
        """Return the values of rows of which some fail, NULL for these, and their marks."""
        columns: list[pa.ChunkedArray] = []
        failed: list[npt.NDArray[np.uint8]] = []
        for expression, is_tried in zip(self._expressions, self._are_tried, strict=True):
            if is_tried:
                found = self._run(self._trial(expression), rows, now_us)
                columns.append(found.column(0))
                marks = found.column(1).combine_chunks().cast(pa.uint8()).to_numpy(zero_copy_only=False)
                failed.append(marks * FAILED_BYTE)
                continue
            pieces = list(self._pieces(expression, rows, now_us))
            kind = arrow_schema(self._schema).field(len(columns)).type
            columns.append(
                pa.chunked_array([pa.nulls(1, kind) if isinstance(one, int) else one for one in pieces], kind)
            )
            all_marks = [np.full(1, one) if isinstance(one, int) else np.zeros(len(one)) for one in pieces]
            failed.append(np.concatenate(all_marks).astype(np.uint8))
        return pa.Table.from_arrays(columns, schema=arrow_schema(self._schema)), failed

    def _trial(self, expression: Expression) -> Relation:
        """Return the query for the values of rows of which some fail, and which do."""
        return self._project([Call("tried", (expression,), expression.type), Call("has_failed", (expression,), BOOL)])

    def _pieces(self, expression: Expression, rows: pa.Table, now_us: int) -> Iterator[pa.Array | int]:
        """Yield the values of rows, and a mark for each row that fails; halves tell which does."""
        try:
            yield self._run(self._project([expression]), rows, now_us).column(0).combine_chunks()
            return
        except SqlError as error:
            if error.sqlstate.startswith(ENDINGS):
                raise
            mark = self._mark(error)
        half = rows.num_rows // 2
        if not half:
            yield mark
            return
        yield from self._pieces(expression, rows.slice(0, half), now_us)
        yield from self._pieces(expression, rows.slice(half), now_us)

    def _can_be_tried(self, expression: Expression) -> bool:
        try:
            self._run(self._trial(expression), self._rows_of(None), 0)
        except SqlError as error:
            if error.sqlstate != "0A000":
                raise
            return False
        return True


def _over(expression: Expression, read: Sequence[int]) -> Expression:
    """Return an expression over the columns at the places `read` alone."""
    return rewrite(
        expression, lambda part: replace(part, index=read.index(part.index)) if isinstance(part, Column) else None
    )


def _before(place: int, count: int) -> int:
    """Return a place in a morsel at whose end `count` arrays have been put."""
    if place < 0:
        return ~_before(~place, count)
    return place - count if place > FIRST_FROM_END else place


def _joined(morsel: Morsel, computed: Morsel, layout: Layout) -> ComputedRows:
    """Return the rows with computed columns, in the forms that kernels take."""
    data = [np.require(array, requirements=WRITABLE) for array in computed.data]
    nulls = [np.require(array, requirements=WRITABLE) for array in computed.nulls]
    heap = morsel.heap
    if len(computed.heap):
        heap = np.concatenate([morsel.heap, computed.heap])
        for column, words in zip(layout, data, strict=True):
            if column.physical == PhysicalType.TEXT:
                shift_strings(words, len(morsel.heap))
    return ComputedRows(morsel.rows_count, (*morsel.data, *data), (*morsel.nulls, *nulls), heap)
