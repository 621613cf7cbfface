"""The table of types that a client can name: SQL name, OID, sizes, and physical forms as strings.

Enters: a type's name. Leaves: `SqlType`, an immutable, hashable value. numpy, Arrow and Spark forms
are strings, so that this room imports none of them. An array's family is that of its elements and
'[]': 'int4[]'. The families of enum types are not in the table: an enum family has its own row
(`family_row`), and so has a record family.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from sql.errors import not_supported
from sql.types.enums import EnumFamily, EnumType, enum_family
from sql.types.records import RecordFamily, RecordType, record_family, require_stored

# bool, int, float, str, bytes as they are; numeric a Decimal with its digits; date: days since
# 1970-01-01; timestamps: microseconds since then; time: microseconds since midnight; interval:
# (months, days, microseconds); uuid and jsonb: their text; array: its elements.
LiteralValue = bool | int | float | str | Decimal | bytes | tuple["LiteralValue", ...] | None

# Types whose values are compared by keys that are made of the values.
KEYED_FAMILIES = frozenset({"bpchar", "interval", "timetz", "jsonb", "inet", "cidr"})


@dataclass(frozen=True, slots=True)
class SqlType:
    """A PostgreSQL type as an expression or a column has it.

    An array has the modifiers of its elements; its numerics always carry their own scale.

    Attributes:
        family: key of `FAMILIES`.
        length: n of varchar(n) and char(n), characters.
        precision, scale: of a declared numeric(p,s); of time(p), timestamp(p) and interval(p) the
            digits of a second.
        display_scale: of numeric only, the number of decimal digits that every non-null value has,
            where the number is known when the statement is bound. None means that each value
            carries its own scale (PostgreSQL's dscale), as quotients and averages do, and may be
            NaN or infinite (`sql/values/special_numbers.py`).
        fields: of a restricted interval, as 'year to month'.
    """

    family: str
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    display_scale: int | None = None
    fields: str = ""

    @property
    def row(self) -> TypeFamily:
        """The row of the family in the table of types."""
        return family_row(self.family)

    @property
    def enum(self) -> EnumType | None:
        """The enum type of a value, or of an array's elements; None for all other types."""
        return self.family.enum if isinstance(self.family, EnumFamily) else None

    @property
    def is_enum(self) -> bool:
        """True for an enum type, not for arrays of it."""
        return self.enum is not None and not self.is_array

    @property
    def record(self) -> RecordType | None:
        """The record type of a value, or of an array's elements; None for all other types."""
        return self.family.record if isinstance(self.family, RecordFamily) else None

    @property
    def is_record(self) -> bool:
        """True for a record, not for arrays of it."""
        return self.record is not None and not self.is_array

    @property
    def oid(self) -> int:
        """The object identifier of the type in PostgreSQL."""
        return self.row.oid

    @property
    def size_bytes(self) -> int:
        """typlen of RowDescription: bytes of a fixed-size value, -1 for variable size, -2 for
        unknown.
        """
        return self.row.size_bytes

    @property
    def typmod(self) -> int:
        """atttypmod of RowDescription: -1 when the type has no modifier.

        An array has that of its elements.
        """
        if self.is_array:
            return self.element.typmod
        if self.family in ("varchar", "bpchar") and self.length is not None:
            return self.length + 4
        if self.family == "numeric" and self.precision is not None:
            return ((self.precision << 16) | (self.scale or 0)) + 4
        if self.family == "interval" and (self.fields or self.precision is not None):
            digits = FULL_PRECISION if self.precision is None else self.precision
            return (interval_range(self.fields) << 16) | digits
        return -1 if self.precision is None else self.precision

    @property
    def sql_name(self) -> str:
        """The name that PostgreSQL's format_type prints, with its modifier."""
        if self.is_array:
            return self.element.sql_name + "[]"
        name = self.row.sql_name
        if self.length is not None:
            return f"{name}({self.length})"
        if self.family == "bpchar":
            # 'character' alone would be character(1).
            return self.family
        if self.family == "interval":
            digits = "" if self.precision is None else f"({self.precision})"
            return f"{name} {self.fields}{digits}" if self.fields else name + digits
        if self.precision is None:
            return name
        if self.family == "numeric":
            return f"{name}({self.precision},{self.scale})"
        word, _, rest = name.partition(" ")
        return f"{word}({self.precision}) {rest}"

    @property
    def is_array(self) -> bool:
        """True for an array."""
        return self.family.endswith("[]")

    @property
    def element(self) -> SqlType:
        """The type of an array's elements."""
        assert self.is_array, self.family
        return replace(self, family=element_family(self.family))

    @property
    def has_own_order(self) -> bool:
        """True where the order of the physical forms is not PostgreSQL's order: values compare by
        keys (`comparable`).
        """
        if self.record is not None and not self.is_array:
            return any(kind.has_own_order for kind in self.record.types)
        # Each engine has its own order of arrays with NULL in them.
        return self.is_array or self.family in KEYED_FAMILIES or self.is_variable_numeric

    @property
    def is_variable_numeric(self) -> bool:
        """True for a numeric whose scale varies from value to value (physical form: unscaled and
        scale).
        """
        return self.family == "numeric" and self.display_scale is None

    def without_modifier(self) -> SqlType:
        """Return the type as PostgreSQL's operators return it: no length, no (p,s), but the display
        scale.
        """
        return replace(self, length=None, precision=None, scale=None, fields="")


@dataclass(frozen=True, slots=True)
class TypeFamily:
    """One row of the table of types.

    char(n) is padded with blanks everywhere; a uuid is its text of 36 characters; jsonb is the text
    that PostgreSQL prints; a time is microseconds since midnight; a timetz is a time and its
    seconds west of Greenwich, and an interval its three parts: of these two only a key compares; an
    oid is unsigned; "char", whose family is 'char', is the character of its byte; void is an empty
    text.

    Attributes:
        category: PostgreSQL's typcategory (N numeric, S string, D date and time, T time span, B
            boolean, E enum, U of its own kind, Z internal, A array, P what is no value, X unknown).
        preferred: the family is the preferred one of its category.
        kernel: the physical name in `ringbuffer.memory.columns` of a kernel's column; a plain
            numeric is one of the scale besides, and TEXT in the ring.
        arrow: the type of a column in an Arrow hand-over or a stored version; numeric has two:
            decimal128(38, display_scale), and struct<unscaled: decimal128(38, 0), scale: int16> for
            a variable numeric.
        array_oid: of arrays of the type.
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
    array_oid: int = 0


# Types whose values are oids, and are written and shown as the names of objects: oid, and oid of
# arrays.
OIDS_OF_NAMES = {
    "regproc": (24, 1008),
    "regclass": (2205, 2210),
    "regtype": (2206, 2211),
    "regnamespace": (4089, 4090),
    "regrole": (4096, 4097),
    "regprocedure": (2202, 2207),
    "regoper": (2203, 2208),
    "regoperator": (2204, 2209),
    "regcollation": (4191, 4192),
}
# Types of columns of the system catalog that are their text here: name, oid, category, oid of
# arrays.
CATALOG_TEXTS = (
    ("aclitem", 1033, "U", 1034),
    ("pg_node_tree", 194, "Z", 0),
    ("pg_lsn", 3220, "U", 3221),
    ("tid", 27, "U", 1010),
    ("refcursor", 1790, "U", 2201),
    ("anyarray", 2277, "P", 0),
    ("anyelement", 2283, "P", 0),
    ("anynonarray", 2776, "P", 0),
    ("anyenum", 3500, "P", 0),
    ("anycompatible", 5077, "P", 0),
    ("anycompatiblearray", 5078, "P", 0),
    ("anycompatiblenonarray", 5079, "P", 0),
    ("pg_ndistinct", 3361, "Z", 0),
    ("pg_dependencies", 3402, "Z", 0),
    ("pg_mcv_list", 5017, "Z", 0),
)
# Arrays whose elements count from 0.
VECTORS = {"int2vector": "int2", "oidvector": "oid"}

SCALARS: dict[str, TypeFamily] = {
    "bool": TypeFamily("boolean", 16, 1, "B", True, "BOOL", "bool", "BOOLEAN", "BOOLEAN", 1000),
    "int2": TypeFamily("smallint", 21, 2, "N", False, "INT16", "int16", "SMALLINT", "SMALLINT", 1005),
    "int4": TypeFamily("integer", 23, 4, "N", False, "INT32", "int32", "INT", "INTEGER", 1007),
    "int8": TypeFamily("bigint", 20, 8, "N", False, "INT64", "int64", "BIGINT", "BIGINT", 1016),
    "float4": TypeFamily("real", 700, 4, "N", False, "FLOAT32", "float32", "FLOAT", "FLOAT", 1021),
    "float8": TypeFamily("double precision", 701, 8, "N", True, "FLOAT64", "float64", "DOUBLE", "DOUBLE", 1022),
    "numeric": TypeFamily("numeric", 1700, -1, "N", False, "NUMERIC", "decimal128", "DECIMAL", "DECIMAL", 1231),
    "text": TypeFamily("text", 25, -1, "S", True, "TEXT", "string", "STRING", "VARCHAR", 1009),
    "varchar": TypeFamily("character varying", 1043, -1, "S", False, "TEXT", "string", "STRING", "VARCHAR", 1015),
    "bpchar": TypeFamily("character", 1042, -1, "S", False, "TEXT", "string", "STRING", "VARCHAR", 1014),
    "date": TypeFamily("date", 1082, 4, "D", False, "DATE", "date32", "DATE", "DATE", 1182),
    "time": TypeFamily("time without time zone", 1083, 8, "D", False, "INT64", "int64", "BIGINT", "BIGINT", 1183),
    "timetz": TypeFamily(
        "time with time zone", 1266, 12, "D", False, "TEXT", "struct<micros: int64, west: int32>", "STRUCT<micros: BIGINT, west: INT>",
        "STRUCT(micros BIGINT, west INTEGER)", 1270,
    ),
    "timestamp": TypeFamily(
        "timestamp without time zone", 1114, 8, "D", False, "TIMESTAMP", "timestamp[us]", "TIMESTAMP_NTZ", "TIMESTAMP", 1115
    ),
    "timestamptz": TypeFamily(
        "timestamp with time zone", 1184, 8, "D", True, "TIMESTAMP", "timestamp[us, UTC]", "TIMESTAMP", "TIMESTAMPTZ", 1185
    ),
    "interval": TypeFamily(
        "interval", 1186, 16, "T", True, "TEXT", "struct<months: int32, days: int32, micros: int64>",
        "STRUCT<months: INT, days: INT, micros: BIGINT>", "STRUCT(months INTEGER, days INTEGER, micros BIGINT)", 1187,
    ),
    "uuid": TypeFamily("uuid", 2950, 16, "U", False, "TEXT", "string", "STRING", "VARCHAR", 2951),
    "bytea": TypeFamily("bytea", 17, -1, "U", False, "TEXT", "binary", "BINARY", "BLOB", 1001),
    "json": TypeFamily("json", 114, -1, "U", False, "TEXT", "string", "STRING", "VARCHAR", 199),
    "jsonb": TypeFamily("jsonb", 3802, -1, "U", False, "TEXT", "string", "STRING", "VARCHAR", 3807),
    "inet": TypeFamily("inet", 869, -1, "I", True, "TEXT", "string", "STRING", "VARCHAR", 1041),
    "cidr": TypeFamily("cidr", 650, -1, "I", False, "TEXT", "string", "STRING", "VARCHAR", 651),
    "void": TypeFamily("void", 2278, 4, "P", False, "TEXT", "string", "STRING", "VARCHAR"),
    "oid": TypeFamily("oid", 26, 4, "N", True, "INT64", "int64", "BIGINT", "BIGINT", 1028),
    "name": TypeFamily("name", 19, 64, "S", False, "TEXT", "string", "STRING", "VARCHAR", 1003),
    "char": TypeFamily('"char"', 18, 1, "Z", False, "TEXT", "string", "STRING", "VARCHAR", 1002),
    **{
        name: TypeFamily(name, oid, 4, "N", False, "INT64", "int64", "BIGINT", "BIGINT", array_oid)
        for name, (oid, array_oid) in OIDS_OF_NAMES.items()
    },
    **{
        name: TypeFamily(name, oid, size, "U", False, "INT64", "int64", "BIGINT", "BIGINT", array_oid)
        for name, oid, size, array_oid in (("xid", 28, 4, 1011), ("cid", 29, 4, 1012), ("xid8", 5069, 8, 271))
    },
    **{
        name: TypeFamily(name, oid, -1, category, False, "TEXT", "string", "STRING", "VARCHAR", array_oid)
        for name, oid, category, array_oid in CATALOG_TEXTS
    },
    "int2vector": TypeFamily("int2vector", 22, -1, "A", False, "TEXT", "list<int16>", "ARRAY<SMALLINT>", "SMALLINT[]"),
    "oidvector": TypeFamily("oidvector", 30, -1, "A", False, "TEXT", "list<int64>", "ARRAY<BIGINT>", "BIGINT[]"),
    "unknown": TypeFamily("unknown", 705, -2, "X", False, "TEXT", "string", "STRING", "VARCHAR"),
}  # fmt: skip


def array_row(row: TypeFamily) -> TypeFamily:
    """Return the row of arrays of a scalar type."""
    duckdb = "STRUCT(unscaled DECIMAL(38,0), scale SMALLINT)" if row.oid == SCALARS["numeric"].oid else row.duckdb
    spark = "STRUCT<unscaled: DECIMAL(38,0), scale: SMALLINT>" if row.oid == SCALARS["numeric"].oid else row.spark
    arrow = f"list<{row.arrow}>"
    return TypeFamily(
        f"{row.sql_name}[]", row.array_oid, -1, "A", False, "TEXT", arrow, f"ARRAY<{spark}>", f"{duckdb}[]"
    )


FAMILIES: dict[str, TypeFamily] = SCALARS | {
    f"{family}[]": array_row(row) for family, row in SCALARS.items() if row.array_oid
}


# Types of values of the system catalog, which no column of a user's relation has.
OF_CATALOG = frozenset({*OIDS_OF_NAMES, *VECTORS, "xid", "cid", "xid8", *(name for name, *_ in CATALOG_TEXTS)})


def family_row(family: str) -> TypeFamily:
    """Return the row of a family in the table.

    An enum's is that of an integer under the enum's name.
    """
    if isinstance(family, RecordFamily):
        record, category = family.record, "C" if family.record.relation else "P"
        row = TypeFamily(
            record.name, record.oid, -1, category, False, "TEXT", "struct", "STRUCT", "STRUCT", record.array_oid
        )
        return array_row(row) if family.is_array else row
    if not isinstance(family, EnumFamily):
        return FAMILIES[family]
    enum, number = family.enum, SCALARS["int8"]
    row = replace(
        number, sql_name=enum.shown, oid=enum.oid, size_bytes=4, category="E", preferred=False, array_oid=enum.array_oid
    )
    return array_row(row) if family.is_array else row


def element_family(family: str) -> str:
    """Return the family of an array's elements, for a scalar its own family."""
    if isinstance(family, EnumFamily):
        return enum_family(family.enum)
    if isinstance(family, RecordFamily):
        return record_family(family.record)
    return family.removesuffix("[]")


def array_family(family: str) -> str:
    """Return the family of arrays of a scalar."""
    if isinstance(family, RecordFamily):
        return record_family(family.record, is_array=True)
    return enum_family(family.enum, is_array=True) if isinstance(family, EnumFamily) else f"{family}[]"


def record_type(record: RecordType) -> SqlType:
    """Return the type of the values of a record."""
    return SqlType(record_family(record))


def enum_type(enum: EnumType) -> SqlType:
    """Return the type of the values of an enum."""
    return SqlType(enum_family(enum))


# Digits of a numeric that an engine can compute with.
NUMERIC_DIGITS_MAX = 38
# The fields that an interval can be restricted to, with the bits of the first half of PostgreSQL's
# typmod.
INTERVAL_FIELD_BITS = {"year": 4, "month": 2, "day": 8, "hour": 1024, "minute": 2048, "second": 4096}
INTERVAL_FULL_RANGE = 0x7FFF
FULL_PRECISION = 0xFFFF


def interval_range(fields: str) -> int:
    """Return the bits of 'day to minute': of the first field, of the last one, and of the fields
    between them.
    """
    if not fields:
        return INTERVAL_FULL_RANGE
    names = list(INTERVAL_FIELD_BITS)
    first, _, last = fields.partition(" to ")
    chosen = names[names.index(first) : names.index(last or first) + 1]
    return sum(INTERVAL_FIELD_BITS[name] for name in chosen)


def is_of_catalog(kind: SqlType) -> bool:
    """Tell whether the type, or that of an array's elements, is of the system catalog alone."""
    return element_family(kind.family) in OF_CATALOG


def require_column(name: str, kind: SqlType) -> None:
    """Raise 42P16 or 0A000 for a column of a type that no table and no stream has."""
    require_stored(name, kind)
    if is_of_catalog(kind):
        hint = "Cast it to oid or to text."
        raise not_supported(f'a column of type {kind.sql_name}, as "{name}" is,', hint=hint)


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
TIME = SqlType("time")
TIMETZ = SqlType("timetz")
TIMESTAMP = SqlType("timestamp")
TIMESTAMPTZ = SqlType("timestamptz")
INTERVAL = SqlType("interval")
UUID = SqlType("uuid")
BYTEA = SqlType("bytea")
JSON = SqlType("json")
JSONB = SqlType("jsonb")
INET = SqlType("inet")
CIDR = SqlType("cidr")
VOID = SqlType("void")
OID = SqlType("oid")
NAME = SqlType("name")
CHAR = SqlType("char")
UNKNOWN = SqlType("unknown")


def numeric(precision: int, scale: int) -> SqlType:
    """Return the type of a declared numeric(precision, scale)."""
    return SqlType("numeric", precision=precision, scale=scale, display_scale=scale)


def scaled_numeric(display_scale: int | None) -> SqlType:
    """Return the plain numeric type of an expression whose values all have `display_scale` decimal
    digits.

    None: each value has its own.
    """
    return SqlType("numeric", display_scale=display_scale)


def array_of(element: SqlType) -> SqlType:
    """Return the type of one-dimensional arrays of `element`, with its modifiers.

    Raises 0A000 for arrays, also vectors, and for other types of which there are no arrays.
    """
    if element.is_array:
        raise not_supported("an array of arrays")
    if element.family in OF_CATALOG and not element.row.array_oid:
        raise not_supported(f"an array of {element.sql_name}")
    return replace(element, family=array_family(element.family), display_scale=None)


def by_oid(oid: int) -> SqlType | None:
    """Return the type with PostgreSQL's object identifier `oid`, or None."""
    for family, row in FAMILIES.items():
        if row.oid == oid:
            return SqlType(family)
    return None
