"""The resolution of a type as written to a `SqlType`.

Unknown names are 42704; types of PostgreSQL that Antumbra does not have yet are 0A000.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sql.errors import SqlError, not_supported
from sql.names.relation_keys import as_written
from sql.names.suggestions import did_you_mean
from sql.parse.syntax import TypeName
from sql.types.datatypes import (
    FAMILIES,
    NUMERIC,
    NUMERIC_DIGITS_MAX,
    SqlType,
    array_of,
    enum_type,
    numeric,
)
from sql.types.enums import EnumType

POSTGRES_NUMERIC_DIGITS_MAX = 1000
SECOND_DIGITS_MAX = 6
CHARACTERS_MAX = 10_485_760

# Types of PostgreSQL that are refused by name; other names do not exist.
REFUSED = frozenset(
    """
    int4multirange int8multirange nummultirange tsmultirange tstzmultirange datemultirange
    bit box circle hstore int4range int8range jsonpath line lseg macaddr macaddr8 money numrange path
    point polygon record regconfig regdictionary tsquery tsrange tstzrange daterange tsvector txid_snapshot varbit xml
    """.split()
)
# Spellings that a person may write, for "did you mean"; and the names of types in other systems.
SPELLINGS = tuple(
    """
    bigint boolean bytea character cidr date decimal inet integer interval json jsonb numeric real smallint text time timetz timestamp
    timestamptz uuid varchar
    """.split()
)
ELSEWHERE = {"double": "double precision", "string": "text", "datetime": "timestamp", "tinyint": "smallint"}


SYSTEM = "pg_catalog"
CATALOG_HINT = "Use oid, or text for the name."
OwnTypes = Callable[[str], EnumType | None]


def resolve_type(written: TypeName, own: OwnTypes | None = None) -> SqlType:
    """Return the type of a cast, a literal or a table's column.

    Numeric without (p,s) is allowed. _int4 is int4[].

    own: finds a type of the database by its name as written (`sql.names.relation_keys.as_written`).
    """
    if written.schema in ("", SYSTEM) and is_built_in(written.name):
        return built_in_type(written)
    found = None if own is None or written.schema == SYSTEM else own_type(written, own)
    if found is None:
        raise no_type(written, "[]" if written.array else "")
    return found


def is_built_in(name: str) -> bool:
    """Tell whether PostgreSQL has a type of this name, or of an array's name: _int4."""
    element = name.removeprefix("_")
    return name in FAMILIES or name in REFUSED or element in FAMILIES or element in REFUSED


def own_type(written: TypeName, own: OwnTypes) -> SqlType | None:
    """Return a type of the database, or the type of its arrays: mood[] and _mood."""
    parts = (written.schema,) if written.schema else ()
    try:
        found, is_array = own(as_written((*parts, written.name))), written.array
        if found is None and written.name.startswith("_") and not written.array:
            found, is_array = own(as_written((*parts, written.name[1:]))), True
    except SqlError as error:
        raise replace(error, position=written.position) from None
    if found is None:
        return None
    if written.modifiers:
        raise SqlError("42601", f'type modifier is not allowed for type "{written.name}"', written.position)
    return array_of(enum_type(found)) if is_array else enum_type(found)


class OpenFamily(str):
    """The family of a type that is not built in, until a catalog is there to look the type up.

    Attributes:
        written: the name of the type.
    """

    written: TypeName


def open_type(written: TypeName) -> SqlType:
    """Return the type of a statement that is only read: a type that is not built in is left
    open.
    """
    if written.schema in ("", SYSTEM) and (is_built_in(written.name) or written.schema):
        return resolve_type(written)
    family = OpenFamily(written.text)
    family.written = written
    return SqlType(family)


def found_type(kind: SqlType, own: OwnTypes) -> SqlType:
    """Return a type that may have been left open. Raises 42704 if the database has no such type."""
    return resolve_type(kind.family.written, own) if isinstance(kind.family, OpenFamily) else kind


