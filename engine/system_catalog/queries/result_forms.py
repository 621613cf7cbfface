"""The rows of a catalog query in the forms of results: types for the client, and Arrow columns for
its encoders.

Enters: Arrow as the embedded engine gives it, with PostgreSQL's types by name. Leaves: a schema and
an Arrow table.
"""

from __future__ import annotations

import pyarrow as pa

from engine.system_catalog.printed import (
    ARRAYS_FROM_0,
    DOMAINS,
    OIDS,
    REGISTERED,
    TEXTS,
    UNKNOWN,
    VECTORS,
    Column,
    element_of,
)
from sql.tree.relations import OutputColumn, Schema
from sql.types.datatypes import FAMILIES, OID, TEXT, SqlType, array_of
from views.model.arrow_schema import arrow_type

# Columns of these types are structs of oid and name.
NAMED = REGISTERED & FAMILIES.keys() | {f"{name}[]" for name in REGISTERED & FAMILIES.keys()}


def wire_type(name: str) -> SqlType:
    """Return the type that a client is told for a column or parameter of type `name`."""
    name = DOMAINS.get(name, name)
    element = element_of(name)
    if name in ARRAYS_FROM_0:
        return array_of(wire_type(ARRAYS_FROM_0[name]))
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
    """Return the columns of a query with the types that a client is told."""
    return tuple(OutputColumn(column.name, wire_type(column.type)) for column in columns)


def result(columns: tuple[Column, ...], table: pa.Table) -> tuple[Schema, pa.Table]:
    """Return schema and rows."""
    schema = []
    arrays = []
    for column, told, values in zip(columns, schema_of(columns), table.columns, strict=True):
        if column.type not in NAMED and values.type != arrow_type(told.type):
            values = values.cast(arrow_type(told.type))
        schema.append(told)
        arrays.append(values)
    return tuple(schema), pa.Table.from_arrays(arrays, names=[column.name for column in schema])
