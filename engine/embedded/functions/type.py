"""Functions for DuckDB on intervals, times of day, bytea, uuid, json, jsonb and the text of arrays.

Arithmetic runs on whole numpy columns; text runs value by value through `sql`'s input and output.
Errors carry their SQLSTATE in the text that `engine.embedded.error_mark` makes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from engine.embedded.arrow_numerics import one_array
from engine.embedded.error_mark import marked
from ringbuffer.decode.json_texts import jsonb_texts
from sql.errors import SqlError
from sql.times import interval_values
from sql.times.civil import DAY_US
from sql.times.interval_input import interval_value
from sql.times.interval_values import Interval, interval_text, within
from sql.times.time_input import time_text
from sql.times.zoned_time import (
    ZonedTime,
    zoned_time_key,
    zoned_time_moved,
    zoned_time_of,
    zoned_time_rounded,
    zoned_time_text,
    zoned_time_value,
)
from sql.types.datatypes import BYTEA, JSON, JSONB, TIME, UUID, SqlType
from sql.types.enums import unknown_label
from sql.values.array_text import array_elements, array_text
from sql.values.bytes import bytea_text
from sql.values.identifiers import OID_END, char_text, char_value, name_value, oid_value
from sql.values.json_output import (
    json_array_text,
    json_elements_text,
    json_members_text,
    json_number,
    json_object_text,
    json_record_text,
    json_time,
)
from sql.values.jsonb_text import jsonb_scalar, string_text
from sql.values.literals import input_value
from sql.values.record_text import record_text
from views.model.arrow_schema import INTERVAL, TIMETZ

INTERVAL_TYPE = "STRUCT(months INTEGER, days INTEGER, micros BIGINT)"
ZONED_TIME_TYPE = "STRUCT(micros BIGINT, west INTEGER)"
INTERVAL_KEY_TYPE = "STRUCT(days BIGINT, micros BIGINT)"
NUMERIC_TYPE = "STRUCT(unscaled DECIMAL(38,0), scale SMALLINT)"
WIDE = "DECIMAL(38,0)"
KEY = pa.struct([pa.field("days", pa.int64()), pa.field("micros", pa.int64())])

Int64 = npt.NDArray[np.int64]
ArrowFunction = Callable[..., pa.Array]
Scalar = Callable[..., Any]


def interval_rows(column: pa.Array) -> list[Interval | None]:
    """Return the values of a column of intervals."""
    months, days, micros = (part.to_pylist() for part in column.flatten())
    return [
        None if month is None else (month, day, micro) for month, day, micro in zip(months, days, micros, strict=True)
    ]


def interval_array(rows: Sequence[Interval | None]) -> pa.Array:
    """Return a column of intervals."""
    parts = [
        pa.array([0 if row is None else row[index] for row in rows], INTERVAL.field(index).type) for index in range(3)
    ]
    return pa.StructArray.from_arrays(
        parts, fields=list(INTERVAL), mask=pa.array([row is None for row in rows], pa.bool_())
    )


def zoned_time_rows(column: pa.Array) -> list[ZonedTime | None]:
    """Return the values of a column of times with time zone."""
    micros, west = (part.to_pylist() for part in column.flatten())
    return [None if time is None else (time, zone) for time, zone in zip(micros, west, strict=True)]


def zoned_time_array(rows: Sequence[ZonedTime | None]) -> pa.Array:
    """Return a column of times with time zone."""
    parts = [
        pa.array([0 if row is None else row[index] for row in rows], TIMETZ.field(index).type) for index in range(2)
    ]
    return pa.StructArray.from_arrays(
        parts, fields=list(TIMETZ), mask=pa.array([row is None for row in rows], pa.bool_())
    )


def nulls_of(array: pa.Array) -> npt.NDArray[np.bool_]:
    """Return where an array is NULL."""
    if array.null_count == 0:
        return np.zeros(len(array), bool)
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False))


def parts_of(array: pa.Array) -> tuple[Int64, Int64, Int64]:
    """Return months, days and microseconds; 0 where NULL."""
    months, days, micros = (
        part.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64) for part in array.flatten()
    )
    return months, days, micros


def interval_key(column: pa.ChunkedArray) -> pa.Array:
    """Return the keys that compare intervals: whole days, with months of 30, and the rest of a
    day.
    """
    array = one_array(column)
    months, days, micros = parts_of(array)
    whole, rest = np.divmod(micros, DAY_US)
    fields = [pa.array(months * interval_values.MONTH_DAYS + days + whole), pa.array(rest)]
    return pa.StructArray.from_arrays(fields, fields=list(KEY), mask=pa.array(nulls_of(array)))


def bpchar_limit(text: str, length: int) -> str:
    """Return a text for char(length): only trailing spaces may be cut."""
    if len(text) > length and text[length:].strip(" "):
        raise SqlError("22001", f"value too long for type character({length})")
    return text[:length]


def jsonb_bool(text: str) -> bool:
    value = jsonb_scalar(text)
    if not isinstance(value, bool):
        raise not_castable(value, "boolean")
    return value


def jsonb_number(text: str, type_name: str) -> tuple[int, int]:
    """Return the numeric of a jsonb, as (unscaled, scale)."""
    value = jsonb_scalar(text)
    if value is None or isinstance(value, bool | str):
        raise not_castable(value, type_name)
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    unscaled = int("".join(map(str, digits)))
    if len(str(unscaled)) > 38 or -exponent > 38:
        raise SqlError("22003", "numeric value has more than 38 digits")
    return (-unscaled if sign else unscaled), -exponent


def not_castable(value: object, type_name: str) -> SqlError:
    kind = "boolean" if isinstance(value, bool) else value if isinstance(value, str) else "numeric"
    return SqlError("22023", f"cannot cast jsonb {kind} to type {type_name}")


def oid_from_int8(value: int) -> int:
    if not 0 <= value < OID_END:
        raise SqlError("22003", "OID out of range")
    return value


def char_from_int4(value: int) -> str:
    """Return the "char" of a signed byte. Raises 22003."""
    if not -128 <= value < 128:
        raise SqlError("22003", '"char" out of range')
    return chr(value % 256) if value else ""


def char_to_int4(value: str) -> int:
    """Return the byte of a "char", with its sign."""
    return (ord(value) + 128) % 256 - 128 if value else 0


def enum_unknown(label: str, name: str) -> int:
    """Raise 22P02 for a text that is no label of the enum called `name`."""
    raise unknown_label(label, name)


def reader(kind: SqlType) -> Scalar:
    """Return the input function of a type."""
    return lambda text: input_value(text, kind)


def json_reader(kind: SqlType) -> ArrowFunction:
    """Return the input function of json or jsonb over a column; a kernel reads the usual texts."""
    read = reader(kind)

    def run(column: pa.ChunkedArray) -> pa.Array:
        texts = one_array(column)
        printed, left = jsonb_texts(texts)
        found = printed if kind == JSONB else texts
        if not left.any():
            return found
        mask = pa.array(left)
        try:
            others = [read(text) for text in texts.filter(mask).to_pylist()]
        except SqlError as error:
            failed = marked(error)
        else:
            return pc.replace_with_mask(found, mask, pa.array(others, pa.string()))
        raise ValueError(failed)

    return run


_TEXT, _TEXTS = "VARCHAR", "VARCHAR[]"
TYPE_SPECIFICATIONS: list[tuple[str, list[str], str, Scalar]] = [
    ("interval_text", [INTERVAL_TYPE], _TEXT, interval_text),
    ("interval_from_text", [_TEXT, _TEXT], INTERVAL_TYPE, interval_value),
    ("interval_within", [INTERVAL_TYPE, _TEXT, "INTEGER"], INTERVAL_TYPE, within),
    ("time_text", ["BIGINT"], _TEXT, time_text),
    ("time_from_text", [_TEXT], "BIGINT", reader(TIME)),
    ("timetz_text", [ZONED_TIME_TYPE], _TEXT, zoned_time_text),
    ("timetz_from_text", [_TEXT, _TEXT], ZONED_TIME_TYPE, zoned_time_value),
    ("timetz_of", ["TIMESTAMPTZ", _TEXT], ZONED_TIME_TYPE, zoned_time_of),
    ("timetz_rounded", [ZONED_TIME_TYPE, "INTEGER"], ZONED_TIME_TYPE, zoned_time_rounded),
    ("timetz_moved", [ZONED_TIME_TYPE, INTERVAL_TYPE, "INTEGER"], ZONED_TIME_TYPE, zoned_time_moved),
    ("timetz_key", [ZONED_TIME_TYPE], ZONED_TIME_TYPE, zoned_time_key),
    ("uuid_from_text", [_TEXT], _TEXT, reader(UUID)),
    ("bytea_text", ["BLOB"], _TEXT, bytea_text),
    ("bytea_from_text", [_TEXT], "BLOB", reader(BYTEA)),
    ("jsonb_bool", [_TEXT], "BOOLEAN", jsonb_bool),
    ("jsonb_number", [_TEXT, _TEXT], NUMERIC_TYPE, jsonb_number),
    ("json_quoted", [_TEXT], _TEXT, string_text),
    ("json_number", [_TEXT], _TEXT, json_number),
    ("json_time", [_TEXT], _TEXT, json_time),
    ("json_array_text", [_TEXTS, _TEXT], _TEXT, json_array_text),
    ("json_elements_text", [_TEXTS], _TEXT, json_elements_text),
    ("json_record_text", [_TEXTS, _TEXTS, _TEXT], _TEXT, json_record_text),
    ("json_object_text", [_TEXTS, _TEXTS, _TEXT], _TEXT, json_object_text),
    ("json_members_text", [_TEXTS, _TEXTS], _TEXT, json_members_text),
    ("array_text", [_TEXTS], _TEXT, array_text),
    ("record_text", [_TEXTS], _TEXT, record_text),
    ("array_elements", [_TEXT], _TEXTS, array_elements),
    ("oid_from_text", [_TEXT], "BIGINT", oid_value),
    ("oid_from_int8", ["BIGINT"], "BIGINT", oid_from_int8),
    ("name_from_text", [_TEXT], _TEXT, name_value),
    ("char_text", [_TEXT], _TEXT, char_text),
    ("char_from_text", [_TEXT], _TEXT, char_value),
    ("char_from_int4", ["INTEGER"], _TEXT, char_from_int4),
    ("char_to_int4", [_TEXT], "INTEGER", char_to_int4),
    ("enum_unknown", [_TEXT, _TEXT], "BIGINT", enum_unknown),
    ("bpchar_limit", [_TEXT, "INTEGER"], _TEXT, bpchar_limit),
]
# Functions over whole columns, which handle NULL themselves.
COLUMN_SPECIFICATIONS: list[tuple[str, list[str], str, ArrowFunction]] = [
    ("json_from_text", [_TEXT], _TEXT, json_reader(JSON)),
    ("jsonb_from_text", [_TEXT], _TEXT, json_reader(JSONB)),
    ("interval_key", [INTERVAL_TYPE], INTERVAL_KEY_TYPE, interval_key),
]
