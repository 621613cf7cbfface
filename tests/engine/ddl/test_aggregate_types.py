"""Every aggregate that PostgreSQL's catalog lists, over every type that it takes and we have: over
tables, in groups that streams keep (words and lists), and above a first grouping, with NULLs,
extremes, groups without rows and without values.

The rows come in a random order, each in a commit of its own, so that states are merged in any
order; the groups are in files (`view_memory_bytes`), and half of the rows come after a crash.
"""

from __future__ import annotations

from ast import literal_eval
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random

import psycopg
import pytest

from tests.end_to_end.raw_client import RawClient
from tests.engine.ddl.test_collected_lists import answer
from tests.engine.embedded_upper import EmbeddedUpper
from tests.engine.interpreted import interpreted
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

SIGNATURES = """
SELECT p.proname::text, a.aggkind::text, p.proargtypes::oid[]::regtype[]::text[] FROM pg_aggregate a
JOIN pg_proc p ON p.oid = a.aggfnoid WHERE p.pronamespace = 'pg_catalog'::regnamespace ORDER BY 1, 3
"""
# Values of each type: some twice, equal ones that look different where only one of them is shown
# by all orders, and the extremes.
VALUES = {
    "bool": ("true", "false", "true"),
    "int2": ("5", "-32768", "32767", "5"),
    "int4": ("5", "-2147483648", "2147483647", "5"),
    "int8": ("5", "-9223372036854775808", "9223372036854775807", "5"),
    "float4": ("1.5", "-0.25", "3e38", "NaN", "Infinity"),
    "float8": ("1.5", "-0.25", "1e100", "NaN", "-Infinity"),
    "numeric": ("1.50", "-99999999999999999999999999999.001", "NaN", "Infinity", "0"),
    "numeric(7,2)": ("1.5", "-99999.99", "0", "1.5"),
    "text": ("b", "a", "", "B", "é", "longer than what stands in a word"),
    "varchar(3)": ("b", "a", "", "B"),
    "char(3)": ("b", "a ", "", "b"),
    "date": ("2024-02-29", "infinity", "-infinity", "4713-01-01 BC"),
    "time": ("00:00", "24:00", "12:34:56.789012"),
    "timetz": ("00:00+02", "24:00-15:59", "12:34:56.789012+01"),
    "timestamp": ("2024-02-29 01:02:03.000004", "infinity", "-infinity"),
    "timestamptz": ("2024-02-29 01:02:03.000004+02", "infinity", "-infinity"),
    "interval": ("1 mon", "-80000000 years", "80000000 years", "-1 day", "00:00:00.000001"),
    "uuid": ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
    "bytea": ("\\x00ff", "", "\\x61"),
    "json": ('{"a": 1}', "[1, 2]", "null"),
    "jsonb": ('{"a": 1}', "[1, 2]", "null", "1.0"),
    "inet": ("10.0.0.1", "10.0.0.0/8", "::1", "10.0.0.1"),
    "cidr": ("10.0.0.0/8", "::/0"),
    "oid": ("0", "4294967295"),
    '"char"': ("a", "", "\\377"),
    "mood": ("sad", "happy", "ok", "sad"),
    "int4[]": ("{1,2}", "{}", "{NULL}", "{1,2,3}", "{1,NULL}"),
    "text[]": ("{b}", "{a,NULL}", "{}"),
    "numeric[]": ("{1.5,2}", "{}", "{NaN}"),
    "interval[]": ("{1 mon}", "{}", "{NULL}"),
    "timestamptz[]": ("{2024-01-01 00:00+00}", "{infinity,NULL}"),
    "float8[]": ("{NaN}", "{0}"),
    "bool[]": ("{t,f}", "{NULL}"),
    "inet[]": ("{10.0.0.1}", "{::1,NULL}"),
    "mood[]": ("{ok,sad}", "{}", "{ok}"),
    "jsonb[]": ('{"1","2"}', '{"1.0"}'),
    "json[]": ('{"1","2"}', "{}"),
    "bytea[]": ('{"\\\\x00"}', "{}"),
    "char(3)[]": ("{a,b}", "{}"),
    "timetz[]": ("{00:00+01}", "{}"),
    "uuid[]": ("{}", "{00000000-0000-0000-0000-000000000000}"),
}
# Types of PostgreSQL that we do not have.
WITHOUT = {"bit", "money", "pg_lsn", "tid", "xid8", "xml", "anyrange", "anymultirange"}
NAMES = {
    "boolean": "bool",
    "smallint": "int2",
    "integer": "int4",
    "bigint": "int8",
    "real": "float4",
    "double precision": "float8",
    "character": "char(3)",
    "time without time zone": "time",
    "time with time zone": "timetz",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamptz",
    "anyenum": "mood",
}
WITHOUT_ORDER = ("json", "json[]")
BATCHES = 8
# How many aggregates a view has.
PART = 13
MOOD = "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')"
BELOW = "(SELECT k, n, x, count(*) AS c FROM {} GROUP BY k, n, x) q"


