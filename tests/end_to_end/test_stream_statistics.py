"""pg_stat_streams through a real socket."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from engine.streams.activity import StreamActivity
from tests.oracle.antumbra import AntumbraServer

Connection = psycopg.Connection[tuple[object, ...]]
NUMBERS = "SELECT capacity, tuples, oldest_tid, newest_tid, rounds, scans_running, scans_aborted FROM pg_stat_streams WHERE relname = 'st'"


def numbers(connection: Connection) -> tuple[object, ...]:
    row = connection.execute(NUMBERS.encode()).fetchone()
    assert row is not None
    return row


def test_the_numbers_of_a_stream(server: AntumbraServer) -> None:
    with server.connect() as connection, server.connect() as scanning:
        connection.execute("CREATE FOREIGN TABLE st (k int, t text) SERVER stream OPTIONS (capacity '64')")
        assert numbers(connection) == (64, 0, None, None, 0, 0, 0)
        connection.execute("INSERT INTO st SELECT g, repeat('x', 5000) FROM generate_series(1, 10) AS g")
        assert numbers(connection) == (64, 10, 0, 9, 1, 0, 0)
        sizes = "SELECT bytes, even_string_bytes, odd_string_bytes FROM pg_stat_streams WHERE relname = 'st'"
        before = connection.execute(sizes.encode()).fetchone()
        assert before is not None and int(str(before[1])) >= 50_000 > int(str(before[2])) > 0
        assert int(str(before[0])) > int(str(before[1])) + int(str(before[2]))
        scanning.execute("SET stream_timeout = '1h'")
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(scanning.execute, "SELECT t FROM st ORDER BY t")
            end_s = time.monotonic() + 30
            while numbers(connection)[5] != 1 and time.monotonic() < end_s:
                time.sleep(0.02)
            assert numbers(connection)[5] == 1
            scanning.cancel()
            with pytest.raises(psycopg.errors.QueryCanceled):
                waiting.result()
        assert numbers(connection)[5] == 0
        connection.execute("INSERT INTO st SELECT g, 'y' FROM generate_series(1, 200) AS g")
        assert numbers(connection) == (64, 210, 146, 209, 4, 0, 0)
        rate = connection.execute("SELECT tuples_per_second > 0 FROM pg_stat_streams WHERE relname = 'st'").fetchone()
        assert rate == (True,)
        connection.execute("DROP FOREIGN TABLE st")
        assert connection.execute("SELECT count(*) FROM pg_stat_streams WHERE relname = 'st'").fetchone() == (0,)


def test_it_belongs_to_the_server(server: AntumbraServer) -> None:
    with server.connect() as connection:
        for text, sqlstate in (
            ("INSERT INTO pg_stat_streams VALUES ('x')", "55000"),
            ("DELETE FROM pg_stat_streams", "55000"),
            ("CREATE VIEW w AS SELECT relname FROM pg_stat_streams", "0A000"),
            ("SELECT nosuch FROM pg_stat_streams", "42703"),
            ("DROP VIEW pg_stat_streams", "42P01"),
        ):
            with pytest.raises(psycopg.Error) as caught:
                connection.execute(text.encode())
            assert caught.value.sqlstate == sqlstate, text
        connection.execute("CREATE TABLE kept AS SELECT relname, tuples FROM pg_catalog.pg_stat_streams")
        connection.execute("DROP TABLE kept")


def test_the_rate_is_that_of_the_last_seconds() -> None:
    activity = StreamActivity()
    activity.begin(1000)
    time.sleep(0.05)
    assert 0 < activity.tuples_per_second(1100) <= 100 / 0.05
    assert activity.tuples_per_second(1000) == 0
