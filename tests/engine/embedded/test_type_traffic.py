"""Values of the new types between client and tables: parameters and results in both formats, COPY
in and out, as with PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tests.end_to_end.raw_client import SYNC, RawClient, bind, copy_data, describe, execute, frame, parse, query
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

TEXT, BINARY = 0, 1
COPY_DONE = frame(b"c", b"")
VALUES = {
    "char(4)": ["ab", "abcd  ", "abcde", "", "é☃"],
    "bpchar": ["ab  ", ""],
    "numeric": ["1.50", "-0.00", "12345678901234567890.123", "1e10", "x"],
    "time": ["04:05:06.789", "24:00", "25:00", "x"],
    "time(1)": ["04:05:06.789"],
    "time with time zone": [
        "04:05:06.789+02", "04:05-03:30", "24:00+00", "04:05", "25:00+00", "x", "04:05 PST",
        "2003-04-12 04:05:06 America/New_York",
    ],
    "timetz(1)": ["04:05:06.789-00:00:01"],
    "timestamp(2)": ["2020-01-02 03:04:05.678", "1960-01-02 03:04:05.675"],
    "interval": ["1 mon -2 days 3:04:05.6", "-1-2", "P1Y2M3DT4H", "1", "x", "178956971 years"],
    "interval year to month": ["1 mon -2 days 3:04:05.6", "5"],
    "uuid": ["A0EEBC999C0B4EF8BB6D6BB9BD380A11", "x"],
    "bytea": ["\\x00ff", "a\\\\b", "\\xz", ""],
    "json": ['{"b": 1, "a":[1,  2]}', "{", "1.50"],
    "jsonb": ['{"b": 1, "a":[1,  2]}', "{", '"\\u0000"', "1.50", '{"k":1,"k":2}'],
    "oid": ["0", "4294967295", "-1", "4294967296", "x", " 7 "],
    "name": ["ab", "x" * 70, "é" * 40, ""],
    '"char"': ["a", "", "abc", "\\377", "é", "\\000"],
    "integer[]": ["{1,NULL,3}", "{}", "{1", "{x}", "{99999999999}"],
    "text[]": ['{a,"b c",NULL,"NULL","q\\"\\\\"}', "{}"],
    "numeric(5,2)[]": ["{1.005,-2}", "{1234.5}"],
    "char(3)[]": ["{a,bcd}", "{abcd}"],
    "timestamptz[]": ["{2020-01-01 12:00+02,NULL}"],
    "interval[]": ["{1 day,-2:03}"],
    "timetz[]": ["{04:05+01,NULL}"],
    "bytea[]": ['{"\\\\\\\\x00",NULL}'],
    "boolean[]": ["{t,f,NULL}", "{maybe}"],
    "oid[]": ["{1,NULL,4294967295}", "{-1,x}"],
    "name[]": ["{a,NULL,\"b c\"}"],
    '"char"[]': ["{a,NULL,\"\"}"],
}  # fmt: skip


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionClient]:
    world = World(tmp_path_factory.mktemp("types"))
    yield world.client()
    world.close()


@pytest.fixture(scope="module")
def theirs(postgres: PostgresCluster) -> RawClient:
    return RawClient(postgres.port, "postgres", "postgres")


def rows_or_error(answer: Sequence[str]) -> list[str]:
    """Return rows and errors. PostgreSQL computes with a parameter's value at Bind already, so what
    precedes an error may differ.
    """
    found = [line for line in answer if line[0] in "DET"]
    return [line for line in found if line[0] == "E"] or found


@pytest.mark.turns(2)
@pytest.mark.parametrize("kind", VALUES)
def test_parameters_and_results(kind: str, ours: SessionClient, theirs: RawClient) -> None:
    statement = parse(f"SELECT $1::{kind} AS value")
    for text in VALUES[kind]:
        for result in (TEXT, BINARY):
            bound = bind((text.encode(),), formats=(TEXT,), results=(result,))
            question = (statement, bound, describe("P"), execute(), SYNC)
            assert rows_or_error(ours.ask(*question)) == rows_or_error(theirs.ask(*question)), text
        if "E" in {line[0] for line in theirs.ask(*question)}:
            continue
        data = binary_value(theirs, statement, text)
        for result in (TEXT, BINARY):
            binary = (statement, bind((data,), formats=(BINARY,), results=(result,)), execute(), SYNC)
            assert rows_or_error(ours.ask(*binary)) == rows_or_error(theirs.ask(*binary)), text


def binary_value(client: RawClient, statement: bytes, text: str) -> bytes:
    """Return a value as PostgreSQL sends it in binary."""
    client.send(statement, bind((text.encode(),), formats=(TEXT,), results=(BINARY,)), execute(), SYNC)
    client.read_until("2")
    values = client.read_row()
    client.read_until_ready()
    assert values[0] is not None
    return values[0]


@pytest.mark.turns(4)
@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0\0", b"\0" * 9, b"\xff" * 17, b"\0" * 12])
def test_binary_parameters_of_a_wrong_form(kind: str, data: bytes, ours: SessionClient, theirs: RawClient) -> None:
    question = (parse(f"SELECT $1::{kind} AS value"), bind((data,), formats=(BINARY,)), execute(), SYNC)
    assert rows_or_error(ours.ask(*question)) == rows_or_error(theirs.ask(*question))


@pytest.mark.turns(2)
@pytest.mark.parametrize("number", range(len(VALUES)))
def test_copy(number: int, ours: SessionClient, theirs: RawClient) -> None:
    kind = list(VALUES)[number]
    table = f"copied_{number}"
    for client in (ours, theirs):
        client.ask(query(f"CREATE TABLE {table} (id integer, value {kind})"))
    for text in VALUES[kind]:
        escaped = text.replace(chr(92), chr(92) * 2)
        quoted = text.replace('"', '""')
        for options, line in (("", f"1\t{escaped}"), (" (FORMAT csv)", f'2,"{quoted}"')):
            statement = f"COPY {table} FROM STDIN{options}"
            assert copied(ours, statement, line) == copied(theirs, statement, line), text
    for form in ("text", "csv"):
        question = query(f"COPY (SELECT * FROM {table} ORDER BY id, value::text) TO STDOUT (FORMAT {form})")
        assert ours.ask(question) == theirs.ask(question)


def copied(client: SessionClient | RawClient, statement: str, line: str) -> list[str]:
    """Return the answer to a COPY of one line."""
    data = copy_data(line.encode() + b"\n")
    if isinstance(client, SessionClient):
        return [answer for answer in client.ask(query(statement), data, COPY_DONE) if answer[0] in "CE"]
    client.send(query(statement))
    client.read_until("G")
    client.send(data, COPY_DONE)
    return [answer for answer in client.read_until_ready() if answer[0] in "CE"]
