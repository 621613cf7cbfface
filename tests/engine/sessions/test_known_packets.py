"""Packets like one that the session has answered before: what has changed in between is seen, and
bytes that are others are looked at anew. The answers are those that a transaction block gives.
"""

from __future__ import annotations

import pytest

from tests.end_to_end.raw_client import SYNC, bind, execute, parse, query
from tests.engine.session_client import SessionClient, World

ROWS = "INSERT INTO s VALUES (1, 'x', 7), (1, 'x', NULL), (1, 'long enough for a heap', -8), (2, 'x', 2), (-1, 'x', 3)"


@pytest.fixture
def client(world: World) -> SessionClient:
    client = world.client().after(
        "CREATE FOREIGN TABLE s (k bigint, t text, x int) SERVER stream",
        "CREATE VIEW v AS SELECT k, t, count(*) AS n, count(x) AS a FROM s GROUP BY k, t",
        ROWS,
    )
    # A read of the general way has the kernels loaded.
    client.rows(text_of("1", "'x'", "n"))
    return client


def text_of(k: str, t: str, columns: str) -> str:
    return f"SELECT {columns} FROM v WHERE k = {k} AND t = {t}"


def in_a_block(client: SessionClient, *messages: bytes) -> list[str]:
    """Return the answer of the general way."""
    client.run("BEGIN")
    answer = client.ask(*messages)
    client.run("ROLLBACK")
    return [*answer[:-1], "Z I"]


def test_packets_that_take_turns_are_all_known(client: SessionClient, world: World) -> None:
    client.ask(parse(text_of("$1", "$2", "n"), name="p"), parse("INSERT INTO s (k, t) VALUES ($1, $2)", name="i"), SYNC)
    client.run("SELECT max(k) AS m FROM v", "SELECT max(k) AS m FROM v")
    texts = [query(text_of(k, t, c)) for k, t, c in (("1", "'x'", "n"), ("2", "'x'", "n, a"), ("1", "''", "n"))]
    packets = [*texts, query("SELECT max(k) AS m FROM v"), bind((b"1", b"x"), statement="p") + execute() + SYNC]
    for _ in range(3):
        for asked in packets:
            client.ask(asked)
    for count in range(2, 5):
        for asked in packets:
            answer = client.at_once(asked)
            assert answer == in_a_block(client, asked) == client.ask(asked) is not None, asked
        assert f"D [b'{count}']" in (client.at_once(packets[-1]) or ())
        assert client.at_once(bind((b"1", b"x"), statement="i") + execute() + SYNC) is not None
        client.rows("SELECT max(k) AS m FROM v")


def test_bytes_around_the_constants_of_a_text_are_compared(client: SessionClient) -> None:
    text = text_of("1", "'x'", "n")
    for _ in range(3):
        client.ask(text)
    for other in (
        text_of("1", "'x'", "n") + " AND n = 2",
        text_of("'1'", "'x'", "n"),
        text_of("1", "'it''s'", "n"),
        text_of("1", "'x\\x'", "n"),
        text_of("1", "'\u00e9'", "n"),
        text_of("1", "$$x$$", "n"),
        text_of("1e0", "'x'", "n"),
        text_of("--1", "'x'", "n"),
        text_of("-1", "'x'", "n"),
        text_of("1234567890123456789", "'x'", "n"),
        text + "; DELETE FROM other",
        text + ";;",
        text.replace("AND", "OR"),
    ):
        assert client.at_once(query(text)) is not None
        at_once = client.at_once(query(other))
        answer = client.ask(other)
        assert at_once in (None, answer), other
        assert answer == in_a_block(client, query(other)) or "; DELETE" in other, other
    cut = bytearray(query(text))
    cut[4] -= 1
    assert client.at_once(bytes(cut)) is None


def test_a_view_that_is_replaced_between_two_packets_is_read_anew(client: SessionClient) -> None:
    client.run("CREATE VIEW w AS SELECT k, count(*) AS n FROM s GROUP BY k", ROWS)
    client.ask(parse("SELECT * FROM w WHERE k = $1", name="p"), SYNC)
    asked, text = bind((b"1",), statement="p") + execute() + SYNC, "SELECT * FROM w WHERE k = 1"
    for _ in range(3):
        assert client.ask(asked)[1:3] == ["D [b'1', b'3']", "C SELECT 1"] and "D [b'1', b'3']" in client.ask(text)
    assert client.at_once(asked) is not None and client.at_once(query(text)) is not None
    client.run("CREATE OR REPLACE VIEW w AS SELECT k, count(*) + 10 AS n FROM s GROUP BY k")
    for _ in range(3):
        assert "D [b'1', b'13']" in client.ask(asked) and "D [b'1', b'13']" in client.ask(text)
    client.run("CREATE OR REPLACE VIEW w AS SELECT k, count(*) AS n, 7 AS more FROM s GROUP BY k")
    assert any("0A000" in line for line in client.ask(asked))
    for _ in range(3):
        assert "D [b'1', b'3', b'7']" in client.ask(text)


def test_known_packets_inside_a_transaction_see_what_it_sees(client: SessionClient, world: World) -> None:
    client.ask(parse(text_of("$1", "$2", "n"), name="p"), SYNC)
    asked, text = bind((b"1", b"x"), statement="p") + execute() + SYNC, text_of("1", "'x'", "n")
    whole = "SELECT sum(n) FROM v"
    for _ in range(3):
        for packet in (asked, query(text), query(whole)):
            client.ask(packet)
    client.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
    before = [client.ask(packet) for packet in (asked, query(text), query(whole))]
    world.client().run("INSERT INTO s VALUES (1, 'x', 1)")
    assert [client.ask(packet) for packet in (asked, query(text), query(whole))] == before
    client.ask("SELECT 1 / 0")
    assert all(any("25P02" in line for line in client.ask(packet)) for packet in (asked, query(text), query(whole)))
    client.run("ROLLBACK")
    assert "D [b'3']" in (client.at_once(asked) or ()) and "D [b'3']" in (client.at_once(query(text)) or ())
    client.run("BEGIN", "SET LOCAL application_name = 'x'", "COMMIT")
    assert "D [b'3']" in client.ask(asked) and "D [b'3']" in client.ask(text)


def test_an_error_in_a_pipeline_is_followed_by_nothing_until_sync(client: SessionClient) -> None:
    client.ask(parse(text_of("$1", "$2", "n"), name="p"), SYNC)
    asked = bind((b"1", b"x"), statement="p") + execute()
    for _ in range(2):
        assert client.ask(asked, SYNC) == ["2", "D [b'2']", "C SELECT 1", "Z I"]
    answer = client.ask(asked, bind((b"x", b"x"), statement="p") + execute(), asked, SYNC, asked, SYNC)
    errors = [line for line in answer if line.startswith("E ")]
    assert len(errors) == 1 and "22P02" in errors[0]
    assert answer == ["2", "D [b'2']", "C SELECT 1", *errors, "Z I", "2", "D [b'2']", "C SELECT 1", "Z I"]


def test_known_packets_end_portals_and_the_statement_without_a_name(client: SessionClient) -> None:
    text = text_of("1", "'x'", "n")
    for _ in range(3):
        client.ask(text)
    client.ask(parse("SELECT 5"), SYNC)
    assert client.at_once(query(text)) is not None
    assert any("26000" in line for line in client.ask(bind(()) + execute() + SYNC))
    client.run("BEGIN", "DECLARE c CURSOR WITH HOLD FOR SELECT n FROM v", "COMMIT")
    assert client.at_once(query(text)) is not None
    assert len(client.rows("FETCH 1 FROM c")) == 1
