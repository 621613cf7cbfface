"""COPY in binary format of every type, both ways: what PostgreSQL sends, byte by byte, and what it
says to data that is not right.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator

import pytest

from engine.streams.row_errors import copy_error
from ringbuffer.memory.error_codes import BINARY_FORMAT, COPY_FIELD_COUNT, COPY_FIELD_SIZE, COPY_SIGNATURE, RowError
from sql.catalog.catalog import ColumnDescription
from sql.types.datatypes import JSON
from tests.end_to_end.raw_client import RawClient, copy_data, frame, query
from tests.engine.embedded.test_type_traffic import VALUES
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

COPY_DONE = frame(b"c", b"")
HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
OLD_VALUES = {
    "boolean": ["t", "f"],
    "smallint": ["-32768"],
    "integer": ["7"],
    "bigint": ["-9223372036854775808"],
    "real": ["1.5", "NaN"],
    "double precision": ["-2.25e10", "Infinity"],
    "numeric(10,2)": ["-123.45", "0.00"],
    "text": ["", "short", "longer than twelve bytes é"],
    "varchar(5)": ["abc", "é☃é☃é"],
    "date": ["2020-02-29", "4713-01-01 BC"],
    "timestamp": ["2020-01-02 03:04:05.678"],
    "timestamptz": ["1960-01-02 03:04:05.678+02"],
}
KINDS = OLD_VALUES | VALUES
# PostgreSQL asks for the memory of a long field before it misses the bytes.
MEMORY = "54000"
CHANGES = 40


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    opened = World(tmp_path_factory.mktemp("copies"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def ours(world: World) -> SessionClient:
    return world.client()


@pytest.fixture(scope="module")
def theirs(postgres: PostgresCluster) -> RawClient:
    return RawClient(postgres.port, "postgres", "postgres")


def data_of(client: RawClient, statement: str) -> bytes:
    """Return what PostgreSQL sends."""
    client.send(query(statement))
    client.read_until("H")
    return client.read_copied()


def copied(client: SessionClient | RawClient, statement: str, *pieces: bytes) -> list[str]:
    """Return the answer to a COPY FROM of these pieces."""
    messages = [copy_data(piece) for piece in pieces]
    if isinstance(client, SessionClient):
        answers = client.ask(query(statement), *messages, COPY_DONE)
    else:
        client.send(query(statement))
        client.read_until("G")
        client.send(*messages, COPY_DONE)
        answers = client.read_until_ready()
    return [answer for answer in answers if answer[0] in "CE"]


@pytest.mark.turns(3)
@pytest.mark.parametrize("number", range(len(KINDS)))
def test_both_ways(number: int, ours: SessionClient, theirs: RawClient) -> None:
    kind = list(KINDS)[number]
    table = f"binary_{number}"
    for client in (ours, theirs):
        client.ask(query(f"DROP TABLE IF EXISTS {table}"))
        client.ask(query(f"CREATE TABLE {table} (id integer, value {kind})"))
        for text in KINDS[kind]:
            literal = text.replace("'", "''")
            client.ask(query(f"INSERT INTO {table} SELECT 1, '{literal}'"))
        client.ask(query(f"INSERT INTO {table} VALUES (2, NULL)"))
    out = f"COPY (SELECT * FROM {table} ORDER BY id, value::text) TO STDOUT (FORMAT binary)"
    assert ours.ask(query(out)) == theirs.ask(query(out))
    data = data_of(theirs, out)
    pieces = [data[start : start + 3] for start in range(0, len(data), 3)]
    statement = f"COPY {table} FROM STDIN (FORMAT binary)"
    for client in (ours, theirs):
        client.ask(query(f"DELETE FROM {table}"))
    assert copied(ours, statement, *pieces) == copied(theirs, statement, data)
    assert ours.ask(query(out)) == theirs.ask(query(out))
    wrong = []
    for number, changed in enumerate(changes(data, kind)):
        expected, answer = (copied(client, statement, changed) for client in (theirs, ours))
        known = MEMORY in expected[0] or "0A000" in answer[0] or "38 digits" in answer[0]
        if expected != answer and not known:
            wrong.append(f"{number}: {changed[19:]!r}\n  PostgreSQL {expected}\n  ours       {answer}")
    assert not wrong, "\n".join(wrong)


def changes(data: bytes, seed: str) -> Iterator[bytes]:
    """Yield data with bytes changed, cut off, added, put in."""
    numbers = random.Random(seed)
    for _ in range(CHANGES):
        changed = bytearray(data)
        match numbers.randrange(4):
            case 0:
                changed = changed[: numbers.randrange(len(changed))]
            case 1:
                changed[numbers.randrange(len(changed))] = numbers.choice((0, 1, 128, 255, numbers.randrange(256)))
            case 2:
                changed += numbers.randbytes(2)
            case _:
                place = numbers.randrange(19, len(changed))
                changed[place:place] = numbers.randbytes(numbers.randrange(1, 4))
        yield bytes(changed)


@pytest.mark.parametrize(
    ("error", "context"),
    [
        (RowError(COPY_FIELD_COUNT, 4, field="row field count is 3, expected 1", line=5), "COPY t, line 5"),
        (RowError(COPY_FIELD_SIZE, 4, 0, line=5), "COPY t, line 5, column j"),
        (RowError(BINARY_FORMAT, 0, 0, line=1, raw=b"{"), "JSON data, line 1: {\nCOPY t, line 1, column j"),
        (RowError(COPY_SIGNATURE, 0), None),
    ],
)
def test_context(error: RowError, context: str | None) -> None:
    assert copy_error(error, (ColumnDescription("j", JSON),), "t", "UTC").context == context


def test_streams(ours: SessionClient) -> None:
    ours.ask(query("CREATE FOREIGN TABLE events (a bigint NOT NULL, b text, c numeric(6,2)) SERVER stream"))
    ours.ask(query("CREATE VIEW sums AS SELECT b, count(*) AS n, sum(c) AS c FROM events GROUP BY b"))
    ours.ask(query("CREATE TABLE origin (a bigint, b text, c numeric(6,2))"))
    ours.ask(query("INSERT INTO origin VALUES (1, 'x', 1.50), (2, 'y', NULL), (3, 'x', -0.25)"))
    sent = [answer for answer in ours.ask(query("COPY origin TO STDOUT BINARY")) if answer[0] == "d"]
    data = b"".join(ast.literal_eval(answer[2:]) for answer in sent)
    assert copied(ours, "COPY events FROM STDIN BINARY", data) == ["C COPY 3"]
    assert ours.ask(query("SELECT * FROM sums ORDER BY b"))[1:-2] == ["D [b'x', b'2', b'1.25']", "D [b'y', b'1', None]"]
    assert copied(ours, "COPY events (b, c) FROM STDIN BINARY", HEADER + b"\0\2" + b"\xff" * 8)[0].startswith(
        "E ERROR 23502"
    )
    out = ours.ask(query("COPY (SELECT a, b, c FROM events ORDER BY a) TO STDOUT BINARY"))
    assert [answer for answer in out if answer[0] == "d"] == sent
