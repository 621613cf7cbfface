"""Values of every type as parameters and results, in text and in binary: bytes for bytes what
PostgreSQL answers.
"""

from __future__ import annotations

import psycopg
import pytest

from tests.end_to_end.raw_client import SYNC, RawClient, bind, execute, parse
from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

pytestmark = pytest.mark.slow

TEXT, BINARY = 0, 1

VALUES = {
    "boolean": ["t", "false", " yes ", "off", "1", "2", "", "tr"],
    "smallint": ["0", "-32768", "32767", "32768", " 7 ", "1e2", "x", ""],
    "integer": ["0", "-2147483648", "2147483647", "2147483648", "+5", "1.0", "0x1F", "1_000"],
    "bigint": ["0", "-9223372036854775808", "9223372036854775807", "9223372036854775808", "--1"],
    "real": ["0", "-0", "1.5", "3.4028235e38", "1e39", "1e-46", "NaN", "-Infinity", "inf", "1e", "0.1"],
    "double precision": ["0", "-0", "0.1", "1.7976931348623157e308", "1e309", "1e-400", "5e-324", "nan", "Infinity", "1,5"],
    "numeric": ["0", "-0.00", "123456789012345678901234567890.12345678", "1e5", "1.50e-3", "x", "."],
    "numeric(8,3)": ["0", "12345.678", "12345.6785", "-99999.9994", "99999.9995", "123456"],
    "text": ["", "a", "äöü €", "longer than twelve bytes", "\t\n\\"],
    "varchar(3)": ["", "abc", "äöü", "abcd", "abc  "],
    "date": ["2000-01-01", "1999-12-31", "0001-01-01", "0044-03-15 BC", "9999-12-31", "2023-02-29", "20240229", "Jan 5, 2020", "x"],
    "timestamp": ["2000-01-01 00:00:00", "1969-12-31 23:59:59.999999", "2024-02-29T12:34:56.5", "2024-01-01 25:00:00"],
    "timestamptz": ["2000-01-01 00:00:00+00", "2024-06-30 12:00:00.123456+05:30", "2024-06-30 12:00 Europe/Berlin", "x"],
}  # fmt: skip


@pytest.mark.turns(2)
@pytest.mark.parametrize("kind", VALUES)
def test_parameters_and_results(server: AntumbraServer, postgres: PostgresCluster, kind: str) -> None:
    ours, theirs = (RawClient(port, "postgres", "postgres") for port in (server.port, postgres.port))
    statement = parse(f"SELECT $1::{kind} AS value")
    for text in VALUES[kind]:
        for results in (TEXT, BINARY):
            question = (statement, bind((text.encode(),), formats=(TEXT,), results=(results,)), execute(), SYNC)
            answer = values_or_error(ours, *question)
            assert answer == values_or_error(theirs, *question), text
        if not answer[0].startswith("D"):
            continue
        binary = value_of(theirs, *question)
        for results in (TEXT, BINARY):
            question = (statement, bind((binary,), formats=(BINARY,), results=(results,)), execute(), SYNC)
            assert values_or_error(ours, *question) == values_or_error(theirs, *question), text
    question = (statement, bind((None,), formats=(BINARY,)), execute(), SYNC)
    assert ours.ask(*question) == theirs.ask(*question)


@pytest.mark.turns(4)
@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0\0", b"\0" * 9, b"\xff" * 17])
def test_binary_parameters_of_a_wrong_size(
    server: AntumbraServer, postgres: PostgresCluster, kind: str, data: bytes
) -> None:
    question = (parse(f"SELECT $1::{kind} AS value"), bind((data,), formats=(BINARY,)), execute(), SYNC)
    ours, theirs = (RawClient(port, "postgres", "postgres").ask(*question) for port in (server.port, postgres.port))
    assert ours == theirs


def values_or_error(client: RawClient, *question: bytes) -> list[str]:
    """Return the rows or the error. PostgreSQL computes with a parameter's value at Bind already,
    so what precedes an error may differ.
    """
    return [line for line in client.ask(*question) if line[0] in "DE"]


def value_of(client: RawClient, *question: bytes) -> bytes:
    """Return the one value that the server answers."""
    client.send(*question)
    client.read_until("2")
    values = client.read_row()
    client.read_until_ready()
    assert values[0] is not None
    return values[0]


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("SELECT %t::int, %t::date", ["1", "no date"]),
        ("SELECT %t::int, %t::date", ["1", "2024-13-13"]),
        ("SELECT %t::int, %t::date", ["x", "2024-12-13"]),
    ],
)
def test_the_context_names_the_bad_parameter(
    server: AntumbraServer, postgres: PostgresCluster, query: str, values: list[object]
) -> None:
    found = []
    for one in (server, postgres):
        with one.connect() as connection, pytest.raises(psycopg.Error) as caught:
            connection.execute(query.encode(), values)
        found.append((caught.value.sqlstate, caught.value.diag.message_primary, caught.value.diag.context))
    assert found[0] == found[1]
    assert "parameter $" in str(found[0][2])


def test_what_holds_a_query_takes_its_parameters(server: AntumbraServer) -> None:
    """EXPLAIN in its forms, and CREATE TABLE AS."""
    with server.connect() as connection, psycopg.RawCursor(connection) as cursor:
        cursor.execute("CREATE TABLE kept AS SELECT i, 'n' || i AS t FROM generate_series(1, 5) i")
        shown = cursor.execute("EXPLAIN SELECT t FROM kept WHERE i = $1 LIMIT $2", (3, 1)).fetchall()
        assert "i = 3" in str(shown)
        plan = cursor.execute("EXPLAIN (FORMAT JSON) SELECT t FROM kept WHERE i = $1", (3,)).fetchall()
        assert "i = 3" in str(plan)
        measured = cursor.execute("EXPLAIN ANALYZE SELECT t FROM kept WHERE i > $1", (3,)).fetchall()
        assert ("Actual Rows: 2",) in measured, measured
        cursor.execute("CREATE TABLE copied AS SELECT i, $1::text AS t FROM kept WHERE i > $2", ("x", 3))
        assert cursor.execute("SELECT * FROM copied ORDER BY i").fetchall() == [(4, "x"), (5, "x")]
        with pytest.raises(psycopg.errors.UndefinedParameter):
            cursor.execute("EXPLAIN SELECT $1::int")
        connection.rollback()
