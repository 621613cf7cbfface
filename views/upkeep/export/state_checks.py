"""The check of states that come from anywhere: whatever their bytes are, no kernel that merges or
reads them leaves its arrays, and no reader gets a value that its type does not have.

Enters: rows of a group table whose texts lie in its heap. Leaves: nothing, or a refusal. Words that
mean nothing (of NULLs, of aggregates that have counted nothing) become 0. What the words say of
each other is not looked at: who may import states may insert rows as well. Must not merge.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ringbuffer.groups.aggregates import SKETCHES, TOO_LONG, WORDS, State
from ringbuffer.groups.hash_table import HEAP_ADDRESS, GroupTable, Words
from ringbuffer.groups.sketches import QUANTILES_KIND, TOP_KIND, WORDS_KIND, sketch_kind
from ringbuffer.memory.arrow import morsel_to_arrow
from ringbuffer.memory.columns import LENGTH_MASK, NUMERIC_DIGITS_MAX, ColumnLayout, Morsel, PhysicalType
from ringbuffer.scalar.calendars.calendar import (
    DATE_DAYS_END,
    DATE_DAYS_MIN,
    TIMESTAMP_INFINITY,
    TIMESTAMP_US_END,
    TIMESTAMP_US_MIN,
)
from ringbuffer.scalar.numbers.numeric import SPECIAL_SCALE
from ringbuffer.scalar.texts.sketches import RANK_BITS, REGISTERS
from sql import interrupts
from sql.errors import SqlError
from sql.tree.expressions import Call
from sql.types.datatypes import SqlType, array_of
from sql.values.literals import input_value
from views.codegen.grouping import FirstRow, Grouping, InputSlot
from views.codegen.values import FLOATS, is_string
from views.model.arrow_schema import arrow_type
from views.model.nodes import ELEMENT

Flags = npt.NDArray[np.bool_]
# (which rows are fine, what is wrong with the others).
Require = Callable[[Flags, str], None]

COUNT_END = 1 << 56
DAY_US = 86_400_000_000
INT32 = (-(1 << 31), 1 << 31)
# The first value of each type of one word, and the first one after the last.
RANGES = {
    "bool": (0, 2),
    "int2": (-(1 << 15), 1 << 15),
    "int4": INT32,
    "oid": (0, 1 << 32),
    "date": (DATE_DAYS_MIN, DATE_DAYS_END),
    "time": (0, DAY_US + 1),
    "timestamp": (TIMESTAMP_US_MIN, TIMESTAMP_US_END),
    "timestamptz": (TIMESTAMP_US_MIN, TIMESTAMP_US_END),
}
DATE_INFINITIES = (-(1 << 31), (1 << 31) - 1)
INFINITIES = {
    "date": DATE_INFINITIES,
    "timestamp": (-TIMESTAMP_INFINITY - 1, TIMESTAMP_INFINITY),
    "timestamptz": (-TIMESTAMP_INFINITY - 1, TIMESTAMP_INFINITY),
}
# Texts of which any are values.
PLAIN = frozenset({"text", "varchar", "bpchar", "name", "unknown"})
SIZES = {"bool": 1, "int2": 2, "int4": 4, "int8": 8, "float4": 4, "float8": 8, "date": 4, "time": 8, "timestamp": 8}
SIZES |= {"timestamptz": 8, "oid": 8, "interval": 16, "timetz": 12}
ONE_BIT = {State.ANY_FALSE: 0, State.ANY_TRUE: 0, State.SUM_FLOAT64: 1, State.SUM_FLOAT32: 1, State.PAIRS: 6}
ONE_BIT |= {State.AVERAGE_FLOAT: 2}
BYTES_LAYOUT = (ColumnLayout("value", PhysicalType.TEXT, value_form=pa.binary()),)


def refuse_strange(table: GroupTable, grouping: Grouping, require: Require) -> None:
    """Raise what `require` raises for the first row that no rows of a stream make."""
    width = grouping.table.row_words
    rows = table.rows[: table.groups_count * width].reshape(-1, width)
    _Check(rows, table, require).all(grouping)


class _Check:
    """The check of some rows."""

    def __init__(self, rows: Words, table: GroupTable, require: Require) -> None:
        self.rows = rows
        self.heap = table.heap
        self.address = int(table.control[HEAP_ADDRESS])
        self.require = require

    def all(self, grouping: Grouping) -> None:
        """Check keys and states."""
        rows, masks = self.rows, self.rows[:, 1]
        self.require((masks >= 0) & (masks >> len(grouping.keys) == 0), "its NULLs are no keys'")
        for key in grouping.keys:
            is_null = (masks >> key.null_bit) & 1 != 0
            words = [key.word]
            if is_string(key.type):
                words += [key.word + 1]
            elif key.type.family == "numeric":
                words += [key.word + 1] + ([key.word + 2] if key.type.is_variable_numeric else [])
            shown = key.shown_word
            if shown is not None:
                words += [shown] + ([shown + 1] if is_string(key.type) else [])
            for word in words:
                rows[is_null, 1 + word] = 0
            if is_string(key.type):
                if shown is not None:
                    self.texts(1 + key.word, None, ~is_null)
                self.texts(1 + (key.word if shown is None else shown), key.type, ~is_null)
            elif key.type.family == "numeric":
                scale = None
                if shown is not None:
                    self.scale(1 + key.word + 2, ~is_null)
                    self.scale(1 + shown, ~is_null)
                    scale = 1 + key.word + 2
                self.decimal(1 + key.word, scale, ~is_null)
            elif key.type.family not in FLOATS:
                self.words(1 + key.word, key.type, ~is_null)
        for slot in grouping.inputs:
            self.input(slot)
        for first in grouping.firsts:
            self.first(first, grouping.inputs[first.input])

    def input(self, slot: InputSlot) -> None:
        """Check the states of an input."""
        counts = self.rows[:, slot.count_word]
        self.require((counts >= 0) & (counts < COUNT_END), "a count is out of range")
        counted = counts > 0
        for state, word in slot.states.items():
            self.rows[~counted, word : word + WORDS[state]] = 0
            self.state(state, word, slot, counted)

    def state(self, state: State, word: int, slot: InputSlot, counted: Flags) -> None:
        """Check one kind of state."""
        rows, kind = self.rows, None if slot.argument is None else slot.argument.type
        if state in ONE_BIT:
            flags = rows[:, word + ONE_BIT[state]]
            self.require((flags == 0) | (flags == 1), "a mark is none")
        elif state is State.SUM_NUMERIC:
            self.require(
                (rows[:, word + 3] >= 0) & (rows[:, word + 3] <= NUMERIC_DIGITS_MAX), "a scale is out of range"
            )
        elif state is State.REGISTERS:
            self.registers(word, counted)
        elif state in SKETCHES:
            self.sketches(state, word, counted)
        elif state in (State.MIN_INTEGER, State.MAX_INTEGER, State.BIT_AND, State.BIT_OR, State.BIT_XOR):
            assert kind is not None
            self.words(word, kind, counted)
        elif state in (State.MIN_NUMERIC, State.MAX_NUMERIC):
            self.scale(word + 2, counted)
            self.decimal(word, word + 2, counted)
        elif state in (State.MIN_TEXT, State.MAX_TEXT, State.MIN_STORED, State.MAX_STORED):
            assert kind is not None
            self.texts(word, kind, counted)
        elif state is State.LIST:
            assert kind is not None
            # Nobody is shown a list that is too long.
            rows[rows[:, word + 2] == TOO_LONG, word : word + 2] = 0
            self.texts(word, array_of(kind), counted)

    def first(self, first: FirstRow, slot: InputSlot) -> None:
        """Check the first rows of groups."""
        rows, counts = self.rows, self.rows[:, slot.count_word]
        for number in range(max(first.rows_max, 1)):
            start = first.mask_word + number * first.row_words
            is_there = counts > number
            rows[~is_there, start : start + first.row_words] = 0
            masks = rows[:, start]
            self.require((masks >= 0) & (masks >> len(first.values) == 0), "its NULLs are no values'")
            for bit, value in enumerate(first.values):
                word, kind, known = value.word + number * first.row_words, value.expression.type, is_there.copy()
                known &= (masks >> bit) & 1 == 0
                if isinstance(value.expression, Call) and value.expression.function == ELEMENT:
                    # NULL is an element as well.
                    self.texts(word, array_of(value.expression.arguments[0].type), is_there)
                elif is_string(kind):
                    self.texts(word, kind, known)
                elif kind.family == "numeric":
                    scale = word + 2 if kind.display_scale is None else None
                    if scale is not None:
                        self.scale(scale, known)
                    self.decimal(word, scale, known)
                elif kind.family not in FLOATS:
                    self.words(word, kind, known)

    def words(self, word: int, kind: SqlType, counted: Flags) -> None:
        """Check values of one word."""
        self.require(~counted | in_range(self.rows[:, word], kind), f"a value is no {kind.sql_name}")

    def scale(self, word: int, counted: Flags) -> None:
        """Check the scales of numerics."""
        scales = self.rows[:, word]
        self.require(~counted | ((scales >= SPECIAL_SCALE) & (scales <= NUMERIC_DIGITS_MAX)), "a scale is out of range")

    def decimal(self, word: int, scale: int | None, counted: Flags) -> None:
        """Check decimals of two words."""
        high = self.rows[:, word + 1]
        # 10^38 is between the numbers with these upper halves.
        most = 10**NUMERIC_DIGITS_MAX >> 64
        fine = (high >= -most) & (high < most)
        if scale is not None:
            special = self.rows[:, scale] == SPECIAL_SCALE
            low = self.rows[:, word]
            fine = np.where(special, (low >= -1) & (low <= 2) & (low != 0) & (high == low >> 63), fine)
        self.require(~counted | fine, "a number has too many digits")

    def registers(self, word: int, counted: Flags) -> None:
        """Check the registers of HyperLogLog."""
        lengths = self.rows[:, word] & LENGTH_MASK
        self.require(~counted | (lengths == REGISTERS), "its registers are none")
        fine = ~counted
        for number in np.flatnonzero(counted).tolist():
            start = int(self.rows[number, word + 1])
            fine[number] = self.heap[start : start + REGISTERS].max() <= RANK_BITS + 1
        self.require(fine, "its registers are none")

    def sketches(self, state: State, word: int, counted: Flags) -> None:
        """Check sketches; one that was given something else may be of any kind."""
        fine = ~counted
        for number in np.flatnonzero(counted).tolist():
            w0, w1 = int(self.rows[number, word]), int(self.rows[number, word + 1])
            kind = sketch_kind(w0, w1, self.address) if w0 & LENGTH_MASK else 0
            if state is State.COMBINED:
                fine[number] = kind != 0 or self.rows[number, word + 2] == TOO_LONG
            elif state is State.QUANTILES:
                fine[number] = kind == QUANTILES_KIND
            elif state is State.TOP:
                fine[number] = kind == TOP_KIND
            else:
                fine[number] = kind >= WORDS_KIND and (kind & 1 == 1) == (state is State.FILTER)
        self.require(fine, "its sketch is none")

    def texts(self, word: int, kind: SqlType | None, counted: Flags) -> None:
        """Check values that are bytes. kind: None for bytes that nobody shows."""
        if kind is None or not counted.any():
            return
        data = np.ascontiguousarray(self.rows[counted, word : word + 2])
        morsel = Morsel(len(data), (data,), (np.zeros(len(data), dtype=np.uint8),), self.heap)
        found = morsel_to_arrow(morsel, BYTES_LAYOUT).column(0).combine_chunks().view(pa.binary())
        fine = np.ones(len(counted), dtype=bool)
        fine[counted] = are_values(found, kind)
        self.require(fine, f"a value is no {kind.sql_name}")


def in_range(values: npt.NDArray[np.int64], kind: SqlType) -> Flags:
    """Tell which words are values of a type."""
    if kind.enum is not None:
        return np.isin(values, [label.number for label in kind.enum.labels])
    if kind.family not in RANGES:
        return np.ones(len(values), dtype=bool)
    first, end = RANGES[kind.family]
    return ((values >= first) & (values < end)) | np.isin(values, INFINITIES.get(kind.family, ()))


def are_values(data: pa.Array, kind: SqlType) -> Flags:
    """Tell which strings of a `binary` column are values of a type as they are stored."""
    if not kind.is_array and kind.family in PLAIN:
        try:
            texts = data.cast(pa.string())
        except pa.ArrowInvalid:
            pass
        else:
            fine: Flags = pc.invert(pc.match_substring(texts, "\0")).to_numpy(zero_copy_only=False)
            if kind.length is not None:
                fine &= pc.utf8_length(texts).to_numpy() <= kind.length
            return fine
    coded = data.dictionary_encode()
    known: Flags = np.array([is_value(value, kind) for value in coded.dictionary.to_pylist()], dtype=bool)
    found: Flags = known[coded.indices.to_numpy()]
    return found


def is_value(data: bytes, kind: SqlType) -> bool:
    """Tell whether bytes are a value of a type, as `ringbuffer.memory.stored_values` has it."""
    try:
        if kind.is_array:
            _read_list(data, kind.element)
        else:
            _read_value(data, kind)
    except (ValueError, struct.error, SqlError):
        return False
    return True


def _read_list(data: bytes, kind: SqlType) -> None:
    at = count = 0
    while at < len(data):
        (length,) = struct.unpack_from("<i", data, at)
        at += 4
        if length >= 0:
            if at + length > len(data):
                _no_value()
            _read_value(data[at : at + length], kind)
            at += length
        elif length != -1:
            _no_value()
        count += 1
        if count & 0xFFF == 0:
            interrupts.check()


def _read_value(data: bytes, kind: SqlType) -> None:
    """Raise ValueError for bytes that are no value."""
    family = kind.family
    if kind.enum is not None or family in SIZES:
        if len(data) != (8 if kind.enum is not None else SIZES[family]):
            _no_value()
        if family == "interval" or family in FLOATS:
            return
        if family == "timetz":
            micros, west = struct.unpack("<qi", data)
            if not (0 <= micros <= DAY_US and -57_600 < west < 57_600):
                _no_value()
            return
        number = int.from_bytes(data, "little", signed=True)
        if not in_range(np.array([number]), kind).all():
            _no_value()
    elif family == "numeric":
        (scale,) = struct.unpack_from("<h", data)
        number = int.from_bytes(data[2:], "little", signed=True)
        if not (3 <= len(data) <= 18 and SPECIAL_SCALE <= scale <= NUMERIC_DIGITS_MAX):
            _no_value()
        if abs(number) >= 10**NUMERIC_DIGITS_MAX or (scale == SPECIAL_SCALE and number not in (-1, 1, 2)):
            _no_value()
    elif family != "bytea":
        text = data.decode()
        if "\0" in text:
            _no_value()
        if family in PLAIN:
            if kind.length is not None and len(text) > kind.length:
                _no_value()
        elif arrow_type(kind) != pa.string():
            raise SqlError("0A000", f"states with values of type {kind.sql_name}")
        elif str(input_value(text, kind)) != text:
            _no_value()


def _no_value() -> NoReturn:
    raise ValueError
