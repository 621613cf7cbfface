"""Random columns of streams and of durable tables, of all types.

A family of an array is its element's with []. Domains are small, so that keys collide, joins meet
and groups have several rows.
"""

from __future__ import annotations

import datetime
import json
import uuid
from random import Random

from psycopg.types.json import Jsonb

from tests.randomized import values
from tests.randomized.values import Column, random_column

# Families beside those of `values`; expressions have char(n) between the two.
SINGLES = ("interval", "time", "uuid", "bytea", "inet", "jsonb", "json")
MORE = (
    *("int4[]", "text[]", "bool[]", "date[]", "timetz", "cidr", "oid", "name", "mood"),
    *("numeric[]", "float8[]", "interval[]", "jsonb[]", "uuid[]"),
)
TABLE_FAMILIES = ("bpchar", "plain numeric", *SINGLES, *MORE)
# The enum type that every server of the cases has.
CREATE_ENUM = "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'it''s')"
UUIDS = tuple(str(uuid.UUID(int=number * 0x1234_5678_9ABC_DEF0_1234_5678_9ABC)) for number in (0, 1, 2, 7, 11))
DOMAINS: dict[str, tuple[str, ...]] = {
    "bpchar": ("a", "bb", "b ", "", "Z", "é"),
    "plain numeric": ("0", "1", "1.0", "1.50", "-12.345", "100", "0.0001", "7", "NaN", "Infinity", "-Infinity"),
    "interval": (
        "1 day",
        "3 hours",
        "-2 days",
        "1 mon",
        "30 days",
        "24:00:00",
        "1 year 2 mons 3 days 04:05:06.5",
        "00:00:00",
        "-1 mons +2 days -03:00:00.000001",
    ),
    "time": ("12:34:56", "00:00:00", "23:59:59.999999", "12:34:56.5", "06:00:00", "24:00:00"),
    "uuid": UUIDS,
    "inet": (
        "10.1.2.3",
        "10.1.2.3/8",
        "10.0.0.0/8",
        "10.0.0.0/16",
        "9.8.7.6",
        "::1",
        "2001:db8::1/64",
        "::ffff:1.2.3.4",
    ),
    "bytea": ("\\x", "\\x00ff", "\\xdeadbeef", "\\x61", "\\x6162", "\\x5c27"),
    "jsonb": (
        '{"a": 1}',
        "[1, 2, 3]",
        '"x"',
        "null",
        "true",
        "1.50",
        '{"b": [1, {"c": null}], "a": "ü\\"x"}',
        "[]",
        '{"a": {"b": "deep"}}',
    ),
    "json": ('{"a":  1}', "[1,2 , 3]", '"x"', "null", '{"a":1,"a":2}', "1e3", '{"b": ["x", null], "a": false}'),
    "int4[]": ("{1,2,3}", "{}", "{NULL,4}", "{-1}", "{2,1}", "{3,3,NULL}"),
    "text[]": ("{a,b}", "{}", '{"a b",NULL,"q\\"u\\\\o"}', '{""}', "{NULL}", "{b,a,é}"),
    "bool[]": ("{t,f}", "{}", "{NULL,t}"),
    "date[]": ("{2024-02-29}", "{}", "{2020-01-01,NULL}"),
    "timetz": ("12:34:56+00", "12:34:56+02", "00:00:00-11", "23:59:59.999999+05:30", "10:34:56-02", "24:00:00+00"),
    "cidr": ("10.1.2.3/32", "10.0.0.0/8", "10.0.0.0/16", "0.0.0.0/0", "2001:db8::/64", "::1/128"),
    "oid": ("0", "1", "26", "4294967295", "2147483648"),
    "name": ("a", "b", "", "Zebra", "a name", "é"),
    "mood": ("sad", "ok", "happy", "it's"),
    "numeric[]": ("{1.50,2.25}", "{}", "{NULL,-0.01}", "{100.00}"),
    "float8[]": ("{1.5,NaN}", "{}", "{-Infinity,NULL}", "{0.1,0.2}"),
    "interval[]": ("{1 day,NULL}", "{}", '{"1 mon -01:00:00"}'),
    "jsonb[]": ('{"{\\"a\\": 1}",null}', "{}", '{1,"[2, 3]"}', "{NULL}"),
    "uuid[]": ("{" + UUIDS[1] + "}", "{}", "{NULL," + UUIDS[2] + "}"),
}
BAD_TABLE_TEXTS: dict[str, tuple[str, ...]] = {
    "bpchar": ("far too long for it",),
    "interval": ("1 fortnite", "x"),
    "time": ("25:00:00", "noonish"),
    "uuid": ("00000000-0000-0000-0000-00000000000", "x"),
    "inet": ("10.1.2", "1.2.3.256", "x", "::1/129"),
    "bytea": ("\\x0", "\\xzz", "a\\b"),
    "jsonb": ("{a:1}", "", "[1,]"),
    "json": ("{'a': 1}", "nul"),
    "int4[]": ("{1,x}", "1,2", "{1,2"),
    "text[]": ("a", "{a}b"),
    "bool[]": ("{maybe}",),
    "date[]": ("{2023-02-29}",),
    "timetz": ("25:00:00+00", "noonish"),
    "cidr": ("10.1.2.3/8", "x"),
    "oid": ("4294967296", "x"),
    "mood": ("glad", ""),
    "numeric[]": ("{x}", "1"),
    "float8[]": ("{1e400}",),
    "interval[]": ("{1 fortnite}",),
    "jsonb[]": ("{a}",),
    "uuid[]": ("{x}",),
    **values.BAD_TEXTS,
}
SQL_TYPES = {
    "plain numeric": "numeric",
    "int4[]": "integer[]",
    "bool[]": "boolean[]",
}
# Equal values with two texts: intervals (30 days and 1 mon), numbers of several scales. json has no
# equality at all.
UNFIXED = frozenset({"plain numeric", "interval", "json", "interval[]"})


def random_table_column(random: Random, name: str) -> Column:
    """Return a column called `name` of a type of streams or of tables."""
    if random.random() < 0.62:
        drawn = random_column(random, 0)
        return Column(
            name,
            drawn.family,
            drawn.sql_type,
            drawn.values,
            drawn.extreme,
            drawn.not_null,
            drawn.default,
            drawn.scale,
        )
    kind = random.choice(TABLE_FAMILIES)
    sql_type = SQL_TYPES.get(kind, kind)
    if kind == "bpchar":
        sql_type = random.choice(["char(2)", "character(5)", "char(2)"])
    domain: list[str | None] = list(random.sample(DOMAINS[kind], random.randint(2, len(DOMAINS[kind]))))
    not_null = random.random() < 0.1
    if not not_null:
        domain += [None] * random.choice([1, 1, 3])
    family = "numeric" if kind == "plain numeric" else kind
    default = values.literal(domain[0], family) if random.random() < 0.15 else None
    return Column(name, family, sql_type, tuple(domain), False, not_null, default, fixed=kind not in UNFIXED)


def table_parameter(value: str | None, family: str) -> object:
    """Return the Python object that a driver's user would pass."""
    if value is None or family in ("bpchar", "interval", "json", "date[]"):
        return value
    if family == "time":
        return value if value.startswith("24") else datetime.time.fromisoformat(value)
    if family == "uuid":
        return uuid.UUID(value)
    if family == "bytea":
        return bytes.fromhex(value[2:])
    if family == "jsonb":
        return Jsonb(json.loads(value))
    if family == "int4[]":
        return [None if item == "NULL" else int(item) for item in value[1:-1].split(",") if item]
    if family.endswith("[]"):
        return value
    return values.parameter(value, family)
