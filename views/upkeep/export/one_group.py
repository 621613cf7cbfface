"""The results of one group as fields of a DataRow, for reads of a single group, where arrays take
longer than the work.

Enters: the words of a row of a group table. Leaves: bytes, the same as `ringbuffer.encode` makes of
`export.groups`. Only the common types and aggregates are read so. Must not change the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ringbuffer.groups.aggregate_results import decimal_averages
from ringbuffer.groups.aggregates import State
from ringbuffer.groups.hash_table import GroupTable
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK, NUMERIC_DIGITS_MAX
from ringbuffer.memory.error_codes import OK
from sql.functions.constants import decimal_text
from sql.functions.table import AGGREGATE_ROWS
from sql.types.datatypes import SqlType
from views.codegen.grouping import AggregateSlot, Grouping, KeySlot
from views.codegen.values import INTEGERS, TEXTS
from views.upkeep.export.groups import ENTRY_AT, MASK_AT

TEXT_FORMAT, BINARY_FORMAT = 0, 1
WORD_MASK = (1 << 64) - 1
INTEGER_BYTES = {"int2": 2, "int4": 4, "int8": 8}

# From the words of a row, and the table that has its long texts, to a value, None for NULL: an int,
# bytes of a text, or a number and how many of its digits are after the point.
Value = int | bytes | tuple[int, int] | None
Reader = Callable[[list[int], GroupTable], Value]
Field = Callable[[list[int], GroupTable], bytes | None]


class UnreadableError(Exception):
    """A result that only the general way can tell, or its error."""


def field(grouping: Grouping, place: int, format_code: int) -> Field | None:
    """Return what makes the field of a column of groups, keys first; None: arrays make it."""
    count = len(grouping.keys)
    if place < count:
        kind, read = grouping.keys[place].type, key_reader(grouping.keys[place])
    else:
        slot = grouping.aggregates[place - count]
        kind, read = slot.call.type, aggregate_reader(grouping, slot)
    form = None if read is None else form_of(kind, format_code)
    if read is None or form is None:
        return None
    reader, formed = read, form

    def made(words: list[int], table: GroupTable) -> bytes | None:
        value = reader(words, table)
        return None if value is None else formed(value)

    return made


def form_of(kind: SqlType, format_code: int) -> Callable[[Any], bytes] | None:
    """Return what makes bytes of a value of a type."""
    if kind.family in TEXTS:
        return bytes
    if kind.family in INTEGERS:
        size = INTEGER_BYTES[kind.family]
        if format_code == BINARY_FORMAT:
            return lambda value: value.to_bytes(size, "big", signed=True)
        return lambda value: b"%d" % value
    if kind.family == "numeric" and format_code == TEXT_FORMAT:
        return lambda value: decimal_text(*value).encode()
    return None


def key_reader(key: KeySlot) -> Reader | None:
    """Return the reader of a key."""
    at, bit = ENTRY_AT + key.word, 1 << key.null_bit
    if key.type.family in INTEGERS:
        return lambda words, _: None if words[MASK_AT] & bit else words[at]
    if key.type.family in TEXTS and key.shown_word is None:
        return lambda words, table: None if words[MASK_AT] & bit else text_at(words, at, table)
    if key.type.family == "numeric" and key.type.display_scale is not None:
        scale = key.type.display_scale
        return lambda words, _: None if words[MASK_AT] & bit else (wide(words, at), scale)
    return None


def aggregate_reader(grouping: Grouping, slot: AggregateSlot) -> Reader | None:
    """Return the reader of an aggregate."""
    source = grouping.inputs[slot.input]
    seen_at, kind = source.count_word, slot.call.type
    if slot.state is State.COUNT:
        return lambda words, _: words[seen_at]
    if slot.state is State.FIRST:
        return None
    at = source.states[slot.state]
    if slot.state in (State.MIN_INTEGER, State.MAX_INTEGER) and kind.family in INTEGERS:
        return lambda words, _: words[at] if words[seen_at] else None
    if slot.state in (State.MIN_TEXT, State.MAX_TEXT) and kind.family in TEXTS:
        return lambda words, table: text_at(words, at, table) if words[seen_at] else None
    if AGGREGATE_ROWS[slot.call.function].final not in ("total", "average"):
        return None
    summand = slot.call.arguments[0].type
    scale = summand.display_scale if summand.family == "numeric" else 0
    if slot.state not in (State.SUM_INTEGER, State.SUM_NUMERIC) or scale is None:
        return None
    if kind.family == "int8":
        return lambda words, _: sum_of(words, at, 63) if words[seen_at] else None
    if slot.call.function == "sum":
        return lambda words, _: (sum_of(words, at, 127), scale) if words[seen_at] else None
    if slot.call.function == "avg" and kind.family == "numeric":
        return lambda words, table: average(words, at, seen_at, scale) if words[seen_at] else None
    return None


def text_at(words: Sequence[int], at: int, table: GroupTable) -> bytes:
    """Return the bytes of a text."""
    length = words[at] & LENGTH_MASK
    if length > INLINE_BYTES_MAX:
        start = words[at + 1]
        return table.heap[start : start + length].tobytes()
    head = (words[at] >> 32) & LENGTH_MASK
    tail = words[at + 1] & WORD_MASK
    return (head | tail << 32).to_bytes(INLINE_BYTES_MAX, "little")[:length]


def wide(words: Sequence[int], at: int) -> int:
    """Return a number of 128 bits."""
    return words[at + 1] << 64 | words[at] & WORD_MASK


def sum_of(words: Sequence[int], at: int, bits: int) -> int:
    """Return a sum. Raises UnreadableError where it has more bits or digits than it may."""
    value = wide(words, at)
    if words[at + 2] or not -(1 << bits) <= value < 1 << bits or abs(value) >= 10**NUMERIC_DIGITS_MAX:
        raise UnreadableError
    return value


def average(words: Sequence[int], at: int, seen_at: int, scale: int) -> tuple[int, int]:
    """Return an average at PostgreSQL's scale. Raises UnreadableError where there is none."""
    rows = np.array((*words[at : at + 3], words[seen_at]), dtype=np.int64)
    values, scales = np.zeros((1, 2), dtype=np.int64), np.zeros(1, dtype=np.int16)
    if decimal_averages(rows, 4, 1, 0, 3, scale, values, scales, np.zeros(1, dtype=np.uint8)) != OK:
        raise UnreadableError
    return wide(values[0].tolist(), 0), int(scales[0])


def warm_up_averages() -> None:
    """Compile or load the kernel, since the event loop reads by key."""
    average((0, 0, 0, 1), 0, 3, 0)
