"""PostgreSQL's text input: the text of a value to the `LiteralValue` that it means, for every type.

Enters: a text, a type, the session's zone. Leaves: a `LiteralValue`; dates as days and timestamps
as microseconds since 1970. Errors are PostgreSQL's: 22P02, 22003, 22007, 22008, 22001. This is the
plain-Python reference of the decoders in `ringbuffer`.
"""

from __future__ import annotations

from decimal import Decimal

from sql.errors import SqlError, not_supported
from sql.times.civil import EPOCH_2000_US, TIMESTAMP_US_END, TIMESTAMP_US_MIN, is_infinite
from sql.times.datetime_input import date_value, timestamp_value
from sql.times.input_styles import USUAL, InputStyles
from sql.times.interval_input import interval_value
from sql.times.interval_values import within
from sql.times.time_input import rounded, time_value
from sql.times.zoned_time import zoned_time_rounded, zoned_time_value
from sql.types.datatypes import NUMERIC_DIGITS_MAX as DIGITS_MAX
from sql.types.datatypes import VECTORS, LiteralValue, SqlType
from sql.values.array_text import array_elements
from sql.values.bytes import bytea_value, uuid_value
from sql.values.identifiers import char_value, long_transaction, name_value, oid_value
from sql.values.json_text import json_check
from sql.values.jsonb_text import jsonb_value
from sql.values.literal_binary import binary_value
from sql.values.network_addresses import cidr_value, inet_value
from sql.values.number_input import (
    WHITESPACE,
    check_digits,
    decimal_value,
    fit_numeric,
    float_value,
    integer_value,
    round_float4,
    unlimited_decimal,
)

__all__ = [
    "DIGITS_MAX",
    "apply_modifier",
    "binary_value",
    "check_digits",
    "decimal_value",
    "fit_numeric",
    "input_value",
    "integer_value",
    "round_float4",
    "unlimited_decimal",
]


SECOND_FAMILIES = frozenset({"time", "timestamp", "timestamptz"})
BOOLEANS = {
    word[:length]: word in ("true", "yes")
    for word in ("true", "false", "yes", "no")
    for length in range(1, len(word) + 1)
}
BOOLEANS |= {"on": True, "off": False, "of": False, "1": True, "0": False}


def input_value(
    text: str, kind: SqlType, zone: str = "UTC", position: int | None = None, styles: InputStyles = USUAL
) -> LiteralValue:
    """Return the value of `text` as a `kind`, with its length or (p,s) applied as an assignment
    does.
    """
    return apply_modifier(unmodified_value(text, kind, zone, position, styles), kind, position)


def unmodified_value(
    text: str, kind: SqlType, zone: str, position: int | None, styles: InputStyles = USUAL
) -> LiteralValue:
    """Return the value before lengths, (p,s) and digits of a second are applied."""
    if kind.is_array:
        element = kind.element
        return tuple(
            None if item is None else unmodified_value(item, element, zone, position, styles)
            for item in array_elements(text, position)
        )
    if kind.enum is not None:
        return kind.enum.number(text, position)
    if kind.record is not None:
        if kind.record.relation:
            raise not_supported(f"input of the type {kind.record.name}", position)
        raise SqlError("0A000", "input of anonymous composite types is not implemented", position)
    match kind.family:
        case family if kind.row.category == "P" and family != "void":
            raise SqlError("0A000", f"cannot accept a value of type {family}", position)
        case "int2" | "int4" | "int8":
            return integer_value(text, kind, position)
        case "oid" | "xid" | "cid":
            return oid_value(text, position)
        case "xid8":
            return long_transaction(text, position)
        case "int2vector" | "oidvector":
            element = SqlType(VECTORS[kind.family])
            return tuple(unmodified_value(item, element, zone, position) for item in text.split())
        case "pg_node_tree" | "pg_ndistinct" | "pg_dependencies" | "pg_mcv_list":
            raise SqlError("0A000", f"cannot accept a value of type {kind.family}", position)
        case "name":
            return name_value(text)
        case "char":
            return char_value(text)
        case "bool":
            return bool_value(text, position)
        case "float4" | "float8":
            return float_value(text, kind, position)
        case "numeric":
            # With (p,s) a value of more than 38 digits may still round to one that fits.
            return decimal_value(text, position) if kind.precision is None else unlimited_decimal(text, position)
        case "date":
            return date_value(text, position, styles.date_order)
        case "timestamp":
            return timestamp_value(text, "", position, styles.date_order)
        case "timestamptz":
            return timestamp_value(text, zone, position, styles.date_order)
        case "time":
            return time_value(text, position, styles.date_order)
        case "timetz":
            return zoned_time_value(text, zone, position, styles.date_order)
        case "interval":
            return interval_value(text, kind.fields, position, styles.interval_style)
        case "uuid":
            return uuid_value(text, position)
        case "inet":
            return inet_value(text, position)
        case "cidr":
            return cidr_value(text, position)
        case "bytea":
            return bytea_value(text, position)
        case "jsonb":
            return jsonb_value(text, position)
        case "json":
            json_check(text, position)
    return text


def apply_modifier(
    value: LiteralValue, kind: SqlType, position: int | None = None, explicit: bool = False
) -> LiteralValue:
    """Return `value` within the length, the (p,s) or the digits of `kind`.

    An explicit cast cuts a text that is too long.
    """
    match value:
        case str() if kind.length is not None:
            return fit_text(value, kind, position, explicit)
        case Decimal() if kind.precision is not None:
            return fit_numeric(value, kind.precision, kind.scale or 0, position)
        case tuple() if kind.is_array:
            element = kind.element
            return tuple(apply_modifier(item, element, position, explicit) for item in value)
        case (int(micros), int(west)) if kind.family == "timetz" and kind.precision is not None:
            return zoned_time_rounded((micros, west), kind.precision)
        case (int(months), int(days), int(micros)) if kind.fields or kind.precision is not None:
            return within((months, days, micros), kind.fields, kind.precision)
        case int() if kind.family in SECOND_FAMILIES and kind.precision is not None:
            return rounded_time(value, kind, position)
    return value


def fit_text(value: str, kind: SqlType, position: int | None, explicit: bool) -> str:
    """Return a text within varchar(n), or filled up to char(n)."""
    assert kind.length is not None
    if len(value) > kind.length:
        if not explicit and value[kind.length :].strip(" "):
            raise SqlError("22001", f"value too long for type {kind.sql_name}", position)
        value = value[: kind.length]
    return value.ljust(kind.length) if kind.family == "bpchar" else value


def rounded_time(value: int, kind: SqlType, position: int | None) -> int:
    """Return a time of day or a timestamp with the digits of `kind`."""
    assert kind.precision is not None
    if kind.family != "time" and is_infinite(value):
        return value
    # PostgreSQL counts timestamps from 2000 on, and rounds half a unit away from there.
    origin = 0 if kind.family == "time" else EPOCH_2000_US
    result = rounded(value - origin, kind.precision) + origin
    if kind.family != "time" and not TIMESTAMP_US_MIN <= result < TIMESTAMP_US_END:
        raise SqlError("22008", "timestamp out of range", position)
    return result


def bool_value(text: str, position: int | None) -> bool:
    value = BOOLEANS.get(text.strip(WHITESPACE).lower())
    if value is None:
        raise SqlError("22P02", f'invalid input syntax for type boolean: "{text}"', position)
    return value
