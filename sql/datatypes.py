"""The types a client can name: SQL name, OID, sizes, and their physical forms as strings. One table.

Enters: a type's name. Leaves: `SqlType`, an immutable, hashable value. numpy, Arrow and Spark forms are strings, so that this
room imports none of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class SqlType:
    """A PostgreSQL type as an expression or a column has it.

    family: key of `FAMILIES`. length: n of varchar(n), characters. precision, scale: those of a declared numeric(p,s).
    display_scale (numeric only): the number of decimal digits that every non-null value has, where it is known when the
    statement is bound; None means that each value carries its own (PostgreSQL's dscale), as quotients and averages do.
    """

    family: str
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    display_scale: int | None = None

    @property
    def oid(self) -> int:
        """PostgreSQL's object identifier of the type."""
        return FAMILIES[self.family].oid

    @property
    def size_bytes(self) -> int:
        """typlen of RowDescription: bytes of a fixed-size value, -1 for variable size, -2 for unknown."""
        return FAMILIES[self.family].size_bytes

    @property
    def typmod(self) -> int:
        """atttypmod of RowDescription: -1 when the type has no modifier."""
        if self.family == "varchar" and self.length is not None:
            return self.length + 4
        if self.family == "numeric" and self.precision is not None:
            return ((self.precision << 16) | (self.scale or 0)) + 4
        return -1

    @property
    def sql_name(self) -> str:
        """The name that PostgreSQL's format_type prints, with its modifier."""
        name = FAMILIES[self.family].sql_name
        if self.family == "varchar" and self.length is not None:
            return f"{name}({self.length})"
        if self.family == "numeric" and self.precision is not None:
            return f"{name}({self.precision},{self.scale})"
        return name

    @property
    def is_variable_numeric(self) -> bool:
        """True for a numeric whose scale is known only value by value (physical form: unscaled and scale)."""
        return self.family == "numeric" and self.display_scale is None

    def without_modifier(self) -> SqlType:
        """Return the type as PostgreSQL's operators return it: no length, no (p,s); the display scale stays."""
        return replace(self, length=None, precision=None, scale=None)


@dataclass(frozen=True, slots=True)
class TypeFamily:
    """One row of the type table.

    arrow: the type of a column in an Arrow hand-over or a stored version; numeric has two: decimal128(38, display_scale), and
    for a variable one struct<unscaled: decimal128(38, 0), scale: int16>. kernel: the physical name in `ringbuffer.columns`.
    category: PostgreSQL's typcategory (N numeric, S string, D date and time, B boolean, X unknown); preferred within it.
    """

    sql_name: str
    oid: int
    size_bytes: int
    category: str
    preferred: bool
    kernel: str
    arrow: str
    spark: str
    duckdb: str


FAMILIES: dict[str, TypeFamily] = {
    "bool": TypeFamily("boolean", 16, 1, "B", True, "BOOL", "bool", "BOOLEAN", "BOOLEAN"),
    "int2": TypeFamily("smallint", 21, 2, "N", False, "INT16", "int16", "SMALLINT", "SMALLINT"),
    "int4": TypeFamily("integer", 23, 4, "N", False, "INT32", "int32", "INT", "INTEGER"),
    "int8": TypeFamily("bigint", 20, 8, "N", False, "INT64", "int64", "BIGINT", "BIGINT"),
    "float4": TypeFamily("real", 700, 4, "N", False, "FLOAT32", "float32", "FLOAT", "FLOAT"),
    "float8": TypeFamily("double precision", 701, 8, "N", True, "FLOAT64", "float64", "DOUBLE", "DOUBLE"),
    "numeric": TypeFamily("numeric", 1700, -1, "N", False, "NUMERIC", "decimal128", "DECIMAL", "DECIMAL"),
    "text": TypeFamily("text", 25, -1, "S", True, "TEXT", "string", "STRING", "VARCHAR"),
    "varchar": TypeFamily("character varying", 1043, -1, "S", False, "TEXT", "string", "STRING", "VARCHAR"),
    "date": TypeFamily("date", 1082, 4, "D", False, "DATE", "date32", "DATE", "DATE"),
    "timestamp": TypeFamily(
        "timestamp without time zone", 1114, 8, "D", False, "TIMESTAMP", "timestamp[us]", "TIMESTAMP_NTZ", "TIMESTAMP"
    ),
    "timestamptz": TypeFamily(
        "timestamp with time zone", 1184, 8, "D", True, "TIMESTAMP", "timestamp[us, UTC]", "TIMESTAMP", "TIMESTAMPTZ"
    ),
    "unknown": TypeFamily("unknown", 705, -2, "X", False, "TEXT", "string", "STRING", "VARCHAR"),
}

BOOL = SqlType("bool")
INT2 = SqlType("int2")
INT4 = SqlType("int4")
INT8 = SqlType("int8")
FLOAT4 = SqlType("float4")
FLOAT8 = SqlType("float8")
NUMERIC = SqlType("numeric")
TEXT = SqlType("text")
VARCHAR = SqlType("varchar")
DATE = SqlType("date")
TIMESTAMP = SqlType("timestamp")
TIMESTAMPTZ = SqlType("timestamptz")
UNKNOWN = SqlType("unknown")


def numeric(precision: int, scale: int) -> SqlType:
    """Return the type of a declared numeric(precision, scale)."""
    return SqlType("numeric", precision=precision, scale=scale, display_scale=scale)


def scaled_numeric(display_scale: int | None) -> SqlType:
    """Return the plain numeric type of an expression whose values all have `display_scale` decimal digits (None: each its own)."""
    return SqlType("numeric", display_scale=display_scale)


def by_oid(oid: int) -> SqlType | None:
    """Return the type with PostgreSQL's object identifier `oid`, or None."""
    for family, row in FAMILIES.items():
        if row.oid == oid:
            return SqlType(family)
    return None
