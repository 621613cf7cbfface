"""Truth of what the table of functions says of failures, NULLs and volatility.

Of every signature and cast over the ends of the types of its arguments, nothing raises that is said
not to, and what is strict is NULL where an argument is.

PostgreSQL says by its catalog which functions are volatile and which are strict. (What is stable
there is immutable here where the settings that it reads stand in the tree.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import pytest

from bench.function_page import argument_texts, column_name
from sql.bind import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.emit.failing import can_fail
from sql.errors import SqlError
from sql.functions.catalog import OF_CATALOG
from sql.functions.rows import VOLATILE
from sql.functions.signatures import PSEUDO, Signature
from sql.functions.table import BINARY_OPERATORS, FUNCTIONS, PREFIX_OPERATORS, ROWS
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.times.time_fields import FIELD_DIGITS
from sql.tree.expressions import Expression
from sql.tree.relations import Project
from sql.types.casts import cast_context
from sql.types.datatypes import SqlType, array_of
from sql.types.datatypes import numeric as scaled_numeric
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

TIMES = ("infinity", "-infinity", "4714-11-24 00:00:00 BC", "294246-12-31 23:59:59.999999", "2024-02-29 12:34:56.789")
# The ends of each type, and what its functions look at.
ENDS: Mapping[str, tuple[str, ...]] = {
    "bool": ("t", "f"),
    "int2": ("32767", "-32768", "0", "-1"),
    "int4": ("2147483647", "-2147483648", "0", "-1"),
    "int8": ("9223372036854775807", "-9223372036854775808", "0", "-1"),
    "float4": ("Infinity", "NaN", "3.4e38", "-1e-40", "0"),
    "float8": ("-Infinity", "NaN", "1.7e308", "-5e-300", "0"),
    "numeric": ("Infinity", "NaN", "-" + "9" * 38, "0." + "0" * 37 + "1", "0"),
    "text": ("", "\\", "%\\", "a\\", "é☃ b", "x%y"),
    "varchar": ("", "\\", "12", "a,b"),
    "bpchar": ("ab", "\\", "Z"),
    "name": ("abc", "\\"),
    "char": ("a", "Z"),
    "date": ("infinity", "-infinity", "4714-11-24 BC", "5874897-12-31", "2024-02-29"),
    "time": ("00:00", "24:00", "23:59:59.999999"),
    "timetz": ("00:00+15:59", "24:00-15:59", "04:05:06+02"),
    "timestamp": TIMES,
    "timestamptz": TIMES,
    "interval": (
        "178956970 years 7 mons 2147483647 days 2562047788:00:54.775807",
        "-178956970 years -7 mons -2147483648 days -2562047788:00:54.775", "0", "1 mon -1 days",
    ),
    "uuid": ("ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000000"),
    "bytea": (r"\x", r"\x00ff5c"),
    "json": ("null", '{"a": [1e400, "\\u0000"]}', "[]"),
    "jsonb": ("null", '{"a": [1e30, "x"]}', "[]"),
    "inet": ("0.0.0.0/0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "10.1.2.3/8"),
    "cidr": ("0.0.0.0/0", "2001:db8::/64"),
    "oid": ("0", "4294967295"),
}  # fmt: skip
ROWS_COUNT = max(map(len, ENDS.values())) + 1
# Constants in place of the one that the row has.
FIELDS, PATTERNS = tuple(f"'{field}'" for field in FIELD_DIGITS), ("'a%'", "'a\\'", "'\\\\'", "a.c_text")
CONSTANTS: Mapping[str, Mapping[int, Sequence[str]]] = {
    **{name: {0: FIELDS} for name in ("extract", "date_part", "date_trunc")},
    **{name: {1: PATTERNS} for name in ("like", "ilike", "not_like", "not_ilike")},
}
# A call that is refused by name.
REFUSED = {"\"regexp_like\"(a.c_text, 'a+', c.c_text)"}
# Targets of casts with a modifier, by their families.
# Of the calls, `make test` takes one of so many parts.
PARTS = 6
LIMITED = {"numeric": "numeric(2,1)", "varchar": "varchar(2)", "bpchar": "char(2)", "timestamp": "timestamp(0)"}


def column_types() -> dict[str, SqlType]:
    kinds = {column_name(family): SqlType(family) for family in ENDS} | {"c_numeric": scaled_numeric(38, 2)}
    arrays = {column_name(f"{family}[]"): array_of(SqlType(family)) for family in ENDS if family != "char"}
    return {**kinds, "n": SqlType("numeric"), **arrays}


def type_name(kind: SqlType) -> str:
    if kind.is_array:
        return f"{type_name(kind.element)}[]"
    return '"char"' if kind.family == "char" else "numeric(38,2)" if kind == scaled_numeric(38, 2) else kind.family


def rows() -> Iterator[str]:
    """Yield rows of the ends; the last one is of NULLs."""
    for place in range(ROWS_COUNT - 1):
        values = []
        for name, kind in column_types().items():
            family = (kind.element if kind.is_array else kind).family
            texts = ENDS[family]
            text = texts[place % len(texts)]
            if name == "c_numeric":
                text = ("9" * 36, "-" + "9" * 36, "0")[place % 3]
            values.append(f"ARRAY['{text}', NULL]::{type_name(kind)}" if kind.is_array else f"'{text}'")
        yield f"({', '.join(values)})"
    yield f"({', '.join(['NULL'] * len(column_types()))})"


class Ends:
    """A catalog of the table."""

    def relation(self, name: str) -> RelationDescription | None:
        columns = tuple(ColumnDescription(name, kind) for name, kind in column_types().items())
        return RelationDescription(name, "table", 20_000, columns) if name == "t" else None

    def relation_names(self) -> Iterable[str]:
        return ("t",)


def calls() -> Iterator[tuple[str, Signature, int]]:
    """Yield calls of the signatures, with the number of tables that they read."""
    known = {*ENDS, *(f"{family}[]" for family in ENDS), "any", "element", "array", "record"}
    for table in (FUNCTIONS, BINARY_OPERATORS, PREFIX_OPERATORS):
        for name, signatures in table.items():
            for one in signatures:
                row = ROWS.get(one.canonical)
                if row is None or row.canonical in OF_CATALOG or not known.issuperset(one.arguments):
                    continue
                constants = CONSTANTS.get(row.canonical, {})
                texts = [constants.get(place, (text,)) for place, text in enumerate(argument_texts(name, one))]
                for given in product(*texts):
                    for operands in sorted({given, tuple("n" if text == "c_numeric" else text for text in given)}):
                        yield call_text(name, table is FUNCTIONS, operands), one, len(operands)


def call_text(name: str, is_function: bool, operands: Sequence[str]) -> str:
    """Return a call whose operands are columns of a table each."""
    texts = [
        f"{'abc'[min(place, 2)]}.{text}" if text in column_types() else text for place, text in enumerate(operands)
    ]
    if is_function:
        return f'"{name}"({", ".join(texts)})'
    return f" {name} ".join(texts) if len(texts) == 2 else f"{name} {texts[0]}"


def casts() -> Iterator[str]:
    """Yield the casts of all columns."""
    for source, kind in column_types().items():
        for target in () if kind.is_array else ENDS:
            if cast_context(kind.family, target) is not None or (kind.family == target and target in LIMITED):
                yield f"CAST(a.{source} AS {type_name(SqlType(target))})"
                yield f"CAST(a.{source} AS {LIMITED.get(target, target)})"


def item(text: str, count: int) -> Expression | None:
    """Return the tree of a call, None where bind refuses it."""
    try:
        (statement,) = parse(query(text, count))
        assert isinstance(statement, Select)
        root = bind_query(statement.query, Ends(), SessionSettings(time_zone="UTC")).root
    except SqlError:
        return None
    assert isinstance(root, Project)
    return root.items[0][1]


def query(text: str, count: int) -> str:
    return f"SELECT {text} FROM " + ", ".join(f"t {alias}" for alias in "abc"[: max(1, min(count, 3))])


def filled(world: World) -> SessionClient:
    """Return a client of the table with its rows."""
    client = world.client()
    columns = ", ".join(f"{name} {type_name(kind)}" for name, kind in column_types().items())
    client.run(f"CREATE TABLE t ({columns})", f"INSERT INTO t VALUES {', '.join(rows())}")
    return client


@pytest.mark.slow
@pytest.mark.turns(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_raises_that_is_said_not_to(part: int, tmp_path: Path) -> None:
    world = World(tmp_path)
    client, wrong, asked = filled(world), [], 0
    asking = [*((text, count) for text, _, count in calls()), *((text, 1) for text in casts())]
    for text, count in list(dict.fromkeys(asking))[part::PARTS]:
        tree = item(text, count)
        if tree is None or can_fail(tree):
            continue
        asked += 1
        said = [line for line in client.ask(query(text, count)) if line.startswith("E ERROR")]
        wrong += [f"{text}: {line}" for line in said]
    world.close()
    assert asked > 250 // PARTS, asked
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
def test_what_is_strict_is_null_where_an_argument_is(tmp_path: Path) -> None:
    world = World(tmp_path)
    client, wrong = filled(world), []
    for text, one, count in calls():
        if not ROWS[one.canonical].strict or text in REFUSED or item(text, count) is None:
            continue
        for place, alias in enumerate("abc"[:count]):
            if f"{alias}.c_" not in text and f"{alias}.n" not in text:
                continue
            sources = (
                f"(SELECT * FROM t WHERE c_bool IS {'' if other == place else 'NOT '}NULL LIMIT 1) {name}"
                for other, name in enumerate("abc"[:count])
            )
            said = client.ask(f"SELECT DISTINCT ({text}) IS NULL FROM {', '.join(sources)}")
            if "D [b't']" not in said or "D [b'f']" in said:
                wrong.append(f"{text}, {alias} NULL: {said[:3]}")
    world.close()
    assert not wrong, "\n".join(wrong)


def test_volatile_and_strict_is_what_postgres_says_so_of(postgres: PostgresCluster) -> None:
    with postgres.connect() as connection:
        query = "SELECT proname, oidvectortypes(proargtypes), provolatile, proisstrict FROM pg_proc"
        known = {
            (str(name), str(kinds)): (volatility, strict)
            for name, kinds, volatility, strict in connection.execute(query)
        }
    wrong = []
    for name, signatures in FUNCTIONS.items():
        for one in signatures:
            row = ROWS.get(one.canonical)
            found = known.get(
                (name, ", ".join("any" if family in PSEUDO else SqlType(family).sql_name for family in one.arguments))
            )
            if row is None or found is None:
                continue
            is_volatile = found[0] == "v" and row.volatility != VOLATILE and row.canonical not in OF_CATALOG
            if is_volatile or (row.strict and not found[1]):
                wrong.append(f"{name}{one.arguments}: {row.volatility}, {row.strict}, not {found}")
    assert not wrong, "\n".join(wrong)
