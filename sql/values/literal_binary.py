"""PostgreSQL's binary form of parameters to the `LiteralValue` that they mean.

Too many bytes or a wrong form are 22P03, too few 08P01.
"""

from __future__ import annotations

import struct
from decimal import Decimal

from sql.errors import SqlError, not_supported
from sql.times.civil import (
    DATE_DAYS_END,
    DATE_DAYS_MIN,
    DATE_INFINITY,
    DAY_US,
    EPOCH_2000_DAYS,
    TIMESTAMP_INFINITY,
    TIMESTAMP_US_END,
    TIMESTAMP_US_MIN,
)
from sql.times.zoned_time import ZONE_S_END
from sql.types.datatypes import OIDS_OF_NAMES, LiteralValue, SqlType
from sql.values.array_binary import array_value
from sql.values.bytes import uuid_text
from sql.values.encodings import UTF8, Encoding, invalid_bytes
from sql.values.identifiers import received_char, received_name
from sql.values.json_text import json_check
from sql.values.jsonb_text import jsonb_value
from sql.values.network_addresses import received_address
from sql.values.number_input import EXACT

WRONG_FORMAT = "incorrect binary data format"
FIXED = {
    "int2": ">h",
    "int4": ">i",
    "int8": ">q",
    "oid": ">I",
    **dict.fromkeys(("xid", "cid", *OIDS_OF_NAMES), ">I"),
    "xid8": ">Q",
    "float4": ">f",
    "float8": ">d",
    "date": ">i",
    "timestamp": ">q",
    "timestamptz": ">q",
    "time": ">q",
}
UUID_BYTES = 16
ZONED_TIME_BYTES = 12
JSONB_VERSION = 1
# Groups of four digits that a numeric of 38 digits can touch.
GROUPS_MAX = 11
NUMERIC_SIGNS = {0x0000: 0, 0x4000: 1}
NUMERIC_SPECIALS = {0xC000: "NaN", 0xD000: "Infinity", 0xF000: "-Infinity"}
INFINITE_DATES = (-(1 << 31), (1 << 31) - 1)
INFINITE_TIMESTAMPS = (-(1 << 63), (1 << 63) - 1)


def binary_value(data: bytes, kind: SqlType, encoding: Encoding = UTF8) -> LiteralValue:
    """Return the value of `data`, whose texts are in `encoding`.

    Modifiers of `kind` are not applied.
    """
    family = kind.family
    if kind.is_array:
        return array_value(data, kind.element, lambda item, element: binary_value(item, element, encoding))
    if kind.enum is not None:
        return kind.enum.number(text_value(data, encoding))
    if family in ("text", "varchar", "bpchar", "unknown", "refcursor"):
        return text_value(data, encoding)
    if family == "name":
        return received_name(text_value(data, encoding))
    if family == "char":
        require_size(data, 1)
        return received_char(data[0])
    if family in ("json", "jsonb"):
        return json_value(data, family, encoding)
    if family == "bytea":
        return data
    if family == "uuid":
        require_size(data, UUID_BYTES)
        return uuid_text(data.hex())
    if family in ("inet", "cidr"):
        return received_address(data, family == "cidr")
    if family == "interval":
        require_size(data, struct.calcsize(">qii"))
        micros, days, months = struct.unpack(">qii", data)
        return months, days, micros
    if family == "timetz":
        return zoned_time_value(data)
    if family == "numeric":
        return numeric_value(data)
    if family == "bool":
        require_size(data, 1)
        return data != b"\0"
    if family not in FIXED:
        raise not_supported(f"a value of type {kind.sql_name} in binary form")
    form = FIXED[family]
    if family == "time" and len(data) >= 8:
        check_time(data)
    require_size(data, struct.calcsize(form))
    value: int | float = struct.unpack(form, data)[0]
    if isinstance(value, float):
        return value
    if family == "date":
        return date_value(value)
    if family in ("timestamp", "timestamptz"):
        return timestamp_value(value)
    return value


def require_size(data: bytes, size: int) -> None:
    if len(data) < size:
        raise too_short("insufficient" if data or size > 1 else "no")
    if len(data) > size:
        raise wrong_format()


def too_short(how_much: str = "insufficient") -> SqlError:
    return SqlError("08P01", f"{how_much} data left in message")


