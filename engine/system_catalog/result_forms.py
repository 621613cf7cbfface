"""The rows of a catalog query in the forms that results have: types that a client is told of, and Arrow columns as its encoders take them.

Enters: Arrow as the embedded engine gives it, with PostgreSQL's types by name. Leaves: a schema and an Arrow table.
"""

from __future__ import annotations

import pyarrow as pa

from engine.system_catalog.printed import DOMAINS, OIDS, REGISTERED, TEXTS, UNKNOWN, VECTORS, Column, element_of
from sql.datatypes import FAMILIES, OID, TEXT, SqlType, array_of, scaled_numeric
from sql.relations import OutputColumn, Schema
from views.arrow_schema import arrow_type

# Columns of these types are structs of oid and name.
NAMED = REGISTERED & FAMILIES.keys() | {f"{name}[]" for name in REGISTERED & FAMILIES.keys()}
DIGITS_MAX = 38
NANOSECONDS = 1000


def wire_type(name: str) -> SqlType:
    """Return the type that a client is told for a column or parameter of type `name`."""
    name = DOMAINS.get(name, name)
    element = element_of(name)
    if name in VECTORS or name in (UNKNOWN, "record"):
        return TEXT
    if element is not None:
        return array_of(wire_type(element))
    if name in FAMILIES:
        return SqlType(name)
    if name in REGISTERED or name in TEXTS:
        return TEXT
    assert name in OIDS, name
    return OID


def schema_of(columns: tuple[Column, ...]) -> Schema:
    """Return the columns of a query as a client is told of them."""
    return tuple(OutputColumn(column.name, wire_type(column.type)) for column in columns)


def result(columns: tuple[Column, ...], table: pa.Table) -> tuple[Schema, pa.Table]:
    """Return schema and rows; a numeric has the digits that the engine has computed it with."""
    schema = []
    arrays = []
    for column, told, values in zip(columns, schema_of(columns), table.columns, strict=True):
        kind = told.type
        if kind.family == "numeric":
            kind = scaled_numeric(values.type.scale if pa.types.is_decimal(values.type) else 0)
            values = values.cast(pa.decimal128(DIGITS_MAX, kind.display_scale))
        elif kind.family == "interval":
            values = intervals(values)
        elif kind.family == "time":
            values = values.cast(pa.time64("us")).cast(pa.int64())
        elif column.type not in NAMED:
            values = values.cast(arrow_type(kind))
        schema.append(OutputColumn(column.name, kind))
        arrays.append(values)
    return tuple(schema), pa.Table.from_arrays(arrays, names=[column.name for column in schema])


def intervals(values: pa.ChunkedArray) -> pa.Array:
    """Return Arrow's intervals as the structs that our encoders take."""
    rows = [
        None if row is None else (row.months, row.days, row.nanoseconds // NANOSECONDS) for row in values.to_pylist()
    ]
    fields = [None if row is None else dict(zip(("months", "days", "micros"), row, strict=True)) for row in rows]
    return pa.array(fields, arrow_type(SqlType("interval")))