def kinds(argument: str) -> list[str]:
    """Return our types that an argument of a signature takes."""
    name = NAMES.get(argument, argument)
    if name in ("anyelement", '"any"'):
        return list(VALUES)
    if name in ("anyarray", "anynonarray"):
        return [kind for kind in VALUES if kind.endswith("]") == (name == "anyarray")]
    return [kind for kind in VALUES if kind == name or (kind.startswith(f"{name}(") and "]" not in kind)]


def calls(name: str, aggkind: str, arguments: list[str]) -> Iterator[tuple[str, str]]:
    """Return calls of an aggregate over a column x, each with the type of x."""
    if aggkind == "h":
        for kind in kinds('"any"'):
            if kind not in WITHOUT_ORDER:
                yield kind, f"{name}('{VALUES[kind][0]}'::{kind}) WITHIN GROUP (ORDER BY x)"
        return
    if not arguments:
        yield "int4", f"{name}(*)" if aggkind == "n" else f"{name}() WITHIN GROUP (ORDER BY x)"
        return
    for kind in kinds(arguments[-1]):
        if aggkind == "o":
            first = {"double precision": "0.3", "double precision[]": "ARRAY[0.1, 0.5, NULL, 1]"}.get(arguments[0], "")
            is_nested = first.startswith("ARRAY") and kind.endswith("]")
            if kind not in WITHOUT_ORDER and not is_nested:
                yield kind, f"{name}({first if len(arguments) > 1 else ''}) WITHIN GROUP (ORDER BY x)"
        elif name == "string_agg":
            yield kind, f"{name}(x, '-'::{kind} ORDER BY n)"
        elif name.endswith("object_agg"):
            yield kind, f"{name}('k' || n, x ORDER BY n)"
            if not kind.endswith("]") and "json" not in kind:
                yield kind, f"{name}(x, n ORDER BY n) FILTER (WHERE x IS NOT NULL)"
        elif len(arguments) == 2:
            yield kind, f"{name}(x, n ORDER BY n)"
        elif not (name == "array_agg" and kind.endswith("]")) and not (name in ("min", "max") and kind == "json[]"):
            yield kind, f"{name}(x ORDER BY n)" if name.endswith("agg") or "float" in kind else f"{name}(x)"
            if kind not in WITHOUT_ORDER:
                yield kind, f"{name}(DISTINCT x)"


@pytest.fixture(scope="module")
def expressions(postgres: PostgresCluster) -> dict[str, list[str]]:
    """The calls of all aggregates, by the type of their column."""
    found: dict[str, list[str]] = defaultdict(list)
    with psycopg.connect(postgres.dsn) as connection:
        signatures = connection.execute(SIGNATURES.encode()).fetchall()
    for name, aggkind, arguments in signatures:
        if (name, arguments) == ("array_agg", ["anyarray"]):
            continue  # There is no array of arrays.
        each = list(calls(str(name), str(aggkind), list(map(str, arguments))))
        assert each or set(arguments) <= WITHOUT, (name, arguments)
        for kind, call in each:
            if call not in found[kind]:
                found[kind].append(call)
    return found


def rows_of(kind: str) -> list[tuple[int, int, str | None]]:
    """Return a group's key, a number and a value for each row: of a group with all values, of one
    with NULLs alone, and of one with a single value.
    """
    values = [(1, value) for value in (*VALUES[kind], None)]
    return [
        (key, number, value) for number, (key, value) in enumerate([*values, (2, None), (2, None), (3, values[0][1])])
    ]


