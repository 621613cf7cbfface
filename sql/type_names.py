"""A type as written to a `SqlType`. Unknown names are 42704; types of PostgreSQL that Antumbra does not have yet are 0A000."""

from __future__ import annotations

from sql.datatypes import FAMILIES, NUMERIC, SqlType, numeric
from sql.errors import SqlError, not_supported
from sql.syntax import TypeName

NUMERIC_DIGITS_MAX = 38
POSTGRES_NUMERIC_DIGITS_MAX = 1000
TIMESTAMP_DIGITS_MAX = 6
VARCHAR_LENGTH_MAX = 10_485_760

# Types of PostgreSQL that are refused by name; the rest does not exist.
REFUSED = frozenset(
    """
    bit bpchar bytea box cidr circle char hstore inet int4range int8range interval json jsonb jsonpath line lseg macaddr macaddr8
    money name numrange oid path pg_lsn point polygon record regclass regcollation regconfig regdictionary regnamespace regoper
    regoperator regproc regprocedure regrole regtype tid time timetz tsquery tsrange tstzrange daterange tsvector txid_snapshot
    uuid varbit xid xid8 cid xml int2vector oidvector refcursor
    """.split()
)


def resolve_type(written: TypeName) -> SqlType:
    """Return the type of a cast or literal; numeric without (p,s) is allowed."""
    if written.array:
        raise not_supported(f"the type {written.text}", written.position)
    name = written.name
    if name in REFUSED:
        hint = "Use text or character varying." if name == "bpchar" else None
        raise not_supported(f"the type {written.text}", written.position, hint=hint)
    if name not in FAMILIES or name == "unknown":
        raise SqlError("42704", f'type "{name}" does not exist', written.position)
    modifiers = written.modifiers
    match name:
        case "numeric":
            return numeric_type(written)
        case "varchar":
            return varchar_type(written)
        case "timestamp" | "timestamptz":
            if modifiers and modifiers[0] < TIMESTAMP_DIGITS_MAX:
                raise not_supported(
                    f"the type {written.text}", written.position, hint="Timestamps have 6 digits of a second."
                )
            return SqlType(name)
    if modifiers:
        raise SqlError("42601", f'type modifier is not allowed for type "{name}"', written.position)
    return SqlType(name)


def column_type(written: TypeName) -> SqlType:
    """Return the type of a stream's column; a plain numeric is refused, because a slot of the ring has a fixed width."""
    found = resolve_type(written)
    if found.family == "numeric" and found.precision is None:
        raise not_supported(
            "numeric without precision in a stream", written.position, hint="Give it as numeric(p,s), with p up to 38."
        )
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


def varchar_type(written: TypeName) -> SqlType:
    if not written.modifiers:
        return SqlType("varchar")
    length = written.modifiers[0]
    if len(written.modifiers) > 1:
        raise SqlError("22023", "invalid type modifier", written.position)
    if length < 1:
        raise SqlError("22023", "length for type varchar must be at least 1", written.position)
    if length > VARCHAR_LENGTH_MAX:
        raise SqlError("22023", f"length for type varchar cannot exceed {VARCHAR_LENGTH_MAX}", written.position)
    return SqlType("varchar", length=length)
