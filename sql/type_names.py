"""A type as written to a `SqlType`. Unknown names are 42704; types of PostgreSQL that Antumbra does not have yet are 0A000."""

from __future__ import annotations

from dataclasses import replace

from sql.datatypes import FAMILIES, NUMERIC, SqlType, array_of, numeric
from sql.errors import SqlError, not_supported
from sql.names import did_you_mean
from sql.syntax import TypeName

NUMERIC_DIGITS_MAX = 38
POSTGRES_NUMERIC_DIGITS_MAX = 1000
SECOND_DIGITS_MAX = 6
CHARACTERS_MAX = 10_485_760

# Types of PostgreSQL that are refused by name; the rest does not exist.
REFUSED = frozenset(
    """
    bit box cidr circle hstore inet int4range int8range jsonpath line lseg macaddr macaddr8 money numrange path pg_lsn
    point polygon record regclass regcollation regconfig regdictionary regnamespace regoper regoperator regproc regprocedure regrole
    regtype tid tsquery tsrange tstzrange daterange tsvector txid_snapshot varbit xid xid8 cid xml int2vector oidvector refcursor
    """.split()
)
# What a person may write, for "did you mean"; and what other systems call a type.
SPELLINGS = tuple(
    """
    bigint boolean bytea character date decimal integer interval json jsonb numeric real smallint text time timetz timestamp timestamptz
    uuid varchar
    """.split()
)
ELSEWHERE = {"double": "double precision", "string": "text", "datetime": "timestamp", "tinyint": "smallint"}


def resolve_type(written: TypeName) -> SqlType:
    """Return the type of a cast, a literal or a table's column; numeric without (p,s) is allowed. _int4 is int4[]."""
    element = written.name.removeprefix("_")
    if element != written.name and not written.array and (element in FAMILIES or element in REFUSED):
        written = replace(written, name=element, array=True)
    if written.array:
        if written.name not in FAMILIES and written.name not in REFUSED:
            raise no_type(written, "[]")
        return array_of(resolve_type(replace(written, array=False)))
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
    """Return the error of a name that no type has, with the one that was probably meant."""
    meant = ELSEWHERE.get(written.name)
    hint = f'Perhaps you meant the type "{meant}".' if meant else did_you_mean(written.name, SPELLINGS, "the type")
    return SqlError("42704", f'type "{written.name}{suffix}" does not exist', written.position, hint=hint)


def column_type(written: TypeName) -> SqlType:
    """Return the type of a stream's column, one that a slot of the ring can hold."""
    return stored_type(resolve_type(written), written.position, written.text)


def stored_type(found: SqlType, position: int | None, text: str) -> SqlType:
    """Return a type as a stream's column has it. text: as it was written. Raises 0A000 for one that no slot of the ring can hold."""
    if found.family == "numeric" and found.precision is None:
        hint = "Give it as numeric(p,s), with p up to 38."
        raise not_supported("numeric without precision in a stream", position, hint=hint)
    if not FAMILIES[found.family].kernel:
        hint = "Use text in the stream and cast in the view, or keep the column in a table."
        raise not_supported(f"the type {found.sql_name} in a stream", position, hint=hint)
    if found.family.startswith("timestamp") and found.precision is not None:
        if found.precision < SECOND_DIGITS_MAX:
            hint = "Timestamps in a stream have 6 digits of a second."
            raise not_supported(f"the type {text} in a stream", position, hint=hint)
        return found.without_modifier()
    return found


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
    """Return time(p), timestamp(p) or timestamptz(p); more digits than 6 are 6."""
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
