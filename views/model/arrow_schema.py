"""The form of a SQL type as an Arrow column, and as a column layout of a stream.

Enters: `SqlType`, relation descriptions. Leaves: Arrow types and ring layouts. The only Arrow forms
that cross rooms are these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import pyarrow as pa

from ringbuffer.encode.records import record_family
from ringbuffer.memory.columns import ColumnLayout, Layout, PhysicalType
from ringbuffer.memory.labels import Labels, label_family
from sql.catalog.catalog import ColumnDescription
from sql.tree.relations import OutputColumn, Schema
from sql.types.datatypes import CATALOG_TEXTS, NUMERIC_DIGITS_MAX, OIDS_OF_NAMES, SqlType
from sql.types.enums import EnumType

# A numeric whose scale differs by value: the value is unscaled * 10^-scale, or NaN or infinite
# where the scale is -1.
VARIABLE_NUMERIC = pa.struct(
    [pa.field("unscaled", pa.decimal128(NUMERIC_DIGITS_MAX, 0)), pa.field("scale", pa.int16())]
)

# Compared by its days and microseconds together, never part by part.
INTERVAL = pa.struct([pa.field("months", pa.int32()), pa.field("days", pa.int32()), pa.field("micros", pa.int64())])

# The time of day and the seconds west of Greenwich; compared by the time in UTC, then these.
TIMETZ = pa.struct([pa.field("micros", pa.int64()), pa.field("west", pa.int32())])

FIXED_FORMS: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "text": pa.string(),
    "varchar": pa.string(),
    "bpchar": pa.string(),
    "void": pa.string(),
    "unknown": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", tz="UTC"),
    "time": pa.int64(),
    "interval": INTERVAL,
    "timetz": TIMETZ,
    "uuid": pa.string(),
    "bytea": pa.binary(),
    "json": pa.string(),
    "jsonb": pa.string(),
    "inet": pa.string(),
    "cidr": pa.string(),
    **dict.fromkeys(("oid", "xid", "cid", "xid8", *OIDS_OF_NAMES), pa.int64()),
    **dict.fromkeys((name for name, *_ in CATALOG_TEXTS), pa.string()),
    "int2vector": pa.list_(pa.int16()),
    "oidvector": pa.list_(pa.int64()),
    "name": pa.string(),
    "char": pa.string(),
}


def encoded_family(kind: SqlType) -> str:
    """Return the family by which encoders know a type, with labels of an enum or fields of a
    record.
    """
    if kind.record is not None:
        fields = [(encoded_family(field), field.oid) for field in kind.record.types]
        return record_family(kind.record.oid, fields, kind.is_array)
    return kind.family if kind.enum is None else label_family(labels_of(kind.enum), kind.is_array)


@lru_cache(maxsize=256)
def labels_of(enum: EnumType) -> Labels:
    """Return the labels of an enum for decoders and encoders."""
    return Labels(enum.oid, [label.number for label in enum.labels], [label.text for label in enum.labels])


def arrow_type(sql_type: SqlType) -> pa.DataType:
    """Return the Arrow type of a column of `sql_type` in hand-overs, stored versions and
    results.
    """
    if sql_type.is_array:
        return pa.list_(arrow_type(sql_type.element))
    if sql_type.is_enum:
        return pa.int64()
    if sql_type.record is not None:
        fields = [(f"f{number}", arrow_type(kind)) for number, kind in enumerate(sql_type.record.types, 1)]
        # A row without fields has one that nobody reads: DuckDB knows no empty struct.
        return pa.struct(fields or [("f1", pa.bool_())])
    if sql_type.family != "numeric":
        return FIXED_FORMS[sql_type.family]
    if sql_type.display_scale is None:
        return VARIABLE_NUMERIC
    return pa.decimal128(NUMERIC_DIGITS_MAX, sql_type.display_scale)


def arrow_schema(schema: Schema) -> pa.Schema:
    """Return the Arrow schema of a relation's rows; duplicate names are allowed."""
    return pa.schema([pa.field(column.name, arrow_type(column.type)) for column in schema])


def column_layout(column: ColumnDescription) -> ColumnLayout:
    """Return the layout of a column in the ring."""
    kind = column.type
    physical = PhysicalType.TEXT if kind.is_variable_numeric else PhysicalType(kind.row.kernel)
    return ColumnLayout(
        name=column.name,
        physical=physical,
        precision=kind.precision or 0,
        scale=kind.scale or 0,
        length_max=kind.length,
        not_null=column.not_null,
        zoned=kind.family == "timestamptz",
        labels=None if kind.enum is None or kind.is_array else labels_of(kind.enum),
        value_form=value_form(kind) if physical == PhysicalType.TEXT else None,
    )


def value_form(kind: SqlType) -> pa.DataType | None:
    """Return the form that the bytes of a TEXT column stand for, None for texts."""
    form = arrow_type(kind)
    return None if form == pa.string() else form


def stored_layout(schema: Sequence[OutputColumn]) -> Layout:
    """Return the layout of columns as morsels of a stream have them, computed ones too."""
    # Computed numerics have one scale without having declared one.
    return tuple(
        replace(column_layout(ColumnDescription(column.name, column.type)), scale=column.type.display_scale or 0)
        for column in schema
    )


def stream_layout(columns: tuple[ColumnDescription, ...]) -> Layout:
    """Return the layout of a stream's ring."""
    return tuple(column_layout(column) for column in columns)
