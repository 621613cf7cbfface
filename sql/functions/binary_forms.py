"""The functions of PostgreSQL that return the binary form of a value, as its protocol sends it:
int4send and its like.

A value is that of functions of ours: days and microseconds count from 1970.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from sql.functions.rows import Function
from sql.times.civil import DATE_INFINITY, EPOCH_2000_DAYS, EPOCH_2000_US, TIMESTAMP_INFINITY
from sql.values.network_addresses import Address


def _packed(form: str) -> Callable[[Any], bytes]:
    return struct.Struct(f">{form}").pack


def _date(days: int) -> bytes:
    if abs(days) == DATE_INFINITY:
        return struct.pack(">i", days if days > 0 else days - 1)
    return struct.pack(">i", days - EPOCH_2000_DAYS)


def _moment(us: int) -> bytes:
    if abs(us) == TIMESTAMP_INFINITY:
        return struct.pack(">q", us if us > 0 else us - 1)
    return struct.pack(">q", us - EPOCH_2000_US)


def _address(is_cidr: bool) -> Callable[[str], bytes]:
    def run(text: str) -> bytes:
        value = Address.of(text)
        size = value.width // 8
        family = 2 if value.version == 4 else 3
        return bytes((family, value.bits, is_cidr, size)) + value.number.to_bytes(size, "big")

    return run


def _interval(parts: tuple[int, int, int]) -> bytes:
    months, days, micros = parts
    return struct.pack(">qii", micros, days, months)


# By type: the name of the function, its implementation, and an example with the bytes.
SENT: dict[str, tuple[str, Callable[[Any], bytes], str, str]] = {
    "bool": ("boolsend", _packed("?"), "'t'::bool", "01"),
    "int2": ("int2send", _packed("h"), "'-2'::int2", "fffe"),
    "int4": ("int4send", _packed("i"), "258", "00000102"),
    "int8": ("int8send", _packed("q"), "'-1'::int8", "ffffffffffffffff"),
    "oid": ("oidsend", _packed("I"), "'4294967295'::oid", "ffffffff"),
    "float4": ("float4send", _packed("f"), "1.5::real", "3fc00000"),
    "float8": ("float8send", _packed("d"), "1.5::float8", "3ff8000000000000"),
    "text": ("textsend", str.encode, "'é'::text", "c3a9"),
    "varchar": ("varcharsend", str.encode, "'é'::varchar", "c3a9"),
    "bpchar": ("bpcharsend", str.encode, "'é'::char(2)", "c3a920"),
    "name": ("namesend", str.encode, "'é'::name", "c3a9"),
    "bytea": ("byteasend", bytes, "'\\x00ff'::bytea", "00ff"),
    "uuid": (
        "uuid_send", lambda text: bytes.fromhex(text.replace("-", "")), "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid",
        "a0eebc999c0b4ef8bb6d6bb9bd380a11",
    ),
    "date": ("date_send", _date, "date '1999-12-31'", "ffffffff"),
    "time": ("time_send", _packed("q"), "time '00:00:00.000001'", "0000000000000001"),
    "timetz": ("timetz_send", lambda parts: struct.pack(">qi", *parts), "timetz '00:00+01'", "0000000000000000fffff1f0"),
    "timestamp": ("timestamp_send", _moment, "timestamp '2000-01-01'", "0000000000000000"),
    "timestamptz": ("timestamptz_send", _moment, "timestamptz '2000-01-01 00:00+00'", "0000000000000000"),
    "interval": ("interval_send", _interval, "interval '1 mon 2 days'", "00000000000000000000000200000001"),
    "inet": ("inet_send", _address(is_cidr=False), "'10.0.0.1/8'::inet", "020800040a000001"),
    "cidr": ("cidr_send", _address(is_cidr=True), "'10.0.0.0/8'::cidr", "020801040a000000"),
    "json": ("json_send", str.encode, "'[1]'::json", "5b315d"),
    "jsonb": ("jsonb_send", lambda text: b"\1" + text.encode(), "'[1]'::jsonb", "015b315d"),
}  # fmt: skip
FUNCTIONS = tuple(
    Function(name, name, f"{family} > bytea", (f"{name}({example})", f"\\x{shown}"), python=function, can_fail=False)
    for family, (name, function, example, shown) in SENT.items()
)
