"""Fields whose types no decoder's kernel reads: they arrive as texts, or as the bytes of a binary
form, and are read column by column by PostgreSQL's input and receive functions.

Enters: columns, morsels of arriving fields. Leaves: Arrow columns in the forms of
`views.model.arrow_schema`, and morsels as streams store them. Must not know formats of COPY.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.streams.row_errors import shown, within
from engine.tables.arrow_values import FieldError, text_array
from engine.tables.binary_values import JSON_HEADS, received_array
from ringbuffer.decode.json_texts import one_text
from ringbuffer.decode.one_row import Reader
from ringbuffer.memory.arrow import compact_morsel, morsel_from_arrow, morsel_to_arrow, words_of
from ringbuffer.memory.columns import INLINE_BYTES_MAX, ColumnLayout, Layout, Morsel, PhysicalType, empty_column
from ringbuffer.memory.few_rows import string_at, string_words
from ringbuffer.memory.strings import shift_strings
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError, not_supported
from sql.parse.type_names import SECOND_DIGITS_MAX
from sql.times.input_styles import InputStyles
from sql.types.datatypes import OIDS_OF_NAMES, TEXT, SqlType, element_family
from sql.values.literals import apply_modifier, binary_value, input_value
from views.model.arrow_schema import column_layout
from views.model.stored_literals import stored_bytes


class ColumnError(Exception):
    """A field is no value of its column.

    Attributes:
        column: the name.
        row: its index among the rows that were read.
        text: the field, empty for a binary form.
        error: PostgreSQL's error.
    """

    def __init__(self, column: str, found: FieldError) -> None:
        super().__init__(column, found)
        self.column = column
        self.row = found.index
        self.text = found.text
        self.error = found.error

    def at(self, place: str, is_binary: bool) -> SqlError:
        """Return the error with its CONTEXT. place: the line."""
        value = "" if is_binary else f': "{shown(self.text)}"'
        self.error.context = within(self.error, f"{place}, column {self.column}{value}")
        return self.error


@dataclass(frozen=True)
class FieldReader:
    """How one statement's fields are read.

    Attributes:
        oid: returns the oid that a text of a type whose values are names of objects means; None:
            such columns are not read.
    """

    time_zone: str
    styles: InputStyles
    oid: Callable[[str, str], int] | None = None

    def column(self, column: ColumnDescription, fields: pa.Array, is_binary: bool) -> pa.Array:
        """Return arriving fields, strings or binary forms, as values of a column without a kernel.

        Raises ColumnError.
        """
        try:
            if is_binary:
                # Strings and bytes lie alike in Arrow.
                return received_array(fields.view(pa.binary()), column.type)
            if element_family(column.type.family) in OIDS_OF_NAMES:
                return self._oids(column.type, fields)
            return text_array(fields, column.type, self.time_zone, self.styles)
        except FieldError as error:
            raise ColumnError(column.name, error) from None

    def _oids(self, kind: SqlType, fields: pa.Array) -> pa.Array:
        """Return the oids of names of objects. Raises FieldError."""
        encoded = fields.dictionary_encode()
        found = []
        for place, text in enumerate(encoded.dictionary.to_pylist()):
            try:
                if self.oid is None or kind.is_array:
                    raise not_supported(f"input of the type {kind.sql_name} here", hint="INSERT takes it.")
                found.append(self.oid(kind.family, text))
            except SqlError as error:
                raise FieldError(pc.index(encoded.indices, place).as_py(), text, error) from None
        return pa.array(found, pa.int64()).take(encoded.indices)

    def rows(
        self, given: Morsel, columns: Sequence[ColumnDescription], layout: Layout, binary: Sequence[bool]
    ) -> Morsel:
        """Return arriving rows of a stream as they are stored.

        layout: of the stored columns; binary: which fields are binary forms.

        Raises ColumnError for the first bad field of the first such column.
        """
        places = [index for index, column in enumerate(columns) if not has_kernel(column.type)]
        if not places:
            return given
        if given.rows_count == 1:
            return self._one_row(given, columns, places, binary)
        kept = [index for index in range(len(columns)) if index not in places]
        fields = morsel_to_arrow(part_of(given, places), tuple(arriving_layout(columns[index]) for index in places))
        arrays = [
            self.column(columns[index], field.combine_chunks(), binary[index])
            for index, field in zip(places, fields.columns, strict=True)
        ]
        table = pa.Table.from_arrays(arrays, names=[columns[index].name for index in places])
        read = morsel_from_arrow(table, tuple(layout[index] for index in places))
        rest = compact_morsel(part_of(given, kept), tuple(layout[index] for index in kept))
        data, nulls = list(given.data), list(given.nulls)
        for place, index in enumerate(places):
            data[index], nulls[index] = read.data[place], read.nulls[place]
            if layout[index].physical == PhysicalType.TEXT:
                shift_strings(words_of(read, place), len(rest.heap))
        for place, index in enumerate(kept):
            data[index] = rest.data[place]
        heap = np.concatenate([rest.heap, read.heap]) if len(rest.heap) else read.heap
        return Morsel(given.rows_count, tuple(data), tuple(nulls), heap)

    def _one_row(
        self, given: Morsel, columns: Sequence[ColumnDescription], places: Sequence[int], binary: Sequence[bool]
    ) -> Morsel:
        """Do what `rows` does for a single row, without Arrow."""
        data, heap = list(given.data), given.heap.tobytes()
        for index in places:
            column = columns[index]
            if given.nulls[index][0]:
                data[index] = empty_column(column_layout(column).physical, 1)
                continue
            field = string_at(words_of(given, index).tobytes(), heap)
            try:
                stored = self.stored(column, field, binary[index])
            except SqlError as error:
                raise ColumnError(column.name, FieldError(0, field.decode(errors="replace"), error)) from None
            if isinstance(stored, int):
                data[index] = np.array([stored], dtype=np.int64)
                continue
            data[index] = np.frombuffer(bytearray(string_words(stored, len(heap))), dtype=np.int64).reshape(1, 2)
            heap += stored if len(stored) > INLINE_BYTES_MAX else b""
        return Morsel(1, tuple(data), given.nulls, np.frombuffer(bytearray(heap), dtype=np.uint8))

    def stored(self, column: ColumnDescription, field: bytes, is_binary: bool) -> bytes | int:
        """Return a field of a column without a kernel as a stream stores the field: the bytes of a
        string, or a number. Raises SqlError.
        """
        kind = column.type
        if kind.family in JSON_HEADS:
            quick = stored_json(field, kind.family, is_binary)
            if quick is not None:
                return quick
        if is_binary:
            value = apply_modifier(binary_value(field, kind), kind)
        else:
            value = input_value(field.decode(), kind, self.time_zone, None, self.styles)
        if column_layout(column).physical != PhysicalType.TEXT:
            assert isinstance(value, int), value
            return value
        return stored_bytes(value, kind)

    def try_stored(self, column: ColumnDescription, is_binary: bool) -> Reader:
        """Return what `stored` returns of the fields of a column, None for a bad one."""

        def read(field: bytes) -> bytes | int | None:
            try:
                return self.stored(column, field, is_binary)
            except (SqlError, UnicodeDecodeError):
                return None

        return read


def stored_json(field: bytes, family: str, is_binary: bool) -> bytes | None:
    """Return what a column of json or jsonb stores for a field, as the kernel finds it; None: the
    field is for the input function to read.
    """
    if is_binary:
        head = JSON_HEADS[family]
        if not field.startswith(head):
            return None
        field = field[len(head) :]
        try:
            field.decode()
        except UnicodeDecodeError:
            return None
    printed = one_text().printed(field)
    return field if printed is not None and family == "json" else printed


def part_of(morsel: Morsel, places: Sequence[int]) -> Morsel:
    """Return some columns of a morsel; the whole heap is shared."""
    data = tuple(morsel.data[index] for index in places)
    return replace(morsel, data=data, nulls=tuple(morsel.nulls[index] for index in places))


# Families that the decoders' kernels read; enums are read by their labels.
DECODED = frozenset("bool int2 int4 int8 float4 float8 numeric text varchar date timestamp timestamptz".split())


def has_kernel(kind: SqlType) -> bool:
    """Tell whether the decoder's kernels read a type.

    A plain numeric has no scale for them, and they round no seconds.
    """
    has_digits = kind.family != "numeric" and kind.precision not in (None, SECOND_DIGITS_MAX)
    return (kind.is_enum or kind.family in DECODED) and not kind.is_variable_numeric and not has_digits


def arriving_layout(column: ColumnDescription) -> ColumnLayout:
    """Return the form in which a decoder gives the fields of a column: texts where it has no
    kernel.
    """
    return column_layout(column if has_kernel(column.type) else replace(column, type=TEXT))