def built_in_type(written: TypeName) -> SqlType:
    """Return one of PostgreSQL's own types."""
    element = written.name.removeprefix("_")
    if element != written.name and not written.array and (element in FAMILIES or element in REFUSED):
        written = replace(written, name=element, array=True)
    if written.array:
        if written.name not in FAMILIES and written.name not in REFUSED:
            raise no_type(written, "[]")
        return array_of(built_in_type(replace(written, array=False)))
    name = written.name
    if name in REFUSED:
        raise not_supported(f"the type {written.text}", written.position)
    if name not in FAMILIES or name == "unknown":
        raise no_type(written)
    match name:
        case "numeric":
            return numeric_type(written)
        case "varchar" | "bpchar":
            return character_type(written)
        case "time" | "timetz" | "timestamp" | "timestamptz":
            return time_type(written)
        case "interval":
            return interval_type(written)
    if written.modifiers:
        raise SqlError("42601", f'type modifier is not allowed for type "{name}"', written.position)
    return SqlType(name)


def no_type(written: TypeName, suffix: str = "") -> SqlError:
    """Return the error of a name that no type has, with the type that was probably meant."""
    meant = ELSEWHERE.get(written.name)
    hint = f'Perhaps you meant the type "{meant}".' if meant else did_you_mean(written.name, SPELLINGS, "the type")
    name = f"{written.schema}.{written.name}" if written.schema else written.name
    return SqlError("42704", f'type "{name}{suffix}" does not exist', written.position, hint=hint)


def numeric_type(written: TypeName) -> SqlType:
    modifiers = written.modifiers
    if not modifiers:
        return NUMERIC
    if len(modifiers) > 2:
        raise SqlError("22023", "invalid NUMERIC type modifier", written.position)
    precision = modifiers[0]
    scale = modifiers[1] if len(modifiers) == 2 else 0
    if not 1 <= precision <= POSTGRES_NUMERIC_DIGITS_MAX:
        message = f"NUMERIC precision {precision} must be between 1 and {POSTGRES_NUMERIC_DIGITS_MAX}"
        raise SqlError("22023", message, written.position)
    if not -POSTGRES_NUMERIC_DIGITS_MAX <= scale <= POSTGRES_NUMERIC_DIGITS_MAX:
        limit = POSTGRES_NUMERIC_DIGITS_MAX
        raise SqlError("22023", f"NUMERIC scale {scale} must be between -{limit} and {limit}", written.position)
    if precision > NUMERIC_DIGITS_MAX or scale > precision or scale < 0:
        hint = f"Precision is at most {NUMERIC_DIGITS_MAX}, scale between 0 and precision."
        raise not_supported(f"the type {written.text}", written.position, hint=hint)
    return numeric(precision, scale)


def character_type(written: TypeName) -> SqlType:
    """Return varchar(n) or char(n)."""
    if not written.modifiers:
        return SqlType(written.name)
    length = written.modifiers[0]
    name = "varchar" if written.name == "varchar" else "char"
    if len(written.modifiers) > 1:
        raise SqlError("22023", "invalid type modifier", written.position)
    if length < 1:
        raise SqlError("22023", f"length for type {name} must be at least 1", written.position)
    if length > CHARACTERS_MAX:
        raise SqlError("22023", f"length for type {name} cannot exceed {CHARACTERS_MAX}", written.position)
    return SqlType(written.name, length=length)


def time_type(written: TypeName) -> SqlType:
    """Return time(p), timestamp(p) or timestamptz(p); more than 6 digits are 6."""
    if not written.modifiers:
        return SqlType(written.name)
    digits = written.modifiers[0]
    if len(written.modifiers) > 1:
        raise SqlError("22023", "invalid type modifier", written.position)
    if digits < 0:
        name, zone = written.name.removesuffix("tz").upper(), " WITH TIME ZONE" if written.name.endswith("tz") else ""
        raise SqlError("22023", f"{name}({digits}){zone} precision must not be negative", written.position)
    return SqlType(written.name, precision=min(digits, SECOND_DIGITS_MAX))


def interval_type(written: TypeName) -> SqlType:
    """Return interval, interval(p), interval year to month, interval day to second(p)."""
    digits = written.modifiers[0] if written.modifiers else None
    if digits is not None and digits < 0:
        raise SqlError("22023", f"INTERVAL({digits}) precision must not be negative", written.position)
    precision = None if digits is None else min(digits, SECOND_DIGITS_MAX)
    return SqlType("interval", fields=written.fields, precision=precision)