def query(calls: list[str], source: str, key: str = "") -> str:
    """Return the SELECT of all calls, as texts, by a key or of all rows."""
    named = [f"({call})::text AS c{place}" for place, call in enumerate(calls)]
    keys, after = ([key], f" GROUP BY {key}") if key else ([], "")
    return f"SELECT {', '.join([*keys, *named])} FROM {source}{after}"


def rows_told(lines: list[str]) -> list[list[bytes | None]]:
    """Return the rows of an answer."""
    assert all(line[0] == "D" for line in lines), lines
    return sorted((literal_eval(line[2:]) for line in lines), key=repr)


def assert_same(found: list[str], wanted: list[str], calls: list[str]) -> None:
    """Compare two answers call by call."""
    pairs = list(zip(rows_told(found), rows_told(wanted), strict=True))
    for one, another in pairs:
        named = [*[""] * (len(one) - len(calls)), *calls]
        wrong = [(call, *pair) for call, *pair in zip(named, one, another, strict=True) if pair[0] != pair[1]]
        assert wrong == []


def insert(relation: str, kind: str, row: tuple[int, int, str | None]) -> str:
    key, number, value = row
    return f"INSERT INTO {relation} VALUES ({key}, {number}, {'NULL' if value is None else f'$v${value}$v$::{kind}'})"


@pytest.mark.slow
@pytest.mark.parametrize("batch", [pytest.param(one, marks=pytest.mark.turns(BATCHES, one)) for one in range(BATCHES)])
def test_every_type(
    batch: int,
    expressions: dict[str, list[str]],
    postgres: PostgresCluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("views.upkeep.kernels.load_kernel", interpreted)
    monkeypatch.setattr("engine.database.SparkUpperExecutor", EmbeddedUpper)
    names = {kind: f"x{place}" for place, kind in enumerate(VALUES) if place % BATCHES == batch}
    pending = {kind: Random(batch).sample(rows_of(kind), len(rows_of(kind))) for kind in names}
    parts = {
        kind: [expressions[kind][at : at + PART] for at in range(0, len(expressions[kind]), PART)] for kind in names
    }
    other = RawClient(postgres.port, "postgres", "postgres")
    answer(other, f"BEGIN; {MOOD}")
    world = World(tmp_path, view_memory_bytes=1)
    client = world.client()
    client.run(MOOD)
    for kind, name in names.items():
        assert answer(other, f"CREATE TABLE {name} (k int, n int, x {kind})") == []
        make(client, kind, name, parts[kind])
        for place, calls in enumerate(parts[kind]):
            assert_same(client.rows(f"SELECT * FROM whole_{name}_{place}"), answer(other, query(calls, name)), calls)
        client.run(*(insert(f"s_{name}", kind, row) for row in pending[kind][::2]))
    world.abandon()
    world = World(tmp_path, view_memory_bytes=1)
    client = world.client()
    for kind, name in names.items():
        client.run(*(insert(f"s_{name}", kind, row) for row in pending[kind][1::2]))
        for row in rows_of(kind):
            client.run(insert(name, kind, row))
            assert answer(other, insert(name, kind, row)) == []
        for place, calls in enumerate(parts[kind]):
            whole, grouped = query(calls, name), query(calls, name, "k")
            for text in (whole, f"SELECT * FROM whole_{name}_{place}"):
                assert_same(client.rows(text), answer(other, whole), calls)
            above = [] if kind in WITHOUT_ORDER else [f"SELECT * FROM above_{name}_{place}"]
            for text in (grouped, *above):
                assert_same(client.rows(text), answer(other, grouped), calls)
    world.close()
    answer(other, "ROLLBACK")
    other.hang_up()


def make(client: SessionClient, kind: str, name: str, parts: list[list[str]]) -> None:
    """Make the table of a type, the stream, and its views."""
    columns = f"(k int, n int, x {kind})"
    client.run(f"CREATE TABLE {name} {columns}", f"CREATE FOREIGN TABLE s_{name} {columns} SERVER stream")
    for place, calls in enumerate(parts):
        client.run(f"CREATE VIEW whole_{name}_{place} AS {query(calls, f's_{name}')}")
        if kind not in WITHOUT_ORDER:
            client.run(f"CREATE VIEW above_{name}_{place} AS {query(calls, BELOW.format(f's_{name}'), 'k')}")
