"""Text and binary input of char(n), time, interval, uuid, bytea, json, jsonb and arrays against
PostgreSQL, errors included.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql as composed

from sql.errors import SqlError
from sql.types.datatypes import SqlType, array_of
from sql.values.literal_output import output_text
from sql.values.literals import apply_modifier, binary_value, input_value
from tests.oracle.postgres import PostgresCluster

DATA = Path(__file__).parents[1] / "data" / "type_literals.txt"
SEED = 20_261_121
RANDOM_COUNT = 400
TYPES = {
    "char(4)": SqlType("bpchar", length=4),
    "bpchar": SqlType("bpchar"),
    "varchar(3)": SqlType("varchar", length=3),
    "time": SqlType("time"),
    "time(2)": SqlType("time", precision=2),
    "timestamp(3)": SqlType("timestamp", precision=3),
    "timetz": SqlType("timetz"),
    "timetz(2)": SqlType("timetz", precision=2),
    "interval": SqlType("interval"),
    "interval(2)": SqlType("interval", precision=2),
    "interval year to month": SqlType("interval", fields="year to month"),
    "interval day to minute": SqlType("interval", fields="day to minute"),
    "interval minute to second": SqlType("interval", fields="minute to second"),
    "interval day": SqlType("interval", fields="day"),
    "uuid": SqlType("uuid"),
    "bytea": SqlType("bytea"),
    "json": SqlType("json"),
    "jsonb": SqlType("jsonb"),
    "oid": SqlType("oid"),
    "name": SqlType("name"),
    '"char"': SqlType("char"),
    "integer[]": SqlType("int4[]"),
    "text[]": SqlType("text[]"),
    "boolean[]": SqlType("bool[]"),
    "numeric(5,2)[]": array_of(SqlType("numeric", precision=5, scale=2)),
    "interval[]": SqlType("interval[]"),
    "jsonb[]": SqlType("jsonb[]"),
}
PIECES = {
    "interval": (
        "1 -2 3.5 year years mon day d week hours h 1-2 01:02:03 -4:05 10:20.5 ago @ + min sec ms decade -1.25 P1Y2M3DT4H T -00:00:01 "
        ".5 1e3 , x"
    ).split(),
    "json": '{ } [ ] , : "a" "b" 1 -2 1.5e3 01 true false null nul "\\u00e9" "\\ud800" "\\x" "un \\n'.split(),
    "array": '{ } { } , , a b 1 2 "x" "a,b" NULL null \\ \\" [1:2]= [0:1]= x"y '.split(" "),
    "bytea": "\\x \\ \\\\ a 00 ff 0 g \\101 \\777 \\12 é".split(),
    "uuid": "a0ee bc99 9c0b 4ef8 bb6d 6bb9 bd38 0a11 - { } A0EEBC99 g".split(),
    "char": ["a", "bc", " ", "é", "  ", "def"],
    "oid": "0 1 -1 4294967295 4294967296 -2147483648 -2147483649 + - x 99999999999999999999".split(),
}  # fmt: skip


@pytest.fixture
def connection(postgres: PostgresCluster) -> Iterator[psycopg.Connection[Any]]:
    with postgres.connect() as opened:
        yield opened


def ours(text: str, kind: SqlType) -> object:
    try:
        return output_text(input_value(text, kind), kind)
    except SqlError as error:
        return (error.sqlstate, error.message, error.hint, error.detail, error.context)


def theirs(connection: psycopg.Connection[Any], text: str, type_name: str) -> object:
    """Return what PostgreSQL stores in a column of the type."""
    statement = composed.SQL("INSERT INTO one VALUES ({}) RETURNING format('%s', value)").format(composed.Literal(text))
    try:
        row = connection.execute(statement).fetchone()
    except psycopg.Error as error:
        found = error.diag
        return (error.sqlstate, found.message_primary, found.message_hint, found.message_detail, found.context)
    assert row is not None
    return row[0]


def compare(connection: psycopg.Connection[Any], type_name: str, texts: list[str]) -> None:
    connection.execute(f"CREATE TEMP TABLE one (value {type_name})".encode())
    kind = TYPES[type_name]
    wrong = []
    for text in texts:
        mine, expected = ours(text, kind), theirs(connection, text, type_name)
        if mine != expected and not refused_on_purpose(mine):
            wrong.append(f"{text!r}\n  ours         {mine}\n  PostgreSQL's {expected}")
    assert not wrong, "\n".join(wrong)


def refused_on_purpose(answer: object) -> bool:
    """Tell what we do not have: arrays of several dimensions, other lower bounds, NaN as a
    numeric(p,s), numerics over 38 digits.
    """
    if not isinstance(answer, tuple):
        return False
    return (answer[0] == "0A000" and str(answer[1]).endswith("is not supported yet")) or "38 digits" in str(answer[1])


def listed(type_name: str) -> list[str]:
    """Return the texts of data/type_literals.txt for a type."""
    found = []
    for line in DATA.read_text().splitlines():
        names, _, text = line.partition("|")
        if type_name in names.split(", "):
            found.append(text.replace("\\n", "\n"))
    return found


@pytest.mark.parametrize("type_name", TYPES)
def test_texts_of_the_list(type_name: str, connection: psycopg.Connection[Any]) -> None:
    """A line of the list has types and a text; a newline is written as backslash and n."""
    compare(connection, type_name, listed(type_name))


@pytest.mark.turns(2)
@pytest.mark.parametrize("type_name", [name for name in TYPES if not name.startswith("time")])
def test_random_texts(type_name: str, connection: psycopg.Connection[Any], request: pytest.FixtureRequest) -> None:
    seed = request.config.getoption("--seed")
    numbers = random.Random(f"{seed} {type_name}")
    pieces = PIECES[piece_kind(TYPES[type_name])]
    texts = []
    for _ in range(RANDOM_COUNT):
        separator = numbers.choice(["", " "])
        texts.append(separator.join(numbers.choice(pieces) for _ in range(numbers.randint(1, 7))))
    compare(connection, type_name, texts)


def piece_kind(kind: SqlType) -> str:
    if kind.is_array:
        return "array"
    return {"jsonb": "json", "bpchar": "char", "varchar": "char", "name": "char"}.get(kind.family, kind.family)


@pytest.mark.parametrize("type_name", TYPES)
def test_binary_form(type_name: str, connection: psycopg.Connection[Any]) -> None:
    """Binary values of PostgreSQL are read as the values that it prints."""
    kind = TYPES[type_name]
    connection.execute(f"CREATE TEMP TABLE one (value {type_name})".encode())
    for text in listed(type_name):
        expected = theirs(connection, text, type_name)
        if not isinstance(expected, str) or refused_on_purpose(ours(text, kind)):
            continue
        with connection.cursor(binary=True) as cursor:
            cursor.execute("SELECT value FROM one ORDER BY ctid DESC LIMIT 1")
            assert cursor.pgresult is not None
            data = cursor.pgresult.get_value(0, 0)
        assert data is not None
        assert output_text(apply_modifier(binary_value(data, kind), kind), kind) == expected, text
