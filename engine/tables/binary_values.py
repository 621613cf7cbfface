"""Columns of values in binary form, as COPY BINARY brings them, read by PostgreSQL's receive
functions.

Enters: the bytes of values, a type that has no kernel. Leaves: arrays in the forms of
`views.model.arrow_schema`. JSON and types of a fixed size are read as whole columns, the others
value by value, each different value once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from engine.tables.arrow_values import FieldError, column_array, text_array
from sql.errors import SqlError
from sql.times.civil import DAY_US
from sql.times.input_styles import USUAL
from sql.types.datatypes import LiteralValue, SqlType
from sql.values.literal_binary import JSONB_VERSION
from sql.values.literals import apply_modifier, binary_value
from views.model.arrow_schema import INTERVAL, arrow_type

INTERVAL_FORM = np.dtype([("micros", ">i8"), ("days", ">i4"), ("months", ">i4")])
FIXED_FORMS: dict[str, np.dtype[Any]] = {
    "time": np.dtype(">i8"),
    "oid": np.dtype(">u4"),
    "interval": INTERVAL_FORM,
    "uuid": np.dtype("V16"),
}
# What stands before a text in binary form.
JSON_HEADS = {"json": b"", "jsonb": bytes([JSONB_VERSION])}
HEX_DIGITS = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
# Where the 32 digits of a uuid stand among its 36 characters.
UUID_PLACES = [place for place in range(36) if place not in (8, 13, 18, 23)]


def received_array(data: pa.Array, kind: SqlType) -> pa.Array:
    """Return binary forms (binary[n]) as values of `kind`.

    Raises FieldError for the first bad one.
    """
    quick = _json_texts(data, kind) if kind.family in JSON_HEADS else _fixed_form(data, kind)
    if quick is not None:
        return quick
    if kind.family == "bytea":
        return data
    encoded = data.dictionary_encode()
    values: list[LiteralValue] = []
    for place, item in enumerate(encoded.dictionary.to_pylist()):
        try:
            values.append(apply_modifier(binary_value(item, kind), kind))
        except SqlError as error:
            # The dictionary is in the order of first occurrence, so no row before it is bad.
            raise FieldError(pc.index(encoded.indices, place).as_py(), "", error) from None
    return column_array(values, kind).take(encoded.indices)


def _json_texts(data: pa.Array, kind: SqlType) -> pa.Array | None:
    """Return values of json or jsonb; None where one is for its receive function to refuse."""
    head = JSON_HEADS[kind.family]
    # Arrow cuts no bytes off where there are NULLs.
    filled = data.fill_null(head + b"null")
    if pc.all(pc.starts_with(filled, head)).as_py() is False:
        return None
    try:
        texts = text_array(pc.binary_slice(filled, len(head)).cast(pa.string()), kind, "UTC", USUAL)
    except (pa.ArrowInvalid, FieldError):
        return None
    return pc.if_else(data.is_valid(), texts, pa.scalar(None, pa.string())) if data.null_count else texts


def _fixed_form(data: pa.Array, kind: SqlType) -> pa.Array | None:
    """Return values of a fixed size; None where the type or some value has another size or
    range.
    """
    form = FIXED_FORMS.get(kind.family)
    if form is None or kind.fields or kind.precision is not None:
        return None
    if pc.all(pc.equal(pc.binary_length(data), form.itemsize)).as_py() is False:
        return None
    nulls = np.asarray(data.is_null())
    filled = data.fill_null(bytes(form.itemsize)) if data.null_count else data
    offset, count = filled.offset, len(filled)
    if count == 0:
        return pa.array([], arrow_type(kind))
    _, ends, content = filled.buffers()
    first = int(np.frombuffer(ends, dtype=np.int32)[offset])
    values: npt.NDArray[Any] = np.frombuffer(content, dtype=form, count=count, offset=first)
    if kind.family == "time" and np.any((values < 0) | (values > DAY_US)):
        return None
    if kind.family == "uuid":
        return _uuids(values, nulls)
    if kind.family == "interval":
        parts = [pa.array(values[name].astype(INTERVAL.field(name).type.to_pandas_dtype())) for name in _names()]
        return pa.StructArray.from_arrays(parts, fields=list(INTERVAL), mask=pa.array(nulls))
    return pa.array(values.astype(np.int64), arrow_type(kind), mask=nulls)


def _names() -> list[str]:
    return [INTERVAL.field(index).name for index in range(INTERVAL.num_fields)]


def _uuids(values: npt.NDArray[Any], nulls: npt.NDArray[np.bool_]) -> pa.Array:
    """Return uuids as texts of 36 characters."""
    data = np.frombuffer(values.tobytes(), dtype=np.uint8).reshape(-1, 16)
    texts = np.full((len(data), 36), ord("-"), dtype=np.uint8)
    texts[:, UUID_PLACES] = HEX_DIGITS[np.stack([data >> 4, data & 15], axis=2).reshape(-1, 32)]
    ends = pa.array(np.arange(0, 36 * len(data) + 1, 36, dtype=np.int32)).buffers()[1]
    found = pa.Array.from_buffers(pa.string(), len(data), [None, ends, pa.py_buffer(texts.tobytes())])
    return pc.if_else(pa.array(nulls), pa.scalar(None, pa.string()), found) if nulls.any() else found
