"""Reading of a group table: rows become columns, keys first, then the results of the aggregates.

Enters: a table and its `Grouping`. Leaves: a morsel whose texts lie in the heap of the table. All
aggregates of all groups are computed, as PostgreSQL does before HAVING; an aggregate that is out of
range is the reader's SqlError. Must not change the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.groups.aggregate_results import (
    SCALE_OF_STATE,
    bigint_sums,
    decimal_averages,
    decimal_sums,
    float_averages,
    float_sums,
    rescaled_keys,
)
from ringbuffer.groups.aggregates import LIST_BYTES_MAX, TEXT_STATES, TOO_LONG, State
from ringbuffer.groups.first_rows import join_texts
from ringbuffer.groups.hash_table import Words
from ringbuffer.groups.sketches import NOT_OF_ONE_KIND
from ringbuffer.memory.columns import DTYPES, INLINE_BYTES_MAX, LENGTH_MASK, Morsel, PhysicalType
from ringbuffer.memory.error_codes import MESSAGES, OK
from sql.errors import SqlError
from sql.functions.table import AGGREGATE_ROWS
from sql.types.datatypes import SqlType
from views.codegen.grouping import AggregateSlot, FirstRow, Grouping, InputSlot, KeySlot
from views.codegen.values import FLOATS, is_string
from views.model.text import aggregate_text
from views.upkeep.export.variances import decimal_results, float_results
from views.upkeep.partitions import ReadTable

Array = npt.NDArray[Any]
Columns = list[tuple[Array, npt.NDArray[np.uint8]]]
# So many groups whose aggregates are out of range are told apart from the others; a view with more
# of them can't be read.
UNMADE_MAX = 1_000

ENTRY_AT = 1  # the entry comes after the hash
MASK_AT = 1
NO_BYTES = np.zeros(0, dtype=np.uint8)


def read_groups(table: ReadTable, grouping: Grouping) -> Morsel:
    """Return the groups as columns, in the layout of `export.to_arrow.morsel_layout`."""
    reader = GroupReader(table.rows, table.groups_count, grouping, table.heap)
    columns: Columns = []
    for key in grouping.keys:
        columns += reader.key(key)
    for slot in grouping.aggregates:
        columns += reader.aggregate(slot)
    return _morsel(columns, reader)


def read_made_groups(tables: Sequence[ReadTable], grouping: Grouping) -> tuple[list[Morsel], list[int]]:
    """Return the groups of each table, some of which have aggregates out of range, and the numbers
    of these columns.

    The columns are those of `read_groups`, and for each column with such an aggregate one more:
    int64, 1 for the groups in question, whose aggregate is NULL. Raises SqlError for more than
    UNMADE_MAX groups.
    """
    readers = [GroupReader(table.rows, table.groups_count, grouping, table.heap) for table in tables]
    starts = np.cumsum([0, *(reader.count for reader in readers)]).tolist()
    made: list[Columns] = [[column for key in grouping.keys for column in reader.key(key)] for reader in readers]
    unmade: list[int] = []
    flags: list[Array] = []
    for place, slot in enumerate(grouping.aggregates, len(grouping.keys)):
        bad: list[int] = []
        for reader, columns, start in zip(readers, made, starts, strict=False):
            columns += reader.made_aggregate(slot, start, bad)
        if bad:
            unmade.append(place)
            flag = np.zeros(starts[-1], dtype=np.int64)
            flag[bad] = 1
            flags.append(flag)
    for reader, columns, start in zip(readers, made, starts, strict=False):
        of_none = np.zeros(reader.count, dtype=np.uint8)
        columns += [(flag[start : start + reader.count], of_none) for flag in flags]
    return [_morsel(columns, reader) for columns, reader in zip(made, readers, strict=True)], unmade


def _morsel(columns: Columns, reader: GroupReader) -> Morsel:
    data, nulls = tuple(values for values, _ in columns), tuple(nulls for _, nulls in columns)
    heap = np.concatenate([reader.heap, *reader.joined]) if reader.joined else reader.heap
    return Morsel(reader.count, data, nulls, heap)


class GroupReader:
    """A reader of the first `count` rows of a table.

    Attributes:
        joined: what comes after the table's heap in that of the columns: lists of first rows.
    """

    def __init__(self, rows: Words, count: int, grouping: Grouping, heap: npt.NDArray[np.uint8] = NO_BYTES) -> None:
        self.grouping = grouping
        self.count = count
        self.heap = heap
        self.joined: list[npt.NDArray[np.uint8]] = []
        self.row_words = grouping.table.row_words
        self.words = rows
        self.rows = self.words[: self.count * self.row_words].reshape(self.count, self.row_words)

    def key(self, key: KeySlot) -> Columns:
        """Return the column of a key, and the column of its scales if they vary."""
        nulls = ((self.rows[:, MASK_AT] >> key.null_bit) & 1).astype(np.uint8)
        at = ENTRY_AT + key.word
        family = key.type.family
        if family in FLOATS:
            assert key.shown_word is not None
            floats = np.ascontiguousarray(self.rows[:, ENTRY_AT + key.shown_word]).view(np.float64)
            return [(floats.astype(dtype_of(key.type)), nulls)]
        if is_string(key.type) and key.shown_word is not None:
            at = ENTRY_AT + key.shown_word
        if is_string(key.type) or (family == "numeric" and key.shown_word is None):
            return [(self.rows[:, at : at + 2].copy(), nulls)]
        if family == "numeric":
            assert key.shown_word is not None
            shown_at = ENTRY_AT + key.shown_word
            values = np.zeros((self.count, 2), dtype=np.int64)
            rescaled_keys(self.words, self.row_words, self.count, at, shown_at, values)
            return [(values, nulls), (self.rows[:, shown_at].astype(np.int16), np.zeros_like(nulls))]
        return [(self.rows[:, at].astype(dtype_of(key.type)), nulls)]

    def made_aggregate(self, slot: AggregateSlot, start: int, bad: list[int]) -> Columns:
        """Return the columns of `aggregate`, with NULL for the groups that fail.

        The numbers of these groups, from `start` on, are added to `bad`. The rows are read in
        halves to find them. Raises SqlError for the group after UNMADE_MAX groups.
        """
        try:
            return self.aggregate(slot)
        except SqlError:
            if len(bad) == UNMADE_MAX:
                raise
        if self.count == 1:
            bad.append(start)
            of_no_values = self.words[: self.row_words].copy()
            of_no_values[self.grouping.inputs[slot.input].count_word] = 0
            return GroupReader(of_no_values, 1, self.grouping).aggregate(slot)
        middle = self.count // 2
        lower = GroupReader(self.words, middle, self.grouping)
        upper = GroupReader(self.words[middle * self.row_words :], self.count - middle, self.grouping)
        halves = [lower.made_aggregate(slot, start, bad), upper.made_aggregate(slot, start + middle, bad)]
        return [
            (np.concatenate([left, right]), np.concatenate([left_nulls, right_nulls]))
            for (left, left_nulls), (right, right_nulls) in zip(*halves, strict=True)
        ]

    def aggregate(self, slot: AggregateSlot) -> Columns:
        """Return the column of an aggregate, and the column of its scales if they vary."""
        source = self.grouping.inputs[slot.input]
        nulls = np.zeros(self.count, dtype=np.uint8)
        if slot.state is State.COUNT:
            return [(self.rows[:, source.count_word].copy(), nulls)]
        if slot.state is State.FIRST:
            return self._of_first_row(slot)
        at, seen_at = source.states[slot.state], source.count_word
        final = AGGREGATE_ROWS[slot.call.function].final
        if final in ("total", "average"):
            return self._total(slot, at, seen_at, nulls)
        if final == "floats" or (final == "variance" and slot.state is State.AVERAGE_FLOAT):
            floats, missing, error = float_results(self.rows, at, seen_at, slot.call.function)
            check(error, slot)
            return [(floats, missing)]
        if final == "variance":
            return self._variance(slot, source, nulls)
        nulls[:] = self.rows[:, seen_at] == 0
        if slot.state in (State.LIST, State.TOP) and (self.rows[nulls == 0, at + 2] == TOO_LONG).any():
            raise too_long(slot)
        if slot.state is State.COMBINED and (self.rows[nulls == 0, at + 2] == TOO_LONG).any():
            raise SqlError("22023", NOT_OF_ONE_KIND, context=f"aggregate {aggregate_text(slot.call)}")
        if slot.state is State.ANY_FALSE:
            return [((self.rows[:, at] == 0).astype(np.uint8), nulls)]
        if slot.state in (State.MIN_FLOAT, State.MAX_FLOAT):
            floats = np.ascontiguousarray(self.rows[:, at]).view(np.float64)
            return [(floats.astype(dtype_of(slot.call.type)), nulls)]
        if slot.state in {State.MIN_NUMERIC, State.MAX_NUMERIC, *TEXT_STATES}:
            values = self.rows[:, at : at + 2].copy()
            scales = self.rows[:, at + 2].astype(np.int16) if slot.call.type.is_variable_numeric else None
            return [(values, nulls)] if scales is None else [(values, nulls), (scales, np.zeros_like(nulls))]
        return [(self.rows[:, at].astype(dtype_of(slot.call.type)), nulls)]

    def _of_first_row(self, slot: AggregateSlot) -> Columns:
        """Return one column of first rows of the groups."""
        first = self.grouping.firsts[slot.first]
        number = first.place_of(slot.call)
        if first.rows_max:
            return self._of_first_rows(slot, first, first.values[number].word)
        nulls = ((self.rows[:, first.mask_word] >> number) & 1).astype(np.uint8)
        nulls |= self.rows[:, self.grouping.inputs[first.input].count_word] == 0
        at, kind = first.values[number].word, slot.call.type
        if kind.family in FLOATS:
            return [(np.ascontiguousarray(self.rows[:, at]).view(np.float64).astype(dtype_of(kind)), nulls)]
        if is_string(kind) or kind.family == "numeric":
            values = self.rows[:, at : at + 2].copy()
            scales = self.rows[:, at + 2].astype(np.int16) if kind.is_variable_numeric else None
            return [(values, nulls)] if scales is None else [(values, nulls), (scales, np.zeros_like(nulls))]
        return [(self.rows[:, at].astype(dtype_of(kind)), nulls)]

    def _of_first_rows(self, slot: AggregateSlot, first: FirstRow, at: int) -> Columns:
        """Return the column of the lists of the elements at a word of the first rows."""
        lists, seen_at = np.zeros((self.count, 2), dtype=np.int64), self.grouping.inputs[first.input].count_word
        place = (self.words, self.row_words, at, first.row_words, first.rows_max, seen_at, self.heap.ctypes.data)
        size = join_texts(*place, 0, lists)
        if size == TOO_LONG:
            raise too_long(slot)
        found = np.empty(max(size, 1), dtype=np.uint8)
        join_texts(*place, found.ctypes.data, lists)
        lists[(lists[:, 0] & LENGTH_MASK) > INLINE_BYTES_MAX, 1] += len(self.heap) + sum(map(len, self.joined))
        self.joined.append(found)
        return [(lists, (self.rows[:, seen_at] == 0).astype(np.uint8))]

    def _variance(self, slot: AggregateSlot, source: InputSlot, nulls: npt.NDArray[np.uint8]) -> Columns:
        """Return a variance or a deviation."""
        function, summand = slot.call.function, slot.call.arguments[0].type
        place = (self.words, self.row_words, self.count, source.states[State.SUM_INTEGER], source.count_word)
        scale = (summand.display_scale or 0) if summand.family == "numeric" else 0
        values, scales, error = decimal_results(place, source.states[slot.state], scale, function, nulls)
        check(error, slot)
        return [(values, nulls), (scales, np.zeros_like(nulls))]

    def _total(self, slot: AggregateSlot, at: int, seen_at: int, nulls: npt.NDArray[np.uint8]) -> Columns:
        """Return a sum or an average."""
        place = (self.words, self.row_words, self.count, at, seen_at)
        result = slot.call.type
        if result.family == "int8":
            integers = np.zeros(self.count, dtype=np.int64)
            check(bigint_sums(*place, integers, nulls), slot)
            return [(integers, nulls)]
        if result.family in FLOATS:
            floats = np.zeros(self.count, dtype=np.float64)
            read = float_averages if slot.call.function == "avg" else float_sums
            check(read(*place, floats, nulls), slot)
            return [(floats.astype(dtype_of(result)), nulls)]
        summand = slot.call.arguments[0].type
        scale = summand.display_scale if summand.family == "numeric" else 0
        values = np.zeros((self.count, 2), dtype=np.int64)
        scales = np.zeros(self.count, dtype=np.int16)
        compute = decimal_averages if slot.call.function == "avg" else decimal_sums
        check(compute(*place, SCALE_OF_STATE if scale is None else scale, values, scales, nulls), slot)
        if result.is_variable_numeric:
            return [(values, nulls), (scales, np.zeros_like(nulls))]
        return [(values, nulls)]


def check(error: int, slot: AggregateSlot) -> None:
    """Raise the SqlError of an error code."""
    if error != OK:
        sqlstate, message = MESSAGES[error]
        raise SqlError(sqlstate, message, context=f"aggregate {aggregate_text(slot.call)}")


def too_long(slot: AggregateSlot) -> SqlError:
    """Return the error of a list that no reader can have."""
    text = f"aggregate {aggregate_text(slot.call)}"
    return SqlError("54000", f"array size exceeds the maximum allowed ({LIST_BYTES_MAX})", context=text)


def dtype_of(kind: SqlType) -> str:
    """Return the dtype of the physical form of a type, by numpy's name."""
    return DTYPES[PhysicalType(kind.row.kernel)]
