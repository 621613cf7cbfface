"""The results of one group as fields of a DataRow, for reads of a single group, where arrays take
longer than the work.

Enters: the words of a row of a group table. Leaves: bytes, the same as `ringbuffer.encode` makes of
`export.groups`. Only the common types and aggregates are read so. Must not change the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import c_float
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.encode.binary import GROUPS_MAX, NUMERIC_BYTES_MAX, encode_numerics
from ringbuffer.encode.encoded_column import ALL_VALID, frozen
from ringbuffer.encode.text import render_dates, render_timestamps, render_zoned_timestamps
from ringbuffer.groups.aggregate_results import decimal_averages
from ringbuffer.groups.aggregates import State
from ringbuffer.groups.hash_table import GroupTable
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK, NUMERIC_DIGITS_MAX
from ringbuffer.memory.error_codes import OK
from ringbuffer.scalar.calendars.calendar import DATE_INFINITY, EPOCH_2000_DAYS, EPOCH_2000_US, TIMESTAMP_INFINITY
from ringbuffer.scalar.calendars.time_zones import zone_table
from ringbuffer.scalar.numbers.numeric import BASE_DIGITS
from ringbuffer.scalar.numbers.shortest_float import FLOAT_BYTES_MAX, render_float4, render_float8
from ringbuffer.scalar.texts.put_values import DATE_BYTES_MAX, TIMESTAMP_BYTES_MAX
from sql.functions.constants import decimal_text
from sql.functions.table import AGGREGATE_ROWS
from sql.types.datatypes import SqlType
from views.codegen.grouping import AggregateSlot, Grouping, KeySlot
from views.codegen.values import FLOATS, INTEGERS, TEXTS, TIMES
from views.upkeep.export.groups import ENTRY_AT, MASK_AT

TEXT_FORMAT, BINARY_FORMAT = 0, 1
WORD_MASK = (1 << 64) - 1
INTEGER_BYTES = {"int2": 2, "int4": 4, "int8": 8}
# How values of a fixed size are sent in binary form.
PACKED = {"int2": ">h", "int4": ">i", "int8": ">q", "float4": ">f", "float8": ">d", "bool": ">?", "date": ">i"}
# Types whose values are one word of a group.
ONE_WORD = INTEGERS | TIMES | {"bool"}
FLOAT_STATES = {"sum": 1, "avg": 2}

# From the words of a row, and the table that has its long texts, to a value, None for NULL: an int,
# a float, bytes of a text, or a number and how many of its digits are after the point.
Value = int | float | bytes | tuple[int, int] | None
Reader = Callable[[list[int], GroupTable], Value]
Field = Callable[[list[int], GroupTable], bytes | None]
WORD, DOUBLE = Struct("<q"), Struct("<d")


class UnreadableError(Exception):
    """A result that only the general way can tell, or its error."""


class HeldUpError(UnreadableError):
    """Others merge or export: a reader has to wait."""


def field(grouping: Grouping, place: int, format_code: int, zone: str) -> Field | None:
    """Return what makes the field of a column of groups, keys first; None: arrays make it.

    zone: of the reader.
    """
    count = len(grouping.keys)
    if place < count:
        kind, read = grouping.keys[place].type, key_reader(grouping.keys[place])
    else:
        slot = grouping.aggregates[place - count]
        kind, read = slot.call.type, aggregate_reader(grouping, slot)
    form = None if read is None else form_of(kind, format_code, zone)
    if read is None or form is None:
        return None
    reader, formed = read, form

    def made(words: list[int], table: GroupTable) -> bytes | None:
        value = reader(words, table)
        return None if value is None else formed(value)

    return made


def form_of(kind: SqlType, format_code: int, zone: str) -> Callable[[Any], bytes] | None:
    """Return what makes bytes of a value of a type."""
    family = kind.family
    if kind.enum is not None or kind.record is not None:
        return None
    if family in TEXTS:
        return bytes
    if format_code == BINARY_FORMAT:
        return binary_numeric() if family == "numeric" else packed(family)
    if family in INTEGERS:
        return lambda value: b"%d" % value
    match family:
        case "numeric":
            return numeric_text
        case "bool":
            return lambda value: b"t" if value else b"f"
        case "float8":
            return rendered(render_float8, np.zeros(1), np.int64, FLOAT_BYTES_MAX)
        case "float4":
            return rendered(render_float4, np.zeros(1, np.float32), np.int32, FLOAT_BYTES_MAX)
        case "date":
            return rendered(render_dates, np.zeros(1, np.int32), np.int32, DATE_BYTES_MAX)
        case "timestamp":
            return rendered(render_timestamps, np.zeros(1, np.int64), np.int64, TIMESTAMP_BYTES_MAX)
        case "timestamptz":
            zoned = zone_table(zone)
            return rendered(render_zoned_timestamps, np.zeros(1, np.int64), np.int64, TIMESTAMP_BYTES_MAX, *zoned)
    return None


def numeric_text(value: tuple[int, int]) -> bytes:
    """Return the text of a decimal. Raises UnreadableError for NaN and the infinities."""
    if value[1] < 0:
        raise UnreadableError
    return decimal_text(*value).encode()


def rendered(
    render: Callable[..., object], value: npt.NDArray[Any], given: Any, bytes_max: int, *more: npt.NDArray[Any]
) -> Callable[[Any], bytes]:
    """Return what writes one value with the kernel of columns, in the same memory each time.

    value: the memory; given: its dtype, as the kernel takes it.
    """
    values = frozen(value.view(given))
    out, ends = np.empty(bytes_max, dtype=np.uint8), np.zeros(2, dtype=np.int64)

    def form(one: Any) -> bytes:
        value[0] = one
        render(values, *more, ALL_VALID, out, ends)
        return out[: ends.item(1)].tobytes()

    return form


def binary_numeric() -> Callable[[tuple[int, int]], bytes]:
    """Return what makes the binary form of a decimal."""
    words, scales = np.zeros(2, dtype=np.uint64), np.zeros(1, dtype=np.int16)
    given = frozen(words.view(np.int64)), frozen(scales.view())
    digits = np.zeros(BASE_DIGITS * GROUPS_MAX, dtype=np.uint8)
    out, ends = np.empty(NUMERIC_BYTES_MAX, dtype=np.uint8), np.zeros(2, dtype=np.int64)

    def form(value: tuple[int, int]) -> bytes:
        number, scales[0] = value
        words[0], words[1] = number & WORD_MASK, number >> 64 & WORD_MASK
        encode_numerics(*given, ALL_VALID, digits, out, ends)
        return out[: ends.item(1)].tobytes()

    return form


def packed(family: str) -> Callable[[Any], bytes] | None:
    """Return what makes the binary form of a value of a fixed size."""
    match family:
        case "date":
            infinity, epoch = DATE_INFINITY, EPOCH_2000_DAYS
        case "timestamp" | "timestamptz":
            infinity, epoch = TIMESTAMP_INFINITY, EPOCH_2000_US
        case _:
            return Struct(PACKED[family]).pack if family in PACKED else None
    pack = Struct(PACKED.get(family, ">q")).pack

    def form(value: int) -> bytes:
        if abs(value) == infinity:
            return pack(infinity if value > 0 else -infinity - 1)
        return pack(value - epoch)

    return form


def key_reader(key: KeySlot) -> Reader | None:
    """Return the reader of a key."""
    at, bit = ENTRY_AT + key.word, 1 << key.null_bit
    if key.type.family in ONE_WORD:
        return lambda words, _: None if words[MASK_AT] & bit else words[at]
    if key.type.family in FLOATS:
        assert key.shown_word is not None
        shown_at = ENTRY_AT + key.shown_word
        return lambda words, _: None if words[MASK_AT] & bit else double(words[shown_at])
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
    if slot.state in (State.MIN_INTEGER, State.MAX_INTEGER, State.ANY_TRUE) and kind.family in ONE_WORD:
        return lambda words, _: words[at] if words[seen_at] else None
    if slot.state is State.ANY_FALSE:
        return lambda words, _: words[at] == 0 if words[seen_at] else None
    if slot.state in (State.MIN_TEXT, State.MAX_TEXT) and kind.family in TEXTS:
        return lambda words, table: text_at(words, at, table) if words[seen_at] else None
    if slot.state in (State.MIN_FLOAT, State.MAX_FLOAT):
        return lambda words, _: double(words[at]) if words[seen_at] else None
    if slot.state in (State.MIN_NUMERIC, State.MAX_NUMERIC):
        shown = kind.display_scale
        if not kind.is_variable_numeric and shown is not None:
            return lambda words, _: (wide(words, at), shown) if words[seen_at] else None
        return lambda words, _: (wide(words, at), words[at + 2]) if words[seen_at] else None
    if AGGREGATE_ROWS[slot.call.function].final not in ("total", "average"):
        return None
    if kind.family in FLOATS:
        return lambda words, _: float_result(words, at, seen_at, slot.call.function, kind.family)
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


def double(word: int) -> float:
    """Return the float64 with the bits of a word."""
    number: float = DOUBLE.unpack(WORD.pack(word))[0]
    return number


def float_result(words: Sequence[int], at: int, seen_at: int, function: str, family: str) -> float | None:
    """Return a sum or an average of floats. Raises UnreadableError where it is out of range."""
    if not words[seen_at]:
        return None
    value = double(words[at])
    if function == "avg":
        value /= words[seen_at]
    if words[at + FLOAT_STATES[function]]:
        raise UnreadableError
    return c_float(value).value if family == "float4" else value


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
