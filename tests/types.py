"""Random values of every type, as `LiteralValue`s: common ones, extremes, and what needs quotes."""

from __future__ import annotations

import struct
from decimal import Decimal
from random import Random

from sql.times.civil import DATE_INFINITY, TIMESTAMP_INFINITY
from sql.types.datatypes import OIDS_OF_NAMES, LiteralValue, SqlType
from sql.values.jsonb_text import jsonb_value
from sql.values.literals import apply_modifier
from sql.values.network_addresses import cidr_of

DAY_US = 86_400_000_000
OIDS = frozenset({"oid", "xid", "cid", "xid8", *OIDS_OF_NAMES})
TEXTS = (
    "",
    "a",
    "NULL",
    "null",
    "nULLs",
    'a"b',
    "back\\slash",
    "{x}",
    "a,b",
    " pad ",
    "é☃",
    "tab\there",
    "12",
    "it's",
    "new\nline",
)
ADDRESSES = (
    "10.1.2.3", "10.1.2.3/8", "10.0.0.0/8", "10.0.0.0/16", "0.0.0.0/0", "255.255.255.255", "9.8.7.6", "::1", "2001:db8::1/64", "::/0",
    "::ffff:1.2.3.4", "2001:db8:0:1::/64",
)  # fmt: skip
JSONS = (
    "1", "1.50", "-0.1e3", "null", "true", '"text"', '"\\u00e9\\n"', "[]", "{}", "[1, 2, [3]]", '{"b": 1, "a": {"c": null}}',
    '{"long key": 1, "k": 2, "k": 3}', "[true, false, 0]", '"a"', '"b"', "[null]", "10", "2",
)  # fmt: skip


def random_value(kind: SqlType, numbers: Random) -> LiteralValue:
    """Return a value of `kind`, never NULL itself; an array may have NULL elements."""
    if kind.is_array:
        size = numbers.choice((0, 1, 2, 5))
        element = kind.element
        return tuple(None if numbers.random() < 0.2 else random_value(element, numbers) for _ in range(size))
    draw = numbers.randint
    match kind.family:
        case "bool":
            return numbers.random() < 0.5
        case "int2" | "int4" | "int8":
            bits = {"int2": 15, "int4": 31, "int8": 63}[kind.family]
            return numbers.choice((0, 1, -1, 7, (1 << bits) - 1, -(1 << bits), draw(-1000, 1000)))
        case "float4":
            exact = struct.unpack("<f", struct.pack("<f", draw(-(10**6), 10**6) / 7))[0]
            return float(numbers.choice((0.0, -0.0, 1.5, float("nan"), float("inf"), exact)))
        case "float8":
            return float(numbers.choice((0.0, -0.0, 1e300, float("nan"), float("-inf"), draw(-(10**9), 10**9) / 7)))
        case "numeric":
            value = Decimal(draw(-(10 ** draw(1, 30)), 10**12)).scaleb(-draw(0, 8))
            return apply_modifier(value or value.copy_abs(), kind)
        case "inet":
            return numbers.choice(ADDRESSES)
        case "cidr":
            return cidr_of(numbers.choice(ADDRESSES))
        case "date":
            return numbers.choice((0, 10_957, DATE_INFINITY, -DATE_INFINITY, draw(-800_000, 200_000)))
        case "timestamp" | "timestamptz":
            if numbers.random() < 0.1:
                return numbers.choice((TIMESTAMP_INFINITY, -TIMESTAMP_INFINITY))
            return draw(-62_000_000_000, 253_000_000_000) * 1_000_000 + numbers.choice((0, 500_000, draw(0, 999_999)))
    return random_new_value(kind, numbers)


def random_new_value(kind: SqlType, numbers: Random) -> LiteralValue:
    draw = numbers.randint
    match kind.family:
        case "time":
            return numbers.choice((0, DAY_US, DAY_US - 1, draw(0, 86_399) * 1_000_000, draw(0, DAY_US)))
        case "timetz":
            return draw(0, 86_399) * 1_000_000 + draw(0, 3) * 250_000, numbers.choice(
                (0, 3600, -7200, 12_600, -20_700, 1)
            )
        case "interval":
            days = numbers.choice((0, 0, 30, -30, draw(-40, 40)))
            micros = numbers.choice((0, DAY_US, -DAY_US, draw(-90_000, 90_000) * 1_000_000, draw(-(10**12), 10**12)))
            return numbers.choice((0, 0, 1, -1, 12, draw(-30, 30))), days, micros
        case "uuid":
            digits = f"{draw(0, 2**128 - 1):032x}"
            return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
        case "bytea":
            return numbers.choice((b"", b"\0", b"\\", numbers.randbytes(draw(1, 9))))
        case "json":
            return numbers.choice(JSONS)
        case "jsonb":
            return jsonb_value(numbers.choice(JSONS))
        case family if family in OIDS:
            return numbers.choice((0, 1, (1 << 32) - 1, draw(0, 99_999)))
        case "char":
            return numbers.choice(("", "a", "b", "\\"))
    return apply_modifier(numbers.choice(TEXTS), kind, explicit=True)
