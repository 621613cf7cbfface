"""Python values as Arrow columns, and columns of text read by PostgreSQL's input functions.

Enters: `LiteralValue`s, or texts, and a type. Leaves: arrays in the forms of
`views.model.arrow_schema`. Texts that occur several times are read once. Must not know where the
values come from.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ringbuffer.decode.json_texts import jsonb_texts
from ringbuffer.decode.numeric_texts import numeric_texts
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError
from sql.functions.constants import unscaled_value
from sql.times.input_styles import InputStyles
from sql.types.datatypes import LiteralValue, SqlType
from sql.values.literals import input_value
from views.model.arrow_schema import arrow_type

# Families whose values are integers that Arrow knows as moments or days.
READ_AS = {"date": pa.int32(), "timestamp": pa.int64(), "timestamptz": pa.int64()}
# A uuid as it is kept.
UUID_TEXT = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
# Values of several parts.
PARTS = {"interval": ("months", "days", "micros"), "timetz": ("micros", "west")}


class FieldError(Exception):
    """A text that is no value of its type.

    Attributes:
        index: of its row.
        error: PostgreSQL's error for it.
    """

    def __init__(self, index: int, text: str, error: SqlError) -> None:
        super().__init__(index, text, error)
        self.index = index
        self.text = text
        self.error = error


def by_number(rows: pa.Table, columns: Sequence[ColumnDescription]) -> pa.Table:
    """Return rows with their columns called v<attnum>."""
    return rows.rename_columns([f"v{column.number}" for column in columns])


def column_array(values: Sequence[LiteralValue], kind: SqlType) -> pa.Array:
    """Return values of `kind` as a column."""
    target = arrow_type(kind)
    if kind.is_array:
        lists = [None if value is None else _elements(value) for value in values]
        flat = column_array([item for one in lists if one is not None for item in one], kind.element)
        offsets = [0]
        for one in lists:
            offsets.append(offsets[-1] + len(one or ()))
        mask = pa.array([one is None for one in lists], pa.bool_())
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat, type=target, mask=mask)
    if kind.is_variable_numeric:
        pairs = [None if value is None else unscaled_value(value, kind) for value in values]
        return pa.array([None if pair is None else {"unscaled": pair[0], "scale": pair[1]} for pair in pairs], target)
    if kind.family in PARTS:
        parts = [
            None if value is None else dict(zip(PARTS[kind.family], _elements(value), strict=True)) for value in values
        ]
        return pa.array(parts, target)
    read_as = READ_AS.get(kind.family)
    return pa.array(values, target) if read_as is None else pa.array(values, read_as).cast(target)


def text_array(texts: pa.Array, kind: SqlType, time_zone: str, styles: InputStyles) -> pa.Array:
    """Return texts as values of `kind`, with its length or (p,s) applied.

    Raises FieldError for the first text that is no value.
    """
    if kind.family == "numeric" and kind.precision is None:
        return _with_others(*_numerics(texts, kind), texts, kind, time_zone, styles)
    if kind.family in ("json", "jsonb"):
        printed, left = jsonb_texts(texts)
        return _with_others(printed if kind.family == "jsonb" else texts, left, texts, kind, time_zone, styles)
    quick = _plain_form(texts, kind)
    if quick is not None:
        return quick
    return _by_value(texts, kind, time_zone, styles)


def _by_value(texts: pa.Array, kind: SqlType, time_zone: str, styles: InputStyles) -> pa.Array:
    encoded = texts.dictionary_encode()
    values: list[LiteralValue] = []
    for place, text in enumerate(encoded.dictionary.to_pylist()):
        try:
            values.append(input_value(text, kind, time_zone, None, styles))
        except SqlError as error:
            # The dictionary is in the order of first occurrence, so no row before it is bad.
            raise FieldError(pc.index(encoded.indices, place).as_py(), text, error) from None
    return column_array(values, kind).take(encoded.indices)


def _numerics(texts: pa.Array, kind: SqlType) -> tuple[pa.Array, npt.NDArray[np.bool_]]:
    """Return texts as plain numerics, and which of them no kernel reads."""
    unscaled, scales, left = numeric_texts(texts)
    form = arrow_type(kind)
    decimals = pa.Array.from_buffers(form.field(0).type, len(texts), [None, pa.py_buffer(unscaled)])
    return pa.StructArray.from_arrays([decimals, pa.array(scales)], fields=list(form), mask=texts.is_null()), left


def _with_others(
    found: pa.Array, left: npt.NDArray[np.bool_], texts: pa.Array, kind: SqlType, time_zone: str, styles: InputStyles
) -> pa.Array:
    """Return what a kernel found, with the values of the unusual texts that it left."""
    if not left.any():
        return found
    places = np.flatnonzero(left)
    try:
        others = _by_value(texts.take(pa.array(places)), kind, time_zone, styles)
    except FieldError as bad:
        raise FieldError(int(places[bad.index]), bad.text, bad.error) from None
    order = np.arange(len(texts))
    order[places] = len(texts) + np.arange(len(places))
    return pa.concat_arrays([found, others]).take(pa.array(order))


def _plain_form(texts: pa.Array, kind: SqlType) -> pa.Array | None:
    """Return texts that are values except for padding blanks.

    None if some have to be read one by one.
    """
    if kind.family == "uuid" and pc.all(pc.match_substring_regex(texts, UUID_TEXT)).as_py() is not False:
        return texts
    if kind.family == "bpchar":
        if kind.length is None:
            return texts
        if (pc.max(pc.utf8_length(texts)).as_py() or 0) <= kind.length:
            return pc.utf8_rpad(texts, kind.length)
    return None


def _elements(value: LiteralValue) -> tuple[LiteralValue, ...]:
    assert isinstance(value, tuple), value
    return value
