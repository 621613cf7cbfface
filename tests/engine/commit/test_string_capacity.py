"""A bound for texts, string_capacity: a commit whose texts do not fit is refused before it is
logged; a start takes back all that was accepted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.raw_client import COPY_DONE, SYNC, bind, copy_data, execute, parse, query
from tests.engine.session_client import SessionClient, World

KB = 1024
CREATE = "CREATE FOREIGN TABLE s (k int, t text) SERVER stream OPTIONS (capacity '64', string_capacity '2kB')"
FULL = 'E ERROR 53200: the string buffer of stream "s" is full'


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client().after(CREATE, "CREATE VIEW v AS SELECT count(*) AS n, max(k) AS k FROM s")


def count(client: SessionClient) -> int:
    """Return how many rows the view has counted, which must be those in the ring."""
    (row,) = client.rows("SELECT n FROM v")
    assert client.rows("SELECT count(*) FROM s") == [row]
    return int(row.split("'")[1])


def test_options(world: World) -> None:
    client = world.client()
    for value, size in (("1kB", KB), ("4096", 4096), ("64MB", 64 << 20), (" 2 GB ", 2 << 30), ("1TB", 1 << 40)):
        client.run(f"CREATE FOREIGN TABLE s (t text) SERVER stream OPTIONS (string_capacity '{value}')")
        assert client.rows("SELECT string_capacity FROM pg_stat_streams") == [f"D [b'{size}']"]
        client.run("DROP FOREIGN TABLE s")
    client.run("CREATE FOREIGN TABLE s (t text) SERVER stream")
    assert client.rows("SELECT string_capacity FROM pg_stat_streams") == [f"D [b'{256 << 20}']"]
    for value in ("", "x", "0", "1023", "2TB", "-1", "1.5MB", "1 mb", "1MB MB", "9" * 20):
        answers = client.ask_in_full(f"ALTER FOREIGN TABLE s OPTIONS (string_capacity '{value}')")
        assert answers[0][0] == f'E 22023: invalid value for option "string_capacity": "{value}"'


def test_setting(world: World) -> None:
    client = world.client()
    assert client.rows("SHOW stream_string_overflow") == ["D [b'error']"]
    client.run("SET stream_string_overflow = wait")
    answers = client.ask_in_full("SET stream_string_overflow = nosuch")
    assert answers[0][0] == 'E 22023: invalid value for parameter "stream_string_overflow": "nosuch"'
    assert answers[0][1]["hint"] == "Available values: error, wait."


def test_every_way_of_writing_is_refused(client: SessionClient) -> None:
    client.run("INSERT INTO s SELECT g, repeat('x', 100) FROM generate_series(1, 20) AS g")
    long = "y" * 49
    (answer, fields), *_ = client.ask_in_full(f"INSERT INTO s VALUES (21, '{long}')")
    assert answer == FULL.replace("E ERROR ", "E ")
    assert fields["detail"] == (
        "The new texts take 49 bytes; 2,000 of the 2,048 of string_capacity are in use until the ring comes round after 64 tuples."
    )
    assert "stream_string_overflow" in fields["hint"]
    client.ask(parse("INSERT INTO s VALUES ($1, $2)", "i"), SYNC)
    packet = bind((b"21", long.encode()), "i") + execute() + SYNC
    assert client.at_once(packet) is None
    assert FULL in client.ask(packet)
    assert client.at_once(query(f"INSERT INTO s VALUES (21, '{long}')")) is None
    assert client.ask(query("COPY s FROM STDIN"), copy_data(f"21\t{long}\n".encode()), COPY_DONE)[-2:] == [FULL, "Z I"]
    assert client.ask(f"INSERT INTO s SELECT 21, '{long}'")[0] == FULL
    # Each row alone would fit.
    assert client.ask("INSERT INTO s VALUES (21, repeat('z', 25)), (22, repeat('z', 25))")[0] == FULL
    client.run("CREATE TABLE t (a int)", "BEGIN", "INSERT INTO t VALUES (1)", f"INSERT INTO s VALUES (21, '{long}')")
    assert client.ask("COMMIT")[0] == FULL
    assert client.rows("SELECT * FROM t") == [] and count(client) == 20
    # What fits is taken, by the ways without a parser too.
    client.run("INSERT INTO s VALUES (21, 'short'), (22, repeat('z', 48))")
    assert client.ask(bind((b"23", b"x" * 12), "i") + execute() + SYNC)[1] == "C INSERT 0 1"
    assert count(client) == 23


def test_the_next_round_has_room(client: SessionClient) -> None:
    client.run("INSERT INTO s SELECT g, repeat('x', 100) FROM generate_series(1, 20) AS g")
    assert client.ask("INSERT INTO s VALUES (0, repeat('x', 50))")[0] == FULL
    client.run("INSERT INTO s SELECT g, 'short' FROM generate_series(1, 44) AS g")
    client.run("INSERT INTO s VALUES (0, repeat('x', 2048))")
    assert client.ask("INSERT INTO s VALUES (0, repeat('x', 13))")[0] == FULL
    # In the midst of a statement as well.
    client.run("INSERT INTO s SELECT g, CASE WHEN g > 63 THEN repeat('x', 1024) END FROM generate_series(1, 65) AS g")
    assert client.rows("SELECT even_string_bytes <= 4096 AND odd_string_bytes <= 4096 FROM pg_stat_streams") == [
        "D [b't']"
    ]


def test_what_never_fits(client: SessionClient) -> None:
    answers = client.ask_in_full("INSERT INTO s VALUES (1, repeat('x', 2049))")
    assert answers[0][0] == 'E 54000: texts of 2,049 bytes do not fit into a string buffer of stream "s"'
    assert answers[0][1]["detail"] == "Its string_capacity is 2,048 bytes."
    client.run("SET stream_string_overflow = wait")
    answers = client.ask_in_full("INSERT INTO s SELECT g, repeat('x', 100) FROM generate_series(1, 21) AS g")
    assert answers[0][0] == 'E 54000: texts of 2,100 bytes do not fit into a string buffer of stream "s"'
    assert count(client) == 0


def test_alter(client: SessionClient) -> None:
    client.run("INSERT INTO s VALUES (1, repeat('x', 2000))")
    client.run("BEGIN", "ALTER FOREIGN TABLE s OPTIONS (SET string_capacity '4kB')", "ROLLBACK")
    assert client.ask("INSERT INTO s VALUES (2, repeat('x', 2000))")[0] == FULL
    client.run(
        "ALTER FOREIGN TABLE s OPTIONS (SET string_capacity '4kB')", "INSERT INTO s VALUES (2, repeat('x', 2000))"
    )
    client.run("ALTER FOREIGN TABLE s OPTIONS (SET string_capacity '1kB')")
    assert client.ask("INSERT INTO s VALUES (3, repeat('x', 13))")[0] == FULL
    client.run("INSERT INTO s VALUES (3, 'short')", "ALTER FOREIGN TABLE s OPTIONS (SET capacity '2')")
    # Tuple 3 is the second one of its round now, which has no long text yet.
    client.run("INSERT INTO s VALUES (4, repeat('x', 1000))")
    assert client.rows("SELECT k, length(t) FROM s") == ["D [b'3', b'5']", "D [b'4', b'1000']"]


def test_a_start_takes_back_what_was_accepted(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(CREATE, "CREATE VIEW v AS SELECT count(*) AS n FROM s")
    client.run("INSERT INTO s VALUES (1, repeat('x', 2000))")
    client.run("ALTER FOREIGN TABLE s OPTIONS (SET string_capacity '1kB')", "INSERT INTO s VALUES (2, 'short')")
    for checkpoint in (False, True):
        if checkpoint:
            client.run("CHECKPOINT")
        world.abandon()
        world = World(tmp_path)
        client = world.client()
        assert count(client) == 2
        assert client.ask("INSERT INTO s VALUES (3, repeat('x', 13))")[0] == FULL
    world.close()
