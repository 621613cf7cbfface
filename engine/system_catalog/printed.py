"""A piece of SQL printed for the embedded engine, with its PostgreSQL type.

The file also has the forms of types there and in Arrow.

Numerics, intervals and times of day have the forms that they have in every query
(`views.model.arrow_schema`): numerics with their own scale. Types are PostgreSQL's internal names
('oid', 'name', 'char', 'int2vector', 'text[]'); 'unknown' is a literal or parameter that has no
type yet. Every OID, also one that is shown as a name, is a BIGINT; every text is a VARCHAR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from sql.parse.syntax import Constant
from views.model.arrow_schema import INTERVAL, VARIABLE_NUMERIC

UNKNOWN = "unknown"
# The begin of a type of rows; no name of a type or column has the two signs between its fields.
RECORD = "record\x1d"
BETWEEN_FIELDS, WITHIN_FIELD = "\x1e", "\x1f"
# Types whose values are OIDs, and are written and shown as the names of objects.
REGISTERED = frozenset(
    "regclass regtype regproc regprocedure regnamespace regrole regoper regoperator regcollation".split()
)
OIDS = frozenset({"oid", "xid", "cid", "xid8", *REGISTERED})
INTEGERS = frozenset({"int2", "int4", "int8"})
NUMBERS = INTEGERS | {"float4", "float8", "numeric"}
# Vectors, and arrays that were made of them: they, too, count from 0.
ARRAYS_FROM_0 = {"int2[0]": "int2", "int4[0]": "int4", "int8[0]": "int8", "oid[0]": "oid"}
VECTORS = {"int2vector": "int2", "oidvector": "oid", **ARRAYS_FROM_0}
ARRAYS_OF_VECTORS = {name: f"{element}[]" for name, element in VECTORS.items()}
VARIABLE = "STRUCT(unscaled DECIMAL(38,0), scale SMALLINT)"
PARTS = "STRUCT(months INTEGER, days INTEGER, micros BIGINT)"
# Types of other systems' catalogs that are their text here.
TEXTS = frozenset(
    """
    text name char varchar bpchar aclitem pg_node_tree pg_lsn inet anyarray json jsonb unknown uuid pg_ndistinct pg_dependencies
    pg_mcv_list sql_identifier character_data yes_or_no tid refcursor
    """.split()
)
DOMAINS = {
    "sql_identifier": "name",
    "character_data": "varchar",
    "yes_or_no": "varchar",
    "cardinal_number": "int4",
    "time_stamp": "timestamptz",
}
ENGINE_TYPES = {
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "numeric": VARIABLE,
    "date": "DATE",
    "time": "BIGINT",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMPTZ",
    "interval": PARTS,
    "bytea": "BLOB",
    # Of a function's rows: an interval, at the place where it is read.
    "seconds": "BIGINT",
    "cardinal_number": "INTEGER",
    "time_stamp": "TIMESTAMPTZ",
    # An argument that is an OID or a name: see `CatalogFunction`.
    "object": "VARCHAR",
    **dict.fromkeys(OIDS, "BIGINT"),
    **dict.fromkeys(TEXTS, "VARCHAR"),
}
ARROW_TYPES: dict[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    VARIABLE: VARIABLE_NUMERIC,
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
    "TIMESTAMPTZ": pa.timestamp("us", tz="UTC"),
    PARTS: INTERVAL,
    "BLOB": pa.binary(),
    "VARCHAR": pa.string(),
}


@dataclass(frozen=True, slots=True)
class Printed:
    """SQL text and the type of its value.

    Attributes:
        constant: of a string literal, its text.
        parameter: the number of an untyped $n.
        written: of a number, the constant that it is.
    """

    text: str
    type: str
    constant: str | None = None
    parameter: int | None = None
    written: Constant | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an item of FROM.

    Attributes:
        type: the PostgreSQL type.
        text: the name in the printed text, quoted.
    """

    name: str
    type: str
    text: str


def element_of(name: str) -> str | None:
    """Return the type of the elements of an array or vector type, None for other types."""
    if name.endswith("[]"):
        return name[:-2]
    return VECTORS.get(name)


def record_type(fields: Sequence[tuple[str, str]]) -> str:
    """Return the type of rows with these fields, names and types."""
    return RECORD + BETWEEN_FIELDS.join(f"{name}{WITHIN_FIELD}{kind}" for name, kind in fields)


def fields_of(name: str) -> tuple[tuple[str, str], ...] | None:
    """Return the fields of a type of rows, None for other types and for rows whose fields are not
    known.
    """
    if not name.startswith(RECORD) or name.endswith("[]"):
        return None
    parts = (one.partition(WITHIN_FIELD) for one in name.removeprefix(RECORD).split(BETWEEN_FIELDS))
    return tuple((part, kind) for part, _, kind in parts)


def engine_type(name: str) -> str:
    """Return the embedded engine's type of the values of a PostgreSQL type."""
    fields = fields_of(name)
    if fields is not None:
        return f"STRUCT({', '.join(f'{quoted(part)} {engine_type(kind)}' for part, kind in fields)})"
    element = element_of(name)
    if element is not None:
        return f"{engine_type(element)}[]"
    return ENGINE_TYPES[name]


def arrow_type(name: str) -> pa.DataType:
    """Return the Arrow type of a column of a catalog relation."""
    element = element_of(name)
    if element is not None:
        return pa.list_(ARROW_TYPES[ENGINE_TYPES[element]])
    return ARROW_TYPES[ENGINE_TYPES[name]]


def is_text(name: str) -> bool:
    """Tell whether values of the type are texts."""
    return name in TEXTS


def string(text: str) -> str:
    """Return a string constant."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """Return a name that is taken as it is."""
    return '"' + name.replace('"', '""') + '"'
