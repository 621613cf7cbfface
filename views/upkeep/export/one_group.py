"""The results of one group as a DataRow message, for reads of a single group, where arrays take
longer than the work.

Enters: the words of a row of a group table. Leaves: bytes, the same as `ringbuffer.encode` makes of
`export.groups`. Only the common types and aggregates are read so. Must not change the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ringbuffer.compile.jit import entry_of
from ringbuffer.encode.one_row import Form, new_scratch, put_row
from ringbuffer.groups.aggregates import State
from ringbuffer.groups.hash_table import HEAP_ADDRESS, GroupTable
from ringbuffer.groups.one_result import ALWAYS, COUNTED, RESULT_WORDS, VALUE_WORDS, Source, row_results
from ringbuffer.memory.error_codes import OK
from ringbuffer.scalar.calendars.time_zones import zone_table
from sql.functions.table import AGGREGATE_ROWS
from sql.types.datatypes import SqlType
from views.codegen.grouping import AggregateSlot, Grouping, KeySlot
from views.codegen.values import FLOATS, INTEGERS, TEXTS, TIMES
from views.upkeep.export.groups import ENTRY_AT, MASK_AT

BINARY_FORMAT = 1
INTEGER_BYTES = {"int2": 2, "int4": 4, "int8": 8}
# Types whose values are one word of a group.
ONE_WORD = INTEGERS | TIMES | {"bool"}
# How values are sent, as text and in binary form.
FORMS = {
    **dict.fromkeys(TEXTS, (Form.RAW, Form.RAW)),
    "int2": (Form.INTEGER, Form.BYTES_2),
    "int4": (Form.INTEGER, Form.BYTES_4),
    "int8": (Form.INTEGER, Form.BYTES_8),
    "bool": (Form.BOOL, Form.BYTES_1),
    "float4": (Form.FLOAT4, Form.FLOAT4_BINARY),
    "float8": (Form.FLOAT8, Form.BYTES_8),
    "date": (Form.DATE, Form.DATE_BINARY),
    "timestamp": (Form.TIMESTAMP, Form.TIMESTAMP_BINARY),
    "timestamptz": (Form.ZONED_TIMESTAMP, Form.TIMESTAMP_BINARY),
    "numeric": (Form.NUMERIC, Form.NUMERIC_BINARY),
}
# Where a result is, as `row_results` takes it.
Place = tuple[int, ...]


class UnreadableError(Exception):
    """A result that only the general way can tell, or its error."""


class HeldUpError(UnreadableError):
    """Others merge or export: a reader has to wait."""


class OneGroup:
    """The maker of the rows of one group after the other, on one thread.

    Arguments:
        places: the columns of groups that are shown, keys first.
        formats: of their fields, 0 text, 1 binary.
        zone: of the reader.
    """

    def __init__(self, grouping: Grouping, places: Sequence[int], formats: Sequence[int], zone: str) -> None:
        """Raises UnreadableError where arrays have to make a field."""
        shown = [result(grouping, place) for place in places]
        forms = [form_of(kind, code) for (kind, _), code in zip(shown, formats, strict=True)]
        self._results = np.array([place for _, place in shown], dtype=np.int64).reshape(-1, RESULT_WORDS)
        self._values = np.zeros((len(shown), VALUE_WORDS), dtype=np.int64)
        self._forms = np.array(forms, dtype=np.int64)
        self._scratch, self._zone = new_scratch(), zone_table(zone)
        self._out = self._scratch.out.data
        self._find, self._put = entries()

    def data_row(self, table: GroupTable) -> bytes:
        """Return the DataRow of the first group of a table. Raises UnreadableError."""
        size = 0
        if self._find(table.rows, self._results, self._values) == OK:
            size = self._put(self._values, self._forms, table.control.item(HEAP_ADDRESS), self._scratch, self._zone)
        if not size:
            raise UnreadableError
        return self._out[:size].tobytes()


@cache
def entries() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the machine code of the kernels: to find out their types takes as long as their
    work.
    """
    words, table = np.zeros(1, dtype=np.int64), np.zeros((1, VALUE_WORDS), dtype=np.int64)
    return (
        entry_of(row_results, words, table, table),
        entry_of(put_row, table, words, 0, new_scratch(), zone_table("UTC")),
    )


def form_of(kind: SqlType, format_code: int) -> Form:
    """Return how values of a type are sent. Raises UnreadableError."""
    if kind.enum is not None or kind.record is not None or kind.family not in FORMS:
        raise UnreadableError
    return FORMS[kind.family][format_code == BINARY_FORMAT]


def result(grouping: Grouping, place: int) -> tuple[SqlType, Place]:
    """Return the type of a column of groups, keys first, and where it is. Raises
    UnreadableError.
    """
    count = len(grouping.keys)
    if place < count:
        key = grouping.keys[place]
        return key.type, key_place(key)
    slot = grouping.aggregates[place - count]
    return slot.call.type, aggregate_place(grouping, slot)


def key_place(key: KeySlot) -> Place:
    """Return where a key is."""
    family, word, null = key.type.family, ENTRY_AT + key.word, (MASK_AT, key.null_bit)
    if family in ONE_WORD:
        return Source.WORD, word, *null, 0
    if family in FLOATS and key.shown_word is not None:
        return Source.WORD, ENTRY_AT + key.shown_word, *null, 0
    if family in TEXTS and key.shown_word is None:
        return Source.PAIR, word, *null, 0
    if family == "numeric" and key.type.display_scale is not None:
        return Source.PAIR, word, *null, key.type.display_scale
    raise UnreadableError


def aggregate_place(grouping: Grouping, slot: AggregateSlot) -> Place:
    """Return where an aggregate is."""
    source = grouping.inputs[slot.input]
    seen_at, kind, state = source.count_word, slot.call.type, slot.state
    if state is State.COUNT:
        return Source.WORD, seen_at, seen_at, ALWAYS, 0
    if state is State.FIRST:
        raise UnreadableError
    at, seen = source.states[state], (seen_at, COUNTED)
    if state in (State.MIN_INTEGER, State.MAX_INTEGER, State.ANY_TRUE) and kind.family in ONE_WORD:
        return Source.WORD, at, *seen, 0
    if state is State.ANY_FALSE:
        return Source.IS_ZERO, at, *seen, 0
    if state in (State.MIN_TEXT, State.MAX_TEXT) and kind.family in TEXTS:
        return Source.PAIR, at, *seen, 0
    if state in (State.MIN_FLOAT, State.MAX_FLOAT):
        return Source.WORD, at, *seen, 0
    if state in (State.MIN_NUMERIC, State.MAX_NUMERIC):
        shown = kind.display_scale
        if kind.is_variable_numeric or shown is None:
            return Source.SCALED_PAIR, at, *seen, 0
        return Source.PAIR, at, *seen, shown
    if AGGREGATE_ROWS[slot.call.function].final not in ("total", "average"):
        raise UnreadableError
    is_average = slot.call.function == "avg"
    if kind.family in FLOATS:
        return Source.FLOAT_AVERAGE if is_average else Source.FLOAT_SUM, at, *seen, 0
    summand = slot.call.arguments[0].type
    scale = summand.display_scale if summand.family == "numeric" else 0
    if state not in (State.SUM_INTEGER, State.SUM_NUMERIC) or scale is None:
        raise UnreadableError
    if kind.family == "int8":
        return Source.BIGINT_SUM, at, *seen, 0
    if kind.family == "numeric" and slot.call.function in ("sum", "avg"):
        return Source.DECIMAL_AVERAGE if is_average else Source.DECIMAL_SUM, at, *seen, scale
    raise UnreadableError