def wrong_format() -> SqlError:
    return SqlError("22P03", WRONG_FORMAT)


def zoned_time_value(data: bytes) -> tuple[int, int]:
    """Return a time with time zone. Raises 22008 and 22009."""
    if len(data) >= 8:
        check_time(data)
    if len(data) >= ZONED_TIME_BYTES and abs(struct.unpack_from(">i", data, 8)[0]) >= ZONE_S_END:
        raise SqlError("22009", "time zone displacement out of range")
    require_size(data, ZONED_TIME_BYTES)
    micros, west_s = struct.unpack(">qi", data)
    return micros, west_s


def check_time(data: bytes) -> None:
    """Raise 22008 for eight bytes that are no time of day, whatever comes after them."""
    if not 0 <= struct.unpack_from(">q", data)[0] <= DAY_US:
        raise SqlError("22008", "time out of range")


def json_value(data: bytes, family: str, encoding: Encoding) -> str:
    """Return a JSON text, checked.

    Jsonb has a version before the text, and is brought to its normal form.
    """
    if family == "json":
        text = text_value(data, encoding)
        json_check(text)
        return text
    if not data:
        raise too_short()
    if data[0] != JSONB_VERSION:
        raise SqlError("XX000", f"unsupported jsonb version number {data[0]}")
    return jsonb_value(text_value(data[1:], encoding))


def text_value(data: bytes, encoding: Encoding = UTF8) -> str:
    """Return a text in the client's encoding. Raises 22021 and 22P05."""
    text = encoding.decoded(data)
    if "\0" in text:
        raise invalid_bytes(b"\0", encoding.name)
    return text


def date_value(value: int) -> int:
    if value in INFINITE_DATES:
        return DATE_INFINITY if value > 0 else -DATE_INFINITY
    days = value + EPOCH_2000_DAYS
    if not DATE_DAYS_MIN <= days < DATE_DAYS_END:
        raise SqlError("22008", "date out of range")
    return days


def timestamp_value(value: int) -> int:
    if value in INFINITE_TIMESTAMPS:
        return TIMESTAMP_INFINITY if value > 0 else -TIMESTAMP_INFINITY
    microseconds = value + EPOCH_2000_DAYS * DAY_US
    if not TIMESTAMP_US_MIN <= microseconds < TIMESTAMP_US_END:
        raise SqlError("22008", "timestamp out of range")
    return microseconds


def numeric_value(data: bytes) -> Decimal:
    """Read the base-10000 digits of a numeric."""
    if len(data) < 8:
        raise too_short()
    count, weight, sign, scale = struct.unpack_from(">HhHh", data)
    if sign not in NUMERIC_SIGNS and sign not in NUMERIC_SPECIALS:
        raise SqlError("22P03", 'invalid sign in external "numeric" value')
    if not 0 <= scale <= 0x3FFF:
        raise SqlError("22P03", 'invalid scale in external "numeric" value')
    if len(data) < 8 + 2 * count:
        raise too_short()
    if len(data) > 8 + 2 * count:
        raise wrong_format()
    digits = struct.unpack_from(f">{count}H", data, 8)
    if any(digit > 9999 for digit in digits):
        raise SqlError("22P03", 'invalid digit in external "numeric" value')
    if sign in NUMERIC_SPECIALS:
        return Decimal(NUMERIC_SPECIALS[sign])
    # Digits after the scale are cut off.
    digits = digits[: max(weight + 1 + -(-scale // 4), 0)]
    leading = next((place for place, digit in enumerate(digits) if digit), None)
    if leading is not None and weight + 1 - leading + -(-scale // 4) > GROUPS_MAX:
        raise SqlError("22003", "numeric value has more than 38 digits")
    count, unscaled = len(digits), 0
    for digit in digits:
        unscaled = unscaled * 10_000 + digit
    value = Decimal(unscaled).scaleb((weight - count + 1) * 4, EXACT)
    value = value.quantize(Decimal(1).scaleb(-scale), rounding="ROUND_DOWN", context=EXACT)
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    if max(len(value.as_tuple().digits) if value else 1, -exponent) > 38:
        raise SqlError("22003", "numeric value has more than 38 digits")
    # Minus would round to the default context's 28 digits.
    return value.copy_negate() if NUMERIC_SIGNS[sign] and value else value
